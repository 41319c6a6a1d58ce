"""Text recognition of pictures of pages by Tesseract, where it is installed; each page in a process of its own.

R. Smith (2007), "An Overview of the Tesseract OCR Engine", ICDAR. Its answer is hOCR: lines with their places, words
with how sure it is of each.
"""

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from statistics import median
from time import monotonic
from typing import Any

from core.ingest.extract.clean import clean
from core.ingest.extract.layout import Line

__all__ = ["INSTALL", "MOST_PIXELS", "Picture", "Recognised", "Recognition", "installed", "recognised"]

INSTALL = "Install Tesseract (text recognition) where files are read, then read this one again"
MOST_PIXELS = 40_000_000
_PAGE_SECONDS = 60.0
_LEAST_SECONDS = 5.0
_AT_ONCE = 2
_PREFERRED = ("eng", "deu", "fra", "spa", "ita", "por", "nld")
_MOST_LANGUAGES = 4
_NO_LANGUAGE = frozenset({"osd", "equ", "snum"})
_LINES = ("ocr_line", "ocr_header", "ocr_caption", "ocr_textfloat")
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
_SURE_LINE = 30.0
_SURE_SIGN = 60.0
_SAME_SIZE = 0.25


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as a picture: a file in a format Tesseract reads, and its dots per inch."""

    data: bytes
    dots_per_inch: int


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was read on a picture. sure: the mean over its words, 0 … 100. turned: by how many quarters, clockwise, the
    picture must be turned to stand upright."""

    lines: tuple[Line, ...]
    sure: float
    turned: int = 0


@dataclass(frozen=True, slots=True)
class Recognition:
    """What came of many pages: by number what was read; late: those there was no time for, or that took too long."""

    pages: dict[int, Recognised]
    late: tuple[int, ...]


def installed() -> str:
    """Where Tesseract is, "" when it is not installed."""
    return shutil.which("tesseract") or ""


def recognised(pictures: Iterable[tuple[int, Callable[[], Picture]]], seconds: float) -> Recognition:
    """Read pictures of pages, two at a time, as many as the seconds allow. Each is drawn, here, when its turn comes."""
    command = (*_alone(), installed(), "stdin", "stdout", "-l", _languages(installed()))
    deadline = monotonic() + seconds
    found: dict[int, Recognised] = {}
    late: list[int] = []
    waiting: deque[tuple[int, Future[Recognised | None]]] = deque()

    def take() -> None:
        number, future = waiting.popleft()
        read = future.result()
        if read is None:
            late.append(number)
        else:
            found[number] = read

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
    return Recognition(found, tuple(sorted(late)))


def _alone() -> tuple[str, ...]:
    """Two processes of one thread each read faster than one of many threads."""
    program = shutil.which("env")
    return (program, "OMP_THREAD_LIMIT=1") if program else ()


@cache
def _languages(program: str) -> str:
    """The languages read together: all that are installed, at most four, the likelier first."""
    run = subprocess.run([program, "--list-langs"], capture_output=True, text=True, check=False, timeout=_PAGE_SECONDS)
    names = [name.strip() for name in run.stdout.splitlines()[1:]]
    known = [name for name in names if name not in _NO_LANGUAGE and "/" not in name]
    first = [name for name in _PREFERRED if name in known]
    return "+".join([*first, *(name for name in sorted(known) if name not in first)][:_MOST_LANGUAGES]) or "eng"


def _read(command: tuple[str, ...], picture: Picture, seconds: float) -> Recognised | None:
    """What stands on a picture, read again upright when it lies on its side; None when it took too long or failed."""
    read = _once(command, picture, seconds)
    if read is None or not read.turned:
        return read
    upright = _once(command, Picture(_turned(picture.data, read.turned), picture.dots_per_inch), seconds)
    return upright if upright is not None and upright.sure >= read.sure else read


def _once(command: tuple[str, ...], picture: Picture, seconds: float) -> Recognised | None:
    told = (*command, "--dpi", str(picture.dots_per_inch), "--psm", "1", "hocr")
    try:
        run = subprocess.run(told, input=picture.data, capture_output=True, check=True, timeout=seconds)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return _told(run.stdout, picture.dots_per_inch)


def _turned(data: bytes, quarters: int) -> bytes:
    from PIL import Image

    out = BytesIO()
    with Image.open(BytesIO(data)) as picture:
        picture.rotate(-90 * quarters, expand=True).save(out, "PPM" if picture.mode in {"L", "RGB"} else "PNG")
    return out.getvalue()


def _told(hocr: bytes, dots_per_inch: int) -> Recognised:
    from lxml import html

    root = html.fromstring(hocr)
    page = next(iter(root.xpath("//*[@class='ocr_page']")), None)
    height = _values(page, "bbox")[3] if page is not None else 0.0
    lines: list[Line] = []
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
    return Recognised(tuple(_with_usual_size(lines)), sum(sure) / len(sure) if sure else 0.0, turned)


def _values(node: Any, name: str) -> list[float]:
    """The numbers that a property of an hOCR title holds: "bbox 10 20 300 45; x_wconf 96"."""
    for part in (node.get("title") or "").split(";"):
        key, _, values = part.strip().partition(" ")
        if key == name:
            return [float(value) for value in _NUMBERS.findall(values)]
    return []


def _is_word(word: Any) -> bool:
    """Not the specks and lines that are taken for signs."""
    text = "".join(word.itertext()).strip()
    return any(letter.isalnum() for letter in text) or (bool(text) and _values(word, "x_wconf")[0] >= _SURE_SIGN)


def _line(node: Any, words: list[Any], height: float, points: float) -> Line:
    """points: per dot. A hyphen that ends a line breaks a word."""
    text = clean(" ".join("".join(word.itertext()).strip() for word in words))
    left, _, _, bottom = _values(node, "bbox")
    size = (_values(node, "x_size") or [0.0])[0]
    if len(text) > 2 and text[-1] in "-\u2010" and text[-2].isalpha():
        text = f"{text[:-1]}\ufffe"
    rise = (_values(node, "baseline") or [0.0, 0.0])[-1]
    return Line(text, round(size * points, 1), False, left * points, (height - bottom - rise) * points)


def _with_usual_size(lines: list[Line]) -> list[Line]:
    """Letters about as large as most are as large as most: measured sizes vary from line to line."""
    sizes = [line.size for line in lines for _ in range(len(line.text))]
    usual = median(sizes) if sizes else 0.0
    return [
        Line(line.text, usual, False, line.left, line.base)
        if abs(line.size - usual) <= _SAME_SIZE * usual
        else Line(line.text, float(round(line.size)), False, line.left, line.base)
        for line in lines
    ]
