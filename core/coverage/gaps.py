"""Turns assessed cells into gaps with severity and recommendation, and computes coverage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import floor

from core.coverage.statements import adds_words
from core.domain.coverage import Board, Cell, CellState, CoverageRun, Gap, GapKind, Topic, TopicOrigin, topics_by_id
from core.domain.documents import Truth
from core.domain.results import Citation
from core.knowledge.gaps import SEVERITIES, EvidenceRow, GapTable, gap_table
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.citations.cite import display_quote

__all__ = [
    "ASSESSED",
    "as_needed",
    "assembled",
    "corpus_digest",
    "coverage_of",
    "gaps_of",
    "not_needed",
    "ordered_cells",
    "place_in_words",
    "score_beside_state",
    "score_in_words",
    "state_of",
]

ASSESSED = frozenset({CellState.COVERED, CellState.PARTIAL, CellState.GAP, CellState.SUSPECT, CellState.WAIVED})
"""States that count in coverage; errors and unassessed cells do not."""

_ASKING = (Truth.REGULATORY, Truth.COMPLIANCE, Truth.INTENT)
_HOLES = frozenset({CellState.PARTIAL, CellState.GAP})


def state_of(score: float, row: EvidenceRow | None = None) -> CellState:
    """Covered from 0.5 on, partial below it, gap below the partial threshold, unless `row` has other thresholds.

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
    """The cell after a change of the topic's needs or name since its assessment: what was found for a name with other
    words says nothing about this one."""
    if adds_words(now.name, then.name):
        cell = _unassessed(cell, f"Assessed as “{then.name}”; assess again.")
        return cell if cell.truth in now.needs else not_needed(cell)
    if cell.truth not in now.needs:
        return not_needed(cell)
    if cell.truth not in then.needs:
        return _unassessed(cell, "Needed since the last run: assess again.")
    if now.name != then.name:
        cell = replace(cell, reason=f"Assessed as “{then.name}”; assess again. {cell.reason}".strip())
    return cell


def _unassessed(cell: Cell, reason: str) -> Cell:
    """The cell without what was found."""
    blank = replace(cell, state=CellState.NOT_ASSESSED, evidence_score=0.0, evidence=(), near_misses=(), risks=())
    return replace(blank, needed=True, error="", reason=reason)


def not_needed(cell: Cell) -> Cell:
    """The cell of a truth its topic does not need: not assessed, with the evidence that was found all the same."""
    if cell.state is CellState.ERROR:
        cell = replace(cell, error="")
    reason = "Not needed for this topic." + (" Evidence was found all the same." if cell.evidence else "")
    return replace(cell, state=CellState.NOT_ASSESSED, near_misses=(), risks=(), needed=False, reason=reason)


def ordered_cells(run: CoverageRun, cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """A run's cells in the order of its topics, configuration cells adjusted.

    Missing configuration is a gap only where a regulation, a policy or a requirement asks for it; elsewhere the cell is
    not assessed.
    """
    by_topic: dict[int, dict[GapKind, Cell]] = {}
    for cell in cells:
        by_topic.setdefault(cell.topic_id, {})[cell.kind] = cell
    return tuple(
        _with_recommendation(row[kind], row)
        for topic in run.topics
        if (row := by_topic.get(topic.id))
        for kind in GapKind
        if kind in row
    )


def assembled(run: CoverageRun, cells: Iterable[Cell], terms: WorkspaceTerms) -> Board:
    """The board of a run's cells (see `ordered_cells`), with its gaps and its coverage."""
    ordered = ordered_cells(run, cells)
    return Board(
        topics=run.topics,
        cells=ordered,
        gaps=gaps_of(ordered, terms, topics_by_id(run.topics)),
        coverage=coverage_of(ordered),
        profile=run.profile,
        project=run.project,
        taken_at=run.finished_at or run.started_at,
        milliseconds=run.milliseconds,
        run_id=run.id,
        configuration_hash=run.configuration_hash,
        corpus_hash=corpus_digest(run.corpus),
    )


def _with_recommendation(cell: Cell, row: Mapping[GapKind, Cell]) -> Cell:
    if not cell.configuration or cell.state not in ASSESSED or _required_by(row.values()):
        return cell
    words = "No regulation, policy or requirement found asks for it."
    return replace(cell, state=CellState.NOT_ASSESSED, reason=words)


def _required_by(cells: Iterable[Cell]) -> Cell | None:
    """The covered cell that requires configuration, most binding truth first; None without one."""
    asking = {cell.truth: cell for cell in cells if not cell.configuration and cell.state is CellState.COVERED}
    return next((asking[truth] for truth in _ASKING if truth in asking), None)


def corpus_digest(corpus: Mapping[int, str]) -> str:
    """Hex digest of Catalogue.fingerprints: equal digests mean equal evidence; "" for an empty library."""
    lines = "\n".join(f"{document} {digest}" for document, digest in sorted(corpus.items()))
    return sha256(lines.encode()).hexdigest() if corpus else ""


def gaps_of(
    cells: Iterable[Cell], terms: WorkspaceTerms, topics: Mapping[int | str, Topic] | None = None
) -> tuple[Gap, ...]:
    """One gap per assessed cell below the threshold, worst first, then in the board's order.

    topics: topic id, or name for cells without one → topic; its jurisdiction goes into the recommendation.
    """
    cells, table, known = list(cells), gap_table(), topics or {}
    rows: dict[int | str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.topic_id or cell.topic, []).append(cell)
    found = [
        _gap(
            cell, known.get(cell.topic_id or cell.topic), _required_by(rows[cell.topic_id or cell.topic]), table, terms
        )
        for cell in cells
        if cell.state in _HOLES
    ]
    return tuple(sorted(found, key=lambda gap: SEVERITIES.index(gap.severity)))


def _gap(cell: Cell, topic: Topic | None, required_by: Cell | None, table: GapTable, terms: WorkspaceTerms) -> Gap:
    row = table.row(cell.kind)
    jurisdiction = place_in_words(topic.jurisdiction if topic and cell.kind is GapKind.REGULATORY else None, terms)
    name = f"“{cell.topic}”" if topic and topic.origin is TopicOrigin.REQUIREMENT else cell.topic
    request = f"{row.obtain}{f' for {jurisdiction}' if jurisdiction else ''} on {name}"
    sentences = _recommendation(cell, name, required_by, f"Obtain {request}; ask {row.source}.")
    return Gap(cell.topic, cell.truth, row.severity, sentences, cell.configuration, request, row.source, cell.topic_id)


def _recommendation(cell: Cell, name: str, required_by: Cell | None, obtain: str) -> str:
    by = _nearest(required_by.evidence) if required_by is not None and cell.configuration else ""
    sentences = [obtain]
    if cell.state is CellState.PARTIAL:
        sentences.insert(0, f"Existing sources mention {name} only in passing.")
    if by:
        names = sorted({citation.document_name for citation in cell.near_misses or cell.evidence})
        no_row = f"; no row in {', '.join(names)} covers it" if names else ""
        sentences.append(f"Required by {by}{no_row}.")
    nearest = _nearest(cell.near_misses or cell.evidence)
    sentences.append(f"Nearest: {nearest}." if nearest else "Nothing that was found comes near.")
    return " ".join(sentences)


def _nearest(citations: Sequence[Citation]) -> str:
    """The first quote with document and page, for display; "" without one."""
    if not citations:
        return ""
    first = citations[0]
    location = f", p. {first.page}" if first.page else f", row {first.rows[0]}" if first.rows else ""
    return f"“{_short(display_quote(first.quote))}” ({first.document_name}{location})"


def place_in_words(jurisdiction: str | None, terms: WorkspaceTerms) -> str:
    """A jurisdiction as text for a sentence; a state topic may also be answered at the federal level.

    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> [place_in_words(each, BUILT_IN_TERMS) for each in ("federal", "state:CA", None)]
    ['the US federal level', 'California or the US federal level', '']
    """
    kind = (jurisdiction or "").partition(":")[0]
    title = terms.jurisdictions.title(jurisdiction or "")
    words = {"": "", "global": "any country", "federal": "the US federal level", "country": title}
    return words.get(kind, f"{title} or the US federal level")


def score_in_words(score: float) -> str:
    """The score with two decimals, truncated, so that a score below the threshold never reads as the threshold.

    >>> score_in_words(0.4996), score_in_words(0.5)
    ('0.49', '0.50')
    """
    return f"{floor(score * 100 + 1e-9) / 100:.2f}"


def score_beside_state(state: CellState, score: float) -> str:
    """The score as text behind a blank, "" where it does not explain the state: a waiver is decided, not found.

    >>> score_beside_state(CellState.GAP, 0.1), score_beside_state(CellState.WAIVED, 0.1)
    (' 0.10', '')
    """
    return f" {score_in_words(score)}" if state in ASSESSED - {CellState.WAIVED} else ""


def _short(quote: str, longest: int = 160) -> str:
    tidy = " ".join(quote.split())
    return tidy if len(tidy) <= longest else f"{tidy[: longest - 1].rstrip()}…"
