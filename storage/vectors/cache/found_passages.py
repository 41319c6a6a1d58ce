"""The passages that recent searches found, in memory: the next search finds many of them again."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock

from core.domain.documents import Passage
from core.domain.results import FoundPassage

__all__ = ["FoundPassages"]

_MOST = 1024  # passages, some 8 MB with sentence vectors; as many as expansion.py keeps the stems of. Chosen by hand.


class FoundPassages:
    """Passages by id, each with the version of its document when it was read. Thread-safe.

    It knows no rights: whoever asks names the versions of passages that the person may see."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._passages: OrderedDict[int, tuple[bytes, FoundPassage]] = OrderedDict()

    def read(
        self,
        ids: Sequence[int],
        versions: Mapping[int, bytes],
        read_stored: Callable[[Sequence[int]], Mapping[int, Passage]],
    ) -> Mapping[int, FoundPassage]:
        """These passages in reading order: those here with exactly this version of their document, the others as they
        are stored. versions: of the passages the person may see; read_stored: what the person may see of others."""
        found = self._known(versions)
        missing = [i for i in ids if i not in found]
        if missing:
            read = {i: FoundPassage.of(passage) for i, passage in read_stored(missing).items()}
            self._add(read, versions)
            found |= read
        return dict(sorted(found.items(), key=lambda item: (item[1].passage.position, item[0])))

    def forget(self, documents: Collection[int]) -> None:
        """Leave out the passages of documents that have changed or are gone: nobody asks for these versions again."""
        changed = set(documents)
        with self._lock:
            for i in [i for i, (_, each) in self._passages.items() if each.passage.document_id in changed]:
                del self._passages[i]

    def _known(self, versions: Mapping[int, bytes]) -> dict[int, FoundPassage]:
        found: dict[int, FoundPassage] = {}
        with self._lock:
            for passage_id, version in versions.items():
                known = self._passages.get(passage_id)
                if known is not None and known[0] == version:
                    found[passage_id] = known[1]
                    self._passages.move_to_end(passage_id)
        return found

    def _add(self, passages: Mapping[int, FoundPassage], versions: Mapping[int, bytes]) -> None:
        """Passages that were read after these versions were looked up; those without a version are left out."""
        with self._lock:
            for passage_id, passage in passages.items():
                version = versions.get(passage_id)
                if version is not None:
                    self._passages[passage_id] = (version, passage._replace(again=True))
            while len(self._passages) > _MOST:
                self._passages.popitem(last=False)
