"""Parses page images (scans, photos, faxes) by OCR: PNG, JPEG, or TIFF with any number of pages."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from core.domain.documents import Page
from core.domain.errors import Cure, EmptyFile, FileTooCostly, UnreadableFile, UnsupportedFile
from core.domain.extraction import ExtractedDocument
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.file_kinds import FileKind, kind_name
from core.ingestion.parsers.layout import lay_out
from core.ingestion.parsers.page_notices import recognition_warnings
from core.ingestion.parsers.text_cleaning import garbled, mended
from core.ports.reader import INSTALL, MOST_PIXELS, PageImage, TextRecognizer

__all__ = ["read_picture"]

_USUAL_INCHES = 11.0
"""Assumed longer side of a page, US letter, if the image gives no resolution."""
_TRUSTED_DOTS = (100, 1200)  # Chosen by hand, not fitted.
_MOST_PAGES = 1_000  # Chosen by hand, not fitted.


def read_picture(
    name: str, data: bytes, kind: FileKind, seconds: float, ocr: TextRecognizer | None
) -> ExtractedDocument:
    """OCR text. Raises EmptyFile, FileTooCostly, UnreadableFile, or UnsupportedFile if OCR is not installed."""
    count = _checked(name, data, kind)
    if ocr is None:
        problem = f"'{name}' is {kind_name(kind)}; without text recognition it cannot be read."
        raise UnsupportedFile(problem, f"{INSTALL}.", Cure.AGAIN)
    frames = [(number, _drawing(data, number)) for number in range(1, count + 1)]
    try:
        found = ocr.recognise(frames, seconds * 0.8)
    except damage() as error:
        raise _damaged(name, kind) from error
    pages = [list(found.pages[at].lines) if at in found.pages else [] for at in range(1, count + 1)]
    if not any(line.text.strip() for page in pages for line in page):
        in_time = " in time" if found.late else ""
        raise EmptyFile(
            f"'{name}' is {kind_name(kind)} on which no text could be recognised{in_time}.",
            "If it shows a page, scan it again: upright, at 300 dots per inch.",
            Cure.AGAIN if found.late else None,
        )
    texts, blocks = lay_out(mended(pages), ())
    warnings = recognition_warnings(found, texts, [at for at, text in enumerate(texts, start=1) if garbled(text)])
    read = tuple(Page(number, text) for number, text in enumerate(texts, start=1))
    return ExtractedDocument(read, tuple(blocks), kind, paged=count > 1, warnings=tuple(warnings))


def _checked(name: str, data: bytes, kind: FileKind) -> int:
    """The number of pages of an image; checks its dimensions before decoding."""
    import warnings

    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings(action="ignore"), Image.open(BytesIO(data)) as picture:
            count = int(getattr(picture, "n_frames", 1))
            width, height = picture.size
            if width * height > 4 * MOST_PIXELS or count > _MOST_PAGES:
                raise _too_large(name, f"{count:,} pictures of {width:,} by {height:,} dots")
            picture.load()
    except Image.DecompressionBombError as error:
        raise _too_large(name, "a picture of hundreds of millions of dots") from error
    except damage(UnidentifiedImageError) as error:
        raise _damaged(name, kind) from error
    return count


def _too_large(name: str, what: str) -> FileTooCostly:
    hint = "Scan it at 300 dots per inch, or split it."
    return FileTooCostly(f"'{name}' holds {what}, more than can be read.", hint, Cure.OTHER_FILE)


def _damaged(name: str, kind: FileKind) -> UnreadableFile:
    return UnreadableFile(f"'{name}' is {kind_name(kind)} that is damaged.", "Save or scan it again.")


def _drawing(data: bytes, number: int) -> Callable[[], PageImage]:
    def draw() -> PageImage:
        import warnings

        from PIL import Image, ImageOps

        with warnings.catch_warnings(action="ignore"), Image.open(BytesIO(data)) as picture:
            picture.seek(number - 1)
            upright: Any = ImageOps.exif_transpose(picture).convert("L")
            dots = _dots_per_inch(picture.info.get("dpi"), upright.size)
        shrink = (upright.size[0] * upright.size[1] / MOST_PIXELS) ** 0.5
        if shrink > 1:
            upright = upright.resize((int(upright.size[0] / shrink), int(upright.size[1] / shrink)))
            dots = round(dots / shrink)
        out = BytesIO()
        upright.save(out, "PPM")
        return PageImage(out.getvalue(), max(dots, 70))

    return draw


def _dots_per_inch(resolution: Any, size: tuple[int, int]) -> int:
    """The declared resolution if plausible for a scan; else computed for a letter-size page."""
    least, most = _TRUSTED_DOTS
    stated = round(float(resolution[0])) if resolution else 0
    return stated if least <= stated <= most else round(max(size) / _USUAL_INCHES)
