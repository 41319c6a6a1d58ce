"""Applies bulk edits of document metadata: previews them, records them in the history, and undoes them."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from core.domain.documents import LABEL_FIELDS, Document, Label, Passage
from core.domain.errors import BadRequest, NotFound, StoreFailed
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.bulk_edit.plan import METADATA, BulkEdit, EditPlan, EditProblem, plan_edits, value_of, with_edits
from core.library.bulk_edit.store import ChangeLog, ChangeSet, LabelEdit
from core.library.trash import DELETED
from core.ports.catalogue import Catalogue
from core.ports.stores import VectorIndex

__all__ = ["ARCHIVED", "BulkEditService", "DocumentWriter", "UndoneEdit"]

ARCHIVED = "archived"
"""The field of a change that archives a document ("yes") or puts it back ("")."""
_HISTORY = 200  # sets of changes a page lists; chosen by hand
_NAMED = 3  # refusals that an error repeats; chosen by hand
_FOLLOWED = ("project", "tags", "source_type")
OnDocument = Callable[[int, int, str], object]
"""Hears (documents done, documents to do, name of the next)."""


class DocumentWriter(Protocol):
    """Sets labels, archives and deletes documents. A manual label always overrides an automatic one."""

    def correct_many(self, changes: Sequence[tuple[int, str, str]], who: str = ...) -> Sequence[Document]:
        """(document id, field, value) each, all or none."""
        ...

    def uncorrect(self, document_id: int, field: str, label: Label | None = None, who: str = ...) -> Document:
        """Give a field back to the classifier, with the label it had."""
        ...

    def archive(self, document_id: int, *, archived: bool) -> None: ...
    def delete(self, document_id: int, who: str = ...) -> None: ...


@dataclass(frozen=True, slots=True)
class UndoneEdit:
    """The outcome of an undo. restored: how many changes were undone; left: one sentence for each that was not, and
    why.
    """

    restored: int
    left: tuple[str, ...] = ()


class BulkEditService:
    """Plans, applies and undoes edits of one tenant's documents."""

    def __init__(
        self,
        log: ChangeLog,
        catalogue: Catalogue,
        vectors: VectorIndex,
        labelling: DocumentWriter,
        terms: Callable[[], WorkspaceTerms],
        now: Callable[[], datetime],
        *,
        restore: Callable[[Sequence[int], str], object],
        on_move: Sequence[Callable[[Sequence[int]], object]] = (),
    ) -> None:
        """restore: brings documents back from the trash. on_move: each is called with the documents whose project
        changed."""
        self._on_move, self._bring_back = on_move, restore
        self._log, self._catalogue, self._vectors = log, catalogue, vectors
        self._labelling, self._terms, self._now = labelling, terms, now

    def plan(self, requested: Mapping[int, Sequence[BulkEdit]]) -> EditPlan:
        """What these edits (document id → edits) would change; nothing is changed."""
        known = self._catalogue.documents_by_id(list(requested))
        missing = [
            EditProblem("It is no longer in the library.", f"Document {each}")
            for each in requested
            if each not in known
        ]
        plan = plan_edits(
            [known[each] for each in requested if each in known], requested, self._catalogue.documents(), self._terms()
        )
        return replace(plan, problems=(*missing, *plan.problems))

    def apply(
        self,
        changes: Sequence[LabelEdit],
        what: str,
        who: str = "analyst",
        on_document: OnDocument = lambda done, total, name: None,
    ) -> ChangeSet:
        """Apply planned changes and record them in the history, also those made before a failure. Skips deleted
        documents, and changes whose field no longer has the value that was planned on.

        Raises BadRequest when nothing is left to change, or when documents were refused: the others are changed then.
        """
        by_document: dict[int, list[LabelEdit]] = defaultdict(list)
        for change in changes:
            by_document[change.document_id].append(change)
        begun: list[LabelEdit] = []
        refused: list[BadRequest] = []
        recorded: ChangeSet | None = None
        try:
            for done, (document_id, own) in enumerate(by_document.items()):
                on_document(done, len(by_document), own[0].name)
                try:
                    self._apply_to(document_id, own, begun)
                except NotFound:
                    continue
                except BadRequest as refusal:
                    refused.append(refusal)
            self._set_labels(begun, who)
        finally:
            if made := self._in_effect(begun):
                recorded = self._log.add(ChangeSet(self._now(), who, what, tuple(made)))
        if refused:
            raise refused[0] if recorded is None else _partly_refused(refused, len(by_document))
        if recorded is None:
            raise BadRequest("Nothing was changed.", "The documents are as wanted, or were changed meanwhile.")
        return recorded

    def set_labels(self, labels: Sequence[tuple[int, str, str]], who: str = "analyst") -> ChangeSet:
        """Set labels by hand, (document id, field, value) each, all or none; a label that has the value is confirmed.

        Raises BadRequest naming every value that cannot be set, or when nothing would change.
        """
        requested: dict[int, list[BulkEdit]] = defaultdict(list)
        for document_id, name, value in labels:
            requested[document_id].append(BulkEdit(name, value))
        plan = self.plan(requested)
        if plan.problems:
            raise BadRequest(" ".join(map(str, plan.problems)), "Choose other values.")
        confirmed = all(each.before == each.after for each in plan.changes)
        return self.apply(plan.changes, "Labels confirmed" if confirmed else "Labels corrected", who)

    def withdraw_label(self, document_id: int, field: str, who: str = "analyst") -> ChangeSet:
        """Give a label set by hand back to the classifier, and record it. Raises BadRequest, NotFound."""
        before = self._catalogue.document(document_id)
        now = self._labelling.uncorrect(document_id, field, who=who)
        label = getattr(before.labels, field)
        change = LabelEdit(document_id, before.name, field, value_of(before, field), value_of(now, field), label)
        return self._log.add(ChangeSet(self._now(), who, "Label given back to the classifier", (change,)))

    def archive(self, document_ids: Sequence[int], *, archived: bool, who: str = "analyst") -> ChangeSet:
        """Archive documents, which takes them out of searches and counts, or restore them. Raises BadRequest when
        nothing would change, or as `apply` does: a document cannot come back beside one with the same bytes.
        """
        known = self._catalogue.documents_by_id(document_ids).values()
        after = "yes" if archived else ""
        changes = [
            LabelEdit(each.id, each.name, ARCHIVED, "yes" if each.archived else "", after)
            for each in known
            if each.archived is not archived
        ]
        return self.apply(changes, "Archived" if archived else "Restored from the archive", who)

    def delete(self, document_id: int, who: str = "analyst") -> ChangeSet:
        """Move a document to the trash, and record it, also where a store fails afterwards. Raises NotFound, and
        StoreFailed as core.library.trash does."""
        document = self._catalogue.document(document_id)
        deletion = LabelEdit(document_id, document.name, DELETED, "", document.sha256)
        try:
            self._labelling.delete(document_id, who)
        except StoreFailed:
            if not self._catalogue.documents_by_id([document_id]):
                self._log.add(ChangeSet(self._now(), who, "Deleted", (deletion,)))
            raise
        return self._log.add(ChangeSet(self._now(), who, "Deleted", (deletion,)))

    def undo(self, set_id: int, who: str = "analyst") -> UndoneEdit:
        """Undo a set of changes: every field that still has the value it was set to gets its previous value back.

        A deletion is undone by restoring the document from the trash. Raises NotFound, and BadRequest when it is undone
        already, when the person does not see all of it, or when every change is refused: it can be undone later.
        """
        done = self._log.find(set_id)
        if done.hidden:
            raise BadRequest(
                f"'{done.what}' changed more documents than you can see.",
                "Ask somebody who sees them all to undo it, or change yours by hand.",
            )
        if done.undone_at is not None:
            raise BadRequest(f"'{done.what}' is undone already.", "Look at the history.")
        if any(change.field == DELETED for change in done.changes):
            self._bring_back([each.document_id for each in done.changes if each.field == DELETED], who)
            return UndoneEdit(1)
        left: list[str] = []
        refused: list[BadRequest] = []
        restored = 0
        for change in reversed(done.changes):
            try:
                document = self._catalogue.document(change.document_id)
            except NotFound:
                left.append(f"{change.name} is no longer in the library.")
                continue
            if _current_value(document, change.field) != change.after:
                left.append(f"{change.name}: its {change.field.replace('_', ' ')} was changed again since.")
                continue
            try:
                self._restore(document, change, who)
            except BadRequest as refusal:
                refused.append(refusal)
                left.append(refusal.message)
                continue
            restored += 1
        if refused and not restored:
            raise refused[0]
        self._log.mark_undone(set_id, who, self._now())
        return UndoneEdit(restored, tuple(left))

    def history(self, document_id: int | None = None, limit: int = _HISTORY) -> Sequence[ChangeSet]:
        """The newest sets of changes, newest first; of one document: its own changes only."""
        return self._log.newest(limit, document_id)

    def _apply_to(self, document_id: int, changes: Sequence[LabelEdit], begun: list[LabelEdit]) -> None:
        """Make the changes, added to `begun`, of fields that were not changed since; labels are set for all together.
        Raises BadRequest, NotFound."""
        document = self._catalogue.document(document_id)
        current = [each for each in changes if _current_value(document, each.field) == each.before]
        begun += current
        metadata = [each for each in current if each.field in METADATA]
        if metadata:
            self._save(document_id, metadata)
        for change in current:
            if change.field == ARCHIVED:
                self._labelling.archive(document_id, archived=change.after == "yes")

    def _set_labels(self, changes: Sequence[LabelEdit], who: str) -> None:
        """Set all labels at once, those of a document deleted meanwhile left out."""
        labels = [(each.document_id, each.field, each.after) for each in changes if each.field in LABEL_FIELDS]
        there = self._catalogue.documents_by_id([document_id for document_id, _, _ in labels])
        remaining = [each for each in labels if each[0] in there]
        if remaining:
            self._labelling.correct_many(remaining, who)

    def _in_effect(self, changes: Sequence[LabelEdit]) -> list[LabelEdit]:
        """Those of the changes that their documents have."""
        known = self._catalogue.documents_by_id(list({each.document_id for each in changes})) if changes else {}
        return [each for each in changes if each.document_id in known and _has(known[each.document_id], each)]

    def _save(self, document_id: int, changes: Sequence[LabelEdit]) -> None:
        """Change metadata that nobody else has changed since; the passages repeat what filters read of it."""
        moved, changed = False, list[Passage]()

        def edit(now: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            nonlocal moved, changed
            edited = with_edits(now, [each for each in changes if _current_value(now, each.field) == each.before])
            moved = edited.project != now.project
            values = {name: getattr(edited, name) for name in _FOLLOWED}
            followed = [replace(each, **values) for each in passages]
            changed = [each for each, was in zip(followed, passages, strict=True) if each != was]
            return edited, followed

        self._catalogue.edit_labels(document_id, edit)
        self._vectors.update(changed)
        if moved:
            for follow in self._on_move:
                follow([document_id])

    def _restore(self, document: Document, change: LabelEdit, who: str) -> None:
        if change.field == ARCHIVED:
            self._labelling.archive(document.id, archived=change.before == "yes")
        elif change.field not in LABEL_FIELDS:
            self._save(document.id, [replace(change, before=change.after, after=change.before)])
        elif change.label is None or change.label.confirmed:
            self._labelling.correct_many([(document.id, change.field, change.before)], who)
        else:
            self._labelling.uncorrect(document.id, change.field, change.label, who)


def _partly_refused(refused: Sequence[BadRequest], documents: int) -> BadRequest:
    """The error of a bulk edit that changed some documents only. documents: that were to be changed."""
    more = f" And {len(refused) - _NAMED} more." if len(refused) > _NAMED else ""
    reasons = " ".join(each.message for each in refused[:_NAMED])
    return BadRequest(
        f"{documents - len(refused)} of {documents} documents were changed. {reasons}{more}",
        f"{refused[0].hint} The history can undo what was changed.",
    )


def _has(document: Document, change: LabelEdit) -> bool:
    """Whether a change was made: confirming a label leaves its value."""
    confirmed = change.field not in LABEL_FIELDS or getattr(document.labels, change.field).confirmed
    return confirmed and _current_value(document, change.field) == change.after


def _current_value(document: Document, field: str) -> str:
    return ("yes" if document.archived else "") if field == ARCHIVED else value_of(document, field)
