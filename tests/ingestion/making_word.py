"""Word documents for the tests, written as XML."""

import re
import zipfile
from io import BytesIO

__all__ = ["strict", "word_of"]

_SPACES = " ".join(
    f'xmlns:{prefix}="{space}"'
    for prefix, space in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    }.items()
)
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_ROOTS = {
    "header": "hdr",
    "footnotes": "footnotes",
    "endnotes": "endnotes",
    "numbering": "numbering",
    "styles": "styles",
    "comments": "comments",
    "chart": "chart",
}
MAIN_TYPE = f"{_TYPE}.document.main+xml"


def word_of(body: str, main_type: str = MAIN_TYPE, **parts: str) -> bytes:
    """A document with this XML in `w:body`. parts: the XML inside header, footnotes, endnotes, numbering, styles,
    comments or chart; a part's relationship has its name as id; further headers are header2, header3 …"""
    parts = {"styles": "", **parts}
    kinds = {name: name.rstrip("0123456789") for name in parts}
    types = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPE}.{kind}+xml"/>' for name, kind in kinds.items()
    )
    relations = "".join(
        f'<Relationship Id="{name}" Type="{_RELATED}/{kind}" Target="{name}.xml"/>' for name, kind in kinds.items()
    )
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
            f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main_type}"/>{types}</Types>',
        )
        package.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Target="word/document.xml" '
            f'Type="{_RELATED}/officeDocument"/></Relationships>',
        )
        package.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>',
        )
        package.writestr("word/document.xml", f"<w:document {_SPACES}><w:body>{body}</w:body></w:document>")
        for name, xml in parts.items():
            root = f"w:{_ROOTS[kinds[name]]}"
            package.writestr(f"word/{name}.xml", f"<{root} {_SPACES}>{xml}</{root}>")
    return out.getvalue()


def strict(package: bytes) -> bytes:
    """The package as Word saves it as Strict Open XML."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(package)) as old, zipfile.ZipFile(out, "w") as new:
        for part in old.infolist():
            transitional = rb"http://schemas.openxmlformats.org/(wordprocessingml|officeDocument)/2006/"
            content = re.sub(transitional, rb"http://purl.oclc.org/ooxml/\1/", old.read(part))
            new.writestr(part.filename, content)
    return out.getvalue()
