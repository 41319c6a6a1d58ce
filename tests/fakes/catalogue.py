"""Documents in dicts: the catalogue, enrichments, and signatures of versions."""
# Over 300 lines: three stores of the same documents, written as dicts and loops.

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from threading import RLock
from typing import Any

import numpy as np

from core.domain.document_list import (
    ARCHIVED,
    UNKNOWN_TRUTH,
    DocumentOrder,
    DocumentPage,
    DocumentQuery,
    ListedDocument,
)
from core.domain.documents import (
    Document,
    DocumentState,
    Label,
    Origin,
    Page,
    Passage,
    TableRole,
    Truth,
    possible_label,
)
from core.domain.errors import Cure, NotFound
from core.domain.filters import FIELDS, SearchFilters
from core.domain.results import FoundPassage, Statistics
from core.domain.sanitize import storable_text
from core.library.duplicates.minhash import buckets
from core.library.enrichment.values import EnrichmentEdit, Operation, OperationOutcome
from core.library.versions.store import DuplicatePair, Signature, VersionDecision, VersionVerdict, outdated_decision
from core.ports.catalogue import Catalogue, DocumentContent, LabelEditing, same_file_there, warn_not_read_again
from core.ports.job_queue import INDEXING, STOPPED
from core.ports.stores import PassageIds, Vectors
from core.text.phrase_match import contains_phrases

__all__ = ["FakeCatalogue", "FakeEnrichmentStore", "FakeSignatureStore"]


def _state(document: Document) -> str:
    return ARCHIVED if document.archived else str(document.state)


def _truth(document: Document) -> str:
    labelled = document.state is DocumentState.READY and (document.pages or document.passages)
    return (document.labels.truth.value or UNKNOWN_TRUTH) if labelled else ""


_TRUTHS = [str(truth) for truth in Truth]
_LIST_ORDERS: dict[DocumentOrder, tuple[Callable[[Document, bool, float], Any], bool]] = {
    DocumentOrder.MATCH: (lambda d, named, score: (named, score), True),
    DocumentOrder.UPLOADED: (lambda d, named, score: d.uploaded_at, True),
    DocumentOrder.NAME: (lambda d, named, score: d.name.lower(), False),
    DocumentOrder.TRUTH: (lambda d, n, s: _TRUTHS.index(_truth(d)) if _truth(d) in _TRUTHS else None, False),
    DocumentOrder.CERTAINTY: (lambda d, named, score: d.labels.truth.probability if _truth(d) else None, False),
    DocumentOrder.DATE: (lambda d, named, score: d.date, True),
    DocumentOrder.PAGES: (lambda d, named, score: d.pages or None, True),
    DocumentOrder.TAGS: (lambda d, named, score: "; ".join(d.tags) or None, False),
    DocumentOrder.STATE: (lambda d, named, score: _state(d), False),
}
"""Order → what of a document it sorts by (None: last), and whether the greatest comes first."""


class FakeCatalogue:
    """Implements core.ports.catalogue.Catalogue for one tenant; filters mean exactly what SearchFilters.admits says."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._document_ids, self._passage_ids = count(1), count(1)
        self._documents: dict[int, Document] = {}
        self._pages: dict[tuple[int, int], Page] = {}
        self._passages: dict[int, Passage] = {}
        self._corrections: dict[tuple[str | None, str], dict[str, Label]] = {}
        self._searches: dict[str, dict[str, tuple[int, datetime]]] = {}

    def add_document(self, document: Document) -> Document:
        """Store a document under a new id, or give back the living one with the same bytes in its project."""
        with self._lock:
            known = self.document_by_hash(document.sha256, document.project)
            if known is not None:
                return known
            stored = replace(document, id=next(self._document_ids))
            self._documents[stored.id] = stored
        return stored

    def document(self, document_id: int) -> Document:
        """One document. Raises NotFound."""
        if document_id not in self._documents:
            raise NotFound(f"Document {document_id} is not in the library.", "It was deleted; go back to the library.")
        return self._documents[document_id]

    def documents_by_id(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Documents by id; missing ones are absent."""
        return {i: self._documents[i] for i in document_ids if i in self._documents}

    def document_by_hash(self, sha256: str, project: str | None) -> Document | None:
        """The document in this project with these bytes, unless archived; None without one."""
        with self._lock:
            known = [d for d in self._documents.values() if d.sha256 == sha256 and d.project == project]
        return max((d for d in known if not d.archived), key=lambda d: (d.uploaded_at, d.id), default=None)

    def documents(
        self, *, archived: bool | None = False, origin: Origin | None = Origin.DOCUMENT
    ) -> Sequence[Document]:
        """All documents, newest first; insights and episodes only when asked for (origin None: everything)."""
        return self._newest_first(archived=archived, origin=origin)

    def _newest_first(
        self, *, archived: bool | None = False, origin: Origin | None = Origin.DOCUMENT
    ) -> Sequence[Document]:
        with self._lock:
            text = [d for d in self._documents.values() if archived is None or d.archived == archived]
        text = [d for d in text if origin is None or d.origin is origin]
        return sorted(text, key=lambda d: (d.uploaded_at, d.id), reverse=True)

    def names(self, *, archived: bool | None = False) -> Mapping[int, str]:
        """The names of all documents by id, newest first."""
        return {each.id: each.name for each in self._newest_first(archived=archived)}

    def projects(self) -> Collection[str]:
        """Every project that has a document, also an archived one."""
        return {each.project for each in self._newest_first(archived=None) if each.project is not None}

    def documents_of(self, hashes: Collection[str], names: Collection[str]) -> Sequence[Document]:
        """The documents that have one of these SHA-256 or names and are not archived, newest first."""
        return [each for each in self._newest_first() if each.sha256 in hashes or each.name in names]

    def added_documents(
        self, since: datetime, *, archived: bool | None, among: Collection[int], limit: int
    ) -> Sequence[Document]:
        """The ready documents uploaded after a moment, newest first, at most so many. among: only these; empty: any."""
        ready = [each for each in self._newest_first(archived=archived) if each.state is DocumentState.READY]
        return [each for each in ready if each.uploaded_at > since and (not among or each.id in among)][:limit]

    def archived_members(self, parent: int) -> Collection[str]:
        """SHA-256 of the archived documents that were extracted from this one."""
        return {each.sha256 for each in self._newest_first(archived=True) if each.parent == parent}

    def list_documents(self, query: DocumentQuery) -> DocumentPage:
        """One page of a filtered and sorted list, with counts."""
        best: dict[int, tuple[float, int]] = {}
        for passage_id, score in query.hits:
            if passage_id in self._passages:
                key = self._passages[passage_id].document_id
                best[key] = max(best.get(key, (score, -passage_id)), (score, -passage_id))
        folded = query.words.lower().strip()
        named = {d.id for d in self.documents(archived=None) if folded in f"{d.name} {d.title}".lower()}
        remaining = [d for d in self.documents(archived=None) if d.id in named or d.id in best]
        tests: dict[str, Callable[[Document], bool]] = {
            "state": lambda d: _state(d) == query.state if query.state else not d.archived,
            "project": lambda d: query.project in (None, d.project or ""),
            "truth": lambda d: not query.truths or _truth(d) in query.truths,
            "tag": lambda d: not query.tags or bool({*d.tags} & {*query.tags}),
        }
        values: dict[str, Callable[[Document], Sequence[str]]] = {
            "state": lambda d: [_state(d)],
            "project": lambda d: [d.project or ""],
            "truth": lambda d: [_truth(d)],
            "tag": lambda d: d.tags,
        }
        counts = {
            field: dict(
                Counter(
                    value
                    for d in remaining
                    if all(test(d) for name, test in tests.items() if name != field)
                    for value in values[field](d)
                )
            )
            for field in tests
        }
        chosen = [d for d in remaining if all(test(d) for test in tests.values())]
        read, descending = _LIST_ORDERS[query.order]
        sort_values = {d.id: read(d, d.id in named, best.get(d.id, (0.0, 0))[0]) for d in chosen}
        ordered = [d for d in chosen if sort_values[d.id] is not None]
        ordered.sort(key=lambda d: sort_values[d.id], reverse=descending != query.reverse)
        ordered += [d for d in chosen if sort_values[d.id] is None]
        end = None if query.limit is None else query.offset + query.limit
        entries = [ListedDocument(d, -best[d.id][1] if d.id in best else None) for d in ordered[query.offset : end]]
        return DocumentPage(tuple(entries), len(chosen), counts)

    def mark(self, document_id: int, *, step: str, unread: bool | None = None) -> None:
        """Say which step runs now; a document read again stays searchable as it was until its passages are replaced.
        unread: its contents are deleted; None: where an index may lack them."""
        with self._lock:
            known = self.document(document_id)
            unread = known.step == INDEXING if unread is None else unread
            sizes = (0, 0) if unread else (known.pages, known.passages)
            pending = replace(known, state=DocumentState.PENDING, step=step, failure="", remedy="")
            self._documents[document_id] = replace(pending, pages=sizes[0], passages=sizes[1])
            if unread:
                self._forget_contents(document_id)

    def progress(self, document_id: int, *, step: str) -> bool:
        """Say which step runs now, unless somebody stopped the document."""
        with self._lock:
            if self.document(document_id).step == STOPPED:
                return False
            self.mark(document_id, step=step, unread=False)
            return True

    def fail(self, document_id: int, *, step: str, reason: str, remedy: str, cure: Cure = Cure.AGAIN) -> None:
        """Mark a document as failed at a step, with the reason and a remedy. One that was read before is ready again
        with its former contents, and a warning."""
        with self._lock:
            known = self.document(document_id)
            if known.passages:
                warnings = warn_not_read_again(known.warnings, reason, remedy)
                ready = replace(known, state=DocumentState.READY, step="", failure="", remedy="", warnings=warnings)
                self._documents[document_id] = ready
                return
            failed = replace(known, state=DocumentState.FAILED, step=step, pages=0, passages=0)
            self._documents[document_id] = replace(failed, failure=reason, remedy=remedy, cure=cure)
            self._forget_contents(document_id)

    def save_ingested(
        self,
        document: Document,
        pages: Sequence[Page],
        passages: Sequence[Passage],
        vectors: Vectors,
        *,
        embedded_by: str = "",
        step: str = "",
    ) -> Sequence[Passage]:
        """Replace the document, its pages and passages; the vectors are the vector index's business."""
        with self._lock:
            self.document(document.id)
            self._forget_contents(document.id)
            stored = [self._stored(document, position, p) for position, p in enumerate(passages)]
            self._documents[document.id] = replace(
                document,
                state=DocumentState.READY,
                step=step,
                failure="",
                remedy="",
                pages=len(pages),
                passages=len(stored),
            )
            self._pages |= {(document.id, page.number): page for page in pages}
            self._passages |= {p.id: p for p in stored}
        return stored

    def save_all_ingested(
        self, contents: Sequence[DocumentContent], *, embedded_by: str = "", step: str = ""
    ) -> Mapping[int, Sequence[Passage]]:
        """The same for several documents; one that was deleted is absent."""
        with self._lock:
            return {
                each.document.id: self.save_ingested(
                    each.document, each.pages, each.passages, each.vectors, embedded_by=embedded_by, step=step
                )
                for each in contents
                if each.document.id in self._documents
            }

    def replace_meanings(self, meanings: Mapping[int, bytes]) -> None:
        """Sentence vectors of another model, by passage id."""
        with self._lock:
            changed = {i: replace(self._passages[i], meanings=new) for i, new in meanings.items()}
            self._passages = {**self._passages, **changed}

    def _stored(self, document: Document, position: int, passage: Passage) -> Passage:
        """What only the catalogue knows: ids, and what a passage takes from its document."""
        return replace(
            passage,
            id=next(self._passage_ids),
            document_id=document.id,
            document_name=document.name,
            position=position,
            project=document.project,
            source_type=document.source_type,
            tags=passage.tags or document.tags,
            archived=document.archived,
        )

    def _forget_contents(self, document_id: int) -> None:
        self._pages = {key: page for key, page in self._pages.items() if key[0] != document_id}
        self._passages = {i: p for i, p in self._passages.items() if p.document_id != document_id}

    def put(self, document: Document) -> None:
        """Store a document as it is given, whatever it was."""
        self._documents[document.id] = document

    def edit_labels(self, document_id: int, edit: LabelEditing) -> Sequence[Passage]:
        """Labels, tags, dates, project or archived flag changed, of a document as it is now."""
        with self._lock:
            document, passages = edit(self.document(document_id), self.passages_of(document_id))
            twin = None if document.archived else self.document_by_hash(document.sha256, document.project)
            if twin is not None and twin.id != document_id:
                raise same_file_there(document)
            if document.project != self._documents[document_id].project:
                self._copy_corrections(self._documents[document_id], document)
            self._documents[document_id] = document
            known = self._passages
            self._passages |= {p.id: replace(p, keywords=known[p.id].keywords) for p in passages}
            return passages

    def save_keywords(self, document_id: int, keywords: Sequence[str]) -> None:
        """Keywords of a document, with each of its passages."""
        with self._lock:
            found = self.passages_of(document_id)
            self._passages |= {p.id: replace(p, keywords=tuple(map(storable_text, keywords))) for p in found}

    def delete(self, document_id: int) -> None:
        """Forget a document and its contents."""
        with self._lock:
            self._documents.pop(document_id, None)
            self._forget_contents(document_id)

    def put_back(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        """A document with its contents, under the ids they had."""
        with self._lock:
            self._documents[document.id] = document
            self._pages |= {(document.id, page.number): page for page in pages}
            self._passages |= {passage.id: passage for passage in passages}

    def page(self, document_id: int, number: int) -> Page:
        """One page. Raises NotFound."""
        if (document_id, number) not in self._pages:
            raise NotFound(f"Document {document_id} has no page {number}.", "Open the document from the library.")
        return self._pages[document_id, number]

    def page_texts(self, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """Text of many pages; missing ones are absent."""
        return {key: self._pages[key].text for key in keys if key in self._pages}

    def passages(self, ids: Sequence[int]) -> Mapping[int, Passage]:
        """Stored passages by id; missing ones are absent."""
        return {int(i): self._passages[int(i)] for i in ids if int(i) in self._passages}

    def found_passages(self, ids: Sequence[int]) -> Mapping[int, FoundPassage]:
        """Passages that a search has just found."""
        return {i: FoundPassage.of(passage) for i, passage in self.passages(ids).items()}

    def passages_of(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        with self._lock:
            found = [p for p in self._passages.values() if p.document_id == document_id]
        return sorted(found, key=lambda p: p.position)

    def passages_of_each(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[Passage]]:
        """Each of these documents → its passages in reading order."""
        return {each: self.passages_of(each) for each in document_ids}

    def _admitted(self, filters: SearchFilters) -> Iterator[Passage]:
        with self._lock:
            return iter([p for p in self._passages.values() if filters.admits(p)])

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages the filters admit, ascending. Only documents that have been ingested have passages."""
        return np.array(sorted(p.id for p in self._admitted(filters)), dtype=np.int64)

    def with_phrases(self, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
        """Those of the passages whose text contains every phrase, ids ascending."""
        known = self.passages(passage_ids.tolist())
        return np.array(
            [i for i, passage in sorted(known.items()) if contains_phrases(passage.text, phrases)], dtype=np.int64
        )

    def fingerprints(self, filters: SearchFilters) -> Mapping[int, str]:
        """Document id → digest of its admissible passages."""
        read: dict[int, list[str]] = {}
        for passage in sorted(self._admitted(filters), key=lambda p: p.id):
            read.setdefault(passage.document_id, []).append(repr(replace(passage, keywords=())))
        return {i: sha256("\n".join(texts).encode()).hexdigest() for i, texts in read.items()}

    def setup_documents(self, filters: SearchFilters) -> Sequence[int]:
        """Ids, ascending, of the documents with admissible rows of a set-up table."""
        return sorted({p.document_id for p in self._admitted(filters) if p.table_role is TableRole.SETUP})

    def undated(self, filters: SearchFilters) -> int:
        """The number of documents that the date filter excludes only because they have no date."""
        if not filters.dated or filters.include_undated:
            return 0
        wider = filters.replace(include_undated=True)
        return len({p.document_id for p in self._admitted(wider) if p.date is None})

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → passages that a filter on the value admits, under the filters of the other fields."""
        counted: dict[str, Mapping[str, int]] = {}
        for field in FIELDS:
            others = filters.replace(**{field.name: (), f"exclude_{field.name}": ()})
            counts: Counter[str] = Counter()
            shared = 0
            for passage in self._admitted(others):
                value = getattr(passage, field.attribute)
                values = {str(v) for v in (value if field.many else (value,)) if v is not None}
                if field.classified and not filters.strict_labels:
                    start = possible_label(field.attribute, "")
                    values |= {each.removeprefix(start) for each in passage.possible_labels if each.startswith(start)}
                counts.update(values)
                shared += field.name == "projects" and value is None
            counts.update(dict.fromkeys(counts, shared))
            counted[field.name] = dict(counts)
        return counted

    def months(self, filters: SearchFilters) -> Mapping[str, int]:
        """Month of the date → passages, under all filters but those of the date."""
        undated = filters.replace(date_from=None, date_to=None, recency_months=None)
        return Counter(f"{each.date.astimezone(UTC):%Y-%m}" for each in self._admitted(undated) if each.date)

    def correct(self, document_id: int, field: str, value: str, who: str, at: datetime) -> None:
        """Keep an analyst's label for the file of this document, in its project."""
        document = self.document(document_id)
        of_file = self._corrections.setdefault((document.project, document.sha256), {})
        of_file[field] = Label(value, 1.0, confirmed=True)

    def corrections(self, document_id: int) -> Mapping[str, Label]:
        """The latest correction per label field."""
        document = self._documents.get(document_id)
        made = {} if document is None else self._corrections.get((document.project, document.sha256), {})
        return {field: label for field, label in made.items() if label.value}

    def corrections_of_each(self, document_ids: Collection[int]) -> Mapping[int, Mapping[str, Label]]:
        """Each of these documents → its corrections."""
        return {each: self.corrections(each) for each in document_ids}

    def _copy_corrections(self, before: Document, after: Document) -> None:
        """A document that moves to another project takes those along that its labels show, or all before it is read."""
        for field, label in self._corrections.get((before.project, before.sha256), {}).items():
            if not label.value or not after.pages or getattr(after.labels, field).confirmed:
                self._corrections.setdefault((after.project, after.sha256), {})[field] = label

    def save_searched(self, question: str, hits: int, at: datetime, login: str) -> None:
        """Remember a person's question; asked again, it moves to the front."""
        with self._lock:
            own = self._searches.setdefault(login, {})
            own.pop(question, None)
            own[question] = (hits, at)

    def delete_searches(self, login: str) -> None:
        """Delete a person's searches."""
        with self._lock:
            self._searches.pop(login, None)

    def last_searches(self, limit: int, login: str) -> Sequence[tuple[str, int, datetime]]:
        """(question, hits, when) of a person's searches, newest first, each question once."""
        with self._lock:
            newest = sorted(self._searches.get(login, {}).items(), key=lambda item: item[1][1], reverse=True)
        return [(question, hits, at) for question, (hits, at) in newest[:limit]]

    def count_documents(self, state: DocumentState | None = None, project: str | None = None) -> int:
        """Documents not archived. project: only those of it, and those shared by all projects."""
        counted = [each for each in self._newest_first() if state is None or each.state is state]
        return sum(project is None or each.project in (None, project) for each in counted)

    def count_unknown_truths(self) -> int:
        """Ready documents with text and without a truth."""
        return self.statistics().unsure

    def count_passages(self) -> int:
        """Passages of the ready documents not archived."""
        return self.statistics().passages

    def has_passages(self) -> bool:
        """Whether a document not archived has passages, also one that is read again."""
        return any(each.passages for each in self._newest_first())

    def last_change(self) -> str:
        """A name for what the passages are like now."""
        with self._lock:
            return str(hash(tuple(self._passages.values())))

    def statistics(self) -> Statistics:
        """What is in the library."""
        documents = self._newest_first()
        ready = [d for d in documents if d.state is DocumentState.READY]
        truths = Counter(Truth(v) if (v := d.labels.truth.value) else None for d in ready if d.pages)
        return Statistics(
            documents=len(documents),
            passages=sum(d.passages for d in ready),
            by_truth=dict(truths),
            by_state=dict(Counter(str(d.state) for d in documents)),
            unsure=truths[None],
            waiting_jobs=0,
        )


class FakeEnrichmentStore:
    """Implements core.library.enrichment.store.EnrichmentStore; every method is atomic across threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._lock, self._catalogue = RLock(), catalogue
        self._outcomes: dict[tuple[int, Operation], OperationOutcome] = {}
        self._edits: dict[tuple[int, Operation], EnrichmentEdit] = {}

    def save(self, outcomes: Sequence[OperationOutcome]) -> None:
        """Store outcomes of documents that still exist."""
        living = self._catalogue.documents_by_id([each.document_id for each in outcomes])
        with self._lock:
            self._outcomes |= {(e.document_id, e.operation): e for e in outcomes if e.document_id in living}

    def outcomes(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Sequence[OperationOutcome]]:
        """Document → its outcomes of these operations, in the order of Operation."""
        expected = [each for each in Operation if each in operations]
        with self._lock:
            found = {i: [self._outcomes.get((i, operation)) for operation in expected] for i in document_ids}
        described = {i: [each for each in reported if each is not None] for i, reported in found.items()}
        return {i: reported for i, reported in described.items() if reported}

    def all_outcomes(self) -> Sequence[OperationOutcome]:
        """The outcome of every operation on every document, without results."""
        with self._lock:
            documents = sorted({document_id for document_id, _ in self._outcomes})
        found = self.outcomes(documents)
        return [replace(each, result=None) for i in documents for each in found.get(i, ())]

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete the outcomes of documents; edits stay."""
        with self._lock:
            self._outcomes = {key: each for key, each in self._outcomes.items() if key[0] not in document_ids}

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the outcomes and edits of documents."""
        with self._lock:
            self.forget(document_ids)
            self._edits = {key: each for key, each in self._edits.items() if key[0] not in document_ids}

    def save_edit(self, edit: EnrichmentEdit) -> None:
        """Keep an edit in place of the one before. Raises NotFound."""
        self._catalogue.document(edit.document_id)
        with self._lock:
            self._edits[edit.document_id, edit.operation] = edit

    def reset(self, document_id: int, operation: Operation) -> None:
        """Delete an edit."""
        with self._lock:
            self._edits.pop((document_id, operation), None)

    def edits(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[EnrichmentEdit]]:
        """Document → its edits, in the order of Operation."""
        with self._lock:
            found = {i: [self._edits.get((i, operation)) for operation in Operation] for i in document_ids}
        expected = {i: [each for each in described if each is not None] for i, described in found.items()}
        return {i: described for i, described in expected.items() if described}


class FakeSignatureStore:
    """Implements core.library.versions.store.SignatureStore; the catalogue tells which documents are archived."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue, self._lock = catalogue, RLock()
        self._signatures: dict[int, Signature] = {}
        self._buckets: dict[int, set[int]] = {}
        self._pairs: dict[tuple[int, int], DuplicatePair] = {}
        self._decisions: list[VersionDecision] = []

    def keep(self, signatures: Sequence[Signature]) -> None:
        """Store signatures, replacing earlier ones, and delete the pairs of their documents."""
        with self._lock:
            self.forget([each.document_id for each in signatures])
            here = self._catalogue.documents_by_id([each.document_id for each in signatures])
            for signature in (each for each in signatures if each.document_id in here):
                self._signatures[signature.document_id] = signature
                for bucket in buckets(signature.minima):
                    self._buckets.setdefault(bucket, set()).add(signature.document_id)

    def candidates(self, signature: Signature, most: int) -> Sequence[Signature]:
        """Other documents that share a bucket, a key or the URL, by number of shared ones; of many, the newest."""

        def newest(of: Iterable[int]) -> set[int]:
            return set(sorted(of, reverse=True)[:25])

        with self._lock:
            shared: dict[int, int] = {}
            near: set[int] = set()
            for bucket in buckets(signature.minima):
                for each in self._buckets.get(bucket, ()):
                    shared[each] = shared.get(each, 0) + 1
                near |= newest(self._buckets.get(bucket, ()))
            for name in ("name_key", "title_key", "url"):
                own = getattr(signature, name)
                same = [each for each, known in self._signatures.items() if own and getattr(known, name) == own]
                for each in same:
                    shared[each] = shared.get(each, 0) + 1
                near |= newest(same)
            best = sorted(near - {signature.document_id}, key=lambda each: (-shared[each], -each))
            return [self._signatures[each] for each in best[:most]]

    def pair(self, pairs: Sequence[DuplicatePair]) -> None:
        """Store pairs, replacing earlier ones; those of documents without a signature are left out."""
        with self._lock:
            for pair in pairs:
                if {pair.first, pair.second} <= self._signatures.keys():
                    self._pairs[pair.first, pair.second] = pair

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete signatures with their buckets and pairs."""
        removed = set(document_ids)
        with self._lock:
            for each in removed & self._signatures.keys():
                for bucket in buckets(self._signatures.pop(each).minima):
                    self._buckets[bucket].discard(each)
            self._pairs = {key: pair for key, pair in self._pairs.items() if not removed & set(key)}

    def signed(self) -> Sequence[int]:
        """Ids, ascending, of documents that have a signature."""
        with self._lock:
            return sorted(self._signatures.keys() & self._catalogue.documents_by_id(list(self._signatures)).keys())

    def pairs_of(self, document_ids: Sequence[int]) -> Sequence[DuplicatePair]:
        """Pairs of any of these documents in which neither is archived, the most similar first."""
        expected = set(document_ids)
        found = [pair for pair, _, _ in self._living() if expected & {pair.first, pair.second}]
        return sorted(found, key=lambda pair: (-pair.same, pair.first, pair.second))

    def near_pairs(self) -> Sequence[DuplicatePair]:
        """All near-duplicate pairs in which neither is archived, ordered by ids."""
        return [pair for pair, _, _ in self._living() if pair.near]

    def suggested(self, page: int, per_page: int) -> tuple[Sequence[DuplicatePair], int]:
        """One page of open suggestions, the latest documents first, and their total number."""
        with self._lock:
            found = [
                pair
                for pair, first, second in self._living()
                if pair.suggested and first.project == second.project and not self._rejected(first, second)
            ]
        found.sort(key=lambda pair: (-pair.second, -pair.same, -pair.first))
        return found[(page - 1) * per_page : page * per_page], len(found)

    def _living(self) -> list[tuple[DuplicatePair, Document, Document]]:
        """Pairs of documents that both live, by their ids."""
        with self._lock:
            pairs = [self._pairs[key] for key in sorted(self._pairs)]
            known = self._catalogue.documents_by_id(sorted({each for p in pairs for each in (p.first, p.second)}))
            living = {each for each, document in known.items() if not document.archived}
            return [(p, known[p.first], known[p.second]) for p in pairs if {p.first, p.second} <= living]

    def _rejected(self, first: Document, second: Document) -> bool:
        latest = self.decision(first.sha256, second.sha256)
        return latest is not None and latest.verdict is VersionVerdict.REJECTED

    def decide(self, decision: VersionDecision) -> None:
        """Append a decision. Raises Outdated when its number is not the next one of its pair."""
        with self._lock:
            if sum(each.about == decision.about for each in self._decisions) != decision.number - 1:
                raise outdated_decision()
            self._decisions.append(decision)

    def decision(self, one: str, other: str) -> VersionDecision | None:
        """The latest decision on two files, in any order."""
        about = (min(one, other), max(one, other))
        with self._lock:
            return next((each for each in reversed(self._decisions) if each.about == about), None)

    def decisions(self, limit: int) -> Sequence[VersionDecision]:
        """The latest decisions, newest first."""
        with self._lock:
            return self._decisions[::-1][:limit]

    def successors(self, document_ids: Sequence[int]) -> Mapping[int, int]:
        """Document → the one that replaced it; if several did, the latest."""
        expected = set(document_ids)
        known = sorted(self._catalogue.documents(archived=None), key=lambda document: document.id)
        return {
            each.version_of: each.id for each in known if each.version_of in expected and each.version_of is not None
        }
