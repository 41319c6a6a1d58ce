"""Traceability: the evidence behind each requirement, and policies and configuration that no requirement asks for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.coverage.detection.evidence import share_together, topic_stems, weigh_requirement, windows_of
from core.coverage.gaps import score_in_words
from core.coverage.requirements import modality_of
from core.domain.coverage import Board, Cell, CellState, GapKind, Orphan, Topic, TopicOrigin
from core.domain.documents import Passage, TableRole, Truth
from core.domain.filters import SearchFilters
from core.formats.csv import csv_text
from core.knowledge.gaps import gap_table
from core.ports.catalogue import Catalogue
from core.ports.stores import Embedder, VectorIndex
from core.search.citations.cite import QuotableKind, citation_of, quotables

__all__ = ["TRACED", "TraceRow", "orphans", "orphans_csv", "trace", "trace_csv"]

TRACED = (GapKind.REGULATORY, GapKind.COMPLIANCE, GapKind.REFERENCE, GapKind.REALITY, GapKind.CONFIGURATION)
"""Columns of the matrix: regulation, policy, guidance, data, configuration."""

_HOLES = (CellState.GAP, CellState.PARTIAL, CellState.SUSPECT)
_ORPHAN_KINDS = ((GapKind.COMPLIANCE, Truth.COMPLIANCE), (GapKind.CONFIGURATION, Truth.REALITY))


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
    rows = []
    for topic in board.topics:
        if topic.origin is TopicOrigin.REQUIREMENT:
            cells = tuple(board.cell(topic.name, kind) for kind in TRACED if kind in board.kinds)
            rows.append(TraceRow(topic, cells))
    return tuple(rows)


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
    catalogue: Catalogue, vectors: VectorIndex, embedder: Embedder, topics: Sequence[Topic], project: str | None
) -> tuple[Orphan, ...]:
    """Policy sections that state a rule, and configuration tables, that no requirement among the topics asks for.

    One per section, in reading order: its best evidence score for any requirement stays below the partial threshold.
    Empty without requirements to compare with. Raises StoreFailed, ModelUnavailable.
    """
    requirements = [topic for topic in topics if topic.origin is TopicOrigin.REQUIREMENT]
    if not requirements:
        return ()
    known = embedder.embed([topic.name for topic in requirements])
    stems = [topic_stems(topic.name) for topic in requirements]
    found: dict[tuple[int, str], Orphan] = {}
    reached: set[tuple[int, str]] = set()
    for kind, truth in _ORPHAN_KINDS:
        filters = SearchFilters(truths=(truth.value,), projects=(project,) if project else (), strict_labels=True)
        for ids, block in vectors.blocks(filters):
            passages = catalogue.passages(ids.tolist())
            for at, cosines in zip(ids.tolist(), block @ known.T, strict=True):
                passage = passages.get(at)
                if passage is None or not _rules(passage, kind):
                    continue
                key = passage.document_id, passage.section or f"#{passage.id}"
                nearest, score = _nearest(passage, stems, cosines)
                if score >= gap_table().evidence.partial:
                    reached.add(key)
                elif key not in found or found[key].score < score:
                    found[key] = _orphan(catalogue, passage, kind, requirements[nearest], score)
    return tuple(orphan for key, orphan in found.items() if key not in reached)


def _rules(passage: Passage, kind: GapKind) -> bool:
    """Whether a passage can be an orphan: it states a rule, or is part of a configuration table."""
    if kind is GapKind.CONFIGURATION:
        return passage.table_role is TableRole.SETUP
    return passage.rows is None and _rule(passage) is not None


def _rule(passage: Passage) -> int | None:
    """Index of the first sentence of a passage that states a rule."""
    parts = (part for part in quotables(passage) if part.kind is QuotableKind.SENTENCE)
    return next((part.index for part in parts if modality_of(part.span.of(passage.text))), None)


def _nearest(
    passage: Passage, requirements: Sequence[Sequence[str]], cosines: NDArray[np.float32]
) -> tuple[int, float]:
    """Index of the requirement with the highest evidence score for a passage, and that score in [0, 1]; else of the one
    with the highest cosine, and 0. asked: the stems of each requirement."""
    row, windows = gap_table().evidence, windows_of(passage)
    best, score = int(np.argmax(cosines)), 0.0
    for at in np.flatnonzero(cosines >= row.meaning_floor).tolist():
        weighed = weigh_requirement(passage, float(cosines[at]), share_together(windows, requirements[at]), row)
        if weighed.score > score:
            best, score = at, weighed.score
    return best, score


def _orphan(catalogue: Catalogue, passage: Passage, kind: GapKind, nearest: Topic, score: float) -> Orphan:
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
