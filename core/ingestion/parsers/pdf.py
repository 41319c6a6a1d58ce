"""Parses PDF: text, font sizes and positions with pdfium; metadata and form fields with pypdf, also the fallback.
Texts and notes that were added to a page as annotations follow its text.

Each page is checked: if it shows something but has no text, or garbled text, it is read by OCR if that is installed.
OCR text has no positions on the page.
"""

# Over 300 lines: pdfium, pypdf and OCR complement each other for one file format.

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

from core.domain.documents import Page
from core.domain.errors import Cure, EmptyFile, FileTooCostly, UnreadableFile
from core.domain.extraction import Block, BlockKind, ExtractedDocument, LayoutLine
from core.ingestion.parsers.annotations import comment_text
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.decrypt import needs_password
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.layout import lay_out
from core.ingestion.parsers.ooxml import clean_metadata
from core.ingestion.parsers.page_notices import recognition_warnings
from core.ingestion.parsers.pdf_words import printed_lines, rules
from core.ingestion.parsers.reading_order import in_order
from core.ingestion.parsers.text_cleaning import clean, garbled, mended
from core.ports.reader import INSTALL, MOST_PIXELS, OcrRun, PageImage, TextRecognizer

__all__ = ["MOST_PAGES", "PdfMetadata", "pdf_details", "read_pdf"]

_PDF_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?")

_TECHNICAL = re.compile(r"\[\d+\]")

_HIDDEN = 2  # annotation flag Hidden, ISO 32000-1 table 165

_MOST_FIELDS = 5_000  # Chosen by hand, not fitted.

_MOST_MARKED_LINES = 20  # Chosen by hand, not fitted.

_MOST_PARENTS = 20  # Chosen by hand, not fitted.

_FIELD_LETTERS = 5_000  # Chosen by hand, not fitted.

_MOST_NAMES = 12  # Chosen by hand, not fitted.

_YES = frozenset({"yes", "on", "1", "true", "ja", "x"})


@dataclass(frozen=True, slots=True)
class PdfMetadata:
    """metadata: title, author, subject, keywords, published. fields: page, from 1 → (field, value) of filled fields.
    dynamic: the form is XFA, which only Adobe software displays."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    dynamic: bool = False


def pdf_details(name: str, data: bytes) -> PdfMetadata:
    """Metadata and form fields; empty if pypdf cannot read the file. Raises EncryptedFile if it needs a password."""
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
            fields = {number: filled for number, filled in _filled(reader) if filled}
    except damage(PyPdfError, DependencyError):
        pass  # damaged, or an unsupported cipher: pdfium may still read it, or ask for the password
    return PdfMetadata(metadata, fields, "/XFA" in form and not form.get("/Fields"))


def _metadata(information: Mapping[str, object]) -> dict[str, str]:
    fields = {key.lower(): str(information.get(f"/{key}") or "") for key in ("Title", "Author", "Subject", "Keywords")}
    date = _PDF_DATE.match(str(information.get("/CreationDate", "") or ""))
    return clean_metadata(**fields, published="-".join(part for part in date.groups() if part) if date else "")


def _filled(reader: Any) -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
    left = _MOST_FIELDS
    for number, page in enumerate(reader.pages, start=1):
        fields = []
        for annotation in _plain(page.get("/Annots")) or ():
            widget = _plain(annotation)
            if left and widget and widget.get("/Subtype") == "/Widget" and not int(widget.get("/F", 0)) & _HIDDEN:
                left -= 1
                if value := _value(widget):
                    fields.append((_label(widget), value))
        yield number, tuple(dict.fromkeys(fields))


def _plain(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _inherited(widget: Any, key: str) -> Any:
    """A field's value, or that of its parent fields."""
    for _ in range(_MOST_PARENTS):
        if widget is None:
            return None
        if key in widget:
            return _plain(widget[key])
        widget = _plain(widget.get("/Parent"))
    return None


def _value(widget: Any) -> str:
    """The value of a filled field, "" if empty; for a ticked box "yes" or its export value."""
    if _inherited(widget, "/FT") == "/Btn":
        state = str(widget.get("/AS") or "/Off").lstrip("/")
        return "" if state == "Off" else "yes" if state.lower() in _YES else clean(state)
    value = _inherited(widget, "/V")
    values = value if isinstance(value, list) else [value]
    if _inherited(widget, "/FT") == "/Ch":
        values = [_choice(widget, each) for each in values]
    decoded = (each.get_data().decode("utf-8", "replace") if hasattr(each, "get_data") else each for each in values)
    text = ", ".join(" ".join(clean(str(each)).split()) for each in decoded if each is not None)
    return text[:_FIELD_LETTERS]


def _choice(widget: Any, value: Any) -> Any:
    """What a field of choices shows for a value."""
    for option in map(_plain, _inherited(widget, "/Opt") or ()):
        if isinstance(option, list) and len(option) == 2 and _plain(option[0]) == value:
            return _plain(option[1])
    return value


def _label(widget: Any) -> str:
    """The field's label for readers, else its name."""
    label = _inherited(widget, "/TU") or _inherited(widget, "/T") or "Field"
    return " ".join(_TECHNICAL.sub("", clean(str(label))).split()).rstrip(":") or "Field"


MOST_PAGES = 5_000  # Chosen by hand, not fitted.

_NO_TITLE = re.compile(r"^(microsoft word|microsoft powerpoint|untitled|print|document\d*$|slide \d)|\.\w{2,5}$", re.I)

_FEW_LETTERS = 20
"""With fewer letters, a page that shows anything else counts as a picture (page number, stamp). Chosen by hand."""

_SOME_LETTERS = 300
"""With fewer letters, a page mostly covered by a picture counts as one. Chosen by hand."""

_MOST_OF_PAGE = 0.6  # Chosen by hand, not fitted.

_MANY_PATHS = 30
"""Strokes on a page without text that may be outlined letters. Chosen by hand."""

_SCAN_DOTS = 300  # Chosen by hand, not fitted.

_LEAST_SURE = 50.0  # Chosen by hand, not fitted.

_TIME_SHARE = 0.7  # Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class _PdfText:
    """The pages' lines, and the OCR result. pictured: numbers of pages with pictures of text; odd: of pages with
    garbled text. notes: page, from 1 → texts of its annotations. files: names of embedded files."""

    pages: list[list[LayoutLine]]
    outline: Sequence[tuple[int, int, str]] = ()
    pictured: tuple[int, ...] = ()
    odd: tuple[int, ...] = ()
    recognition: OcrRun | None = None
    notes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[str, ...] = ()


def read_pdf(name: str, data: bytes, seconds: float = 300, ocr: TextRecognizer | None = None) -> ExtractedDocument:
    """Text and blocks of a PDF. seconds: time limit. ocr: None if OCR is not installed.

    Raises EncryptedFile, EmptyFile, FileTooCostly or UnreadableFile.
    """
    about = pdf_details(name, data)
    warnings: list[str] = []
    try:
        read = _by_pdfium(name, data, seconds, ocr)
    except UnreadableFile as damaged:
        read = _PdfText(_by_pypdf(name, data, damaged))
        warnings.append("The file is damaged: what a second reader made out is here, the rest could not be read.")
    if not about.fields and not read.notes and not any(line.text.strip() for page in read.pages for line in page):
        raise _without_text(name, read)
    texts, blocks = lay_out(mended(read.pages), read.outline)
    fields = {at: tuple(f"{label}: {value}" for label, value in filled) for at, filled in about.fields.items()}
    texts, blocks = _with_rows(*_with_rows(texts, blocks, fields), read.notes)
    warnings += recognition_warnings(read.recognition, texts, read.odd, read.pictured)
    if about.dynamic:
        warnings.append("It is a form of a kind (XFA) whose fields could not be read; print it to PDF, and add that.")
    if read.files:
        names = ", ".join(read.files[:_MOST_NAMES]) + (" …" if len(read.files) > _MOST_NAMES else "")
        warnings.append(f"Files inside it were not read: {names}; save them with a PDF viewer, and add them.")
    title = about.metadata.get("title", "")
    return ExtractedDocument(
        pages=tuple(Page(number, text) for number, text in enumerate(texts, start=1)),
        blocks=tuple(blocks),
        media_type=FileKind.PDF,
        paged=True,
        title="" if _NO_TITLE.search(title) or len(title) < 4 else title,
        metadata=about.metadata,
        warnings=tuple(warnings),
    )


def _without_text(name: str, read: _PdfText) -> EmptyFile:
    count = len(read.pages)
    pages = "page" if count == 1 else f"{count:,} pages"
    if not read.pictured and not read.odd:
        return EmptyFile(
            f"'{name}' contains no text: its {pages} {'is' if count == 1 else 'are'} blank.", "Export it again."
        )
    problem = f"'{name}' contains no text, only pictures of its {pages} – probably a scan"
    if read.recognition is None:
        return EmptyFile(f"{problem}.", f"{INSTALL}, or upload a version that has text.", Cure.AGAIN)
    late = bool(read.recognition.late)
    outcome = "there was no time to recognise any" if late else "no text could be recognised on them"
    hint = "Scan it again: upright, at 300 dots per inch; split it when it is long."
    return EmptyFile(f"{problem}; {outcome}.", hint, Cure.AGAIN if late else None)


def _by_pdfium(name: str, data: bytes, seconds: float, ocr: TextRecognizer | None) -> _PdfText:
    """Lines per page, the outline as (page index, level from 1, title), and OCR results."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise needs_password(name) from error
        raise UnreadableFile(*_damaged(name)) from error
    try:
        if len(document) > MOST_PAGES:
            raise _too_many(name, len(document))
        looked = [_page_lines(document, index) for index in range(len(document))]
        if not looked:
            raise UnreadableFile(*_damaged(name))
        pages = [lines for lines, _, _ in looked]
        odd = tuple(at for at, lines in enumerate(pages, start=1) if garbled(_joined(lines)))
        pictured = tuple(at for at, (_, shows, _) in enumerate(looked, start=1) if shows and at not in odd)
        notes = {at: notes for at, (_, _, notes) in enumerate(looked, start=1) if notes}
        files = tuple(_embedded_name(document, at) for at in range(document.count_attachments()))
        read = _PdfText(pages, _outline(document), pictured, odd, notes=notes, files=files)
        return read if ocr is None else _recognised(document, read, ocr, seconds * _TIME_SHARE)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(*_damaged(name)) from error
    finally:
        document.close()


def _joined(lines: Sequence[LayoutLine]) -> str:
    return "\n".join(line.text for line in lines)


def _page_lines(document: Any, index: int) -> tuple[list[LayoutLine], bool, tuple[str, ...]]:
    """A page's lines, whether it shows more than their text, and the texts of its annotations."""
    page = document[index]
    text_page = page.get_textpage()
    try:
        printed, turns = printed_lines(text_page)
        letters = sum(len(word.text) for line in printed for word in line.words)
        pictured = letters < _SOME_LETTERS and _is_pictured(page, letters)
        return in_order(printed, rules(page, turns)), pictured, _notes(page, text_page)
    finally:
        text_page.close()
        page.close()


def _notes(page: Any, text_page: Any) -> tuple[str, ...]:
    """The texts added to a page as annotations: its notes, and remarks on marked or struck words, stamps and shapes."""
    import pypdfium2.raw as raw

    texts = []
    left_out = {raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FILEATTACHMENT}
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_FIELDS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        kind, flags = raw.FPDFAnnot_GetSubtype(annotation), raw.FPDFAnnot_GetFlags(annotation)
        if kind not in left_out and not flags & _HIDDEN:
            text = _annotation_text(annotation, b"Contents")
            about = _marked_words(text_page, annotation) if text else ""
            plain = kind in {raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_TEXT}
            author = "" if plain else _annotation_text(annotation, b"T")
            if text != about:  # some programs copy the marked words
                texts.append(text if plain else comment_text(author, text, about))
        raw.FPDFPage_CloseAnnot(annotation)
    return tuple(dict.fromkeys(filter(None, texts)))


def _annotation_text(annotation: Any, key: bytes) -> str:
    import pypdfium2.raw as raw

    size = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    units = (raw.FPDF_WCHAR * (size // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(annotation, key, units, size)
    text = bytes(units)[: max(size - 2, 0)].decode("utf-16-le", "replace")
    return " ".join(clean(text).split())[:_FIELD_LETTERS]


def _marked_words(text_page: Any, annotation: Any) -> str:
    """The words that an annotation marks."""
    import pypdfium2.raw as raw

    corners, words = raw.FS_QUADPOINTSF(), []
    for index in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), _MOST_MARKED_LINES)):
        if raw.FPDFAnnot_GetAttachmentPoints(annotation, index, corners):
            across = [corners.x1, corners.x2, corners.x3, corners.x4]
            down = [corners.y1, corners.y2, corners.y3, corners.y4]
            words.append(text_page.get_text_bounded(min(across), min(down), max(across), max(down)))
    return " ".join(clean(" ".join(words)).split())


def _embedded_name(document: Any, index: int) -> str:
    """The name of an embedded file, or its number if the file does not give it."""
    import pypdfium2

    try:
        return clean(document.get_attachment(index).get_name()) or f"file {index + 1}"
    except pypdfium2.PdfiumError:
        return f"file {index + 1}"


def _is_pictured(page: Any, letters: int) -> bool:
    """Whether a page probably is a picture of text: a picture covers most of it; or it has hardly any text but a
    picture, or enough strokes to be letters."""
    import pypdfium2.raw as raw

    paths = covered = 0.0
    pictures = 0
    width, height = page.get_size()
    for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH], max_depth=3):
        if item.type == raw.FPDF_PAGEOBJ_PATH:
            paths += 1
            continue
        left, bottom, right, top = item.get_bounds()
        pictures += 1
        covered += max(0.0, right - left) * max(0.0, top - bottom)
    if letters < _FEW_LETTERS:
        return pictures > 0 or paths >= _MANY_PATHS
    return bool(covered >= _MOST_OF_PAGE * width * height)


def _recognised(document: Any, read: _PdfText, ocr: TextRecognizer, seconds: float) -> _PdfText:
    """Replaces page text with OCR text that is confident enough, if it is longer or the page's own is garbled."""
    numbers = sorted({*read.pictured, *read.odd})
    if not numbers:
        return read
    found = ocr.recognise([(at, _drawing(document, at - 1)) for at in numbers], seconds)
    pages = list(read.pages)
    better: dict[int, Any] = {}
    for at, picture in found.pages.items():
        own = 0 if at in read.odd else len(_joined(pages[at - 1]).strip())
        if picture.sure >= _LEAST_SURE and len(_joined(picture.lines).strip()) > own:
            pages[at - 1], better[at] = list(picture.lines), picture
    odd = tuple(at for at in read.odd if at not in better)
    late = tuple(at for at in found.late if at in odd or len(_joined(pages[at - 1])) < _FEW_LETTERS)
    return replace(read, pages=pages, odd=odd, recognition=OcrRun(better, late))


def _drawing(document: Any, index: int) -> Callable[[], PageImage]:
    def draw() -> PageImage:
        page = document[index]
        try:
            width, height = page.get_size()
            dots = min(_SCAN_DOTS, int((MOST_PIXELS / max(width * height / 72 / 72, 0.01)) ** 0.5))
            out = BytesIO()
            page.render(scale=max(dots, 20) / 72, grayscale=True).to_pil().save(out, "PPM")
            return PageImage(out.getvalue(), max(dots, 70))
        finally:
            page.close()

    return draw


def _with_rows(
    texts: list[str], blocks: list[Block], rows: Mapping[int, Sequence[str]]
) -> tuple[list[str], list[Block]]:
    """Appends rows, by page, to the page texts."""
    if not rows:
        return texts, blocks
    extended, added = list(texts), list(blocks)
    for at, filled in rows.items():
        for row in filled if at <= len(extended) else ():
            start = len(extended[at - 1]) + (2 if extended[at - 1] else 0)
            extended[at - 1] += ("\n\n" if extended[at - 1] else "") + row
            added.append(Block(at, start, len(extended[at - 1]), BlockKind.ROW))
    return extended, sorted(added, key=lambda block: (block.page, block.start))


def _outline(document: Any) -> list[tuple[int, int, str]]:
    found = []
    for item in document.get_toc(max_depth=6):
        destination = item.get_dest()
        index = destination.get_index() if destination is not None else None
        if index is not None:
            found.append((int(index), int(item.level) + 1, clean(item.get_title() or "").strip()))
    return found


def _by_pypdf(name: str, data: bytes, damaged: UnreadableFile) -> list[list[LayoutLine]]:
    """Text by pypdf, for files pdfium cannot read. Raises the given error if pypdf fails too."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        pages = list(PdfReader(BytesIO(data), strict=False).pages)
        if len(pages) > MOST_PAGES:
            raise _too_many(name, len(pages))
        texts = [page.extract_text() for page in pages]
    except damage(PyPdfError, DependencyError) as error:
        raise damaged from error
    if not texts:
        raise damaged
    return [[LayoutLine(line) for line in clean(text).split("\n")] for text in texts]


def _damaged(name: str) -> tuple[str, str]:
    return f"'{name}' is cut short or damaged: its pages cannot be found.", "Download or export it again."


def _too_many(name: str, count: int) -> FileTooCostly:
    problem = f"'{name}' has {count:,} pages; {MOST_PAGES:,} is the most one file may have."
    return FileTooCostly(problem, "Split it.", Cure.OTHER_FILE)
