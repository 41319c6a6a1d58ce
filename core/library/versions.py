"""The desk of versions: which documents are alike, which replaced which, and what rests on older text. One tenant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.documents import Document, Page, Passage
from core.errors import BadRequest
from core.library.duplicates_compare import Comparer
from core.library.duplicates_groups import DuplicateGroup, grouped
from core.library.versions_chain import Links, VersionChains
from core.library.versions_diff import Difference, compared
from core.library.versions_store import Pair, SignatureStore, VersionDecision, VersionVerdict
from core.library.versions_suggest import Suggestion, ordered
from core.library.versions_suspects import Citing, SuspectReader, Suspicion
from core.library.versions_text import sentences_of
from core.memories import Insight, Link, check_paging
from core.moments import right_now
from core.ports import Catalogue, VectorIndex, Vectors
from core.reviews import Decision
from core.tabular import RealityTable

__all__ = ["Kin", "TableVersions", "VersionDesk"]

_MOST_LISTED = 10_000


class TableVersions(Protocol):
    """What is needed of Reality tables: those that are current, and all versions of one."""

    def tables(self) -> Sequence[RealityTable]: ...
    def versions(self, name: str) -> Sequence[RealityTable]: ...


@dataclass(frozen=True, slots=True)
class Kin:
    """What a document has to do with others. near: near-duplicates that live, with their Jaccard share in [0, 1], the
    most alike first. suggestions: open ones, either way round. replaced_by: the newest version; None for one that is
    current. replaces: the version right before it."""

    near: tuple[tuple[Document, float], ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    replaced_by: Document | None = None
    replaces: Document | None = None


class VersionDesk:
    """Follows what is read, suggests versions, and keeps what analysts say of them: nothing is replaced by itself.

    It is a core.ports.Follower: the workbench tells it of every document that is read or deleted. notes, held: as in
    core.library.versions_suspects. tables: None where a library keeps none. Every method raises StoreFailed when a
    store does not answer.
    """

    def __init__(
        self,
        *,
        store: SignatureStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        notes: Callable[[Sequence[int]], Sequence[Insight]] = lambda document_ids: (),
        held: Callable[[str | None], Mapping[tuple[int, str], Decision]] = lambda project: {},
        tables: TableVersions | None = None,
        now: Callable[[], datetime] = right_now,
    ) -> None:
        self._store, self._catalogue, self._tables, self._now = store, catalogue, tables, now
        self._comparer = Comparer(store, catalogue)
        self._chains = VersionChains(store, catalogue, vectors)
        self._suspects = SuspectReader(self._chains, catalogue, notes, held)

    # Following

    def follow(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors) -> None:
        """A document was read: compare it with those it may resemble."""
        self._comparer.compare(document, passages)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents are being deleted: the chains they stood in close, and a version that only they replaced is current
        again."""
        for document in self._catalogue.documents_by_id(document_ids).values():
            self._chains.leave(document)
        self._store.forget(document_ids)

    def uncompared(self) -> Sequence[Document]:
        """Living documents with text that were read before likenesses were kept."""
        signed = set(self._store.signed())
        return [each for each in self._catalogue.documents() if each.passages and each.id not in signed]

    def compare(self, document: Document) -> None:
        """Compare a stored document with the others, without reading its file again."""
        self._comparer.compare(document, self._catalogue.passages_of(document.id))

    # Looking

    def kin(self, documents: Sequence[Document]) -> Mapping[int, Kin]:
        """What each of some documents has to do with others; those alone are absent."""
        own = {document.id: document for document in documents}
        pairs = self._store.pairs_of(list(own))
        newest = self._chains.newest(list(own))
        before = {each.version_of for each in documents if each.version_of is not None}
        ids = {each for pair in pairs for each in (pair.first, pair.second)} | before
        known = {**self._catalogue.documents_by_id(sorted(ids - own.keys())), **own}
        found = {}
        for document in documents:
            mine = [pair for pair in pairs if document.id in (pair.first, pair.second)]
            earlier = known.get(document.version_of) if document.version_of is not None else None
            kin = Kin(
                tuple(
                    (known[at], pair.same) for pair in mine if pair.near and (at := pair.other(document.id)) in known
                ),
                tuple(self._open(mine, known)),
                newest.get(document.id),
                earlier,
            )
            if kin != Kin():
                found[document.id] = kin
        return found

    def _open(self, pairs: Sequence[Pair], known: Mapping[int, Document]) -> list[Suggestion]:
        found = []
        for pair in pairs:
            if pair.suggested and {pair.first, pair.second} <= known.keys():
                first, second = known[pair.first], known[pair.second]
                said = self._store.decision(first.sha256, second.sha256)
                if first.project == second.project and (said is None or said.verdict is not VersionVerdict.REJECTED):
                    found.append(ordered(pair, first, second))
        return found

    def marks(self) -> Mapping[int, tuple[float, bool]]:
        """Document → Jaccard share of its nearest near-duplicate (0: it has none), and whether a version is suggested
        for it; for lists, in two queries."""
        found: dict[int, tuple[float, bool]] = {}
        suggested = self._store.suggested(1, _MOST_LISTED)[0]
        for pair, open_ in (
            *((each, False) for each in self._store.near_pairs()),
            *((each, True) for each in suggested),
        ):
            for each in (pair.first, pair.second):
                same, known = found.get(each, (0.0, False))
                found[each] = (max(same, pair.same) if pair.near else same, known or open_)
        return found

    def suggestions(self, page: int = 1, per_page: int = 10) -> tuple[Sequence[Suggestion], int]:
        """One page of the open suggestions, those of the latest documents first, and how many there are. Raises
        BadRequest unless page ≥ 1 and 1 ≤ per_page ≤ 100."""
        check_paging(page, per_page)
        pairs, total = self._store.suggested(page, per_page)
        known = self._catalogue.documents_by_id(sorted({each for pair in pairs for each in (pair.first, pair.second)}))
        return [
            ordered(p, known[p.first], known[p.second]) for p in pairs if {p.first, p.second} <= known.keys()
        ], total

    def groups(self, page: int = 1, per_page: int = 10) -> tuple[Sequence[DuplicateGroup], int]:
        """One page of the groups of near-duplicates, the largest first, and how many there are. Raises BadRequest as
        `suggestions` does."""
        check_paging(page, per_page)
        found = grouped(self._store.near_pairs())
        shown = found[(page - 1) * per_page : page * per_page]
        known = self._catalogue.documents_by_id(sorted({each for group in shown for each in group.ids}))
        return [group.told(known) for group in shown], len(found)

    def chain(self, document_id: int) -> tuple[Document, ...]:
        """All versions of a document, oldest first; one for a document without others. Those of a table are told by its
        tables. Raises NotFound."""
        found = self._chains.chain(document_id)
        if len(found) > 1 or self._tables is None:
            return found
        for table in self._tables.tables():
            past = [each.document_id for each in self._tables.versions(table.name)] if table.version > 1 else []
            if document_id in past:
                known = self._catalogue.documents_by_id(past)
                return tuple(known[each] for each in dict.fromkeys(reversed(past)) if each in known)
        return found

    def newest(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Replaced document → its newest version; the others are absent."""
        return self._chains.newest(document_ids)

    def difference(self, before_id: int, after_id: int) -> Difference:
        """What changed from one document to another, sentence by sentence."""
        before, after = (sentences_of(self._catalogue.passages_of(each)) for each in (before_id, after_id))
        return compared(before, after)

    def suspect_citations(self, document_id: int) -> Sequence[Citing]:
        """The citations of a document, and of the versions it replaced, that rest on older text: what they cite was
        replaced, or reads otherwise since it was read again. Raises NotFound."""
        ids = [each.id for each in self._chains.chain(document_id)]
        own = ids[ids.index(document_id) :: -1]
        return [citing for each in own for citing in self._suspects.citing(each)]

    def suspect_links(self, links: Sequence[Link]) -> Mapping[Link, Suspicion]:
        """Which links of notes are suspect, why, and what the current text says in their place."""
        return self._suspects.links(links)

    # Deciding

    def accept(self, older_id: int, newer_id: int, who: str = "") -> None:
        """Say that one document is the new version of another: the older leaves the search, not lost. Saying it again
        changes nothing. Raises BadRequest when their chains forbid it, Outdated, NotFound."""
        older, newer = self._both(older_id, newer_id)
        links = self._chains.joined(older, newer)
        self._chains.relink(links or ((newer.id, older.id, older.id),))
        latest = self._store.decision(older.sha256, newer.sha256)
        if links or latest is None or latest.verdict is not VersionVerdict.ACCEPTED:
            self._decide(older, newer, VersionVerdict.ACCEPTED, who, links or ((newer.id, None, older.id),))

    def reject(self, older_id: int, newer_id: int, who: str = "") -> None:
        """Say that neither is a version of the other: it is never suggested again. Raises Outdated, NotFound."""
        older, newer = self._both(older_id, newer_id)
        if newer.version_of == older.id or older.version_of == newer.id:
            raise BadRequest(f"'{newer.name}' is a version of '{older.name}'.", "Undo that instead.")
        self._decide(older, newer, VersionVerdict.REJECTED, who)

    def undo(self, one_id: int, other_id: int, who: str = "") -> None:
        """Take back the last word on two documents: an acceptance (both are found again, unless another replaced them),
        or a rejection (it is suggested again). Raises BadRequest when nothing is to be taken back, or the older one
        cannot come back; Outdated, NotFound."""
        one, other = self._both(one_id, other_id)
        older, newer = (other, one) if one.version_of == other.id else (one, other)
        latest = self._store.decision(older.sha256, newer.sha256)
        if newer.version_of == older.id:
            self._chains.relink(self._way_back(older, newer, latest), coming=(older.id, newer.id))
        elif latest is None or latest.verdict is not VersionVerdict.REJECTED:
            raise BadRequest(f"'{newer.name}' is no version of '{older.name}'.", "Look at its versions again.")
        self._decide(older, newer, VersionVerdict.UNDONE, who)

    def _way_back(self, older: Document, newer: Document, latest: VersionDecision | None) -> Links:
        """What undoes an acceptance: what it changed, or only its own link where others were placed beside it since."""
        if latest is not None and latest.verdict is VersionVerdict.ACCEPTED and latest.newer_id == newer.id:
            known = self._catalogue.documents_by_id([each for each, _, _ in latest.links])
            if all(each not in known or known[each].version_of == after for each, _, after in latest.links):
                return tuple((each, after, before) for each, before, after in latest.links)
        return ((newer.id, older.id, None),)

    def turn_round(self, older_id: int, newer_id: int, who: str = "") -> None:
        """Say that the older one is the newer: of two versions that have no others. Raises BadRequest, Outdated."""
        if [each.id for each in self._chains.chain(older_id)] != [older_id, newer_id]:
            raise BadRequest("Only two versions without others can be turned round.", "Undo, and join them anew.")
        self.undo(older_id, newer_id, who)
        self.accept(newer_id, older_id, who)

    def decisions(self, limit: int = 10) -> Sequence[VersionDecision]:
        """The last decisions, newest first."""
        return self._store.decisions(limit)

    def named(self, decision: VersionDecision) -> tuple[str, str] | None:
        """The names of the two documents of a decision, the older first; None when one is gone."""
        known = self._catalogue.documents_by_id([decision.older_id, decision.newer_id])
        if not {decision.older_id, decision.newer_id} <= known.keys():
            return None
        return known[decision.older_id].name, known[decision.newer_id].name

    def _both(self, older_id: int, newer_id: int) -> tuple[Document, Document]:
        older, newer = self._catalogue.document(older_id), self._catalogue.document(newer_id)
        if older.sha256 == newer.sha256:
            raise BadRequest(f"'{older.name}' and '{newer.name}' are the same file.", "A file is no version of itself.")
        return older, newer

    def _decide(
        self,
        older: Document,
        newer: Document,
        verdict: VersionVerdict,
        who: str,
        links: Links = (),
    ) -> None:
        latest = self._store.decision(older.sha256, newer.sha256)
        number = 1 if latest is None else latest.number + 1
        files = (older.sha256, newer.sha256)
        self._store.decide(
            VersionDecision(*files, verdict, who.strip(), self._now(), number, older.id, newer.id, links)
        )
