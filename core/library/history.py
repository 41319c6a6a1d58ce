"""One history of everything people changed: documents, labels, versions, coverage decisions, profiles, vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.coverage.board_view import about_in_words
from core.coverage.service import CoverageService
from core.coverage.topics import TopicEdit
from core.domain.coverage import Decision, ReviewVerdict, Topic, TopicRevision
from core.domain.errors import BadRequest
from core.domain.profiles import ProfileVersion
from core.evaluation.tuning.profile_registry import ProfileRegistry, differences
from core.library.bulk_edit.service import BulkEditService
from core.library.bulk_edit.store import ChangeSet
from core.library.trash import DELETED, ERASED, TrashService
from core.library.versions.service import VersionService
from core.library.versions.store import VersionDecision, VersionVerdict
from core.library.vocabulary.service import VocabularyService
from core.library.vocabulary.store import VocabularyVersion

__all__ = ["HistoryChange", "HistoryEntry", "HistoryKind", "HistoryService"]

_MOST = 200  # entries a page lists; chosen by hand
_MOST_REVISIONS = 2_000  # of topics, read for them: an import of a list is one entry; chosen by hand


class HistoryKind(StrEnum):
    """What an entry of the history is about."""

    DOCUMENTS = "documents"
    VERSIONS = "versions"
    COVERAGE = "coverage"
    TOPICS = "topics"
    PROFILES = "profiles"
    VOCABULARY = "vocabulary"


@dataclass(frozen=True, slots=True)
class HistoryChange:
    """One value that changed. about: a document, topic or profile. field: a field of a document, or a word for it.
    before, after: "" for no value."""

    about: str
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """What one person changed at one time. reference: finds it among the entries of its kind. can_undo: whether it is
    current and can be undone. undone_at: None unless it was undone."""

    kind: HistoryKind
    reference: str
    at: datetime
    who: str
    what: str
    changes: tuple[HistoryChange, ...] = ()
    can_undo: bool = False
    undone_at: datetime | None = None
    undone_by: str = ""


class HistoryService:
    """Lists and undoes what people changed, from the logs in which each part of the library keeps it."""

    def __init__(
        self,
        *,
        edits: BulkEditService,
        versions: VersionService,
        coverage: CoverageService,
        profiles: ProfileRegistry,
        vocabulary: VocabularyService,
        trash: TrashService,
    ) -> None:
        self._edits, self._versions, self._coverage = edits, versions, coverage
        self._profiles, self._vocabulary, self._trash = profiles, vocabulary, trash

    def newest(self, limit: int = _MOST) -> Sequence[HistoryEntry]:
        """The newest entries of the whole library, newest first. Raises StoreFailed."""
        entries = [
            *self._of_edits(self._edits.history(limit=limit)),
            *self._of_versions(self._versions.decisions(limit)),
            *_of_decisions(self._coverage.decisions_of_all_boards()),
            *map(_of_topics, self._coverage.topic_edits(_MOST_REVISIONS)),
            *_of_profiles(self._profiles.all_versions()),
            *self._of_vocabulary(self._vocabulary.versions()[:limit]),
        ]
        return sorted(entries, key=lambda entry: entry.at, reverse=True)[:limit]

    def of_document(self, document_id: int, limit: int = _MOST) -> Sequence[HistoryEntry]:
        """The newest changes of one document and of its versions, newest first. Raises StoreFailed."""
        decided = [each for each in self._versions.decisions(limit) if document_id in (each.older_id, each.newer_id)]
        entries = [*self._of_edits(self._edits.history(document_id, limit)), *self._of_versions(decided)]
        return sorted(entries, key=lambda entry: entry.at, reverse=True)[:limit]

    def undo(self, entry: HistoryEntry, who: str) -> Sequence[str]:
        """Undo an entry; returns a sentence for each part that was left. Raises BadRequest, NotFound, Outdated."""
        if not entry.can_undo:
            raise BadRequest(f"'{entry.what}' cannot be undone.", "It is undone, partly hidden, or was changed since.")
        match entry.kind:
            case HistoryKind.DOCUMENTS:
                return self._edits.undo(int(entry.reference), who).left
            case HistoryKind.VERSIONS:
                one, other = map(int, entry.reference.split("-"))
                self._versions.undo(one, other, who)
            case HistoryKind.COVERAGE:
                self._coverage.undo_decision(int(entry.reference), who)
            case HistoryKind.TOPICS:
                self._coverage.undo_topic_edit(int(entry.reference), who)
            case HistoryKind.PROFILES:
                name, _, version = entry.reference.rpartition("@")
                self._undo_profile(name, int(version), who)
            case HistoryKind.VOCABULARY:
                number = int(entry.reference)
                self._vocabulary.restore(number - 1, who=who, after=number)
        return ()

    def _of_edits(self, sets: Sequence[ChangeSet]) -> list[HistoryEntry]:
        """A deletion can be undone while the document is in the trash; what is deleted for good stays so."""
        restorable = self._trash.restorable()
        final = [any(c.field in _GONE and c.document_id not in restorable for c in each.changes) for each in sets]
        return [_of_edit(each, possible=not (each.closed or lost)) for each, lost in zip(sets, final, strict=True)]

    def _undo_profile(self, name: str, version: int, who: str) -> None:
        if version == 1:
            self._profiles.retire(name, who, version)
        else:
            self._profiles.rollback(name, version - 1, who, version)

    def _of_versions(self, decisions: Sequence[VersionDecision]) -> list[HistoryEntry]:
        newest: dict[tuple[str, str], VersionDecision] = {}
        for each in decisions:
            newest.setdefault(each.about, each)
        return [self._of_version(each, current=newest[each.about] is each) for each in decisions]

    def _of_version(self, decision: VersionDecision, *, current: bool) -> HistoryEntry:
        names = self._versions.named(decision)
        older, newer = names or (f"Document {decision.older_id}", f"Document {decision.newer_id}")
        what, before, after = _VERSION_WORDS[decision.verdict]
        return HistoryEntry(
            HistoryKind.VERSIONS,
            f"{decision.older_id}-{decision.newer_id}",
            decision.at,
            decision.who,
            what,
            (HistoryChange(older, "version", before.format(newer), after.format(newer)),),
            current and names is not None and decision.verdict is not VersionVerdict.UNDONE,
        )

    def _of_vocabulary(self, versions: Sequence[VocabularyVersion]) -> list[HistoryEntry]:
        return [
            HistoryEntry(
                HistoryKind.VOCABULARY,
                str(each.number),
                each.at,
                each.who,
                f"Vocabulary version {each.number}{f': {each.note}' if each.note else ''}",
                tuple(HistoryChange(sentence, "", "", "") for sentence in self._vocabulary.changes(each.number)),
                each is versions[0],
            )
            for each in versions
        ]


_VERSION_WORDS: Mapping[VersionVerdict, tuple[str, str, str]] = {
    VersionVerdict.ACCEPTED: ("New version accepted", "current", "replaced by {}"),
    VersionVerdict.REJECTED: ("Version suggestion rejected", "may be replaced by {}", "not a version of {}"),
    VersionVerdict.UNDONE: ("Version decision undone", "decided, with {}", "open again"),
}
"""Verdict → what happened, and the older document before and after; {} is the newer one."""


_GONE = (DELETED, ERASED)
"""Fields whose value is a SHA-256, which says nothing to people."""


def _of_edit(changed: ChangeSet, *, possible: bool) -> HistoryEntry:
    return HistoryEntry(
        HistoryKind.DOCUMENTS,
        str(changed.id),
        changed.at,
        changed.who,
        changed.what,
        tuple(
            HistoryChange(each.name, each.field, each.before, each.after if each.field not in _GONE else "yes")
            for each in changed.changes
        ),
        possible,
        changed.undone_at,
        changed.undone_by,
    )


def _of_decisions(log: Sequence[Decision]) -> list[HistoryEntry]:
    """Coverage decisions. log: of each cell oldest first; the last one of a cell is current unless it is an undo."""
    stacks: dict[tuple[int, str, str | None], list[Decision]] = {}
    before: dict[int, str] = {}
    for each in log:
        stack = stacks.setdefault((each.topic_id, each.kind, each.project), [])
        before[each.id] = _verdict_words(stack[-1]) if stack else each.state.value if each.state else ""
        if each.verdict is not ReviewVerdict.UNDONE:
            stack.append(each)
        elif stack:
            stack.pop()
    current = {stack[-1].id for stack in stacks.values() if stack}
    return [
        HistoryEntry(
            HistoryKind.COVERAGE,
            str(each.id),
            each.at,
            each.who,
            f"Coverage decision: {each.verdict.value}",
            (HistoryChange(f"{each.topic} · {about_in_words(each.kind)}", "", before[each.id], _verdict_words(each)),),
            each.id in current,
        )
        for each in log
    ]


def _verdict_words(decision: Decision) -> str:
    parts = [decision.verdict.value, decision.owner, f"due {decision.due}" if decision.due else "", decision.reason]
    return ", ".join(filter(None, parts))


_TOPIC_FIELDS = ("name", "needs", "owner", "domain", "jurisdiction", "project")


def _of_topics(edit: TopicEdit) -> HistoryEntry:
    first = edit.revisions[0]
    return HistoryEntry(
        HistoryKind.TOPICS,
        str(edit.number),
        first.at,
        first.who,
        "Topics added" if first.before is None else "Topics changed",
        tuple(change for each in edit.revisions for change in _topic_changes(each)),
        edit.current,
    )


def _topic_changes(revision: TopicRevision) -> list[HistoryChange]:
    before, after = revision.before, revision.after
    if before is None:
        return [HistoryChange(after.name, "", "", "")]
    changed = [
        HistoryChange(after.name, name, _topic_value(before, name), _topic_value(after, name))
        for name in _TOPIC_FIELDS
        if getattr(before, name) != getattr(after, name)
    ]
    if before.retired != after.retired:
        changed.append(
            HistoryChange(after.name, "", *(("in use", "archived")[each.retired] for each in (before, after)))
        )
    return changed


def _topic_value(topic: Topic, name: str) -> str:
    value = getattr(topic, name)
    return ", ".join(value) if isinstance(value, tuple) else value or ""


def _of_profiles(versions: Sequence[ProfileVersion]) -> list[HistoryEntry]:
    """Versions of the workspace's own profiles. versions: of each profile oldest first."""
    past: dict[str, ProfileVersion] = {}
    entries: list[tuple[ProfileVersion, Sequence[HistoryChange]]] = []
    for each in versions:
        name, last = each.profile.name, past.get(each.profile.name)
        changed = () if last is None else differences(last.profile, each.profile)
        entries.append(
            (each, [HistoryChange(name, one.key, _number(one.before), _number(one.after)) for one in changed])
        )
        past[name] = each
    return [
        HistoryEntry(
            HistoryKind.PROFILES,
            each.profile.ref,
            each.at,
            each.who,
            _profile_words(each),
            tuple(changes),
            past[each.profile.name] is each and not (each.retired and each.profile.version == 1),
        )
        for each, changes in entries
    ]


def _profile_words(version: ProfileVersion) -> str:
    did = "archived" if version.retired else "saved"
    return f"Score profile {version.profile.ref} {did}{f': {version.note}' if version.note else ''}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
