"""The desk of the vocabulary: its versions, what uses its words, what a change would do, and the library after it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from time import monotonic

from core.errors import BadRequest, NotFound
from core.filters import SearchFilters
from core.jobs import JobQueue
from core.library.relabelling import Relabelling
from core.library.vocabulary_check import checked
from core.library.vocabulary_edits import differences
from core.library.vocabulary_trial import Tried, tried_document, tried_text
from core.moments import right_now
from core.ports import Catalogue, Classifier, VectorIndex
from core.tables.domains import built_in_domains
from core.vocabulary import BUILT_IN, Vocabulary, VocabularyStore, VocabularyVersion

__all__ = ["InUse", "VocabularyDesk"]

_FRESH_SECONDS = 2.0  # how long another process's version may go unnoticed: every label, chip and title asks for it


@dataclass(frozen=True, slots=True)
class InUse:
    """How many documents carry a value, and how many passages; archived ones among them."""

    documents: int = 0
    passages: int = 0


class VocabularyDesk:
    """Keeps one workspace's words, gives them to whoever speaks (`words`), and decides labels anew (`relabelling`)."""

    def __init__(
        self,
        *,
        store: VocabularyStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        classifier: Classifier,
        jobs: JobQueue,
        now: Callable[[], datetime] = right_now,
        ticks: Callable[[], float] = monotonic,
    ) -> None:
        """ticks: seconds that only grow."""
        self._store, self._catalogue, self._classifier = store, catalogue, classifier
        self._now, self._ticks = now, ticks
        self._lock, self._read_at, self._known = Lock(), float("-inf"), BUILT_IN
        self.relabelling = Relabelling(store, catalogue, vectors, classifier, jobs, self.words, now)

    # What holds, and what held

    def words(self) -> Vocabulary:
        """The vocabulary that holds; what another process saved is seen within two seconds. Raises StoreFailed."""
        with self._lock:
            if self._ticks() - self._read_at > _FRESH_SECONDS:
                newest = self._store.newest()
                self._known = newest.vocabulary if newest else BUILT_IN
                self._read_at = self._ticks()
            return self._known

    def newest(self) -> VocabularyVersion | None:
        """The version that holds; None while only the product's words do."""
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
        """Keep a vocabulary as the next version; it holds from now on.

        after: the number of the version it was made of, 0 for none. A domain of the workspace's own that documents
        still carry does not go: it is switched off instead, so that they keep its title.

        Raises BadRequest naming every problem, or when nothing has changed; Outdated when someone else was faster.
        """
        newest = self._store.newest()
        known = newest.vocabulary if newest else BUILT_IN
        kept = self._with_carried(known, vocabulary)
        if problems := checked(kept).problems:
            raise BadRequest(" ".join(problems), "Correct this, then save again. Nothing was saved.")
        if kept == known:
            raise BadRequest("This is what the vocabulary says already.", "Change something, then save it.")
        version = VocabularyVersion(after + 1, kept, who.strip(), self._now(), " ".join(note.split()))
        self._store.add(version)
        with self._lock:
            self._read_at = float("-inf")
        return version

    def restore(self, number: int, *, who: str, after: int) -> VocabularyVersion:
        """Save an earlier version's words as the newest; 0: the product's own.

        Raises what `save` raises, and NotFound.
        """
        wanted = self.version(number).vocabulary if number else BUILT_IN
        note = f"as in version {number}" if number else "the product's own words"
        return self.save(wanted, who=who, note=note, after=after)

    def _with_carried(self, known: Vocabulary, wanted: Vocabulary) -> Vocabulary:
        own = [each for each in known.domains if each.name not in built_in_domains()]
        gone = [each for each in own if each.name not in {domain.name for domain in wanted.domains}]
        if not gone:
            return wanted
        carried = self.in_use()
        return wanted.told(*(replace(each, off=True) for each in gone if each.name in carried))

    # What would be

    def in_use(self) -> Mapping[str, InUse]:
        """Domain → how many documents and passages carry it; those that none carries are absent."""
        documents = Counter(each.labels.domain.value for each in self._catalogue.documents(archived=None))
        passages = self._catalogue.facets(SearchFilters(archived=None)).get("domains", {})
        return {
            str(name): InUse(documents.get(name, 0), passages.get(str(name), 0))
            for name in {*documents, *passages}
            if name is not None
        }

    def tried(self, text: str, vocabulary: Vocabulary) -> Tried:
        """What a sentence or a page would be labelled, and how it would be routed as a question, now and then.

        Raises BadRequest for an empty text, ModelUnavailable.
        """
        return tried_text(text, self.words(), vocabulary, self._classifier, self._now().date())

    def tried_on(self, document_id: int, vocabulary: Vocabulary) -> Tried:
        """What a document of the library would be labelled, now and then; what people confirmed stays.

        Raises NotFound, ModelUnavailable.
        """
        document = self._catalogue.document(document_id)
        return tried_document(document, self._catalogue, self.words(), vocabulary, self._classifier)
