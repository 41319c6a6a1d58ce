"""From judged cells to the list of holes: how bad each is, and what to obtain."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import floor

from core.boards import Board, Cell, CellState, Gap, GapKind, Run, Topic
from core.documents import Truth
from core.results import Citation
from core.search.quotable import shown_quote
from core.tables.gaps import SEVERITIES, EvidenceRow, GapTable, gap_table
from core.tables.jurisdictions import jurisdiction_title

__all__ = [
    "ASSESSED",
    "as_needed",
    "assembled",
    "corpus_digest",
    "coverage_of",
    "gaps_of",
    "place_in_words",
    "score_in_words",
    "state_of",
]

ASSESSED = frozenset({CellState.COVERED, CellState.PARTIAL, CellState.GAP, CellState.SUSPECT, CellState.WAIVED})
"""States that count in coverage; error and not assessed do not."""

_ASKING = (Truth.REGULATORY, Truth.COMPLIANCE, Truth.INTENT)
_HOLES = frozenset({CellState.PARTIAL, CellState.GAP})


def state_of(score: float, row: EvidenceRow | None = None) -> CellState:
    """Covered from 0.5 on, partial below it, gap below the partial threshold, unless `row` says otherwise.

    score: in [0, 1].

    >>> state_of(0.5).value, state_of(0.0).value
    ('covered', 'gap')
    """
    row = row or gap_table().evidence
    if score >= row.covered:
        return CellState.COVERED
    return CellState.PARTIAL if score >= row.partial else CellState.GAP


def coverage_of(cells: Iterable[Cell]) -> float | None:
    """covered ÷ assessed of the five truths, in [0, 1]; None when nothing could be assessed."""
    assessed = [cell for cell in cells if cell.state in ASSESSED and not cell.configuration]
    return sum(cell.state is CellState.COVERED for cell in assessed) / len(assessed) if assessed else None


def as_needed(cell: Cell, now: Topic, then: Topic) -> Cell:
    """The cell when what the topic needs was changed after it was judged."""
    if now.name != then.name:
        cell = replace(cell, reason=f"Assessed as “{then.name}”; assess again. {cell.reason}".strip())
    if cell.configuration or (cell.truth in now.needs) == (cell.truth in then.needs):
        return cell
    words = "Not needed for this topic." if cell.truth not in now.needs else "Needed since the last run: assess again."
    blank = replace(cell, state=CellState.NOT_ASSESSED, evidence_score=0.0, evidence=(), near_misses=(), risks=())
    return replace(blank, reason=words)


def assembled(run: Run, cells: Iterable[Cell]) -> Board:
    """The board of a run's cells, in the order of its topics: its gaps, its coverage, and what need not be configured.

    A set-up row is missing only where a regulation, a policy or a requirement asks for it; elsewhere nothing is
    assessed.
    """
    by_topic: dict[int, dict[GapKind, Cell]] = {}
    for cell in cells:
        by_topic.setdefault(cell.topic_id, {})[cell.kind] = cell
    ordered = [
        _asked_for(row[kind], row)
        for topic in run.topics
        if (row := by_topic.get(topic.id))
        for kind in GapKind
        if kind in row
    ]
    return Board(
        topics=run.topics,
        cells=tuple(ordered),
        gaps=gaps_of(ordered, {topic.name: topic for topic in run.topics}),
        coverage=coverage_of(ordered),
        profile=run.profile,
        project=run.project,
        taken_at=run.finished_at or run.started_at,
        milliseconds=run.milliseconds,
        run_id=run.id,
        configuration_hash=run.configuration_hash,
        corpus_hash=corpus_digest(run.corpus),
    )


def _asked_for(cell: Cell, row: Mapping[GapKind, Cell]) -> Cell:
    if not cell.configuration or cell.state not in ASSESSED or _required_by(row.values()):
        return cell
    words = "No regulation, policy or requirement found asks for it."
    return replace(cell, state=CellState.NOT_ASSESSED, reason=words)


def _required_by(cells: Iterable[Cell]) -> Cell | None:
    """The covered cell that asks for a set-up row, the most binding first; None when nothing does."""
    asking = {cell.truth: cell for cell in cells if not cell.configuration and cell.state is CellState.COVERED}
    return next((asking[truth] for truth in _ASKING if truth in asking), None)


def corpus_digest(corpus: Mapping[int, str]) -> str:
    """One hex digest of Catalogue.fingerprints: equal digests, equal evidence; "" of an empty library."""
    said = "\n".join(f"{document} {digest}" for document, digest in sorted(corpus.items()))
    return sha256(said.encode()).hexdigest() if corpus else ""


def gaps_of(cells: Iterable[Cell], topics: Mapping[str, Topic] | None = None) -> tuple[Gap, ...]:
    """One gap per assessed cell below the threshold, worst first, else in the board's order.

    topics: name → topic; its jurisdiction goes into the recommendation.
    """
    cells, table, known = list(cells), gap_table(), topics or {}
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.topic, []).append(cell)
    found = [
        Gap(
            cell.topic,
            cell.truth,
            table.row(cell.kind).severity,
            _recommendation(cell, known.get(cell.topic), table, _required_by(rows[cell.topic])),
            cell.configuration,
        )
        for cell in cells
        if cell.state in _HOLES
    ]
    return tuple(sorted(found, key=lambda gap: SEVERITIES.index(gap.severity)))


def _recommendation(cell: Cell, topic: Topic | None, table: GapTable, required_by: Cell | None) -> str:
    row = table.row(cell.kind)
    place = place_in_words(topic.jurisdiction if topic and cell.kind is GapKind.REGULATORY else None)
    by = _nearest(required_by.evidence) if required_by is not None and cell.configuration else ""
    obtain = f"Obtain {row.obtain}{f' for {place}' if place else ''} on {cell.topic};"
    said = [f"{obtain} ask {row.source}."]
    if cell.state is CellState.PARTIAL:
        said.insert(0, f"What is here only touches {cell.topic}.")
    if by:
        names = sorted({citation.document_name for citation in cell.near_misses or cell.evidence})
        no_row = f"; no row in {', '.join(names)} covers it" if names else ""
        said.append(f"Required by {by}{no_row}.")
    nearest = _nearest(cell.near_misses or cell.evidence)
    said.append(f"Nearest: {nearest}." if nearest else "Nothing in the library comes near.")
    return " ".join(said)


def _nearest(citations: Sequence[Citation]) -> str:
    """The first of the sentences, as one reads it, and where it stands; "" without one."""
    if not citations:
        return ""
    first = citations[0]
    place = f", p. {first.page}" if first.page else f", row {first.rows[0]}" if first.rows else ""
    return f"“{_short(shown_quote(first.quote))}” ({first.document_name}{place})"


def place_in_words(jurisdiction: str | None) -> str:
    """A jurisdiction for a sentence; a state's topic may also be answered federally.

    >>> place_in_words("federal"), place_in_words("state:CA"), place_in_words(None)
    ('the US federal level', 'California or the US federal level', '')
    """
    kind = (jurisdiction or "").partition(":")[0]
    title = jurisdiction_title(jurisdiction or "")
    words = {"": "", "global": "any country", "federal": "the US federal level", "country": title}
    return words.get(kind, f"{title} or the US federal level")


def score_in_words(score: float) -> str:
    """Two places, cut and not rounded, so that a score below the threshold never reads as the threshold.

    >>> score_in_words(0.4996), score_in_words(0.5)
    ('0.49', '0.50')
    """
    return f"{floor(score * 100 + 1e-9) / 100:.2f}"


def _short(quote: str, longest: int = 160) -> str:
    tidy = " ".join(quote.split())
    return tidy if len(tidy) <= longest else f"{tidy[: longest - 1].rstrip()}…"
