"""Traceability: the evidence behind each requirement, and policies and configuration that no requirement asks for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.coverage.detection.detector import Detector
from core.coverage.gaps import score_in_words
from core.coverage.requirements import modality_of
from core.domain.coverage import Board, Cell, CellState, GapKind, Orphan, Topic, TopicOrigin
from core.domain.documents import Passage, TableRole
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile
from core.formats.csv import csv_text
from core.knowledge.gaps import evidence_row
from core.ports.catalogue import Catalogue
from core.search.citations.cite import QuotableKind, citation_of, quotables

__all__ = ["TRACED", "TraceRow", "orphans", "orphans_csv", "trace", "trace_csv"]

TRACED = (GapKind.REGULATORY, GapKind.COMPLIANCE, GapKind.REFERENCE, GapKind.REALITY, GapKind.CONFIGURATION)
"""Columns of the matrix: regulation, policy, guidance, data, configuration."""

_HOLES = (CellState.GAP, CellState.PARTIAL, CellState.SUSPECT)
_LOOKED_AT = 100  # passages per requirement and leg. Chosen by hand: more than say one thing in most libraries.
_READ_AT_ONCE = 500  # passages, some megabytes. Chosen by hand.


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One requirement with its cells, in TRACED order. holes: the columns without sufficient evidence."""

    topic: Topic
    cells: tuple[Cell, ...]

    @property
    def holes(self) -> tuple[GapKind, ...]:
        return tuple(cell.kind for cell in self.cells if cell.state in _HOLES)


def trace(board: Board) -> tuple[TraceRow, ...]:
    """One row per requirement of the board, in the board's order."""
    shown = set(board.kinds)
    kinds = [kind for kind in TRACED if kind in shown]
    return tuple(
        TraceRow(topic, tuple(board.cell(topic, kind) for kind in kinds))
        for topic in board.topics
        if topic.origin is TopicOrigin.REQUIREMENT
    )


def trace_csv(rows: Iterable[TraceRow]) -> str:
    """The matrix as CSV: requirement, sentence, document, page, then state, score and best sentence per column."""
    kinds = [column for kind in TRACED for column in (kind.value, f"{kind.value} score", f"{kind.value} evidence")]
    lines: list[list[object]] = [["requirement", "modality", "sentence", "document", "page", *kinds]]
    for row in rows:
        source = row.topic.source
        where = [source.quote, source.document_name, source.page] if source else ["", "", None]
        row_cells: list[object] = [row.topic.name, row.topic.modality.value if row.topic.modality else "", *where]
        by_kind = {cell.kind: cell for cell in row.cells}
        for kind in TRACED:
            cell = by_kind.get(kind)
            best = next(iter(cell.evidence), None) if cell else None
            evidence = f"{best.quote} ({best.document_name})" if best else ""
            row_cells += [cell.state.value, score_in_words(cell.evidence_score), evidence] if cell else ["", "", ""]
        lines.append(row_cells)
    return csv_text(lines)


def orphans(
    detector: Detector,
    catalogue: Catalogue,
    topics: Sequence[Topic],
    project: str | None,
    *,
    now: datetime,
    profile: ScoreProfile,
) -> tuple[Orphan, ...]:
    """Policy sections that state a rule, and configuration tables, that no requirement among the topics asks for.

    One per section, in reading order: its best evidence score for any requirement, the score of the matrix, stays below
    the partial threshold. Empty without requirements to compare with. Raises StoreFailed, ModelUnavailable.
    """
    requirements = [topic for topic in topics if topic.origin is TopicOrigin.REQUIREMENT]
    if not requirements:
        return ()
    found: dict[tuple[int, str], Orphan] = {}
    reached: set[tuple[int, str]] = set()
    for kind in (GapKind.COMPLIANCE, GapKind.CONFIGURATION):
        best: dict[int, tuple[float, Topic]] = {}
        weighed = detector.weighed(requirements, kind, now=now, profile=profile, project=project, most=_LOOKED_AT)
        for topic, items in zip(requirements, weighed, strict=True):
            for item in items:
                if item.score > best.get(item.passage.id, (-1.0, topic))[0]:
                    best[item.passage.id] = item.score, topic
        for passage in _rules(catalogue, kind, project):
            key = passage.document_id, passage.section or f"#{passage.id}"
            score, nearest = best.get(passage.id, (0.0, None))
            if score >= evidence_row(profile).partial:
                reached.add(key)
            elif key not in found or found[key].score < score:
                found[key] = _orphan(catalogue, passage, kind, nearest, score)
    return tuple(orphan for key, orphan in found.items() if key not in reached)


def _rules(catalogue: Catalogue, kind: GapKind, project: str | None) -> Iterator[Passage]:
    """The passages that can be orphans: those that state a rule, or are part of a configuration table."""
    projects = (project,) if project else ()
    filters = SearchFilters(truths=(kind.truth.value,), projects=projects, strict_labels=True)
    ids = sorted(catalogue.admissible(filters).tolist())
    for at in range(0, len(ids), _READ_AT_ONCE):
        for passage in catalogue.passages(ids[at : at + _READ_AT_ONCE]).values():
            setup = passage.table_role is TableRole.SETUP
            if setup if kind is GapKind.CONFIGURATION else passage.rows is None and _rule(passage) is not None:
                yield passage


def _rule(passage: Passage) -> int | None:
    """Index of the first sentence of a passage that states a rule."""
    parts = (part for part in quotables(passage) if part.kind is QuotableKind.SENTENCE)
    return next((part.index for part in parts if modality_of(part.span.of(passage.text))), None)


def _orphan(catalogue: Catalogue, passage: Passage, kind: GapKind, nearest: Topic | None, score: float) -> Orphan:
    document = catalogue.document(passage.document_id)
    index = _rule(passage) or 0
    return Orphan(citation_of(passage, document, index), kind, passage.section, nearest, score)


def orphans_csv(found: Iterable[Orphan]) -> str:
    """Orphans as CSV, one per line."""
    lines: list[list[object]] = [["kind", "document", "page", "section", "sentence", "nearest requirement", "score"]]
    for each in found:
        where = [each.citation.document_name, each.citation.page, each.section, each.citation.quote]
        nearest = each.nearest.name if each.nearest else ""
        lines.append([each.kind.value, *where, nearest, score_in_words(each.score)])
    return csv_text(lines)
