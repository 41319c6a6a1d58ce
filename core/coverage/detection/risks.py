"""Risks of a cell (evidence that is old, superseded, not yet in force, gone or of another jurisdiction), and documents
behind gaps that could not be read or were not read yet."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from core.domain.coverage import Cell, CellState, CoverageRun, Risk, RiskKind, Topic
from core.domain.documents import Document, DocumentState, TemporalClass, Truth
from core.ingestion.parsers.file_kinds import READABLE
from core.knowledge.gaps import gap_table
from core.knowledge.workspace_terms import WorkspaceTerms
from core.text.lists import listed

__all__ = ["RiskReader", "series_of"]

_HOLES = (CellState.GAP, CellState.PARTIAL)
_FILLED = (CellState.COVERED, CellState.SUSPECT)
_AGEING = (Truth.REGULATORY, Truth.COMPLIANCE, Truth.REFERENCE)
_UNREADABLE = re.compile(r"(?i)no text|without text|garbled|scanned|not readable|could not be read|image")
_EDITION = re.compile(
    r"(?i)\b(?:19|20)\d\d\b|\b(?:v|version|rev|revision|edition|release)[\s._-]*\d+(?:[._]\d+)*\b|[\W_]+"
)
_DAYS_A_YEAR = 365.25


def series_of(document: Document) -> str:
    """A document's name without year, version and extension, so that editions of one text share it.

    >>> from core.domain.documents import Document, DocumentState
    >>> def named(name): return Document(1, name, "", 1, DocumentState.READY, None)
    >>> series_of(named("Pub_15-T (2024) v2.pdf")) == series_of(named("pub 15-T_2025.pdf"))
    True
    """
    stem = document.name.rpartition(".")[0] or document.name
    return _EDITION.sub(" ", stem.replace("_", " ")).strip().casefold()


@dataclass(frozen=True, slots=True)
class RiskReader:
    """Finds the risks of cells among the documents in scope. now: for the age of evidence. terms: for the names of
    jurisdictions."""

    documents: Sequence[Document]
    now: datetime
    terms: WorkspaceTerms

    def with_risks(self, cells: Sequence[Cell], topics: Mapping[int, Topic]) -> tuple[Cell, ...]:
        """The cells with their risks, replacing earlier ones."""
        by_id = {document.id: document for document in self.documents}
        newest = self._newest()
        cells_with_risks = []
        for cell in cells:
            risks: list[Risk] = []
            if cell.state in _FILLED and cell.evidence:
                risks += self._of_evidence(cell, topics.get(cell.topic_id), by_id, newest)
            cells_with_risks.append(replace(cell, risks=tuple(risks)))
        return tuple(cells_with_risks)

    def _newest(self) -> Mapping[str, Document]:
        """Series → its document with the latest date that has come."""
        newest: dict[str, Document] = {}
        for document in self.documents:
            key = series_of(document)
            dated = document.date is not None and document.state is DocumentState.READY and len(key) > 3
            dated = dated and not self._in_future(document)
            if dated and (key not in newest or _date(document) > _date(newest[key])):
                newest[key] = document
        return newest

    def unread(self, cells: Sequence[Cell]) -> tuple[str, ...]:
        """Names of the documents that could not be read in full and may hold what a gap misses.

        A kind of file without text, such as a program, contains no evidence and is not among them.
        """
        missing = {cell.truth.value for cell in cells if cell.state in _HOLES}
        return tuple(
            document.name
            for document in self.documents
            if (document.labels.truth.value in missing or (missing and document.labels.truth.value is None))
            and (
                (document.state is DocumentState.FAILED and document.remedy != READABLE)
                or any(_UNREADABLE.search(warning) for warning in document.warnings)
            )
        )

    def waiting(self, cells: Sequence[Cell], run: CoverageRun) -> int:
        """Number of documents not read yet when the run assessed these cells; 0 without a gap among them.

        Such a document was uploaded before the run ended, is not in its corpus, and was read since or still waits. Of a
        run stored without its corpus: those that wait now.
        """
        if not any(cell.state in _HOLES for cell in cells):
            return 0
        if not run.configuration_hash:
            return sum(_waits(document) for document in self.documents)
        ended = run.finished_at or run.started_at
        return sum(
            document.uploaded_at <= ended and document.id not in run.corpus and (_waits(document) or _is_read(document))
            for document in self.documents
        )

    def _of_evidence(
        self, cell: Cell, topic: Topic | None, by_id: Mapping[int, Document], newest: Mapping[str, Document]
    ) -> list[Risk]:
        """Risks that apply to all evidence of a covered cell: one sound sentence is enough to have none."""
        documents = [by_id[citation.document_id] for citation in cell.evidence if citation.document_id in by_id]
        risks = []
        if not documents:
            names = sorted({citation.document_name for citation in cell.evidence})
            were = "was" if len(names) == 1 else "were"
            risks.append(Risk(RiskKind.REMOVED, f"{listed(names)} {were} deleted, archived or moved; assess again."))
        if documents and cell.truth in _AGEING and all(map(self._in_future, documents)):
            first = min(documents, key=_date)
            risks.append(
                Risk(RiskKind.NOT_IN_FORCE, f"Its evidence, {first.name}, takes effect on {first.date:%Y-%m-%d}.")
            )
        if documents and cell.truth in _AGEING and all(self._old(document) for document in documents):
            best = max(documents, key=_date)
            when = f"is of {best.date:%Y}" if best.date else "calls itself historical"
            risks.append(Risk(RiskKind.OUT_OF_DATE, f"Its newest evidence, {best.name}, {when}."))
        later = [(d, newest.get(series_of(d))) for d in documents]
        if documents and all(new is not None and _date(new) > _date(old) for old, new in later):
            old, new = later[0]
            words = (
                f"{old.name} has a newer edition in the library, {new.name if new else ''}, which is not evidence here."
            )
            risks.append(Risk(RiskKind.SUPERSEDED, words))
        jurisdictions = {citation.jurisdiction for citation in cell.evidence}
        if (
            topic is not None
            and topic.jurisdiction
            and not any(_fits(jurisdiction, topic.jurisdiction) for jurisdiction in jurisdictions)
        ):
            found = ", ".join(
                sorted(self.terms.jurisdictions.title(jurisdiction) for jurisdiction in jurisdictions if jurisdiction)
            )
            expected = self.terms.jurisdictions.title(topic.jurisdiction)
            risks.append(
                Risk(RiskKind.WRONG_JURISDICTION, f"The topic is about {expected}, its evidence about {found}.")
            )
        return risks

    def _in_future(self, document: Document) -> bool:
        return document.date is not None and document.date > self.now

    def _old(self, document: Document) -> bool:
        if document.labels.temporal_class.value == TemporalClass.HISTORICAL.value:
            return True
        age = timedelta(days=gap_table().evidence.old_years * _DAYS_A_YEAR)
        return document.date is not None and self.now - document.date > age


def _waits(document: Document) -> bool:
    return document.state is DocumentState.PENDING and not document.passages


def _is_read(document: Document) -> bool:
    return document.state is not DocumentState.FAILED and document.passages > 0


def _date(document: Document) -> datetime:
    return document.date or datetime.min.replace(tzinfo=UTC)


def _fits(jurisdiction: str | None, expected: str) -> bool:
    """Whether evidence from one jurisdiction applies to another; evidence without one applies everywhere."""
    national = ("federal", "country:US")
    if jurisdiction is None or jurisdiction == expected or jurisdiction == "global":
        return True
    return jurisdiction in national and (expected.startswith("state:") or expected in national)
