"""Pictures of pages – scans, photos, faxes – as PNG, JPEG or TIFF: one page each, a TIFF as many as it holds."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from core.documents import Page
from core.errors import Cure, EmptyFile, FileTooCostly, UnreadableFile, UnsupportedFile
from core.ingest.extract.clean import garbled
from core.ingest.extract.hyphens import mended
from core.ingest.extract.kinds import FileKind, spoken
from core.ingest.extract.layout import lay_out
from core.ingest.extract.ocr import INSTALL, MOST_PIXELS, Picture, installed, recognised
from core.ingest.extract.recognition import recognition_warnings
from core.ingest.extract.values import Extracted

__all__ = ["read_picture"]

_USUAL_INCHES = 11.0
"""Of a page's longer side, where a picture does not say how large it is."""
_TRUSTED_DOTS = (100, 1200)
_MOST_PAGES = 1_000


def read_picture(name: str, data: bytes, kind: FileKind, seconds: float) -> Extracted:
    """Raises EmptyFile, FileTooCostly, UnreadableFile, or UnsupportedFile where no text recognition is installed."""
    count = _checked(name, data, kind)
    if not installed():
        said = f"'{name}' is {spoken(kind)}; without text recognition it cannot be read."
        raise UnsupportedFile(said, f"{INSTALL}.", Cure.AGAIN)
    frames = [(number, _drawing(data, number)) for number in range(1, count + 1)]
    try:
        found = recognised(frames, seconds * 0.8)
    except (OSError, ValueError, SyntaxError) as error:
        raise _damaged(name, kind) from error
    pages = [list(found.pages[at].lines) if at in found.pages else [] for at in range(1, count + 1)]
    if not any(line.text.strip() for page in pages for line in page):
        told = " in time" if found.late else ""
        raise EmptyFile(
            f"'{name}' is {spoken(kind)} on which no text could be recognised{told}.",
            "If it shows a page, scan it again: upright, at 300 dots per inch.",
            Cure.AGAIN if found.late else None,
        )
    texts, blocks = lay_out(mended(pages), ())
    warnings = recognition_warnings(found, texts, [at for at, text in enumerate(texts, start=1) if garbled(text)])
    read = tuple(Page(number, text) for number, text in enumerate(texts, start=1))
    return Extracted(read, tuple(blocks), kind, paged=count > 1, warnings=tuple(warnings))


def _checked(name: str, data: bytes, kind: FileKind) -> int:
    """How many pages a picture holds. Its size is looked at before it is unpacked."""
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
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError) as error:
        raise _damaged(name, kind) from error
    return count


def _too_large(name: str, what: str) -> FileTooCostly:
    hint = "Scan it at 300 dots per inch, or split it."
    return FileTooCostly(f"'{name}' holds {what}, more than can be read.", hint, Cure.OTHER_FILE)


def _damaged(name: str, kind: FileKind) -> UnreadableFile:
    return UnreadableFile(f"'{name}' is {spoken(kind)} that is damaged.", "Save or scan it again.")


def _drawing(data: bytes, number: int) -> Callable[[], Picture]:
    def draw() -> Picture:
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
        return Picture(out.getvalue(), max(dots, 70))

    return draw


def _dots_per_inch(told: Any, size: tuple[int, int]) -> int:
    """What the picture says, when that can be true of a scan; else as of a page of letter size."""
    least, most = _TRUSTED_DOTS
    stated = round(float(told[0])) if told else 0
    return stated if least <= stated <= most else round(max(size) / _USUAL_INCHES)
