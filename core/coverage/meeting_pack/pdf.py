"""The meeting pack as a PDF: metadata, map, gaps, decisions, changes, conflicts and evidence."""
# Longer than 300 lines: one function per part of the document, which share its fonts and tables.

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.coverage.board_view import about_in_words, kind_in_words, risks_in_words, share_in_words
from core.coverage.gaps import score_beside_state
from core.coverage.meeting_pack.pack import LEGEND, STATE_LOOKS, MeetingPack, cell_in_words
from core.coverage.meetings.meeting import Minutes
from core.coverage.meetings.minutes import day_in_words, people_in_words, terms_in_words
from core.domain.coverage import Board, Topic
from core.domain.results import Citation
from core.search.citations.cite import display_quote

__all__ = ["pack_pdf"]

_FONTS = Path(__file__).with_name("fonts")
_FONT = "DejaVu"
_BRAND, _INK, _QUIET, _LINE = (52, 85, 139), (31, 39, 51), (90, 98, 110), (221, 225, 231)
_SEVERITY = {"high": (168, 31, 44), "medium": (156, 54, 7), "low": _QUIET}
_MARGIN, _ROW, _HEAD_ROW = 14.0, 8.0, 11.0  # mm
_TOPIC_WIDTH = 72.0
_TOPIC_LINE = 3.6  # mm
_LEAST_BELOW = 70.0  # mm below a part's heading: itself, the table's head and a row of eight lines
_MOST_EVIDENCE = 400  # characters of a quote
_MOST_LINES = 34  # of a row: four fifths of a page, so that it fits also where it is broken otherwise
_SURE_PER_MM = 6  # characters that fit into 34 lines for each mm of a column, however they are broken
_PADDING = 4.0  # mm of a column that are not text, generously


def pack_pdf(pack: MeetingPack, on_page: Callable[[int], object] = lambda page: None) -> bytes:
    """The PDF's bytes, A4 landscape. A character missing from the font is printed as an empty box, never omitted.

    on_page: called with the number of each finished page, counted from 1; it may raise to give up.
    """
    sheet = _sheet(pack, on_page)
    _cover(sheet, pack)
    _map(sheet, pack.board)
    _gaps(sheet, pack)
    _changes(sheet, pack)
    for minutes in pack.minutes:
        _minutes(sheet, minutes)
    _conflicts(sheet, pack)
    _decisions(sheet, pack)
    _evidence(sheet, pack.board)
    return bytes(sheet.output())


def _sheet(pack: MeetingPack, on_page: Callable[[int], object]) -> Any:
    from fpdf import FPDF

    class PackPages(FPDF):
        """Pages with the pack's name and "n of m" in the footer."""

        def footer(self) -> None:
            self.set_y(-11)
            self.set_font(_FONT, size=7.5)
            self.set_text_color(*_QUIET)
            digest = pack.board.configuration_hash[:12]
            text = f"{pack.title} · {pack.board.taken_at:%Y-%m-%d %H:%M} UTC · settings {digest}"
            self.cell(0, 5, _printable(text))
            self.cell(0, 5, f"{self.page_no()} of {{nb}}", align="R")
            on_page(self.page_no())

    sheet = PackPages(orientation="landscape", format="A4", unit="mm")
    sheet.add_font(_FONT, "", _FONTS / "DejaVuSansCondensed.ttf")
    sheet.add_font(_FONT, "B", _FONTS / "DejaVuSansCondensed-Bold.ttf")
    sheet.set_margin(_MARGIN)
    sheet.set_auto_page_break(True, margin=_MARGIN)
    sheet.set_title(f"Coverage review – {_printable(pack.title)}")
    sheet.set_draw_color(*_LINE)
    sheet.add_page()
    return sheet


@cache
def _known() -> frozenset[int]:
    """The characters the font contains."""
    from fontTools.ttLib import TTFont

    with TTFont(_FONTS / "DejaVuSansCondensed.ttf") as font:
        return frozenset(font.getBestCmap())


def _printable(text: str) -> str:
    """One line of text; characters missing from the font become an empty box."""
    return "".join(letter if ord(letter) in _known() else "□" for letter in " ".join(text.split()))


def _ink(sheet: Any, colour: Sequence[int] = _INK, size: float = 9, style: str = "") -> None:
    sheet.set_font(_FONT, style, size)
    sheet.set_text_color(*colour)


def _heading(sheet: Any, text: str) -> None:
    if sheet.get_y() > sheet.h - _LEAST_BELOW:
        sheet.add_page()
    sheet.ln(6)
    _ink(sheet, _BRAND, 13, "B")
    sheet.cell(0, 8, text, new_x="LMARGIN", new_y="NEXT")
    sheet.ln(1)


def _cover(sheet: Any, pack: MeetingPack) -> None:
    _ink(sheet, _BRAND, 22, "B")
    sheet.cell(0, 12, "Coverage review", new_x="LMARGIN", new_y="NEXT")
    sheet.ln(2)
    for name, value in pack.facts:
        _ink(sheet, _QUIET, 9.5)
        sheet.cell(34, 5.6, name)
        _ink(sheet, _INK, 9.5)
        sheet.multi_cell(0, 5.6, _printable(value), align="L", new_x="LMARGIN", new_y="NEXT")
    sheet.ln(3)
    for severity, number in pack.gap_counts().items():
        _ink(sheet, _SEVERITY.get(severity, _INK), 10, "B")
        sheet.cell(34, 6, f"{number} {severity}")
    sheet.ln(6)


def _map(sheet: Any, board: Board) -> None:
    _heading(sheet, "Topics and truths")
    for words, style in LEGEND.items():
        _tile(sheet, f"{style.symbol} {words}", style.fill, style.ink, 29, 6, 7.5)
        sheet.set_x(sheet.get_x() + 2)
    sheet.ln(9)
    width = (sheet.epw - _TOPIC_WIDTH) / len(board.kinds)
    _map_head(sheet, board, width)
    for topic in board.topics:
        _ink(sheet, _INK, 8.5)
        name = _printable(topic.name)
        lines = sheet.multi_cell(_TOPIC_WIDTH - 2, _TOPIC_LINE, name, align="L", dry_run=True, output="LINES")
        height = max(_ROW, len(lines) * _TOPIC_LINE + 1.2)
        if sheet.will_page_break(height + 2):
            sheet.add_page()
            _map_head(sheet, board, width)
        _map_row(sheet, board, topic, lines, width, height)


def _map_head(sheet: Any, board: Board, width: float) -> None:
    top = sheet.get_y()
    for number, kind in enumerate(board.kinds):
        left = _MARGIN + _TOPIC_WIDTH + number * width
        _ink(sheet, _INK, 8.5, "B")
        sheet.set_xy(left, top)
        sheet.cell(width, 4.5, kind_in_words(kind), align="C")
        _ink(sheet, _QUIET, 7.5)
        sheet.set_xy(left, top + 4.5)
        sheet.cell(width, 4, share_in_words(board, kind), align="C")
    sheet.set_xy(_MARGIN, top + _HEAD_ROW)


def _map_row(sheet: Any, board: Board, topic: Topic, lines: Sequence[str], width: float, height: float) -> None:
    top = sheet.get_y()
    _ink(sheet, _INK, 8.5)
    for number, line in enumerate(lines):
        sheet.set_xy(_MARGIN, top + (height - 1.2 - len(lines) * _TOPIC_LINE) / 2 + number * _TOPIC_LINE)
        sheet.cell(_TOPIC_WIDTH - 2, _TOPIC_LINE, line)
    for number, kind in enumerate(board.kinds):
        cell = board.cell(topic, kind)
        style = STATE_LOOKS[cell.state]
        sheet.set_xy(_MARGIN + _TOPIC_WIDTH + number * width, top)
        words = cell_in_words(cell) + (" ⚠" if cell.risks else "")
        _tile(sheet, words, style.fill, style.ink, width - 1.2, height - 1.2, 8)
    sheet.set_xy(_MARGIN, top + height)


def _tile(sheet: Any, text: str, fill: str, ink: str, width: float, height: float, size: float) -> None:
    left, top = sheet.get_x(), sheet.get_y()
    sheet.set_fill_color(*bytes.fromhex(fill))
    sheet.rect(left, top, width, height, style="F", round_corners=True, corner_radius=1)
    _ink(sheet, bytes.fromhex(ink), size)
    sheet.cell(width, height, _printable(text), align="C")


def _table(sheet: Any, heads: Sequence[str], widths: Sequence[float], rows: Sequence[Sequence[str]]) -> None:
    from fpdf.fonts import FontFace

    _ink(sheet, _INK, 8)
    sheet.set_fill_color(255)  # a table fills its rows with the colour used last
    with sheet.table(
        col_widths=tuple(widths),
        line_height=4.2,
        padding=1.1,
        borders_layout="HORIZONTAL_LINES",
        text_align="LEFT",
        v_align="TOP",
        headings_style=FontFace(emphasis="BOLD", color=_QUIET),
    ) as table:
        table.row(list(heads))
        for row in (part for whole in rows for part in _parts(sheet, whole, widths)):
            line = table.row()
            for value in row:
                colour = _SEVERITY.get(value)
                line.cell(value, style=FontFace(color=colour, emphasis="BOLD") if colour else None)


def _parts(sheet: Any, row: Sequence[str], widths: Sequence[float]) -> Iterator[Sequence[str]]:
    """A row as rows that each fit on a page: the library refuses one that does not."""
    texts = [_printable(value) for value in row]
    if all(len(text) <= _SURE_PER_MM * width for text, width in zip(texts, widths, strict=True)):
        yield texts
        return
    columns = [
        sheet.multi_cell(width - _PADDING, 4.2, text, align="L", dry_run=True, output="LINES")
        for text, width in zip(texts, widths, strict=True)
    ]
    for start in range(0, max(map(len, columns)), _MOST_LINES):
        yield [" ".join(lines[start : start + _MOST_LINES]) for lines in columns]


def _gaps(sheet: Any, pack: MeetingPack) -> None:
    _heading(sheet, "What to obtain")
    if not pack.board.gaps:
        return _line(sheet, "No cell needs evidence.")
    decisions, rows = pack.current_decisions, []
    for gap in pack.board.gaps:
        topic = pack.board.topic_of(gap)
        decision = decisions.get((topic.id, gap.kind.value))
        owner = (decision.owner if decision else "") or topic.owner
        decided = decision.verdict.value if decision else ""
        due = str(decision.due) if decision and decision.due else ""
        rows.append((gap.severity, gap.topic, kind_in_words(gap.kind), gap.recommendation, owner, due, decided))
    heads = ("Severity", "Topic", "Missing", "What to obtain", "Owner", "Due", "Decision")
    return _table(sheet, heads, (15, 44, 23, 118, 22, 20, 27), rows)


def _changes(sheet: Any, pack: MeetingPack) -> None:
    if pack.changes is None:
        return None
    changes = pack.changes
    _heading(sheet, f"Since {_printable(changes.before.name) or f'{changes.before.started_at:%Y-%m-%d %H:%M}'}")
    shares = ["–" if each is None else f"{each:.0%}" for each in (changes.coverage_before, changes.coverage_after)]
    _line(sheet, f"{shares[0]} → {shares[1]} covered by what was found.")
    for words, names in (("New topics", changes.topics_added), ("Topics gone", changes.topics_gone)):
        if names:
            _line(sheet, f"{words}: {', '.join(names)}.")
    if not changes.cells:
        return _line(sheet, "No cell has changed.")
    rows = [
        (
            each.topic,
            kind_in_words(each.kind),
            f"{each.before.value}{score_beside_state(each.before, each.score_before)}" if each.before else "–",
            f"{each.after.value}{score_beside_state(each.after, each.score_after)}" if each.after else "–",
            each.why,
        )
        for each in changes.cells
    ]
    return _table(sheet, ("Topic", "Column", "Before", "After", "Why"), (55, 25, 26, 26, 137), rows)


# Long on purpose: the parts of the minutes, top to bottom.
def _minutes(sheet: Any, minutes: Minutes) -> None:
    _heading(sheet, f"Minutes: {_printable(minutes.title)}")
    _line(sheet, f"{minutes.started_at:%Y-%m-%d %H:%M}–{minutes.ended_at:%H:%M} UTC")
    _line(sheet, f"Presented by {people_in_words(minutes.presenters)}")
    came = [f"{each.name} ({each.joined_at:%H:%M}–{each.left_at:%H:%M})" for each in minutes.attendance]
    _line(sheet, f"Present: {people_in_words(came)}")
    if minutes.absent:
        _line(sheet, f"Absent: {people_in_words(minutes.absent)}")
    decided = [
        (
            each.decision.topic,
            about_in_words(each.decision.kind),
            " · ".join(
                filter(None, (f"{each.decision.verdict.value} by {each.decision.who}", *terms_in_words(each.decision)))
            ),
            " – ".join(filter(None, (each.decision.reason, each.decision.comment))),
            "  ".join(_cited(citation) for citation in each.quotes),
            people_in_words(each.decision.present),
        )
        for each in minutes.decisions
    ]
    if decided:
        heads = ("Topic", "Column", "Decided", "Reason and comment", "Quotes", "Present")
        _table(sheet, heads, (44, 22, 34, 44, 85, 40), decided)
    else:
        _line(sheet, "Nothing was decided.")
    sheet.ln(3)
    points = [
        (each.topic, about_in_words(each.kind), each.words, each.who, each.owner, str(each.due or ""))
        for each in minutes.points
    ]
    if points:
        heads = ("Topic", "Column", "Open point", "Raised by", "Owner", "Due")
        _table(sheet, heads, (60, 24, 95, 30, 30, 30), points)
    else:
        _line(sheet, "Nothing is left open.")
    for remark in minutes.remarks:
        proposes = f" proposes “{remark.verdict.value}”" if remark.verdict else ""
        _line(sheet, f"{remark.who}{proposes}: {remark.words} ({remark.topic}, {about_in_words(remark.kind_of_cell)})")


def _conflicts(sheet: Any, pack: MeetingPack) -> None:
    if not pack.conflicts:
        return
    _heading(sheet, "Conflicts")
    rows = [
        (
            f"{each.topic.name} – {each.words}",
            _cited(each.first.citation),
            _cited(each.second.citation),
            each.decision.verdict.value if each.decision else "open",
        )
        for each in pack.conflicts
    ]
    _table(sheet, ("Topic", "One says", "The other says", "Decision"), (60, 91, 91, 27), rows)


def _decisions(sheet: Any, pack: MeetingPack) -> None:
    _heading(sheet, "Decisions")
    if not pack.decisions:
        return _line(sheet, "Nothing has been decided yet.")
    rows = [
        (
            f"{each.at:%Y-%m-%d %H:%M}",
            each.who,
            each.topic,
            about_in_words(each.kind),
            each.verdict.value,
            " – ".join(filter(None, (each.reason, each.comment))),
            each.owner,
            day_in_words(each),
        )
        for each in reversed(pack.decisions)
    ]
    heads = ("When (UTC)", "Who", "Topic", "Column", "Decision", "Reason and comment", "Owner", "Due")
    return _table(sheet, heads, (28, 26, 56, 24, 34, 61, 20, 20), rows)


def _evidence(sheet: Any, board: Board) -> None:
    shown = [cell for cell in board.cells if cell.evidence or cell.near_misses]
    if not shown:
        return
    _heading(sheet, "Evidence")
    rows = [
        (
            cell.topic,
            kind_in_words(cell.kind),
            cell_in_words(cell),
            ("  ".join(map(_cited, cell.evidence)) or f"near miss: {_cited(cell.near_misses[0])}")
            + (f" ⚠ {risks_in_words(cell)}" if cell.risks else ""),
        )
        for cell in shown
    ]
    _table(sheet, ("Topic", "Column", "State", "Sentences"), (50, 24, 27, 168), rows)


def _cited(citation: Citation) -> str:
    quote = display_quote(citation.quote)
    cut = quote if len(quote) <= _MOST_EVIDENCE else f"{quote[: _MOST_EVIDENCE - 1].rstrip()}…"
    return f"“{cut}” ({citation.document_name}{f', p. {citation.page}' if citation.page else ''})"


def _line(sheet: Any, text: str) -> None:
    _ink(sheet, _INK, 9)
    sheet.multi_cell(0, 5, _printable(text), new_x="LMARGIN", new_y="NEXT")
