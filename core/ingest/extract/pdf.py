"""PDF: text, letter sizes and places of lines by pdfium; metadata and encryption by pypdf, which also steps in.

Hyphens at line ends: pdfium marks where a word was broken by a hyphen. Such a word is put together again, once, here,
so that what is searched, quoted and stored is the same text; the hyphen stays when the document also writes the word
with it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from ctypes import byref, c_double, c_ushort
from io import BytesIO
from typing import Any

from core.documents import Page
from core.errors import EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile
from core.ingest.extract.clean import clean, garbled
from core.ingest.extract.detect import FileKind
from core.ingest.extract.layout import Line, lay_out
from core.ingest.extract.values import Extracted

__all__ = ["MOST_PAGES", "read_pdf"]

MOST_PAGES = 5_000
_MOST_PAGE_LETTERS = 500_000
_BROKEN_WORD = re.compile(r"([^\W\d_]+)\ufffe\n?([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LINE = re.compile("[^\\r\\n\x02\ufffe]*[\x02\ufffe]|[^\\r\\n\x02\ufffe]+")
_PDF_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?")
_NO_TITLE = re.compile(r"^(microsoft word|microsoft powerpoint|untitled|print|document\d*$|slide \d)|\.\w{2,5}$", re.I)


def read_pdf(name: str, data: bytes) -> Extracted:
    """Raises EncryptedFile, EmptyFile, FileTooCostly or UnreadableFile."""
    metadata = _metadata(name, data)
    outline: list[tuple[int, int, str]] = []
    warnings: list[str] = []
    try:
        pages, outline = _by_pdfium(name, data)
    except UnreadableFile as damaged:
        pages = _by_pypdf(name, data, damaged)
        warnings.append("The file is damaged; its text was read by a second reader and may have holes.")
    if not any(line.text.strip() for page in pages for line in page):
        raise EmptyFile(
            f"'{name}' holds no text, only pictures of its {len(pages)} page(s) – probably a scan.",
            "Run text recognition (OCR) on it, then upload the result.",
        )
    texts, blocks = lay_out(_mended(pages), outline)
    warnings += _page_warnings(texts)
    title = metadata.get("title", "")
    return Extracted(
        pages=tuple(Page(number, text) for number, text in enumerate(texts, start=1)),
        blocks=tuple(blocks),
        media_type=FileKind.PDF,
        paged=True,
        title="" if _NO_TITLE.search(title) or len(title) < 4 else title,
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _by_pdfium(name: str, data: bytes) -> tuple[list[list[Line]], list[tuple[int, int, str]]]:
    """Lines per page, and the outline as (page index, level from 1, title)."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise _encrypted(name) from error
        raise UnreadableFile(*_damaged(name)) from error
    try:
        if len(document) > MOST_PAGES:
            raise _too_many(name, len(document))
        pages = [_page_lines(document, index) for index in range(len(document))]
        if not pages:
            raise UnreadableFile(*_damaged(name))
        return pages, _outline(document)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(*_damaged(name)) from error
    finally:
        document.close()


def _page_lines(document: Any, index: int) -> list[Line]:
    page = document[index]
    text_page = page.get_textpage()
    try:
        count = min(text_page.count_chars(), _MOST_PAGE_LETTERS)
        letters = _letters(text_page, count)
        return [_line(text_page, found.group(), found.start()) for found in _LINE.finditer(letters)]
    finally:
        text_page.close()
        page.close()


def _letters(text_page: Any, count: int) -> str:
    """The page's UTF-16 units as one character each, so that places in the string are pdfium's places.

    All at once; one by one when pdfium leaves some out.
    """
    import pypdfium2.raw as raw

    buffer = (c_ushort * (count + 1))()
    if raw.FPDFText_GetText(text_page, 0, count, buffer) == count + 1:
        return "".join(map(chr, buffer[:count]))
    units = (raw.FPDFText_GetUnicode(text_page, position) for position in range(count))
    return "".join(chr(unit) if unit <= 0xFFFF else "\ufffd" for unit in units)


def _line(text_page: Any, letters: str, offset: int) -> Line:
    """A line's text, and the size, weight and place of its first and last visible letters."""
    import pypdfium2.raw as raw

    text = letters.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x02", "\ufffe")
    visible = [offset + len(letters) - len(letters.lstrip()), offset + len(letters.rstrip("\x02\ufffe \t")) - 1]
    if not letters.strip():
        return Line(text)
    first, last = visible
    left, right, bottom, top = c_double(), c_double(), c_double(), c_double()
    raw.FPDFText_GetCharBox(text_page, first, byref(left), byref(right), byref(bottom), byref(top))
    weights = [raw.FPDFText_GetFontWeight(text_page, position) for position in (first, (first + last) // 2, last)]
    return Line(
        text,
        size=round(raw.FPDFText_GetFontSize(text_page, first), 1),
        bold=min(weights) >= 600,
        left=left.value,
        base=bottom.value,
    )


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


def _metadata(name: str, data: bytes) -> dict[str, str]:
    """Title, author, subject, keywords, published. Raises EncryptedFile for a file that asks for a password."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    found: dict[str, str] = {}
    try:
        reader = PdfReader(BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise _encrypted(name)
        information: Mapping[str, object] = reader.metadata or {}
        for key in ("Title", "Author", "Subject", "Keywords"):
            value = clean(str(information.get(f"/{key}", "") or "")).strip()
            if value:
                found[key.lower()] = value[:500]
        date = _PDF_DATE.match(str(information.get("/CreationDate", "") or ""))
        if date:
            found["published"] = "-".join(part for part in date.groups() if part)
    except (
        PyPdfError, DependencyError, ValueError, KeyError, TypeError, IndexError, AttributeError, OSError,
        RecursionError,
    ):  # fmt: skip
        return found  # damaged, or in a cipher pypdf lacks: pdfium may still read the text, or ask for the password
    return found


def _mended(pages: list[list[Line]]) -> list[list[Line]]:
    """Words broken at line ends put together; the second half moves up to the first."""
    known = Counter(word.lower() for page in pages for line in page for word in _WORD.findall(line.text))
    return [_mended_page(page, known) for page in pages]


def _mended_page(lines: list[Line], known: Counter[str]) -> list[Line]:
    mended: list[Line] = []
    for line in lines:
        text = clean(line.text.replace("\ufffe", "\ue0ff")).replace("\ue0ff", "\ufffe")
        if mended and mended[-1].text.endswith("\ufffe"):
            head, _, rest = text.lstrip().partition(" ")
            mended[-1] = mended[-1].with_text(_joined(mended[-1].text[:-1], head, known))
            if not rest.strip():
                continue
            text = rest
        mended.append(line.with_text(text.rstrip()))
    if mended and mended[-1].text.endswith("\ufffe"):
        mended[-1] = mended[-1].with_text(mended[-1].text[:-1] + "-")
    return [line.with_text(line.text.replace("\ufffe", "-")) for line in mended]


def _joined(before: str, after: str, known: Counter[str]) -> str:
    """The two halves of a word, with the hyphen or without, as the rest of the document writes it."""
    left = re.search(r"[^\W\d_]+$", before)
    right = re.match(r"[^\W\d_]+", after)
    if left is None or right is None or right.group()[0].isupper():
        return f"{before}-{after}"
    joined, hyphened = f"{left.group()}{right.group()}".lower(), f"{left.group()}-{right.group()}".lower()
    both_words = known[left.group().lower()] > 1 and known[right.group().lower()] > 1
    keep = known[hyphened] > known[joined] or (not known[joined] and both_words)
    return f"{before}-{after}" if keep else f"{before}{after}"


def _page_warnings(texts: Sequence[str]) -> list[str]:
    bare = [str(number) for number, text in enumerate(texts, start=1) if not text.strip()]
    odd = [str(number) for number, text in enumerate(texts, start=1) if garbled(text)]
    warnings = []
    if bare:
        warnings.append(f"{_pages(bare)} without text (pictures or blank); text recognition (OCR) may help.")
    if odd:
        warnings.append(f"{_pages(odd)} with unreadable characters: the file lacks the letters of its fonts.")
    return warnings


def _pages(numbers: Sequence[str]) -> str:
    shown = ", ".join(numbers[:10]) + (" …" if len(numbers) > 10 else "")
    return f"{len(numbers)} page{'s' if len(numbers) != 1 else ''} ({shown})"


def _damaged(name: str) -> tuple[str, str]:
    return f"'{name}' is cut short or damaged: its pages cannot be found.", "Download or export it again."


def _encrypted(name: str) -> EncryptedFile:
    return EncryptedFile(f"'{name}' is protected by a password.", "Save a copy without password and upload that.")


def _too_many(name: str, count: int) -> FileTooCostly:
    return FileTooCostly(f"'{name}' has {count:,} pages; {MOST_PAGES:,} is the most one file may have.", "Split it.")
