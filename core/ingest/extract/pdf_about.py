"""What a PDF says beside its pages, by pypdf: title and author, whether it is locked, what its form is filled with."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from core.ingest.extract.clean import clean
from core.ingest.extract.package import kept
from core.ingest.extract.unlocking import needs_password

__all__ = ["AboutPdf", "about_pdf"]

_PDF_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?")
_TECHNICAL = re.compile(r"\[\d+\]")
_HIDDEN = 2
_MOST_FIELDS = 5_000
_MOST_PARENTS = 20
_FIELD_LETTERS = 5_000
_YES = frozenset({"yes", "on", "1", "true", "ja", "x"})


@dataclass(frozen=True, slots=True)
class AboutPdf:
    """metadata: title, author, subject, keywords, published. fields: (field, value) of the filled fields by page, from
    1. dynamic: whether its fields are of a kind (XFA) that only Adobe's programs show."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    dynamic: bool = False


def about_pdf(name: str, data: bytes) -> AboutPdf:
    """Raises EncryptedFile for a file that asks for a password; nothing is told of a file pypdf cannot read."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    metadata: dict[str, str] = {}
    fields: dict[int, tuple[tuple[str, str], ...]] = {}
    form: Any = {}
    try:
        reader = PdfReader(BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise needs_password(name)
        metadata = _metadata(reader.metadata or {})
        form = _plain(reader.root_object.get("/AcroForm")) or {}
        if form.get("/Fields"):
            fields = {number: told for number, told in _filled(reader) if told}
    except (
        PyPdfError, DependencyError, ValueError, KeyError, TypeError, IndexError, AttributeError, OSError,
        RecursionError,
    ):  # fmt: skip
        pass  # damaged, or in a cipher pypdf lacks: pdfium may still read the text, or ask for the password
    return AboutPdf(metadata, fields, "/XFA" in form and not form.get("/Fields"))


def _metadata(information: Mapping[str, object]) -> dict[str, str]:
    told = {key.lower(): str(information.get(f"/{key}") or "") for key in ("Title", "Author", "Subject", "Keywords")}
    date = _PDF_DATE.match(str(information.get("/CreationDate", "") or ""))
    return kept(**told, published="-".join(part for part in date.groups() if part) if date else "")


def _filled(reader: Any) -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
    left = _MOST_FIELDS
    for number, page in enumerate(reader.pages, start=1):
        told = []
        for annotation in _plain(page.get("/Annots")) or ():
            widget = _plain(annotation)
            if left and widget and widget.get("/Subtype") == "/Widget" and not int(widget.get("/F", 0)) & _HIDDEN:
                left -= 1
                if value := _value(widget):
                    told.append((_label(widget), value))
        yield number, tuple(dict.fromkeys(told))


def _plain(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _inherited(widget: Any, key: str) -> Any:
    """A field's value, or that of the fields it belongs to."""
    for _ in range(_MOST_PARENTS):
        if widget is None:
            return None
        if key in widget:
            return _plain(widget[key])
        widget = _plain(widget.get("/Parent"))
    return None


def _value(widget: Any) -> str:
    """What a field is filled with, "" when it is empty; a box that is ticked says "yes", or what it stands for."""
    if _inherited(widget, "/FT") == "/Btn":
        state = str(widget.get("/AS") or "/Off").lstrip("/")
        return "" if state == "Off" else "yes" if state.lower() in _YES else clean(state)
    value = _inherited(widget, "/V")
    values = value if isinstance(value, list) else [value]
    told = (each.get_data().decode("utf-8", "replace") if hasattr(each, "get_data") else each for each in values)
    shown = ", ".join(" ".join(clean(str(each)).split()) for each in told if each is not None)
    return shown[:_FIELD_LETTERS]


def _label(widget: Any) -> str:
    """What a reader is told the field is for, else its name."""
    said = _inherited(widget, "/TU") or _inherited(widget, "/T") or "Field"
    return " ".join(_TECHNICAL.sub("", clean(str(said))).split()).rstrip(":") or "Field"
