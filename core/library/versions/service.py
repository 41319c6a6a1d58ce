"""Document versions of one tenant: near-duplicates, version chains, and citations of outdated text."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.domain.coverage import Decision
from core.domain.datasets import RealityTable
from core.domain.documents import Document
from core.domain.errors import BadRequest
from core.insights.store import EvidenceLink, Insight, check_paging
from core.library.duplicates.comparer import DuplicateComparer, DuplicateGroup, group_pairs
from core.library.versions.diff import TextDifference, compared, sentences_of
from core.library.versions.outdated_citations import CitingItem, OutdatedCitation, OutdatedCitationFinder
from core.library.versions.store import (
    Links,
    SignatureStore,
    VersionChains,
    VersionDecision,
    VersionVerdict,
)
from core.library.versions.suggestions import Suggestion, open_suggestions, ordered
from core.ports.catalogue import Catalogue, DocumentContent
from core.ports.stores import VectorIndex

__all__ = ["RelatedDocuments", "TableVersions", "VersionService"]

_MOST_LISTED = 10_000


class TableVersions(Protocol):
    """Access to Reality tables: the current ones, and all versions of one."""

    def tables(self) -> Sequence[RealityTable]: ...
    def versions(self, name: str) -> Sequence[RealityTable]: ...


@dataclass(frozen=True, slots=True)
class RelatedDocuments:
    """How a document relates to others. near: living near-duplicates with their Jaccard similarity in [0, 1], most
    similar first. suggestions: open ones, in either direction. replaced_by: the newest version; None for a current
    document. replaces: the previous version.
    """

    near: tuple[tuple[Document, float], ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    replaced_by: Document | None = None
    replaces: Document | None = None


class VersionService:
    """Suggests versions and records what analysts decide. No document is replaced automatically.

    A Follower (core.library.documents): notified of every document that is read or deleted. notes, decisions_of: as
    for OutdatedCitationFinder. tables: None where a library has none. Every method raises StoreFailed when a
    store does not answer.
    """

    def __init__(
        self,
        *,
        store: SignatureStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        notes: Callable[[Sequence[int]], Sequence[Insight]] = lambda document_ids: (),
        decisions_of: Callable[[str | None], Mapping[tuple[int, str], Decision]] = lambda project: {},
        tables: TableVersions | None = None,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._catalogue, self._tables, self._now = store, catalogue, tables, now
        self._comparer = DuplicateComparer(store, catalogue)
        self._chains = VersionChains(store, catalogue, vectors)
        self._citations = OutdatedCitationFinder(self._chains, catalogue, notes, decisions_of)

    # Following

    def follow(self, read: Sequence[DocumentContent]) -> None:
        """Documents were read: compare them with those they may resemble."""
        self._comparer.compare([(each.document, each.passages) for each in read])

    def leave(self, document: Document) -> tuple[int | None, int | None]:
        """A document is being deleted: take it out of its chain; a version that only it replaced becomes current again.
        Returns the versions before and after it."""
        return self._chains.leave(document)

    def rejoin(self, document_id: int, earlier: int | None, later: int | None) -> None:
        """A document was restored: put it back between these versions, as far as they are still there."""
        self._chains.rejoin(document_id, earlier, later)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Documents were deleted: nothing resembles them any more."""
        self._store.forget(document_ids)

    def uncompared(self) -> Sequence[Document]:
        """Living documents with text that have no signature yet."""
        signed = set(self._store.signed())
        return [each for each in self._catalogue.documents() if each.passages and each.id not in signed]

    def compare(self, document: Document) -> None:
        """Compare a stored document with the others, without reading its file again."""
        self._comparer.compare([(document, self._catalogue.passages_of(document.id))])

    # Looking

    def related(self, documents: Sequence[Document]) -> Mapping[int, RelatedDocuments]:
        """How each of these documents relates to others; documents without relations are absent."""
        own = {document.id: document for document in documents}
        pairs = self._store.pairs_of(list(own))
        newest = self._chains.newest(list(own))
        before = {each.version_of for each in documents if each.version_of is not None}
        ids = {each for pair in pairs for each in (pair.first, pair.second)} | before
        known = {**self._catalogue.documents_by_id(sorted(ids - own.keys())), **own}
        rejections = self._rejections() if any(pair.suggested for pair in pairs) else frozenset()
        found = {}
        for document in documents:
            mine = [pair for pair in pairs if document.id in (pair.first, pair.second)]
            earlier = known.get(document.version_of) if document.version_of is not None else None
            related = RelatedDocuments(
                tuple(
                    (known[at], pair.same) for pair in mine if pair.near and (at := pair.other(document.id)) in known
                ),
                tuple(open_suggestions(mine, known, rejections)),
                newest.get(document.id),
                earlier,
            )
            if related != RelatedDocuments():
                found[document.id] = related
        return found

    def _rejections(self) -> Collection[tuple[str, str]]:
        """The pairs of files whose latest decision is a rejection. One query for all: there are far fewer decisions,
        which people take, than pairs."""
        latest: dict[tuple[str, str], VersionVerdict] = {}
        for decision in self._store.decisions(_MOST_LISTED):
            latest.setdefault(decision.about, decision.verdict)
        return {files for files, verdict in latest.items() if verdict is VersionVerdict.REJECTED}

    def marks(self) -> Mapping[int, tuple[float, bool]]:
        """Document → Jaccard similarity of its nearest near-duplicate (0: it has none), and whether a version is
        suggested for it; for lists, in two queries.
        """
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
        """One page of the open suggestions, latest documents first, and their total number. Raises BadRequest unless
        page ≥ 1 and 1 ≤ per_page ≤ 100.
        """
        check_paging(page, per_page)
        pairs, total = self._store.suggested(page, per_page)
        known = self._catalogue.documents_by_id(sorted({each for pair in pairs for each in (pair.first, pair.second)}))
        return [
            ordered(p, known[p.first], known[p.second]) for p in pairs if {p.first, p.second} <= known.keys()
        ], total

    def groups(self, page: int = 1, per_page: int = 10) -> tuple[Sequence[DuplicateGroup], int]:
        """One page of the groups of near-duplicates, largest first, and their total number. Raises BadRequest as
        `suggestions` does.
        """
        check_paging(page, per_page)
        found = group_pairs(self._store.near_pairs())
        shown = found[(page - 1) * per_page : page * per_page]
        known = self._catalogue.documents_by_id(sorted({each for group in shown for each in group.ids}))
        return [group.with_documents(known) for group in shown], len(found)

    def chain(self, document_id: int) -> tuple[Document, ...]:
        """All versions of a document, oldest first; only itself when it has no others. Versions of a table come from
        its tables.

        Raises NotFound.
        """
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

    def difference(self, before_id: int, after_id: int) -> TextDifference:
        """What changed from one document to another, sentence by sentence."""
        before, after = (sentences_of(self._catalogue.passages_of(each)) for each in (before_id, after_id))
        return compared(before, after)

    def suspect_citations(self, document_id: int) -> Sequence[CitingItem]:
        """Outdated citations of a document and of the versions it replaced: the cited document was replaced, or its
        text changed when it was read again. Raises NotFound.
        """
        ids = [each.id for each in self._chains.chain(document_id)]
        own = ids[ids.index(document_id) :: -1]
        return [citing for each in own for citing in self._citations.citing(each)]

    def suspect_links(self, links: Sequence[EvidenceLink]) -> Mapping[EvidenceLink, OutdatedCitation]:
        """Which links of insights are outdated, why, and the proposed current text."""
        return self._citations.links(links)

    # Deciding

    def accept(self, older_id: int, newer_id: int, who: str = "") -> None:
        """Record that one document is the new version of another, which is taken out of search but stays stored.
        Idempotent.

        Raises BadRequest when their chains forbid it, Outdated, NotFound.
        """
        older, newer = self._both(older_id, newer_id)
        links = self._chains.joined(older, newer)
        replaced = self._store.successors([older.id, newer.id])
        archived = tuple(each.id for each in (older, newer) if each.archived and each.id not in replaced)
        self._chains.relink(links or ((newer.id, older.id, older.id),))
        latest = self._store.decision(older.sha256, newer.sha256)
        if links or latest is None or latest.verdict is not VersionVerdict.ACCEPTED:
            self._decide(older, newer, VersionVerdict.ACCEPTED, who, links or ((newer.id, None, older.id),), archived)

    def reject(self, older_id: int, newer_id: int, who: str = "") -> None:
        """Record that neither is a version of the other: it is never suggested again. Raises Outdated, NotFound."""
        older, newer = self._both(older_id, newer_id)
        if newer.version_of == older.id or older.version_of == newer.id:
            raise BadRequest(f"'{newer.name}' is a version of '{older.name}'.", "Undo that instead.")
        self._decide(older, newer, VersionVerdict.REJECTED, who)

    def undo(self, one_id: int, other_id: int, who: str = "", *, as_before: bool = True) -> None:
        """Undo the latest decision on two documents: after an acceptance both are searchable again, unless another
        document replaced them or, as_before, they were archived before; a rejected pair is suggested again.

        Raises BadRequest when there is nothing to undo, or the older document cannot come back; Outdated, NotFound.
        """
        one, other = self._both(one_id, other_id)
        older, newer = (other, one) if one.version_of == other.id else (one, other)
        latest = self._store.decision(older.sha256, newer.sha256)
        if newer.version_of == older.id:
            archived = latest.archived if as_before and latest is not None else ()
            self._chains.relink(self._way_back(older, newer, latest), {older.id, newer.id}.difference(archived))
        elif latest is None or latest.verdict is not VersionVerdict.REJECTED:
            raise BadRequest(f"'{newer.name}' is not a version of '{older.name}'.", "Look at its versions again.")
        self._decide(older, newer, VersionVerdict.UNDONE, who)

    def _way_back(self, older: Document, newer: Document, latest: VersionDecision | None) -> Links:
        """What undoes an acceptance: what it changed, or only its own link where others were placed beside it since."""
        if latest is not None and latest.verdict is VersionVerdict.ACCEPTED and latest.newer_id == newer.id:
            known = self._catalogue.documents_by_id([each for each, _, _ in latest.links])
            if all(each not in known or known[each].version_of == after for each, _, after in latest.links):
                return tuple((each, after, before) for each, before, after in latest.links)
        return ((newer.id, older.id, None),)

    def turn_round(self, older_id: int, newer_id: int, who: str = "") -> None:
        """Swap the order of two versions that have no others. Raises BadRequest, Outdated."""
        if [each.id for each in self._chains.chain(older_id)] != [older_id, newer_id]:
            raise BadRequest("Only two versions without others can be turned round.", "Undo, and join them again.")
        self.undo(older_id, newer_id, who, as_before=False)  # the one that becomes current is searchable
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
            raise BadRequest(
                f"'{older.name}' and '{newer.name}' are the same file.", "A file cannot be a version of itself."
            )
        return older, newer

    def _decide(
        self,
        older: Document,
        newer: Document,
        verdict: VersionVerdict,
        who: str,
        links: Links = (),
        archived: tuple[int, ...] = (),
    ) -> None:
        latest = self._store.decision(older.sha256, newer.sha256)
        number = 1 if latest is None else latest.number + 1
        files = (older.sha256, newer.sha256)
        self._store.decide(
            VersionDecision(*files, verdict, who.strip(), self._now(), number, older.id, newer.id, links, archived)
        )
