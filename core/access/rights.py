"""The rights table: what every public method of every service needs, in one place for every door.

A row is (least role, where it must count, whether it is written into the audit log). What a person sees is narrowed
before, by the stores: a method that only reads needs no place. A method without a row is refused.
"""
# Longer than 300 lines: one row for each method of the product.

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from core.domain.people import Role
from core.library.history import HistoryKind

__all__ = ["NESTED", "RIGHTS", "Arguments", "Locator", "Right"]

Arguments = Mapping[str, Any]
"""The arguments of a call by parameter name, defaults included."""


class Locator(Protocol):
    """Finds the project of what a call is about; None is what all projects share. Raises NotFound for what the person
    does not see."""

    def documents(self, document_ids: Iterable[int]) -> Iterable[str | None]: ...
    def trashed(self, document_ids: Iterable[int]) -> Iterable[str | None]: ...
    def table(self, name: str) -> str | None: ...
    def coverage_run(self, run_id: int) -> str | None: ...
    def topics(self, topic_ids: Iterable[int]) -> Iterable[str | None]: ...
    def topic_edit(self, edit: int) -> Iterable[str | None]: ...
    def decision(self, decision_id: int) -> str | None: ...
    def meeting(self, meeting_id: int) -> str | None: ...
    def change_set(self, set_id: int) -> Iterable[str | None]: ...
    def question_set(self, set_id: int) -> str | None: ...
    def questions(self, question_ids: Iterable[int]) -> Iterable[str | None]: ...
    def experiment(self, experiment_id: int) -> str | None: ...
    def insight(self, item: Any) -> Iterable[str | None]: ...
    def feed(self, feed_id: int) -> str | None: ...
    def folder(self, folder_id: int) -> str | None: ...


Place = Callable[[Locator, Arguments], Iterable[str | None]]


@dataclass(frozen=True, slots=True)
class Right:
    """What a method needs. role: a function reads it from the arguments. where: the projects in which the role must
    count; None: in any project."""

    role: Role | Callable[[Arguments], Role]
    where: Place | None = None
    audited: bool = False

    @property
    def library_wide(self) -> bool:
        """Whether only a role in every project counts."""
        return self.where is _shared


# Places


def _shared(_find: Locator, _given: Arguments) -> Iterable[str | None]:
    """What all projects share: only a role in every project counts."""
    return (None,)


def _project(_find: Locator, given: Arguments) -> Iterable[str | None]:
    return (given["project"],)


def _document(name: str = "document_id") -> Place:
    return lambda find, given: find.documents([given[name]])


def _documents(name: str = "document_ids") -> Place:
    """None in place of the list stands for all documents of the library."""
    return lambda find, given: (None,) if given[name] is None else find.documents(given[name])


def _trashed(find: Locator, given: Arguments) -> Iterable[str | None]:
    return find.trashed(given["document_ids"])


def _two(one: str, other: str) -> Place:
    return lambda find, given: find.documents([given[one], given[other]])


def _edits(find: Locator, given: Arguments) -> Iterable[str | None]:
    """The documents' projects, and the ones they move to."""
    moved = [each.after or None for each in given["changes"] if each.field == "project"]
    return (*find.documents({each.document_id for each in given["changes"]}), *moved)


def _labels(name: str) -> Place:
    return lambda find, given: find.documents({each[0] for each in given[name]})


def _of(name: str) -> Place:
    """The project of a value that carries one."""
    return lambda find, given: (given[name].project,)


def _topics(find: Locator, given: Arguments) -> Iterable[str | None]:
    """The projects the topics name, and those they are stored with."""
    known = [each.id for each in given["topics"] if each.id]
    return {*(each.project for each in given["topics"]), *find.topics(known)}


def _topic_edit(find: Locator, given: Arguments) -> Iterable[str | None]:
    return find.topic_edit(given["edit"])


def _run(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.coverage_run(given["run_id"]),)


def _decision(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.decision(given["decision_id"]),)


def _decisions(find: Locator, given: Arguments) -> Iterable[str | None]:
    topics = find.topics({each.topic_id for each in given["decisions"]})
    return {*(each.project for each in given["decisions"]), *topics}


def _meeting(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.meeting(given["meeting_id"]),)


def _meeting_board(find: Locator, given: Arguments) -> Iterable[str | None]:
    return {find.meeting(given["meeting_id"]), given["board"].project}


def _change_set(find: Locator, given: Arguments) -> Iterable[str | None]:
    return find.change_set(given["set_id"])


def _question_set(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.question_set(given["set_id"]),)


def _stored_set(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.question_set(given["questions"].id), given["questions"].project)


def _questions(find: Locator, given: Arguments) -> Iterable[str | None]:
    return find.questions({each.id for each in given["questions"]})


def _experiment(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.experiment(given["experiment_id"]),)


def _insight(find: Locator, given: Arguments) -> Iterable[str | None]:
    return find.insight(given["item"])


def _table(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.table(given["name"]),)


def _feed(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.feed(given["feed_id"]),)


def _folder(find: Locator, given: Arguments) -> Iterable[str | None]:
    return (find.folder(given["folder_id"]), *((given["project"],) if "project" in given else ()))


def _history(find: Locator, given: Arguments) -> Iterable[str | None]:
    """What an entry of the history changed; profiles and the vocabulary are shared by all projects."""
    kind, reference = given["entry"].kind, given["entry"].reference
    if kind is HistoryKind.DOCUMENTS:
        return find.change_set(int(reference))
    if kind is HistoryKind.VERSIONS:
        return find.documents([int(each) for each in reference.split("-")])
    if kind is HistoryKind.TOPICS:
        return find.topic_edit(int(reference))
    return (find.decision(int(reference)),) if kind is HistoryKind.COVERAGE else (None,)


def _undoing(given: Arguments) -> Role:
    """Undoing needs the role that doing it needed."""
    return {HistoryKind.DOCUMENTS: Role.ANALYST, HistoryKind.VOCABULARY: Role.ADMINISTRATOR}.get(
        given["entry"].kind, Role.REVIEWER
    )


# Rows


def _rows(service: str, right: Right, names: str) -> dict[str, Right]:
    return {f"{service}.{name}": right for name in names.split()}


def _reads(service: str, names: str) -> dict[str, Right]:
    return _rows(service, Right(Role.VIEWER), names)


def _writes(role: Role | Callable[[Arguments], Role], where: Place, service: str, names: str) -> dict[str, Right]:
    return _rows(service, Right(role, where, audited=True), names)


_V, _A, _R, _ADMIN = Role.VIEWER, Role.ANALYST, Role.REVIEWER, Role.ADMINISTRATOR
_EXPORT = Right(_V, None, audited=True)

NESTED = frozenset(
    {
        *("active_learning.label_changes", "coverage.runs", "enrichment.edits", "vocabulary.relabelling"),
        *("evaluation.profiles", "evaluation.judging", "evaluation.experiments", "evaluation.classifier"),
    }
)
"""Attributes of services that are services themselves."""

RIGHTS: Mapping[str, Right] = {
    # People and access
    **_reads("people", "colleagues"),
    **_rows("people", Right(_ADMIN, _shared), "acting people by_login roles_by_settings"),
    **_writes(_ADMIN, _shared, "people", "set_role block invite"),
    **_reads("tokens", "tokens"),
    **_rows("tokens", Right(_V, None, audited=True), "create revoke"),
    **_rows("audit", Right(_ADMIN, _shared), "page values"),
    **_writes(_ADMIN, _shared, "audit", "csv"),
    **_reads("idempotency", "claim finish release"),
    # Documents
    **_reads("documents", "get list names page passage passages texts"),
    **_reads("documents", "count count_unknown_truths has_passages last_change statistics waiting_jobs"),
    **_rows("documents", _EXPORT, "original uploaded"),
    **_writes(_A, _project, "documents", "upload store"),
    **_writes(_A, _document(), "documents", "archive correct delete replace retry uncorrect"),
    **_writes(_A, _labels("changes"), "documents", "correct_many"),
    **_writes(_A, _table, "documents", "set_table_role"),
    **_writes(_ADMIN, _shared, "documents", "read_all_again"),
    **_reads("document_list", "by_id documents naming page"),
    **_reads("upload_queue", "counts members pace page projects read_since reading"),
    **_writes(_A, _project, "upload_queue", "take_in"),
    **_writes(_A, _documents(), "upload_queue", "stop try_again"),
    **_writes(_ADMIN, _shared, "upload_queue", "ended recover"),
    **_reads("ingestion", "notices"),
    **_writes(_ADMIN, _shared, "ingestion", "fail ingest ingest_pending ingest_together overdue tell_waiting"),
    **_writes(_A, _document(), "decryption", "unlock"),
    # Sources
    **_reads("feeds", "feeds"),
    **_writes(_ADMIN, _project, "feeds", "add"),
    **_writes(_A, _project, "feeds", "take_page"),
    **_writes(_ADMIN, _feed, "feeds", "delete fetch fetch_soon pause"),
    **_writes(_ADMIN, _shared, "feeds", "fetch_due"),
    **_rows("folders", Right(_ADMIN, _shared), "choices failures folders roots"),
    **_writes(_ADMIN, _shared, "folders", "add scan_due"),
    **_writes(_ADMIN, _folder, "folders", "change remove scan scan_soon"),
    # Edits and history
    **_reads("bulk_edit", "history plan"),
    **_writes(_A, _edits, "bulk_edit", "apply"),
    **_writes(_A, _documents(), "bulk_edit", "archive"),
    **_writes(_A, _document(), "bulk_edit", "delete withdraw_label"),
    **_writes(_A, _labels("labels"), "bulk_edit", "set_labels"),
    **_writes(_A, _change_set, "bulk_edit", "undo"),
    **_reads("history", "newest of_document"),
    **_reads("trash", "days get listed restorable"),
    **_writes(_A, _trashed, "trash", "restore"),
    **_writes(_ADMIN, _trashed, "trash", "purge"),
    **_writes(_ADMIN, _shared, "trash", "purge_due put"),
    **_writes(_undoing, _history, "history", "undo"),
    **_reads(
        "versions",
        "chain decisions difference groups marks named newest related suggestions suspect_citations suspect_links"
        " uncompared",
    ),
    **_writes(_R, _two("older_id", "newer_id"), "versions", "accept reject turn_round"),
    **_writes(_R, _two("one_id", "other_id"), "versions", "undo"),
    **_writes(_ADMIN, _shared, "versions", "compare follow forget leave rejoin"),
    # Enrichment, learning, vocabulary, models
    **_reads("enrichment", "citation entities failed lacking of of_many statistics"),
    **_writes(_A, _document(), "enrichment", "enrich"),
    **_writes(_A, _documents(), "enrichment", "enrich_many"),
    **_writes(_ADMIN, _shared, "enrichment", "follow forget"),
    **_writes(_A, _document(), "enrichment.edits", "remove_question reset rewrite_summary set_keywords set_type"),
    **_reads("active_learning", "accuracy acts choice newest reading recent_verdicts"),
    **_writes(_ADMIN, _shared, "active_learning", "choose deleted follow forget learn renew_records restored"),
    **_rows("active_learning.label_changes", Right(_R, _shared), "preview"),
    **_writes(_R, _shared, "active_learning.label_changes", "apply undo"),
    **_reads("vocabulary", "changes current in_use newest terms tried tried_on version versions"),
    **_writes(_ADMIN, _shared, "vocabulary", "restore save"),
    **_reads("vocabulary.relabelling", "latest"),
    **_writes(_ADMIN, _shared, "vocabulary.relabelling", "carry_on start stop"),
    **_reads("models", "notices status"),
    **_writes(_ADMIN, _shared, "models", "cancel carry_on retry stored use"),
    # Search
    **_reads(
        "search",
        "entities explain facets forget_recent load_reranker months recent reranker_problems rescore retry_reranker run"
        " run_many similar undated warm why_missing",
    ),
    **_reads("saved_searches", "check last_visits matching open problems run seen unseen view views"),
    **_rows("saved_searches", Right(_V, None, audited=True), "delete rename restore save"),
    **_reads("alerts", "feed followed"),
    **_rows("alerts", Right(_V, None, audited=True), "follow unfollow"),
    **_writes(_ADMIN, _shared, "alerts", "check queue_all queue_due"),
    **_reads("shortlists", "all changes get"),
    **_rows("shortlists", Right(_A, None, audited=True), "add create delete insert move note remove rename restore"),
    **_reads("usage", "cited document_opened dropped flush last_used mark notice of_document of_passage of_question"),
    **_reads("usage", "opened shown uses"),
    **_writes(_ADMIN, _shared, "usage", "close delete"),
    **_reads("answers", "ask write writer_name"),
    **_reads("cite_check", "check"),
    # Tables
    **_reads(
        "tables",
        "answer_form ask configured_vs_used diff examples figures follow form history language_model propose_sql"
        " question_tables rejects rows run_sql table tables versions",
    ),
    **_writes(_A, _table, "tables", "set_link set_role set_row_names set_used"),
    **_writes(_ADMIN, _shared, "tables", "documents_moved forget load relink"),
    # Coverage
    **_reads(
        "coverage",
        "board changes conflicts current_decisions decisions_of_all_boards found_clusters found_requirements glance"
        " history log orphans people preview queue shaken snapshots topic_edits topics trace weighed",
    ),
    **_rows("coverage", _EXPORT, "pack"),
    **_writes(_R, _topics, "coverage", "add_topics change_topics"),
    **_writes(_R, _topic_edit, "coverage", "undo_topic_edit"),
    **_writes(_R, _of("board"), "coverage", "decide decide_together settle undo"),
    **_writes(_R, _decisions, "coverage", "decide_all undo_together"),
    **_writes(_R, _decision, "coverage", "undo_decision"),
    **_writes(_R, _run, "coverage", "delete_snapshot name_snapshot"),
    **_reads("coverage.runs", "changed_documents progress"),
    **_writes(_A, _project, "coverage.runs", "start"),
    **_writes(_A, _run, "coverage.runs", "carry_out resume stop"),
    # Working together: the services themselves check who sees a target
    **_reads("comments", "mentionable on"),
    **_rows("comments", Right(_V, None, audited=True), "delete edit restore write"),
    **_reads("assignments", "assignable mine on"),
    **_rows("assignments", Right(_V, None, audited=True), "finish reopen"),
    **_rows("assignments", Right(_A, None, audited=True), "assign"),
    **_writes(_ADMIN, _shared, "assignments", "remind"),
    **_reads("notifications", "choose listed mark_all_read mark_read preferences read_about unread"),
    **_reads("delivery", "mails"),
    **_writes(_ADMIN, _shared, "delivery", "mail post queue_due"),
    # Review meetings: everyone who sees the board may speak, reviewers present and decide
    **_reads("meetings", "meeting meetings version view"),
    **_rows("meetings", Right(_V, _meeting), "beat leave"),
    **_writes(_V, _meeting, "meetings", "comment propose raise_point withdraw"),
    **_writes(_R, _of("board"), "meetings", "start"),
    **_rows("meetings", Right(_R, _meeting), "accept show"),
    **_writes(_R, _meeting, "meetings", "end present stop_presenting undo"),
    **_writes(_R, _meeting_board, "meetings", "decide undo_cell"),
    # Insights
    **_reads("insights", "about behind counts episode episodes insight insights strengths suggest_sector where"),
    **_writes(_A, _project, "insights", "save"),
    **_rows("insights", Right(_V, None, audited=True), "finish_episode"),
    **_writes(_A, _insight, "insights", "change delete restore tag"),
    **_writes(_ADMIN, _shared, "insights", "documents_moved reindex"),
    # Evaluation
    **_reads("evaluation", "first_if rescored retrieved"),
    **_reads(
        "evaluation.profiles",
        "all_versions choices chosen default default_filters default_reranker every find proposals retired versions",
    ),
    **_writes(_R, _project, "evaluation.profiles", "choose"),
    **_writes(_R, _shared, "evaluation.profiles", "choose_filters choose_reranker retire rollback save"),
    **_reads(
        "evaluation.judging",
        "agreement disputed find_question index judgments next_unjudged pool preview progress question question_set"
        " questions sets written",
    ),
    **_writes(_A, _project, "evaluation.judging", "add_set"),
    **_writes(_A, _question_set, "evaluation.judging", "add_question judge"),
    **_writes(_A, _stored_set, "evaluation.judging", "annotate rename restore retire schedule"),
    **_writes(_A, _questions, "evaluation.judging", "change_questions"),
    **_writes(_A, lambda find, given: find.questions([given["question_id"]]), "evaluation.judging", "retire_question"),
    **_writes(_A, lambda find, given: (find.question_set(given["preview"].set_id),), "evaluation.judging", "accept"),
    **_reads("evaluation.experiments", "experiment experiments ground"),
    **_writes(_A, _question_set, "evaluation.experiments", "begin"),
    **_writes(_A, _experiment, "evaluation.experiments", "annotate carry_out delete stop"),
    **_writes(_ADMIN, _shared, "evaluation.experiments", "due measure_due"),
    **_reads("evaluation.classifier", "report waiting"),
    # The library
    **_rows("jobs", Right(_ADMIN, _shared), "failed handlers"),
    **_writes(_ADMIN, _shared, "jobs", "retry"),
    **_reads("check", "notice"),
    **_writes(_ADMIN, _shared, "check", "refresh run"),
}
