"""Rich text (RTF): the words by striprtf; table rows stay rows, and what has a heading's style or outline level is one.

Other headings are told as in plain text, because RTF only says how they look.
"""

import re
from collections.abc import Iterator

from core.errors import EmptyFile, UnreadableFile
from core.ingest.extract.clean import clean
from core.ingest.extract.kinds import FileKind
from core.ingest.extract.package import kept
from core.ingest.extract.text import read_text
from core.ingest.extract.values import BlockKind, Extracted, PageWriter, write_blocks, write_rows

__all__ = ["read_rtf", "rtf_text"]

_LEVEL = re.compile(r"\\outlinelevel([0-5])(?!\d) ?|\\s(\d{1,4})(?!\d) ?")
_STYLE = re.compile(r"\{\\s(\d{1,4})\b[^{}]*?(?:heading|überschrift|titre|título|kop) ?([1-6])\s*;\}", re.I)
_NUMBERED = re.compile(r"\s*\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\t")
_CODE_PAGE = re.compile(rb"\\ansicpg(\d{3,5})")
_MARK = 0xE0F0
_BULLETS = str.maketrans("\uf0b7\uf0a7\uf0d8", "•▪➢")
"""Signs of symbol fonts, which Word writes for bullets."""
_HEADING = re.compile(rf"[{chr(_MARK)}-{chr(_MARK + 5)}]")
_INFORMATION = re.compile(r"\{\\info\b(?:[^{}]|\{[^{}]*\})*\}")
_FIELD = re.compile(r"\{\\(title|author|subject|keywords)\b ?([^{}]*)\}")
_CREATED = re.compile(r"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")


def read_rtf(name: str, data: bytes) -> Extracted:
    """Raises EmptyFile or UnreadableFile."""
    source = _source(data)
    text = rtf_text(name, source)
    if not text.strip():
        raise EmptyFile(f"'{name}' holds no text.", "If it holds pictures of pages, save it as PDF and upload that.")
    writer = PageWriter(1)
    for rows, stretch in _stretches(text):
        if rows:
            write_rows(writer, [line.removesuffix("|").split("|") for line in stretch])
        else:
            _write(writer, stretch, name)
    metadata = _metadata(source)
    warnings = () if source.rstrip().rstrip("\x00").endswith("}") else ("The file is cut short: its end is missing.",)
    title = metadata.get("title", "")
    pages, blocks = (writer.page(),), tuple(writer.blocks)
    return Extracted(pages, blocks, FileKind.RTF, title=title, metadata=metadata, warnings=warnings)


def _source(data: bytes) -> str:
    """The file as text; bytes beyond ASCII, which most programs escape, are in the code page it states."""
    page = _CODE_PAGE.search(data)
    try:
        return data.decode(f"cp{page[1].decode('ascii')}" if page else "cp1252", "replace")
    except LookupError:
        return data.decode("cp1252", "replace")


def rtf_text(name: str, source: str) -> str:
    """The words of RTF: a line per paragraph, cells ended by "|", a mark before what is on an outline level."""
    from striprtf.striprtf import rtf_to_text

    levels = {number: int(level) - 1 for number, level in _STYLE.findall(source)}

    def marked(found: re.Match[str]) -> str:
        level = int(found[1]) if found[1] else levels.get(found[2])
        return found.group() if level is None else rf"{found.group().strip()}\u{_MARK + level - 0x10000}? "

    try:
        words: str = rtf_to_text(_LEVEL.sub(marked, source), errors="replace")  # type: ignore[no-untyped-call]
        return clean(words.translate(_BULLETS))
    except (ValueError, LookupError, TypeError) as error:
        raise UnreadableFile(
            f"'{name}' is damaged: {error}.", "Save it again from the program that made it."
        ) from error


def _stretches(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Lines of a table together, and the lines between tables together."""
    lines: list[str] = []
    rows = False
    for line in text.split("\n"):
        is_row = line.rstrip().endswith("|")
        if is_row is not rows and lines:
            yield rows, lines
            lines = []
        rows = is_row
        lines.append(line.rstrip() if is_row else line)
    yield rows, lines


def _write(writer: PageWriter, lines: list[str], name: str) -> None:
    """Every line is a paragraph of its own, as the file has them."""
    waiting: list[str] = []
    for line in lines:
        if mark := _HEADING.search(line):
            write_blocks(writer, read_text(name, "\n\n".join(waiting)))
            waiting = []
            text = " ".join(_HEADING.sub("", line).split())
            writer.add(text, BlockKind.HEADING, level=ord(mark.group()) - _MARK + 1)
        elif _NUMBERED.match(line):
            write_blocks(writer, read_text(name, "\n\n".join(waiting)))
            waiting = []
            writer.add(" ".join(line.split()), BlockKind.ITEM)
        else:
            waiting.append(line.replace("\t", " "))
    write_blocks(writer, read_text(name, "\n\n".join(waiting)))


def _metadata(source: str) -> dict[str, str]:
    found = _INFORMATION.search(source)
    if found is None:
        return {}
    told: dict[str, object] = {key: rtf_text("", f"{{\\rtf1 {value}}}") for key, value in _FIELD.findall(found.group())}
    if created := _CREATED.search(found.group()):
        told["published"] = f"{created[1]}-{int(created[2]):02}-{int(created[3]):02}"
    return kept(**told)
