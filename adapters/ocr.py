"""OCR of page images by Tesseract, where it is installed; each page in a process of its own.

R. Smith (2007), "An Overview of the Tesseract OCR Engine", ICDAR. The output is hOCR: lines with positions, words
with confidences.
"""

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from statistics import median
from time import monotonic
from typing import Any

from core.domain.extraction import LayoutLine
from core.ingestion.parsers.text_cleaning import clean
from core.ports.reader import OcrPage, OcrRun, PageImage

__all__ = ["TesseractOcr", "installed_ocr"]

_PAGE_SECONDS = 60.0  # per page. Chosen by hand.

_LEAST_SECONDS = 5.0  # per page, even close to the deadline. Chosen by hand, not fitted.

_AT_ONCE = 2  # processes in parallel. Chosen by hand.

_PREFERRED = ("eng", "deu", "fra", "spa", "ita", "por", "nld")

_MOST_LANGUAGES = 4  # each language makes Tesseract slower. Chosen by hand.

_NO_LANGUAGE = frozenset({"osd", "equ", "snum"})

_LINES = ("ocr_line", "ocr_header", "ocr_caption", "ocr_textfloat")

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")

_SURE_LINE = 30.0  # least mean word confidence of a line, 0 … 100. Chosen by hand, not fitted.

_SURE_SIGN = 60.0  # least confidence of a word without letters or digits, 0 … 100. Chosen by hand, not fitted.

_SAME_SIZE = 0.25  # relative difference from the usual letter size. Chosen by hand, not fitted.


def installed_ocr() -> "TesseractOcr | None":
    """Tesseract where it is installed, else None."""
    program = shutil.which("tesseract")
    return TesseractOcr(program) if program else None


@dataclass(frozen=True, slots=True)
class TesseractOcr:
    """core.ports.reader.TextRecognizer over the Tesseract program at this path."""

    program: str

    def recognise(self, pictures: Iterable[tuple[int, Callable[[], PageImage]]], seconds: float) -> OcrRun:
        """Recognise page images, two at a time, until the seconds are used up. Each image is drawn here when its turn
        comes."""
        command = (*_single_threaded(), self.program, "stdin", "stdout", "-l", _languages(self.program))
        deadline = monotonic() + seconds
        pages: dict[int, OcrPage] = {}
        late: list[int] = []
        waiting: deque[tuple[int, Future[OcrPage | None]]] = deque()

        def take() -> None:
            number, future = waiting.popleft()
            read = future.result()
            if read is None:
                late.append(number)
            else:
                pages[number] = read

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for number, draw in pictures:
                if monotonic() > deadline:
                    late.append(number)
                    continue
                while len(waiting) > _AT_ONCE:
                    take()
                limit = max(_LEAST_SECONDS, min(_PAGE_SECONDS, deadline - monotonic()))
                waiting.append((number, pool.submit(_read, command, draw(), limit)))
            while waiting:
                take()
        return OcrRun(pages, tuple(sorted(late)))


def _single_threaded() -> tuple[str, ...]:
    """Environment for one thread per process: two such processes are faster than one with many threads."""
    program = shutil.which("env")
    return (program, "OMP_THREAD_LIMIT=1") if program else ()


@lru_cache(maxsize=8)
def _languages(program: str) -> str:
    """All installed languages, at most four, the likeliest first."""
    run = subprocess.run([program, "--list-langs"], capture_output=True, text=True, check=False, timeout=_PAGE_SECONDS)
    names = [name.strip() for name in run.stdout.splitlines()[1:]]
    known = [name for name in names if name not in _NO_LANGUAGE and "/" not in name]
    first = [name for name in _PREFERRED if name in known]
    return "+".join([*first, *(name for name in sorted(known) if name not in first)][:_MOST_LANGUAGES]) or "eng"


def _read(command: tuple[str, ...], picture: PageImage, seconds: float) -> OcrPage | None:
    """The text of an image, repeated upright when it lies on its side; None when it took too long or failed."""
    read = _run_tesseract(command, picture, seconds)
    if read is None or not read.turned:
        return read
    upright = _run_tesseract(command, PageImage(_rotated(picture.data, read.turned), picture.dots_per_inch), seconds)
    return upright if upright is not None and upright.sure >= read.sure else read


def _run_tesseract(command: tuple[str, ...], picture: PageImage, seconds: float) -> OcrPage | None:
    arguments = (*command, "--dpi", str(picture.dots_per_inch), "--psm", "1", "hocr")
    try:
        run = subprocess.run(arguments, input=picture.data, capture_output=True, check=True, timeout=seconds)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return _parsed(run.stdout, picture.dots_per_inch)


def _rotated(data: bytes, quarters: int) -> bytes:
    from PIL import Image

    out = BytesIO()
    with Image.open(BytesIO(data)) as picture:
        picture.rotate(-90 * quarters, expand=True).save(out, "PPM" if picture.mode in {"L", "RGB"} else "PNG")
    return out.getvalue()


def _parsed(hocr: bytes, dots_per_inch: int) -> OcrPage:
    from lxml import html

    root = html.fromstring(hocr)
    page = next(iter(root.xpath("//*[@class='ocr_page']")), None)
    height = _values(page, "bbox")[3] if page is not None else 0.0
    lines: list[LayoutLine] = []
    sure: list[float] = []
    angles: list[float] = []
    for node in root.iter("span"):
        if node.get("class") in _LINES:
            words = [word for word in node.iter("span") if word.get("class") == "ocrx_word" and _is_word(word)]
            known = [_values(word, "x_wconf")[0] for word in words]
            if known and sum(known) / len(known) >= _SURE_LINE:
                lines.append(_line(node, words, height, 72 / dots_per_inch))
                sure += known
                angles.append((_values(node, "textangle") or [0.0])[0])
    turned = round(median(angles) / 90) % 4 if angles else 0
    return OcrPage(tuple(_with_usual_size(lines)), sum(sure) / len(sure) if sure else 0.0, turned)


def _values(node: Any, name: str) -> list[float]:
    """The numbers of a property in an hOCR title: "bbox 10 20 300 45; x_wconf 96"."""
    for part in (node.get("title") or "").split(";"):
        key, _, values = part.strip().partition(" ")
        if key == name:
            return [float(value) for value in _NUMBERS.findall(values)]
    return []


def _is_word(word: Any) -> bool:
    """False for specks and lines that Tesseract takes for characters."""
    text = "".join(word.itertext()).strip()
    return any(letter.isalnum() for letter in text) or (bool(text) and _values(word, "x_wconf")[0] >= _SURE_SIGN)


def _line(node: Any, words: list[Any], height: float, points: float) -> LayoutLine:
    """points: per dot. A hyphen that ends a line breaks a word."""
    text = clean(" ".join("".join(word.itertext()).strip() for word in words))
    left, _, _, bottom = _values(node, "bbox")
    size = (_values(node, "x_size") or [0.0])[0]
    if len(text) > 2 and text[-1] in "-\u2010" and text[-2].isalpha():
        text = f"{text[:-1]}\ufffe"
    rise = (_values(node, "baseline") or [0.0, 0.0])[-1]
    return LayoutLine(text, round(size * points, 1), False, left * points, (height - bottom - rise) * points)


def _with_usual_size(lines: list[LayoutLine]) -> list[LayoutLine]:
    """Snap letter sizes near the most common size to it, because measured sizes vary from line to line."""
    sizes = [line.size for line in lines for _ in range(len(line.text))]
    usual = median(sizes) if sizes else 0.0
    return [
        LayoutLine(line.text, usual, False, line.left, line.base)
        if abs(line.size - usual) <= _SAME_SIZE * usual
        else LayoutLine(line.text, float(round(line.size)), False, line.left, line.base)
        for line in lines
    ]
