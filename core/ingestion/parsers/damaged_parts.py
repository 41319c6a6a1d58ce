"""Reads an Office package although a part beside its text is damaged, such as comments or a chart."""

import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import TypeVar

from core.domain.extraction import ExtractedDocument
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.table_text import ParsedTables

__all__ = ["is_beside_the_text", "read_undamaged_parts"]

_KINDS = {
    "comments": re.compile(
        r"/(?:\w*comments?\w*|persons?|authors)\.xml$|/(?:threadedComments|comments|persons)/", re.I
    ),
    "footnotes": re.compile(r"/footnotes\w*\.xml$"),
    "endnotes": re.compile(r"/endnotes\w*\.xml$"),
    "page headers": re.compile(r"/header\d*\.xml$"),
    "page footers": re.compile(r"/footer\d*\.xml$"),
    "charts": re.compile(r"/chart\w*\.xml$"),
    "speaker notes": re.compile(r"/notesSlides/[^/]+\.xml$"),
    "diagrams": re.compile(r"/diagrams/[^/]+\.xml$"),
    "text boxes": re.compile(r"^xl/drawings/[^/]+\.xml$"),
    "pictures or embedded files": re.compile(r"/(?:media|embeddings|fonts)/|/charts/(?:style|colors)\d*\.xml$"),
}
_NOTES = b'<p:notes xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"><p:cSld><p:spTree/></p:cSld></p:notes>'

_Read = TypeVar("_Read", ExtractedDocument, ParsedTables)


def is_beside_the_text(part: str) -> bool:
    """Whether a package can be read without this part.

    >>> is_beside_the_text("word/comments.xml"), is_beside_the_text("word/document.xml")
    (True, False)
    """
    return _kind(part) is not None


def read_undamaged_parts(data: bytes, read: Callable[[bytes], _Read], errors: tuple[type[Exception], ...]) -> _Read:
    """What `read` gives for a package; if it raises one of the errors, for the package with damaged parts beside the
    text emptied, with a warning that names them. Raises what `read` does if there are none."""
    try:
        return read(data)
    except errors:
        rest, damaged = _without_damaged_parts(data)
        if not damaged:
            raise
        found: _Read = read(rest)
    warning = (
        f"Damaged, so not read: {', '.join(damaged)}. Save the file again in the program that made it, and upload it."
    )
    return replace(found, warnings=(*found.warnings, warning))


def _kind(part: str) -> str | None:
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(part)), None)


def _without_damaged_parts(data: bytes) -> tuple[bytes, list[str]]:
    """The package with its damaged parts beside the text emptied, and their kinds."""
    out, damaged = BytesIO(), []
    with zipfile.ZipFile(BytesIO(data)) as package, zipfile.ZipFile(out, "w") as rest:
        for part in package.infolist():
            kind = _kind(part.filename)
            content = _whole(package, part) if kind else package.read(part)
            if kind and content is None:
                damaged.append(kind)
                content = _NOTES if kind == "speaker notes" else b"<empty/>"
            rest.writestr(part.filename, content or b"")
    return out.getvalue(), list(dict.fromkeys(damaged))


def _whole(package: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes | None:
    """The bytes of a part, None if they are damaged or no well-formed XML where they should be."""
    from lxml.etree import LxmlError, XMLParser, fromstring

    try:
        content = package.read(part)
        if part.filename.endswith(".xml"):
            fromstring(content, XMLParser(resolve_entities=False, no_network=True))
    except damage(LxmlError):
        return None
    return content
