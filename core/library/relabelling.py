"""Deciding domain, authority and jurisdiction of the library anew, after the words for them have changed.

The text is in the catalogue, so nothing is read, split or embedded again: a document costs the classifier's look at a
sample of it. What people confirmed stays; so do truth, dates and language, which no vocabulary touches.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from core.documents import LABEL_FIELDS, Document, DocumentState, Label, Origin, Page
from core.errors import NotFound
from core.ingest.relabel import relabelled
from core.jobs import JobKind, JobQueue
from core.ports import Catalogue, Classifier, VectorIndex
from core.speaking import Words, in_its_words
from core.vocabulary import Application, VocabularyStore

__all__ = ["FIELDS", "Relabelling", "decided_anew", "pages_of"]

FIELDS = ("domain", "authority", "jurisdiction")
"""The labels a vocabulary has a say in."""

_PER_JOB = 25  # documents; then the job queues itself again, so that uploads get their turn in between


class Relabelling:
    """Runs over the library in the background: it survives a killed process, can be stopped, and counts."""

    def __init__(
        self,
        store: VocabularyStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        classifier: Classifier,
        jobs: JobQueue,
        words: Words,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._catalogue, self._vectors, self._classifier = store, catalogue, vectors, classifier
        self._jobs, self._now, self.words = jobs, now, words

    def start(self, who: str) -> Application:
        """Begin a run over all documents there are now; one under way is given back instead."""
        known = self._store.latest_application()
        if known is not None and known.ended is None:
            self._jobs.defer(JobKind.RELABEL, [known.id])
            return known
        documents = [each for each in self._catalogue.documents(archived=None) if _labelled(each)]
        newest = self._store.newest()
        begun = self._store.begin(
            Application(
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

    def latest(self) -> Application | None:
        """The run begun last, as far as it has come; None when there was none."""
        return self._store.latest_application()

    def stop(self, application_id: int) -> None:
        """End a run after the document under way; what it has labelled anew stays so. Raises NotFound."""
        self._store.stop(application_id)
        self.carry_on(application_id)

    @in_its_words
    def carry_on(self, application_id: int) -> None:
        """The next documents of a run; called by jobs, safe to repeat."""
        run = self._store.application(application_id)
        if run.ended is not None:
            return
        last = run.done + _PER_JOB
        while run.reached < run.until and run.done < last and not run.stopped:
            ids = range(run.reached + 1, min(run.reached + _PER_JOB, run.until) + 1)
            for number, document in sorted(self._catalogue.documents_by_id(ids).items()):
                if _labelled(document) and not run.stopped:
                    run = self._store.advance(self._one(replace(run, reached=number)))
            run = run if run.stopped else replace(run, reached=ids[-1])
        if run.stopped or run.reached >= run.until:
            self._store.advance(replace(run, ended=self._now()))
        else:
            self._store.advance(run)
            self._jobs.defer(JobKind.RELABEL, [run.id])

    def _one(self, run: Application) -> Application:
        """The run with one more document behind it, the one it has just reached."""
        try:
            moved = self._relabel(run.reached)
        except NotFound:  # deleted meanwhile
            return run
        return replace(run, done=run.done + 1, changed=run.changed + moved)

    def _relabel(self, document_id: int) -> bool:
        """Whether a label of the document has another value now."""
        document = self._catalogue.document(document_id)
        labels = decided_anew(document, self._catalogue, self._classifier)
        if not labels:
            return False
        changed, passages = relabelled(document, self._catalogue.passages_of(document_id), labels)
        self._catalogue.save_labels(changed, passages)
        self._vectors.update(passages)
        return any(getattr(document.labels, field).value != label.value for field, label in labels.items())


def _labelled(document: Document) -> bool:
    read = document.state is DocumentState.READY and document.pages > 0
    return read and document.origin is Origin.DOCUMENT


def decided_anew(document: Document, catalogue: Catalogue, classifier: Classifier) -> Mapping[str, Label]:
    """The labels of FIELDS that come out otherwise in the words spoken here; those people confirmed are none of them.

    Raises ModelUnavailable.
    """
    held = {field: getattr(document.labels, field) for field in LABEL_FIELDS}
    fixed = {
        field: label
        for field, label in held.items()
        if label.value is not None and (label.confirmed or field not in FIELDS)
    } | dict(catalogue.corrections(document.sha256))
    labels = classifier.document(document.name, document.title, pages_of(document, catalogue), fixed, {})
    decided = {field: getattr(labels, field) for field in FIELDS if field not in fixed}
    return {field: label for field, label in decided.items() if label != held[field]}


def pages_of(document: Document, catalogue: Catalogue) -> tuple[Page, ...]:
    """A document's text as it was read, page by page."""
    keys = [(document.id, number) for number in range(1, document.pages + 1)]
    texts = catalogue.page_texts(keys)
    return tuple(Page(number, texts[document.id, number]) for _, number in keys if (document.id, number) in texts)
