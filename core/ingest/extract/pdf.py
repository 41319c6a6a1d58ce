"""PDF: text, letter sizes and places by pdfium; pypdf steps in for damaged files, Tesseract for pictures of text.

Each page is looked at for itself: one that shows something and holds no text, or text that makes no sense, is read by
text recognition where that is installed; its text then has no places on the page.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from core.documents import Page
from core.errors import Cure, EmptyFile, FileTooCostly, UnreadableFile
from core.ingest.extract.clean import clean, garbled
from core.ingest.extract.hyphens import mended
from core.ingest.extract.kinds import FileKind
from core.ingest.extract.layout import Line, lay_out
from core.ingest.extract.ocr import INSTALL, MOST_PIXELS, Picture, Recognition, installed, recognised
from core.ingest.extract.page_order import in_order
from core.ingest.extract.pdf_about import about_pdf
from core.ingest.extract.pdf_words import printed_lines, rules
from core.ingest.extract.recognition import recognition_warnings
from core.ingest.extract.unlocking import needs_password
from core.ingest.extract.values import Block, BlockKind, Extracted

__all__ = ["MOST_PAGES", "read_pdf"]

MOST_PAGES = 5_000
_NO_TITLE = re.compile(r"^(microsoft word|microsoft powerpoint|untitled|print|document\d*$|slide \d)|\.\w{2,5}$", re.I)
_FEW_LETTERS = 20
"""Of a page that is taken for a picture when it shows anything else: a page number, a stamp."""
_SOME_LETTERS = 300
"""Of a page that is taken for a picture when one covers most of it."""
_MOST_OF_PAGE = 0.6
_MANY_PATHS = 30
"""Strokes of a page without text that may be letters drawn as outlines."""
_SCAN_DOTS = 300
_LEAST_SURE = 50.0
_TIME_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class _Read:
    """The pages' lines, and what text recognition did. pictured: numbers of the pages that show what has no text;
    odd: of those whose text makes no sense."""

    pages: list[list[Line]]
    outline: Sequence[tuple[int, int, str]] = ()
    pictured: tuple[int, ...] = ()
    odd: tuple[int, ...] = ()
    recognition: Recognition | None = None


def read_pdf(name: str, data: bytes, seconds: float = 300) -> Extracted:
    """seconds: what the file may take. Raises EncryptedFile, EmptyFile, FileTooCostly or UnreadableFile."""
    about = about_pdf(name, data)
    warnings: list[str] = []
    try:
        read = _by_pdfium(name, data, seconds)
    except UnreadableFile as damaged:
        read = _Read(_by_pypdf(name, data, damaged))
        warnings.append("The file is damaged: what a second reader made out is here, the rest could not be read.")
    if not about.fields and not any(line.text.strip() for page in read.pages for line in page):
        raise _without_text(name, read)
    texts, blocks = lay_out(mended(read.pages), read.outline)
    texts, blocks = _with_fields(texts, blocks, about.fields)
    warnings += recognition_warnings(read.recognition, texts, read.odd, read.pictured)
    if about.dynamic:
        warnings.append("It is a form of a kind (XFA) whose fields could not be read; print it to PDF, and add that.")
    title = about.metadata.get("title", "")
    return Extracted(
        pages=tuple(Page(number, text) for number, text in enumerate(texts, start=1)),
        blocks=tuple(blocks),
        media_type=FileKind.PDF,
        paged=True,
        title="" if _NO_TITLE.search(title) or len(title) < 4 else title,
        metadata=about.metadata,
        warnings=tuple(warnings),
    )


def _without_text(name: str, read: _Read) -> EmptyFile:
    count = len(read.pages)
    pages = "page" if count == 1 else f"{count:,} pages"
    if not read.pictured and not read.odd:
        return EmptyFile(
            f"'{name}' holds no text: its {pages} {'is' if count == 1 else 'are'} blank.", "Export it again."
        )
    said = f"'{name}' holds no text, only pictures of its {pages} – probably a scan"
    if read.recognition is None:
        return EmptyFile(f"{said}.", f"{INSTALL}, or upload a version that has text.", Cure.AGAIN)
    late = bool(read.recognition.late)
    told = "there was no time to recognise any" if late else "no text could be recognised on them"
    hint = "Scan it again: upright, at 300 dots per inch; split it when it is long."
    return EmptyFile(f"{said}; {told}.", hint, Cure.AGAIN if late else None)


def _by_pdfium(name: str, data: bytes, seconds: float) -> _Read:
    """Lines per page, the outline as (page index, level from 1, title), and what was recognised on pictures."""
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
        pages = [lines for lines, _ in looked]
        odd = tuple(at for at, (lines, _) in enumerate(looked, start=1) if garbled(_joined(lines)))
        pictured = tuple(at for at, (_, shows) in enumerate(looked, start=1) if shows and at not in odd)
        return _recognised(document, _Read(pages, _outline(document), pictured, odd), seconds * _TIME_SHARE)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(*_damaged(name)) from error
    finally:
        document.close()


def _joined(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)


def _page_lines(document: Any, index: int) -> tuple[list[Line], bool]:
    """A page's lines, and whether it shows more than they say."""
    page = document[index]
    text_page = page.get_textpage()
    try:
        printed, turns = printed_lines(text_page)
        letters = sum(len(word.text) for line in printed for word in line.words)
        return in_order(printed, rules(page, turns)), letters < _SOME_LETTERS and _is_pictured(page, letters)
    finally:
        text_page.close()
        page.close()


def _is_pictured(page: Any, letters: int) -> bool:
    """Whether a page is a picture of text, as far as can be told without looking: one that covers most of it; or, when
    it has hardly any text, any picture, or strokes enough to be letters."""
    import pypdfium2.raw as raw

    paths = covered = 0.0
    pictures = 0
    width, height = page.get_size()
    for shown in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH], max_depth=3):
        if shown.type == raw.FPDF_PAGEOBJ_PATH:
            paths += 1
            continue
        left, bottom, right, top = shown.get_bounds()
        pictures += 1
        covered += max(0.0, right - left) * max(0.0, top - bottom)
    if letters < _FEW_LETTERS:
        return pictures > 0 or paths >= _MANY_PATHS
    return bool(covered >= _MOST_OF_PAGE * width * height)


def _recognised(document: Any, read: _Read, seconds: float) -> _Read:
    """The pages with the text recognised on their pictures, where that says more than the page's own."""
    wanted = sorted({*read.pictured, *read.odd})
    if not wanted or not installed():
        return read
    found = recognised([(at, _drawing(document, at - 1)) for at in wanted], seconds)
    pages = list(read.pages)
    better: dict[int, Any] = {}
    for at, picture in found.pages.items():
        own = 0 if at in read.odd else len(_joined(pages[at - 1]).strip())
        if picture.sure >= _LEAST_SURE and len(_joined(picture.lines).strip()) > own:
            pages[at - 1], better[at] = list(picture.lines), picture
    odd = tuple(at for at in read.odd if at not in better)
    late = tuple(at for at in found.late if at in odd or len(_joined(pages[at - 1])) < _FEW_LETTERS)
    return replace(read, pages=pages, odd=odd, recognition=Recognition(better, late))


def _drawing(document: Any, index: int) -> Callable[[], Picture]:
    def draw() -> Picture:
        page = document[index]
        try:
            width, height = page.get_size()
            dots = min(_SCAN_DOTS, int((MOST_PIXELS / max(width * height / 72 / 72, 0.01)) ** 0.5))
            out = BytesIO()
            page.render(scale=max(dots, 20) / 72, grayscale=True).to_pil().save(out, "PPM")
            return Picture(out.getvalue(), max(dots, 70))
        finally:
            page.close()

    return draw


def _with_fields(
    texts: list[str], blocks: list[Block], fields: Mapping[int, Sequence[tuple[str, str]]]
) -> tuple[list[str], list[Block]]:
    """The pages with what their form fields are filled with, a line each, after their text."""
    if not fields:
        return texts, blocks
    told, added = list(texts), list(blocks)
    for at, filled in fields.items():
        for label, value in filled if at <= len(told) else ():
            start = len(told[at - 1]) + (2 if told[at - 1] else 0)
            told[at - 1] += ("\n\n" if told[at - 1] else "") + f"{label}: {value}"
            added.append(Block(at, start, len(told[at - 1]), BlockKind.ROW))
    return told, sorted(added, key=lambda block: (block.page, block.start))


def _outline(document: Any) -> list[tuple[int, int, str]]:
    found = []
    for item in document.get_toc(max_depth=6):
        destination = item.get_dest()
        index = destination.get_index() if destination is not None else None
        if index is not None:
            found.append((int(index), int(item.level) + 1, clean(item.get_title() or "").strip()))
    return found


def _by_pypdf(name: str, data: bytes, damaged: UnreadableFile) -> list[list[Line]]:
    """The text by pypdf, for files pdfium gives up on. Raises the given error when pypdf cannot either."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        pages = list(PdfReader(BytesIO(data), strict=False).pages)
        if len(pages) > MOST_PAGES:
            raise _too_many(name, len(pages))
        texts = [page.extract_text() for page in pages]
    except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, OSError, RecursionError) as error:
        raise damaged from error
    if not texts:
        raise damaged
    return [[Line(line) for line in clean(text).split("\n")] for text in texts]


def _damaged(name: str) -> tuple[str, str]:
    return f"'{name}' is cut short or damaged: its pages cannot be found.", "Download or export it again."


def _too_many(name: str, count: int) -> FileTooCostly:
    said = f"'{name}' has {count:,} pages; {MOST_PAGES:,} is the most one file may have."
    return FileTooCostly(said, "Split it.", Cure.OTHER_FILE)
