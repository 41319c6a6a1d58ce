"""Parses PowerPoint presentations: one page per slide, with title, contents in reading order, notes and
comments."""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from core.domain.errors import EmptyFile, UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.annotations import comment_text
from core.ingestion.parsers.blocks import PageWriter, write_rows
from core.ingestion.parsers.charts import write_chart
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.damaged_parts import read_undamaged_parts
from core.ingestion.parsers.equations import MATH, equation_text
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.layout import PlacedShape, in_reading_order
from core.ingestion.parsers.ooxml import check_package, core_metadata
from core.ingestion.parsers.package_types import as_ordinary_package
from core.ingestion.parsers.page_notices import which
from core.ingestion.parsers.raised import LOWERED, RAISED, in_line, marked
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["read_pptx"]

_MAIN_TYPE = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_NOT_CONTENT = frozenset({"DATE", "FOOTER", "SLIDE_NUMBER", "HEADER"})
_TITLES = frozenset({"TITLE", "CENTER_TITLE", "VERTICAL_TITLE"})
_BODIES = frozenset({"BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"})


def read_pptx(name: str, data: bytes) -> ExtractedDocument:
    """Text and blocks of a .pptx file. Raises EmptyFile, EncryptedFile, FileTooCostly or UnreadableFile."""
    from lxml.etree import LxmlError
    from pptx.exc import PythonPptxError

    check_package(name, data)
    errors = damage(PythonPptxError, LxmlError)
    try:
        return read_undamaged_parts(data, lambda package: _presentation(name, package), errors)
    except errors as error:
        raise UnreadableFile(
            f"'{name}' is damaged: its slides cannot be read ({type(error).__name__}).",
            "Save it again from PowerPoint.",
        ) from error


def _presentation(name: str, data: bytes) -> ExtractedDocument:
    """Raises EmptyFile, and what the libraries raise for a damaged file."""
    import pptx

    deck = pptx.Presentation(BytesIO(as_ordinary_package(data, _MAIN_TYPE)))
    described = any(each.reltype.endswith("/core-properties") for each in deck.part.package._rels.values())
    metadata = core_metadata(deck.core_properties) if described else {}  # python-pptx makes up what is missing
    slides = list(deck.slides)
    for slide in slides:
        _choose_alternatives(slide.element)
    writers = [_slide(slide, number) for number, slide in enumerate(slides, start=1)]
    authors = _authors(deck)
    for slide, writer in zip(slides, writers, strict=True):
        _comments(slide, authors, writer)
    hidden = [number for number, slide in enumerate(slides, start=1) if slide.element.get("show") == "0"]
    if not any(writer.blocks for writer in writers):
        raise EmptyFile(f"'{name}' contains no text.", "If its slides are pictures, export it as PDF and upload that.")
    pages = tuple(writer.page() for writer in writers)
    blocks = tuple(block for writer in writers for block in writer.blocks)
    title = metadata.get("title", "")
    title = "" if title.lower() in {"powerpoint presentation", "powerpoint-präsentation"} else title
    warnings = _warnings(writers, slides, hidden)
    return ExtractedDocument(
        pages, blocks, FileKind.PPTX, paged=True, title=title, metadata=metadata, warnings=warnings
    )


def _warnings(writers: Sequence[PageWriter], slides: Sequence[Any], hidden: Sequence[int]) -> tuple[str, ...]:
    pictures = [
        number
        for number, (writer, slide) in enumerate(zip(writers, slides, strict=True), start=1)
        if not writer.blocks and len(slide.shapes)
    ]
    warnings = []
    if pictures:
        warnings.append(f"{which(pictures, len(slides), 'slide')} no text that could be read, only pictures.")
    if hidden:
        warnings.append(f"{which(hidden, len(slides), 'slide', 'is', 'are')} hidden when it is shown; they were read.")
    return tuple(warnings)


def _slide(slide: Any, number: int) -> PageWriter:
    writer = PageWriter(number, f"Slide {number}")
    title = next((shape for shape in slide.shapes if _role(shape) in _TITLES), None)
    if title is not None:
        opening = _role(title) == "CENTER_TITLE"
        writer.add(" ".join(_text(title.text_frame).split()), BlockKind.HEADING, level=1 if opening else 2)
    others = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
    for shape in _ordered(others):
        _shape(shape, writer)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = _text(slide.notes_slide.notes_text_frame).strip()
        if notes:
            writer.add("Notes", BlockKind.HEADING, level=3)
            for line in notes.split("\n"):
                writer.add(line, BlockKind.PARAGRAPH)
    return writer


def _authors(deck: Any) -> dict[str, str]:
    """The names of those who commented, by their ids."""
    roots = [_root(each) for each in _related(deck.part, ("/commentAuthors", "/authors"))]
    return {each.get("id", ""): each.get("name", "") for root in roots for each in root}


def _related(part: Any, kinds: tuple[str, ...]) -> list[Any]:
    return [each.target_part for each in part.rels.values() if not each.is_external and each.reltype.endswith(kinds)]


def _root(part: Any) -> Any:
    from lxml.etree import XMLParser, fromstring

    return fromstring(part.blob, XMLParser(resolve_entities=False, no_network=True))


def _comments(slide: Any, authors: Mapping[str, str], writer: PageWriter) -> None:
    """Writes the comments on a slide and their replies."""
    for root in (_root(part) for part in _related(slide.part, ("/comments",))):
        for comment in root.iter("{*}cm", "{*}reply"):
            nodes = [*comment.iterfind("{*}text"), *comment.iterfind(f"{{*}}txBody//{_A}t")]
            words = " ".join(node.text or "" for node in nodes)
            author = authors.get(comment.get("authorId", ""), "")
            writer.add(comment_text(author, clean(words)), BlockKind.PARAGRAPH)


def _choose_alternatives(slide: Any) -> None:
    """Puts the first choice of shapes with alternatives, such as boxes with equations, in the place of both."""
    for node in [each for tree in slide.iter(f"{_P}spTree") for each in tree.iter(f"{_MC}AlternateContent")]:
        choice = node.find(f"{_MC}Choice")
        for shape in () if choice is None else list(choice):
            node.addprevious(shape)
        node.getparent().remove(node)


def _role(shape: Any) -> str:
    """The type of a placeholder ("TITLE", "BODY" …), "" for other shapes."""
    kind = shape.placeholder_format.type if shape.is_placeholder else None
    return "" if kind is None else str(kind.name)


def _ordered(shapes: Sequence[Any]) -> Iterator[Any]:
    """Shapes in reading order; those without a position come last, in file order."""
    content = [shape for shape in shapes if _role(shape) not in _NOT_CONTENT]
    placed = [shape for shape in content if None not in (shape.left, shape.top, shape.width, shape.height)]
    boxes = [PlacedShape(each.left, each.top, each.left + each.width, each.top + each.height) for each in placed]
    for index in in_reading_order(boxes):
        yield placed[index]
    known = {shape.shape_id for shape in placed}
    yield from (shape for shape in content if shape.shape_id not in known)


def _shape(shape: Any, writer: PageWriter) -> None:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
        for inner in _ordered(list(shape.shapes)):
            _shape(inner, writer)
    elif getattr(shape, "has_table", False) and shape.has_table:
        write_rows(writer, _table_lines(shape.table))
    elif getattr(shape, "has_chart", False) and shape.has_chart:
        write_chart(shape.chart._chartSpace, writer)
    elif shape.has_text_frame:
        _frame(shape, writer)
    else:
        _diagram(shape, writer)


def _table_lines(table: Any) -> list[list[str]]:
    """The rows of a table; a cell that spans rows is repeated in each, one of the first row in each column."""
    lines: list[list[str]] = []
    for row in table.rows:
        line: list[str] = []
        for at, cell in enumerate(row.cells):
            if cell._tc.vMerge and lines and at < len(lines[-1]):
                line.append(lines[-1][at])
            else:
                line.append(line[-1] if cell._tc.hMerge and line and not lines else _text(cell.text_frame))
        lines.append(line if lines or len(set(line)) > 1 else line[:1])
    return lines


def _frame(shape: Any, writer: PageWriter) -> None:
    """Writes a text frame: body paragraphs are items unless marked as unbulleted, others only if bulleted."""
    listed = _role(shape) in _BODIES
    for paragraph in shape.text_frame.paragraphs:
        text = _line(paragraph).strip()
        properties = paragraph._p.pPr
        marks = {child.tag for child in properties} if properties is not None else set()
        bullet = marks & {f"{_A}buChar", f"{_A}buAutoNum", f"{_A}buBlip"}
        if text and (bullet or (listed and f"{_A}buNone" not in marks)):
            writer.add(f"• {text}", BlockKind.ITEM, level=paragraph.level)
        else:
            writer.add(text, BlockKind.PARAGRAPH)


def _text(frame: Any) -> str:
    return "\n".join(map(_line, frame.paragraphs))


def _line(paragraph: Any) -> str:
    """The text of a paragraph, with equations."""
    parts = []
    for node in paragraph._p.iter(f"{_A}t", f"{_A}br", f"{MATH}oMath"):
        if node.tag == f"{_A}t":
            parts.append(_run_text(node))
        else:
            parts.append("\n" if node.tag == f"{_A}br" else equation_text(node))
    return in_line(clean("".join(parts)))


def _run_text(node: Any) -> str:
    properties = node.getparent().find(f"{_A}rPr")
    baseline = "0" if properties is None else properties.get("baseline", "0")
    if baseline.strip("0%") == "":
        return node.text or ""
    return marked(LOWERED if baseline.startswith("-") else RAISED, node.text or "")


def _diagram(shape: Any, writer: PageWriter) -> None:
    """Writes the text of a SmartArt diagram, which is in a separate package part."""
    for ids in shape.element.iter(f"{{{_DIAGRAM}}}relIds"):
        for point in _root(shape.part.related_part(ids.get(f"{_R}dm"))).iter(f"{{{_DIAGRAM}}}pt"):
            text = clean(" ".join("".join(line.itertext()) for line in point.iter(f"{_A}p"))).strip()
            writer.add(f"• {text}" if text else "", BlockKind.ITEM)
