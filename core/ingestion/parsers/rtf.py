"""Parses RTF with striprtf; keeps table rows, and headings marked by style or outline level. Drops deleted and hidden
text; writes footnotes and text boxes at the end.

Other headings are detected as in plain text, because RTF only stores their appearance.
"""

import re
from collections.abc import Iterator

from core.domain.errors import EmptyFile, UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter, write_blocks, write_rows
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.ooxml import clean_metadata
from core.ingestion.parsers.plain_text import read_text
from core.ingestion.parsers.raised import LOWERED, RAISED, in_line, marked
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["read_rtf", "rtf_text"]

_LEVEL = re.compile(r"\\outlinelevel([0-5])(?!\d) ?|\\s(\d{1,4})(?!\d) ?")
_STYLE = re.compile(r"\{\\s(\d{1,4})\b[^{}]*?(?:heading|überschrift|titre|título|kop) ?([1-6])\s*;\}", re.I)
_OLD_NUMBER = re.compile(r"\{\\pntext(?![a-zA-Z])")
"""The group of a list number as WordPad and Word 95 write it, which striprtf leaves out."""
_NUMBERED = re.compile(r"\s*\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\t")
_CODE_PAGE = re.compile(rb"\\ansicpg(\d{3,5})")
_MARK = 0xE0F0  # first of six heading marks, in the Unicode private use area
_HEADING = re.compile(rf"[{chr(_MARK)}-{chr(_MARK + 5)}]")
_INFORMATION = re.compile(r"\{\\info\b(?:[^{}]|\{[^{}]*\})*\}")
_FIELD = re.compile(r"\{\\(title|author|subject|keywords)\b ?([^{}]*)\}")
_CREATED = re.compile(r"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_TOKEN = re.compile(r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]|[{}]|[^\\{}]+|\\", re.S)
_UNSEEN = frozenset({"deleted", "v", "mvf"})  # tracked deletion, hidden, moved from here
_NOTES = frozenset({"footnote", "shptxt"})  # destinations that striprtf ignores
_LEVELS = {"super": RAISED, "sub": LOWERED}
_NUMBER = re.compile(r"[\s\d.,+–−-]+")
_TREATED = re.compile(r"\\(?:deleted|v|mvf|footnote|shptxt|super|sub)(?![a-zA-Z])")
_SIGNS = frozenset("u line tab emdash endash emspace enspace qmspace bullet lquote rquote ldblquote rdblquote".split())


def read_rtf(name: str, data: bytes) -> ExtractedDocument:
    """Text and blocks of an RTF file. Raises EmptyFile or UnreadableFile."""
    source = _source(data)
    text = rtf_text(name, source)
    if not text.strip():
        raise EmptyFile(f"'{name}' contains no text.", "If it holds pictures of pages, save it as PDF and upload that.")
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
    return ExtractedDocument(pages, blocks, FileKind.RTF, title=title, metadata=metadata, warnings=warnings)


def _source(data: bytes) -> str:
    """The file as text; non-ASCII bytes, usually escaped, are decoded with its declared code page."""
    page = _CODE_PAGE.search(data)
    try:
        return data.decode(f"cp{page[1].decode('ascii')}" if page else "cp1252", "replace")
    except LookupError:
        return data.decode("cp1252", "replace")


def rtf_text(name: str, source: str) -> str:
    """The text of RTF: one line per paragraph, "|" after cells, a private mark before outline headings."""
    from striprtf.striprtf import rtf_to_text

    levels = {number: int(level) - 1 for number, level in _STYLE.findall(source)}

    def with_mark(found: re.Match[str]) -> str:
        level = int(found[1]) if found[1] else levels.get(found[2])
        return found.group() if level is None else rf"{found.group().strip()}\u{_MARK + level - 0x10000}? "

    try:
        source = source if r"\listtext" in source else _OLD_NUMBER.sub(r"{\\listtext", source)
        shown = _LEVEL.sub(with_mark, _shown(source))
        words: str = rtf_to_text(shown, errors="replace")  # type: ignore[no-untyped-call]
        return in_line(clean(words))
    except damage() as error:
        raise UnreadableFile(
            f"'{name}' is damaged: {error}.", "Save it again from the program that made it."
        ) from error


def _shown(source: str) -> str:
    """RTF without deleted and hidden text, its footnotes and text boxes as paragraphs at the end."""
    if not _TREATED.search(source):
        return source
    body: list[str] = []
    notes: list[str] = []
    out, unseen, mark = body, frozenset[str](), ""
    groups: list[tuple[list[str], frozenset[str], str]] = []
    position = 0
    while token := _TOKEN.match(source, position):
        position = token.end()
        text, word = token.group(), token[1]
        if text == "{":
            groups.append((out, unseen, mark))
        elif text == "}" and groups:
            if out is notes and groups[-1][0] is not notes:
                notes.append("}")
            out, unseen, mark = groups.pop()
            if not groups:
                break
        elif word == "bin":
            position += max(0, int(token[2] or 0))
            continue
        elif word in _UNSEEN:
            unseen = unseen - {word} if token[2] == "0" else unseen | {word}
        elif word in _LEVELS or word == "nosupersub":
            mark = _LEVELS.get(word, "") if token[2] != "0" else ""
        elif word == "plain":
            unseen, mark = frozenset(), ""
        elif word in _NOTES and not unseen and out is body:
            notes.append(r"\par {")
            out, mark = notes, ""
            continue
        is_text = word in _SIGNS or (word is None and text not in {"{", "}", r"\*"})
        if mark and _NUMBER.fullmatch(text):
            text = "".join(rf"\u{ord(sign) - 0x10000}?" if sign > "\ud800" else sign for sign in marked(mark, text))
        if not (unseen and is_text):
            out.append(text)
    return "".join([*body, "}" * (len(groups) - 1), *notes, "}"])


def _stretches(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Groups of lines, alternating between table rows and other lines."""
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
    """Writes each line as its own paragraph, as in the file."""
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
    fields: dict[str, object] = {
        key: rtf_text("", f"{{\\rtf1 {value}}}") for key, value in _FIELD.findall(found.group())
    }
    if created := _CREATED.search(found.group()):
        fields["published"] = f"{created[1]}-{int(created[2]):02}-{int(created[3]):02}"
    return clean_metadata(**fields)
