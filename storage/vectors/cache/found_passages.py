"""The passages that recent searches found, in memory: the next search finds many of them again."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock

from core.domain.documents import Passage

__all__ = ["FoundPassages"]

_MOST = 8192  # passages, some 60 MB with their sentences' vectors. Chosen by hand.


class FoundPassages:
    """Passages by id, each with the version of its document when it was read. Thread-safe.

    It knows no rights: whoever asks names the versions of passages that the person may see."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._passages: OrderedDict[int, tuple[bytes, Passage]] = OrderedDict()

    def read(
        self,
        ids: Sequence[int],
        versions: Mapping[int, bytes],
        read_stored: Callable[[Sequence[int]], Mapping[int, Passage]],
    ) -> Mapping[int, Passage]:
        """These passages in reading order: those here with exactly this version of their document, the others as they
        are stored. versions: of the passages the person may see; read_stored: what the person may see of others."""
        found = self._known(versions)
        missing = [i for i in ids if i not in found]
        if missing:
            read = read_stored(missing)
            self._add(read.values(), versions)
            found |= read
        return {each.id: each for each in sorted(found.values(), key=lambda each: (each.position, each.id))}

    def _known(self, versions: Mapping[int, bytes]) -> dict[int, Passage]:
        found: dict[int, Passage] = {}
        with self._lock:
            for passage_id, version in versions.items():
                known = self._passages.get(passage_id)
                if known is not None and known[0] == version:
                    found[passage_id] = known[1]
                    self._passages.move_to_end(passage_id)
        return found

    def _add(self, passages: Iterable[Passage], versions: Mapping[int, bytes]) -> None:
        """Passages that were read after these versions were looked up; those without a version are left out."""
        with self._lock:
            for passage in passages:
                version = versions.get(passage.id)
                if version is not None:
                    self._passages[passage.id] = (version, passage)
            while len(self._passages) > _MOST:
                self._passages.popitem(last=False)
