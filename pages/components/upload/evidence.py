"""What decided a document's labels: the quotes behind each, and the document's text in short with the quotes marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.documents import Document, EvidenceSource, Label
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.reading.text_blocks import blocks
from core.library.reading.text_marks import Mark, MarkKind, marked_texts
from pages.components import browser_scripts, labels
from pages.components.styles import truth_style
from pages.components.wording import shorten

__all__ = ["CHECKED_FIELDS", "Quote", "draw_quotes", "draw_text", "excerpts", "quotes_data", "quotes_of", "text_data"]

CHECKED_FIELDS = ("truth", "authority", "jurisdiction", "domain", "effective_date", "temporal_class")
"""The labels that are checked beside the text, the most important first."""
# Characters of the text in short, chosen by eye at 1280 pixels.
_OPENING = 1_200  # of its beginning
_AROUND = 320  # before and after a quote
_JOINED = 160  # what lies between two excerpts and is shorter is shown too
_LINE = 120  # so far may an excerpt grow to begin at a line
_LINES_MATTER = ("text/plain", "message/rfc822")  # as in the reading room; a line of a PDF ends where its page does
_TABLES = ("text/csv", "text/tab-separated-values", "spreadsheet", "ms-excel", "parquet")  # a line is a row
_MOST_QUOTE = 240  # of a quote in the list; the text shows it whole


@dataclass(frozen=True, slots=True)
class Quote:
    """One quoted piece of evidence. number: from 1, the same in the list and in the text; None: not found in the text.
    share: of what decided its label, in [0, 1]; None: unknown. supports: whether it is for the label's value."""

    field: str
    value: str
    words: str
    rule: str
    share: float | None
    supports: bool
    page: int | None = None
    start: int = 0
    number: int | None = None

    @property
    def end(self) -> int:
        """The character after it on its page."""
        return self.start + len(self.words)


def quotes_of(document: Document, texts: Mapping[int, str]) -> list[Quote]:
    """The quotes behind the labels that are checked, each with its place; the same words have one number."""
    found: list[Quote] = []
    numbers: dict[tuple[int, int, str], int] = {}
    for field in CHECKED_FIELDS:
        label: Label = getattr(document.labels, field)
        shares = labels.evidence_shares(label)
        value = label.value or label.runner_up
        for evidence in label.evidence:
            share = shares.get(evidence) if field in labels.LEARNED else None
            if not evidence.quote.strip() or (share is not None and share < labels.LEAST_SHARE):
                continue
            span = None if evidence.source is EvidenceSource.NAME else _span_of_quote(evidence.quote, texts)
            page, start = span or (None, 0)
            number = numbers.setdefault((*span, evidence.quote), len(numbers) + 1) if span else None
            supports = evidence.value == value
            rule = "file name" if evidence.source is EvidenceSource.NAME else evidence.rule
            found.append(Quote(field, evidence.value, evidence.quote, rule, share, supports, page, start, number))
    return found


def _span_of_quote(quote: str, texts: Mapping[int, str]) -> tuple[int, int] | None:
    for number, text in sorted(texts.items()):
        if (start := text.find(quote)) >= 0:
            return number, start
    return None


def excerpts(texts: Mapping[int, str], quotes: Sequence[Quote]) -> list[tuple[int, int, int]]:
    """What is shown of a text, in reading order: (page, start, end). Its opening, and what surrounds each quote.

    >>> quote = Quote("truth", "intent", "want", "", None, True, page=1, start=5_000, number=1)
    >>> excerpts({1: "we want " * 1_000}, [quote])
    [(1, 0, 1199), (1, 4680, 5322)]
    """
    first = next((number for number, text in sorted(texts.items()) if text.strip()), None)
    if first is None:
        return []
    spans = [(first, 0, _OPENING)]
    spans += [(each.page, each.start - _AROUND, each.end + _AROUND) for each in quotes if each.page is not None]
    found: list[tuple[int, int, int]] = []
    for page, start, end in sorted(spans):
        start, end = _at_words(texts[page], start, end)
        if found and found[-1][0] == page and start <= found[-1][2] + _JOINED:
            found[-1] = (page, found[-1][1], max(end, found[-1][2]))
        else:
            found.append((page, start, end))
    return found


def _at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The characters [start, end), from the beginning of a line or word to the end of a word."""
    start, end = max(0, start), min(len(text), end)
    line = text.rfind("\n", max(0, start - _LINE), start) + 1
    if start and line:
        start = line
    while 0 < start < len(text) and not text[start - 1].isspace() and start < end:
        start += 1
    while start < end < len(text) and not text[end].isspace():
        end -= 1
    return start, end


def text_data(document: Document, texts: Mapping[int, str], quotes: Sequence[Quote]) -> dict[str, Any]:
    """What is drawn of the text: its excerpts in blocks, each cut into runs [words, number of the quote, hint]."""
    marks: dict[Mark, tuple[int, str]] = {}
    for each in quotes:
        if each.page is None or each.number is None:
            continue
        kind = MarkKind.CITED if each.field == "truth" else MarkKind.NOTE
        mark = Mark(each.page, each.start, each.end, kind, "; ".join(_hints(each.number, quotes)))
        marks[mark] = (each.number, kind.value)
    unit = "Page" if document.paged else "Part"
    records = any(word in document.media_type for word in _TABLES)
    parts = []
    for page, start, end in excerpts(texts, quotes):
        here = [mark for mark in marks if mark.page == page]
        drawn = [
            [
                [run.text, *(marks[run.mark] if run.mark else (0, "")), run.mark.label if run.mark else ""]
                for run in marked_texts(texts[page], block.start, block.end, here)
            ]
            for block in blocks(texts[page], start, end, records=records)
        ]
        title = f"{unit} {page}" if document.paged or len(texts) > 1 else ""
        more = end < len(texts[page])
        parts.append({"title": title, "cut": start > 0, "more": more, "blocks": drawn})
    truth = truth_style(document.labels.truth.value or document.labels.truth.runner_up)
    lines = document.media_type in _LINES_MATTER
    return {"name": document.name, "colour": truth.colour, "lines": lines, "parts": parts}


def _hints(number: int, quotes: Sequence[Quote]) -> list[str]:
    """What the reader is told about a marked quote: the labels it speaks for."""
    return [f"{labels.field_title(each.field)}: {each.rule}" for each in quotes if each.number == number]


def quotes_data(document: Document, quotes: Sequence[Quote], terms: WorkspaceTerms) -> dict[str, Any]:
    """What is drawn of the reasons: for each label its value, how sure it is, why, and its quotes with their share."""
    groups = []
    for field in CHECKED_FIELDS:
        label: Label = getattr(document.labels, field)
        own = [_quote_data(each, terms) for each in quotes if each.field == field]
        why = labels.reasons(field, label, terms)
        if not own and not why:
            continue
        value = labels.value_title(field, label.value, terms) if label.value else "unknown"
        title = f"{labels.field_title(field)}: {value}"
        groups.append({"title": title, "certainty": labels.certainty(field, label, terms), "why": why, "quotes": own})
    return {"groups": groups}


def _quote_data(quote: Quote, terms: WorkspaceTerms) -> dict[str, Any]:
    other = "" if quote.supports else f"for {labels.value_title(quote.field, quote.value, terms)}"
    missing = "" if quote.number or quote.rule == "file name" else "not found in the text"
    return {
        "number": quote.number or 0,
        "words": shorten(quote.words, _MOST_QUOTE),
        "rule": " · ".join(filter(None, (quote.rule, other, missing))),
        "share": None if quote.share is None else round(quote.share, 3),
    }


def draw_text(document: Document, texts: Mapping[int, str], quotes: Sequence[Quote]) -> None:
    """The text in short; a click on a quote of the list brings its place into sight."""
    draw = browser_scripts.browser_component("fivefold_label_text", "upload/label_text.js")
    draw(key=f"check.text.{document.id}", data=text_data(document, texts, quotes))


def draw_quotes(document: Document, quotes: Sequence[Quote], terms: WorkspaceTerms) -> None:
    """The reasons of all labels."""
    draw = browser_scripts.browser_component("fivefold_label_quotes", "upload/label_quotes.js")
    draw(key=f"check.quotes.{document.id}", data=quotes_data(document, quotes, terms))
