"""Row-level security holds by itself: these tests ask without the code's own tenant condition."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from sqlalchemy import Engine, create_engine, text

from core.access.audit import AuditEntry
from core.collaboration.assignments import Assignment
from core.collaboration.comments import Comment
from core.collaboration.notifications import Notification, NotificationKind, NotificationPreferences
from core.collaboration.target import Target, TargetKind
from core.domain.coverage import Cell, CellState, CoverageRun, Decision, ReviewVerdict, RunState, Topic
from core.domain.datasets import TableHistory
from core.domain.documents import Truth
from core.domain.entities import Entity, EntityType
from core.domain.errors import StoreFailed
from core.domain.filters import SearchFilters
from core.domain.people import ApiToken, Door, Person, Role
from core.domain.profiles import DefaultProfile
from core.library.bulk_edit.store import ChangeSet, LabelEdit
from core.library.enrichment.values import EnrichmentEdit, Keywords, Operation, OperationOutcome
from core.library.idempotency import IdempotentRequest
from core.library.saved_search_alerts import SavedSearchAlert
from core.library.shortlists import Shortlist
from core.library.sources.store import Feed, WatchedFile, WatchedFolder
from core.library.versions.store import DuplicatePair, VersionVerdict
from core.ports.job_queue import FailedWork, JobKind
from core.search.store import UsageKind
from storage.datasets.loading import HISTORY, REALITY
from storage.jobs.queue import PostgresJobQueue
from storage.migrations.schema import METADATA
from storage.postgres.access import SqlAuditLog, SqlPeopleStore, SqlTokenStore
from storage.postgres.active_learning import SqlActiveLearningStore
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.changes import SqlChangeLog
from storage.postgres.comments import SqlAssignmentStore, SqlCommentStore
from storage.postgres.coverage_boards import SqlCoverageBoardStore
from storage.postgres.database import APP_ROLE, PURGE_ROLE, Database
from storage.postgres.embedding_models import SqlEmbeddingModelStore
from storage.postgres.enrichments import SqlEnrichmentStore
from storage.postgres.entities import SqlEntityGraph
from storage.postgres.evaluation import SqlEvaluationStore
from storage.postgres.idempotency import SqlIdempotencyStore
from storage.postgres.insights import SqlInsightStore
from storage.postgres.json_records import to_json
from storage.postgres.meetings import SqlMeetingStore
from storage.postgres.notifications import SqlNotificationStore
from storage.postgres.saved_searches import SqlSavedSearchAlertStore, SqlSavedSearchStore
from storage.postgres.shortlists import SqlShortlistStore
from storage.postgres.sources import SqlFeedStore, SqlFolderStore
from storage.postgres.trash import SqlTrash
from storage.postgres.upload_queue import SqlUploadQueueStore
from storage.postgres.usage import SqlUsageLog
from storage.postgres.versions import SqlSignatureStore
from storage.postgres.vocabularies import SqlVocabularyStore
from storage.postgres.word_vectors import SqlWordVectorStore
from tests.database import new_tenant
from tests.stores.contracts.active_learning import act_of, record_of, verdict_of
from tests.stores.contracts.active_learning import version_of as lessons_of
from tests.stores.contracts.evaluation import experiment_of, judgment, question, set_of, version_of
from tests.stores.contracts.insights import LINK, episode, insight
from tests.stores.contracts.test_meeting_store import meeting_of, said_in
from tests.stores.contracts.test_version_store import decision_of, signature_of
from tests.stores.contracts.test_vocabulary_store import FIRST, RUN
from tests.stores.contracts.usage import event, look_of, view_of
from tests.stores.libraries import MOMENT, document, passage, random_vectors, store

TABLES = sorted(METADATA.tables)


def remember(database: Database) -> None:
    """A row in each table of Reality's registry."""
    table = {"name": "t", "version": 1, "current": True, "data": {}, "rejects": []}
    with database.transaction("filling") as connection:
        document_id = connection.scalar(text("SELECT min(id) FROM documents"))
        row = table | {"tenant_id": database.tenant, "document_id": document_id}
        connection.execute(REALITY.insert().values(row))
        entry = {"tenant_id": database.tenant, "at": MOMENT, "data": to_json(TableHistory("SELECT 1", MOMENT, 1, 1.0))}
        connection.execute(HISTORY.insert().values(entry))


def tune(database: Database) -> None:
    """A row in each table of tuning."""
    tunings = SqlEvaluationStore(database)
    tunings.save_profile(version_of("secret", 1))
    tunings.set_default(DefaultProfile(None, "secret", "ann", MOMENT))
    (question_set,) = tunings.add_questions([question(tunings.add_set(set_of("secret")), "secret")])
    tunings.judge([judgment(question_set, "secret", 3)])
    tunings.add_experiment(experiment_of(question_set.set_id))


def note(database: Database) -> None:
    """A row in each table of notes, of use, of views, of words and of entities."""
    memories, views = SqlInsightStore(database), SqlSavedSearchStore(database)
    memories.add(insight(links=(LINK,)))
    memories.add(episode(links=(LINK,)))
    SqlUsageLog(database).record([event(UsageKind.CITED, question="secret?")])
    feeds = SqlFeedStore(database)
    feeds.note_seen(feeds.add_feed(Feed("https://example.org/secret", MOMENT)).id, "secret", "ab")
    SqlChangeLog(database).add(ChangeSet(MOMENT, "ann", "secret", (LabelEdit(1, "a.md", "owner", "", "secret"),)))
    catalogue, signatures = SqlCatalogue(database), SqlSignatureStore(database)
    alike = [catalogue.add_document(document(name, archived=True)) for name in ("secret v1", "secret v2")]
    for each in alike:
        signatures.keep([signature_of(each.id, "secret")])
    signatures.pair([DuplicatePair(alike[0].id, alike[1].id, 1.0, 1.0, 1.0)])
    signatures.decide(decision_of(alike[0], alike[1], 1, VersionVerdict.REJECTED))
    views.save_visit(look_of(views.add_view(view_of("secret"))))
    SqlShortlistStore(database).add_shortlist(Shortlist("secret", "ann", MOMENT))
    vocabularies = SqlVocabularyStore(database)
    vocabularies.add(FIRST)
    vocabularies.begin(RUN)
    SqlWordVectorStore(database, lambda: "model").add({"secret": "secret"}, np.ones((1, 3), dtype=np.int8))
    enrichments, found = SqlEnrichmentStore(database), Keywords(("secret",))
    enrichments.save([OperationOutcome(alike[0].id, Operation.KEYWORDS, 1, 1, MOMENT, found)])
    enrichments.save_edit(EnrichmentEdit(alike[0].id, Operation.KEYWORDS, "ann", MOMENT, ("secret",)))
    (filters,) = catalogue.passages(catalogue.admissible(SearchFilters()).tolist()).values()
    models = SqlEmbeddingModelStore(database, "secret")
    models.register()
    models.prepare("secret@1", [filters], random_vectors(1, 1))
    SqlEntityGraph(database).add([replace(filters, entities=("Secret Act",))], [Entity("Secret Act", EntityType.LAW)])


def queue(database: Database) -> None:
    """A row in each table of background work."""
    with database.transaction("filling") as connection:
        document_id = int(connection.scalar(text("SELECT min(id) FROM documents")))
    SqlUploadQueueStore(database).ended([document_id], MOMENT)
    PostgresJobQueue(database.engine, database.tenant).give_up(FailedWork(JobKind.FEED, 1, MOMENT, "secret", ""))
    folders = SqlFolderStore(database)
    folders.save_files(folders.add(WatchedFolder("/secret")).id, [WatchedFile("secret", 1, 1)])


def admit(database: Database) -> None:
    """A row in each table of people and access."""
    SqlPeopleStore(database).add(Person("ann@example.org", "Ann", "", (), MOMENT))
    SqlTokenStore(database).add(ApiToken("script", "ann@example.org", Role.VIEWER, "ab", MOMENT))
    entry = AuditEntry(MOMENT, "ann@example.org", "Ann", Door.BROWSER, "documents.delete", "document_id 1")
    SqlAuditLog(database).add(entry)
    request = IdempotentRequest("ann@example.org", "secret", "ab", MOMENT)
    SqlIdempotencyStore(database).claim(request, retained_since=MOMENT)


def talk(database: Database) -> None:
    """A row in each table of comments and notifications."""
    with database.transaction("filling") as connection:
        document_id = int(connection.scalar(text("SELECT min(id) FROM documents")))
    on = Target(TargetKind.DOCUMENT, "a.pdf", None, document_id)
    SqlCommentStore(database).add_comment(Comment(on, "secret", "ann", "Ann", MOMENT))
    SqlAssignmentStore(database).add_assignment(Assignment(on, "secret", "bo", "Bo", "ann", "Ann", MOMENT))
    notifications = SqlNotificationStore(database)
    notifications.save_notification(Notification("bo", NotificationKind.MENTION, "a", "secret", "", MOMENT, on))
    notifications.save_preferences(NotificationPreferences("bo"))
    view = SqlSavedSearchStore(database).views()[0]
    SqlSavedSearchAlertStore(database).save_alert(SavedSearchAlert(view.id, "bo", "Bo", MOMENT, MOMENT))


def meet(database: Database) -> None:
    """A row in each table of meetings."""
    meetings = SqlMeetingStore(database)
    meeting = meetings.add_meeting(meeting_of("secret"))
    meetings.beat(meeting.id, "ann", MOMENT, MOMENT)
    meetings.add_contribution(said_in(meeting))


def learn(database: Database) -> None:
    """A row in each table of lessons."""
    lessons = SqlActiveLearningStore(database)
    with database.transaction("filling") as connection:
        document_id = int(connection.scalar(text("SELECT min(id) FROM documents")))
    lessons.save_records([(record_of(document_id), random_vectors(3, 1))])
    lessons.add_version(lessons_of(1))
    lessons.add_act(act_of())
    lessons.add_verdicts([verdict_of(document_id)])


@pytest.fixture(scope="module")
def filled(engine: Engine) -> tuple[Database, Database]:
    """Two tenants with a row in every table."""
    both = (new_tenant(engine), new_tenant(engine))
    for database in both:
        catalogue = SqlCatalogue(database)
        deleted = catalogue.add_document(document(name="deleted.md", sha256="f" * 64))
        SqlTrash(database).put(deleted.id, "ann", MOMENT)
        (stored,) = store(catalogue, document(), [passage("secret")], random_vectors(1, 1))
        catalogue.correct(stored.document_id, "truth", "intent", "ann", MOMENT)
        catalogue.save_searched("secret?", 1, MOMENT, "ann")
        boards = SqlCoverageBoardStore(database)
        (topic,) = boards.add_topics([Topic("secret")], "ann", MOMENT)
        run = boards.add_run(CoverageRun(0, None, RunState.DONE, (topic,), 6, MOMENT, MOMENT))
        boards.save_cells(run.id, [Cell("secret", Truth.INTENT, CellState.GAP, 0.1, 0.5, topic_id=topic.id)])
        remember(database)
        tune(database)
        note(database)
        learn(database)
        admit(database)
        talk(database)
        meet(database)
        queue(database)
        boards.decide([Decision(topic.id, "intent", None, ReviewVerdict.CONFIRMED, "ann", MOMENT, 1)])
    return both


@pytest.mark.parametrize("table", TABLES)
def test_a_query_without_a_tenant_condition_sees_its_own_rows_only(
    filled: tuple[Database, Database], table: str
) -> None:
    for database in filled:
        with database.transaction("looking") as connection:
            seen = set(connection.scalars(text(f"SELECT DISTINCT tenant_id FROM {table}")))
        assert seen == {database.tenant}


def test_the_role_that_deletes_for_good_reads_hashes_of_every_tenant_and_nothing_else(
    filled: tuple[Database, Database],
) -> None:
    with filled[0].transaction("looking", PURGE_ROLE) as connection:
        seen = set(connection.scalars(text("SELECT tenant_id FROM documents WHERE sha256 IS NOT NULL")))
    assert {each.tenant for each in filled} <= seen
    for statement in ("SELECT name FROM documents", "SELECT name FROM trash", "SELECT text FROM knowledge_chunks"):
        with pytest.raises(StoreFailed, match="refuses access"), filled[0].transaction("x", PURGE_ROLE) as connection:
            connection.execute(text(statement))
    with filled[0].transaction("looking", PURGE_ROLE) as connection:
        assert set(connection.scalars(text("SELECT tenant_id FROM decisions"))) == {filled[0].tenant}


@pytest.mark.parametrize("table", TABLES)
def test_a_transaction_that_names_no_tenant_sees_nothing(filled: tuple[Database, Database], table: str) -> None:
    with filled[0].engine.begin() as connection:
        connection.execute(text(f"SET LOCAL ROLE {APP_ROLE}"))
        assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET name = 'stolen'",
        "DELETE FROM knowledge_chunks",
        "UPDATE knowledge_chunks SET text = 'changed'",
        "DELETE FROM pages",
        "UPDATE topics SET name = 'stolen'",
        "DELETE FROM coverage_runs",
        "DELETE FROM cells",
        "UPDATE question_sets SET name = 'stolen'",
        "UPDATE questions SET retired = true",
        "DELETE FROM experiments",
    ],
)
def test_another_tenants_rows_cannot_be_changed(filled: tuple[Database, Database], statement: str) -> None:
    ours, theirs = filled
    with pytest.raises(ZeroDivisionError), ours.transaction("changing") as connection:
        changed = connection.execute(text(f"{statement} WHERE tenant_id = :other"), {"other": theirs.tenant}).rowcount
        assert changed == 0
        raise ZeroDivisionError  # rolls back


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO searches (tenant_id, question, hits, at) VALUES (:other, 'planted', 1, now())",
        "UPDATE documents SET tenant_id = :other",
        "DELETE FROM corrections",
        "UPDATE searches SET hits = 0",
        "UPDATE decisions SET kind = 'changed'",
        "DELETE FROM decisions",
        "DELETE FROM topics",
        "DELETE FROM question_sets",
        "UPDATE vocabularies SET data = '{}'",
        "DELETE FROM vocabularies",
        "INSERT INTO score_profiles VALUES (:other, 'planted', 1, '{}')",
        "INSERT INTO judgments SELECT :other, 1, set_id, id, 'u', 'ann', '{}' FROM questions",
        "INSERT INTO decisions (tenant_id, topic_id, kind, number, at, data) VALUES (:other, 1, 'x', 1, now(), '{}')",
        "SET LOCAL row_security = off; SELECT * FROM documents",
        "ALTER TABLE documents DISABLE ROW LEVEL SECURITY",
        "SELECT * FROM procrastinate_jobs",
    ],
)
def test_what_no_tenant_may_do_is_refused(filled: tuple[Database, Database], statement: str) -> None:
    ours, theirs = filled
    with pytest.raises(StoreFailed), ours.transaction("trespassing") as connection:
        for part in statement.split("; "):
            connection.execute(text(part), {"other": theirs.tenant} if ":other" in part else {})


def test_every_table_with_a_tenant_is_locked_also_for_its_owner(engine: Engine) -> None:
    query = text(
        "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class JOIN pg_attribute"
        " ON attrelid = pg_class.oid WHERE attname = 'tenant_id' AND relkind IN ('r', 'p') ORDER BY relname"
    )
    with engine.begin() as connection:
        assert [tuple(row) for row in connection.execute(query)] == [(table, True) for table in TABLES]


def test_every_key_holds_the_tenant_and_every_reference_goes_along_it(engine: Engine) -> None:
    """So tables can be distributed over servers by tenant; those of the job queue and of migrations stay on one."""
    unique = text(
        "SELECT indrelid::regclass::text || ': ' || indexrelid::regclass::text FROM pg_index"
        " JOIN pg_class ON pg_class.oid = indrelid WHERE indisunique AND relnamespace = 'public'::regnamespace"
        " AND relname NOT LIKE 'procrastinate%' AND relname <> 'alembic_version' AND NOT EXISTS (SELECT FROM"
        " pg_attribute WHERE attrelid = indrelid AND attname = 'tenant_id' AND attnum = ANY(indkey))"
    )
    references = text(
        "SELECT conrelid::regclass::text || ': ' || conname FROM pg_constraint WHERE contype = 'f'"
        " AND conrelid::regclass::text NOT LIKE 'procrastinate%' AND NOT EXISTS (SELECT FROM"
        " unnest(conkey, confkey) AS pair(own, theirs)"
        " JOIN pg_attribute AS a ON a.attrelid = conrelid AND a.attnum = own"
        " JOIN pg_attribute AS b ON b.attrelid = confrelid AND b.attnum = theirs"
        " WHERE a.attname = 'tenant_id' AND b.attname = 'tenant_id')"
    )
    with engine.connect() as connection:  # rolled back at the end
        assert connection.scalars(unique).all() == [] and connection.scalars(references).all() == []
        connection.execute(text("CREATE TABLE without_tenant (id int PRIMARY KEY, tenant_id text)"))
        assert connection.scalars(unique).all() == ["without_tenant: without_tenant_pkey"]


def test_the_apps_role_can_neither_log_in_nor_pass_the_lock(engine: Engine) -> None:
    query = text("SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole FROM pg_roles WHERE rolname = :role")
    with engine.begin() as connection:
        assert tuple(connection.execute(query, {"role": APP_ROLE}).one()) == (False, False, False, False)


def test_a_pooled_connection_carries_no_tenant_into_the_next_transaction(engine: Engine) -> None:
    single = create_engine(engine.url, pool_size=1, max_overflow=0)
    with Database(single, "ours").transaction("working") as connection:
        process = connection.scalar(text("SELECT pg_backend_pid()"))
    with single.begin() as connection:
        state = "SELECT pg_backend_pid(), current_user <> :role, coalesce(current_setting('fivefold.tenant', true), '')"
        assert tuple(connection.execute(text(state), {"role": APP_ROLE}).one()) == (process, True, "")
    single.dispose()


def test_the_codes_own_condition_holds_too(filled: tuple[Database, Database]) -> None:
    """As a superuser, whom row-level security does not bind, the catalogue's queries still see one tenant."""
    ours, theirs = filled
    (stolen,) = SqlCatalogue(theirs).admissible(SearchFilters())
    mine = SqlCatalogue(_Unguarded(ours.engine, ours.tenant))
    assert mine.passages([int(stolen)]) == {}
    assert len(mine.admissible(SearchFilters())) == 1
    assert mine.statistics().documents == mine.count_documents() == len(mine.names()) == len(mine.documents()) == 1
    assert mine.count_passages() == 1 and mine.has_passages()
    assert mine.facets(SearchFilters())["origins"] == {"document": 1}
    assert len(mine.last_searches(9, "ann")) == 1


class _Unguarded(Database):
    """A database entered as its superuser."""

    def _sent(self, pooled, query, role, values=MappingProxyType({})):  # type: ignore[no-untyped-def]
        return super()._sent(pooled, query, "none", values)
