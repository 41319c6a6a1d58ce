"""Relabels documents after a vocabulary change: previews of a text or a document, and runs over the whole library."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from core.domain.documents import LABEL_FIELDS, Document, DocumentState, Label, Origin, Page, Passage
from core.domain.errors import BadRequest, NotFound
from core.domain.queries import Chip
from core.domain.vocabulary import Vocabulary
from core.ingestion.classification.classifier import Classifier
from core.ingestion.classification.relabel import relabel
from core.ingestion.classification.sample import StoredReading
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.vocabulary.store import VocabularyRun, VocabularyStore
from core.ports.catalogue import Catalogue
from core.ports.job_queue import JobKind, JobQueue
from core.ports.stores import VectorIndex
from core.search.query.route import read_route

__all__ = [
    "FIELDS",
    "LabelOutcome",
    "RelabellingService",
    "VocabularyTrial",
    "changed_labels",
    "has_labels",
    "preview_document",
    "preview_text",
]

FIELDS = ("domain", "authority", "jurisdiction")
"""The labels a vocabulary has a say in."""

_PER_JOB = 25  # documents; then the job queues itself again, so that uploads get their turn in between


class RelabellingService:
    """Runs over the library in the background. A run can be stopped, counts its progress, and resumes after a crash."""

    def __init__(
        self,
        store: VocabularyStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        classifier: Classifier,
        reading: StoredReading,
        jobs: JobQueue,
        terms: Callable[[], WorkspaceTerms],
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._catalogue, self._vectors, self._classifier = store, catalogue, vectors, classifier
        self._reading, self._jobs, self._now, self._terms = reading, jobs, now, terms

    def start(self, who: str) -> VocabularyRun:
        """Start a run over all current documents; a run in progress is returned instead."""
        known = self._store.latest_application()
        if known is not None and known.ended is None:
            self._jobs.defer(JobKind.RELABEL, [known.id])
            return known
        documents = [each for each in self._catalogue.documents(archived=None) if has_labels(each)]
        newest = self._store.newest()
        begun = self._store.begin(
            VocabularyRun(
                version=newest.number if newest else 0,
                who=who.strip(),
                at=self._now(),
                total=len(documents),
                until=max((each.id for each in documents), default=0),
                ended=None if documents else self._now(),
            )
        )
        if documents:
            self._jobs.defer(JobKind.RELABEL, [begun.id])
        return self._store.application(begun.id)

    def latest(self) -> VocabularyRun | None:
        """The latest run with its progress; None when there was none."""
        return self._store.latest_application()

    def stop(self, application_id: int) -> None:
        """Stop a run after the current document; changed labels stay. Raises NotFound."""
        self._store.stop(application_id)
        self.carry_on(application_id)

    def carry_on(self, application_id: int) -> None:
        """Process the next documents of a run; called by jobs, idempotent."""
        run = self._store.application(application_id)
        if run.ended is not None:
            return
        last, terms = run.done + _PER_JOB, self._terms()
        while run.reached < run.until and run.done < last and not run.stopped:
            ids = range(run.reached + 1, min(run.reached + _PER_JOB, run.until) + 1)
            for number, document in sorted(self._catalogue.documents_by_id(ids).items()):
                if has_labels(document) and not run.stopped:
                    run = self._store.advance(self._one(replace(run, reached=number), terms))
            run = run if run.stopped else replace(run, reached=ids[-1])
        if run.stopped or run.reached >= run.until:
            self._store.advance(replace(run, ended=self._now()))
        else:
            self._store.advance(run)
            self._jobs.defer(JobKind.RELABEL, [run.id])

    def _one(self, run: VocabularyRun, terms: WorkspaceTerms) -> VocabularyRun:
        """The run with one more document behind it, the one it has just reached."""
        try:
            moved = self._relabel(run.reached, terms)
        except NotFound:  # deleted meanwhile
            return run
        return replace(run, done=run.done + 1, changed=run.changed + moved)

    def _relabel(self, document_id: int, terms: WorkspaceTerms) -> bool:
        """Whether a label of the document has another value now. One that somebody sets meanwhile stays."""
        document = self._catalogue.document(document_id)
        labels = changed_labels(document, self._catalogue, self._classifier, self._reading, terms)
        if not labels:
            return False
        moved = False

        def set_labels(now: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            nonlocal moved
            was = {field: getattr(document.labels, field) for field in labels}
            own = {field: label for field, label in labels.items() if getattr(now.labels, field) == was[field]}
            moved = any(was[field].value != label.value for field, label in own.items())
            return relabel(now, passages, own, terms)

        self._vectors.update(self._catalogue.edit_labels(document_id, set_labels))
        return moved


def has_labels(document: Document) -> bool:
    """Whether a run looks at it: it was read, and is no insight."""
    read = document.state is DocumentState.READY and document.pages > 0
    return read and document.origin is Origin.DOCUMENT


def changed_labels(
    document: Document, catalogue: Catalogue, classifier: Classifier, reading: StoredReading, terms: WorkspaceTerms
) -> Mapping[str, Label]:
    """The labels of FIELDS that change under these terms; confirmed labels never do, nor those of a document whose
    pages are gone.

    Raises ModelUnavailable.
    """
    read = reading(document)
    if read is None:
        return {}
    current = {field: getattr(document.labels, field) for field in LABEL_FIELDS}
    fixed = {
        field: label
        for field, label in current.items()
        if label.value is not None and (label.confirmed or field not in FIELDS)
    } | dict(catalogue.corrections(document.id))
    labels = classifier.labels(*read, fixed, terms)
    decided = {field: getattr(labels, field) for field in FIELDS if field not in fixed}
    return {field: label for field, label in decided.items() if label != current[field]}


_CHIPS = ("domain", "jurisdiction")


@dataclass(frozen=True, slots=True)
class LabelOutcome:
    """Labels by field, and the domain and jurisdiction chips of a question with these words."""

    labels: Mapping[str, Label]
    chips: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True)
class VocabularyTrial:
    """The labels of the same text under the current vocabulary and under the one being tried."""

    now: LabelOutcome
    then: LabelOutcome

    @property
    def moved(self) -> tuple[str, ...]:
        """The fields whose value changes."""
        return tuple(name for name in FIELDS if self.now.labels[name].value != self.then.labels[name].value)


def preview_text(text: str, now: Vocabulary, then: Vocabulary, classifier: Classifier, today: date) -> VocabularyTrial:
    """Preview a text as a document without a name, and as a question. Raises BadRequest when it is empty."""
    if not text.strip():
        raise BadRequest("There is nothing to try.", "Type or paste a sentence or a page.")

    def outcome(vocabulary: Vocabulary) -> LabelOutcome:
        terms = WorkspaceTerms(vocabulary)
        labels = classifier.document("", "", [Page(1, text)], {}, {}, terms=terms)
        chips = tuple(chip for chip in read_route(text, today, terms).chips if chip.kind in _CHIPS)
        return LabelOutcome({field: getattr(labels, field) for field in FIELDS}, chips)

    return VocabularyTrial(outcome(now), outcome(then))


def preview_document(
    document: Document,
    catalogue: Catalogue,
    now: Vocabulary,
    then: Vocabulary,
    classifier: Classifier,
    reading: StoredReading,
) -> VocabularyTrial:
    """Preview a document's labels. `now` is computed too, so it may differ from the stored labels until these are
    recomputed.
    """

    def outcome(vocabulary: Vocabulary) -> LabelOutcome:
        anew = changed_labels(document, catalogue, classifier, reading, WorkspaceTerms(vocabulary))
        return LabelOutcome({field: anew.get(field, getattr(document.labels, field)) for field in FIELDS})

    return VocabularyTrial(outcome(now), outcome(then))
