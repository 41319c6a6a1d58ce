"""The vocabulary of a workspace: the current one, its versions, the effect of a change, and relabelling."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock

from core.domain.errors import BadRequest, NotFound
from core.domain.filters import SearchFilters
from core.domain.vocabulary import BUILT_IN, Vocabulary
from core.ingestion.classification.classifier import Classifier
from core.ingestion.classification.sample import StoredReading
from core.knowledge.domains import built_in_domains
from core.knowledge.workspace_terms import BUILT_IN_TERMS, WorkspaceTerms
from core.library.vocabulary.edits import check_vocabulary, differences
from core.library.vocabulary.relabelling import RelabellingService, VocabularyTrial, preview_document, preview_text
from core.library.vocabulary.store import VocabularyStore, VocabularyVersion
from core.ports.catalogue import Catalogue
from core.ports.clock import Timer
from core.ports.job_queue import JobQueue
from core.ports.own_changes import ChangeCount
from core.ports.stores import VectorIndex

__all__ = ["CurrentVocabulary", "VocabularyService", "VocabularyUsage"]

_FRESH_SECONDS = 2.0  # how long another process's version may go unnoticed: every search, upload and page asks for it


@dataclass(frozen=True, slots=True)
class VocabularyUsage:
    """How many documents and how many passages carry a value; archived ones included."""

    documents: int = 0
    passages: int = 0


class CurrentVocabulary:
    """The newest vocabulary of one workspace, read from its store at most every two seconds, or after a change of its
    own. Thread-safe."""

    def __init__(self, store: VocabularyStore, timer: Timer, own: ChangeCount) -> None:
        self._store, self._timer, self._own, self._lock = store, timer, own, Lock()
        self._read, self._newest = (float("-inf"), 0), BUILT_IN_TERMS  # when, and after how many own changes

    def terms(self) -> WorkspaceTerms:
        """The workspace's terms; a version saved by another process is seen within two seconds. Raises StoreFailed."""
        with self._lock:
            now, changes = self._timer(), self._own.number
            read_at, known = self._read
            if changes != known or now - read_at > _FRESH_SECONDS:
                newest = self._store.newest()
                vocabulary = newest.vocabulary if newest else BUILT_IN
                if vocabulary != self._newest.vocabulary:
                    self._newest = WorkspaceTerms(vocabulary)
                self._read = now, changes
            return self._newest

    def expire(self) -> None:
        """Reload at the next call: a version was saved."""
        self._own.note()


class VocabularyService:
    """Stores the versions of one workspace's vocabulary, and relabels documents after a change (`relabelling`)."""

    def __init__(
        self,
        *,
        store: VocabularyStore,
        current: CurrentVocabulary,
        catalogue: Catalogue,
        vectors: VectorIndex,
        classifier: Classifier,
        reading: StoredReading,
        jobs: JobQueue,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._current, self._catalogue, self._classifier = store, current, catalogue, classifier
        self._reading, self._now = reading, now
        self.relabelling = RelabellingService(store, catalogue, vectors, classifier, reading, jobs, current.terms, now)

    # Versions

    def terms(self) -> WorkspaceTerms:
        """The workspace's terms: the newest version's. Raises StoreFailed."""
        return self._current.terms()

    def current(self) -> Vocabulary:
        """The newest version's vocabulary, the built-in one when there is none. Raises StoreFailed."""
        return self._current.terms().vocabulary

    def newest(self) -> VocabularyVersion | None:
        """The current version; None while only the built-in vocabulary is used."""
        return self._store.newest()

    def versions(self) -> Sequence[VocabularyVersion]:
        """All of them, newest first."""
        return self._store.versions()

    def version(self, number: int) -> VocabularyVersion:
        """Raises NotFound."""
        found = next((each for each in self._store.versions() if each.number == number), None)
        if found is None:
            raise NotFound(f"There is no version {number} of the vocabulary.", "Choose one of the list.")
        return found

    def changes(self, number: int) -> tuple[str, ...]:
        """What a version changed, in sentences. Raises NotFound."""
        before = self.version(number - 1).vocabulary if number > 1 else BUILT_IN
        return differences(before, self.version(number).vocabulary)

    def save(self, vocabulary: Vocabulary, *, who: str, note: str = "", after: int = 0) -> VocabularyVersion:
        """Save a vocabulary as the next version, which becomes current.

        after: the number of the version it is based on, 0 for none. A domain of the workspace's own that documents
        still carry is disabled, not deleted, so that they keep its title.

        Raises BadRequest naming every problem, or when nothing has changed; Outdated when someone else saved first.
        """
        newest = self._store.newest()
        known = newest.vocabulary if newest else BUILT_IN
        saved = self._with_carried(known, vocabulary)
        if problems := check_vocabulary(saved).problems:
            raise BadRequest(" ".join(problems), "Correct this, then save again. Nothing was saved.")
        if saved == known:
            raise BadRequest("This is what the vocabulary says already.", "Change something, then save it.")
        version = VocabularyVersion(after + 1, saved, who.strip(), self._now(), " ".join(note.split()))
        self._store.add(version)
        self._current.expire()
        return version

    def restore(self, number: int, *, who: str, after: int) -> VocabularyVersion:
        """Save an earlier version's vocabulary as the newest version; 0: the built-in one.

        Raises what `save` raises, and NotFound.
        """
        target = self.version(number).vocabulary if number else BUILT_IN
        note = f"as in version {number}" if number else "the product's own words"
        return self.save(target, who=who, note=note, after=after)

    def _with_carried(self, known: Vocabulary, target: Vocabulary) -> Vocabulary:
        own = [each for each in known.domains if each.name not in built_in_domains()]
        removed = [each for each in own if each.name not in {domain.name for domain in target.domains}]
        if not removed:
            return target
        carried = self.in_use()
        return target.with_changes(*(replace(each, off=True) for each in removed if each.name in carried))

    # Previews

    def in_use(self) -> Mapping[str, VocabularyUsage]:
        """Domain → how many documents and passages carry it; unused domains are absent."""
        documents = Counter(each.labels.domain.value for each in self._catalogue.documents(archived=None))
        passages = self._catalogue.facets(SearchFilters(archived=None, strict_labels=True)).get("domains", {})
        return {
            str(name): VocabularyUsage(documents.get(name, 0), passages.get(str(name), 0))
            for name in {*documents, *passages}
            if name is not None
        }

    def tried(self, text: str, vocabulary: Vocabulary) -> VocabularyTrial:
        """Preview the labels of a text, and its routing as a question, under the current and the tried vocabulary.

        Raises BadRequest for an empty text, ModelUnavailable.
        """
        return preview_text(text, self.current(), vocabulary, self._classifier, self._now().date())

    def tried_on(self, document_id: int, vocabulary: Vocabulary) -> VocabularyTrial:
        """Preview the labels of a stored document under the current and the tried vocabulary; confirmed labels stay.

        Raises NotFound, ModelUnavailable.
        """
        document = self._catalogue.document(document_id)
        now = self.current()
        return preview_document(document, self._catalogue, now, vocabulary, self._classifier, self._reading)
