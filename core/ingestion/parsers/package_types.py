"""Rewrites Office packages as the ordinary kind: macro files, templates, slide shows and Strict Open XML, which
python-docx and python-pptx refuse although their parts are the same."""

import re
import zipfile
from io import BytesIO

__all__ = ["as_ordinary_package"]

_TYPES = "[Content_Types].xml"
_RELATIONS = "_rels/.rels"
_MAIN_TYPE = re.compile(rb"application/vnd\.[\w.-]+\.main\+xml")
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"


def as_ordinary_package(data: bytes, main_type: bytes) -> bytes:
    """The package with `main_type` as the content type of its main part, and with the namespaces of Transitional Open
    XML; `data` itself if it is so already. Raises what zipfile raises for a damaged package."""
    with zipfile.ZipFile(BytesIO(data)) as package:
        types = package.read(_TYPES)
        strict = b"//purl.oclc.org/ooxml/" in package.read(_RELATIONS)
        if main_type in types and not strict:
            return data
        out = BytesIO()
        with zipfile.ZipFile(out, "w") as ordinary:
            for part in package.infolist():
                content = _MAIN_TYPE.sub(main_type, types) if part.filename == _TYPES else package.read(part)
                if strict and part.filename.endswith((".xml", ".rels")):
                    content = _STRICT.sub(_TRANSITIONAL, content)
                ordinary.writestr(part.filename, content)
    return out.getvalue()
