"""Bringing a database to this version's tables: from nothing, from every earlier kind of schema, again, and by several
at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from json import dumps
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from core.domain.documents import Truth
from core.domain.errors import StoreFailed
from core.domain.filters import SearchFilters
from core.domain.people import LOCAL_LOGIN
from core.ingestion.classification.relabel import possible_labels
from storage import migrations
from storage.migrations import migrate
from storage.migrations.schema import METADATA
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for
from storage.postgres.enrichments import SqlEnrichmentStore
from storage.postgres.entities import SqlEntityGraph
from storage.postgres.evaluation import SqlEvaluationStore
from storage.postgres.json_records import to_json
from storage.postgres.recent_searches import last_searches
from storage.postgres.saved_searches import SqlSavedSearchStore
from tests.stores.contracts.usage import look_of, view_of
from tests.stores.earlier_databases import create_earlier, schema_of

_NAMES = count(1)
_DATA = Path(__file__).parent / "data"
TABLES = set(METADATA.tables)


@pytest.fixture
def empty(engine: Engine) -> Iterator[Engine]:
    """A database with nothing in it."""
    name = f"empty{next(_NAMES)}"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    made = engine_for(engine.url.set(database=name).render_as_string(hide_password=False))
    yield made
    made.dispose()


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(Path(migrations.__file__).parent))


def test_an_empty_database_gets_every_table_of_the_models_and_of_the_queue(empty: Engine) -> None:
    migrate(empty)
    names = set(inspect(empty).get_table_names())
    assert names >= TABLES | {"procrastinate_jobs", "procrastinate_workers"}


def test_an_empty_database_gets_the_schema_that_all_revisions_made(empty: Engine, engine: Engine) -> None:
    create_earlier(empty, "0034")
    assert schema_of(empty) == schema_of(engine)


# 0020 changed rows only; the others stand before and after revisions that did more than create tables.
@pytest.mark.parametrize(
    "revision",
    [
        "0001",
        "0002",
        "0006",
        "0007",
        "0009",
        "0011",
        "0015",
        "0018",
        "0019",
        "0020",
        "0028",
        "0029",
        "0030",
        "0031",
        "0032",
        "0033",
    ],
)
def test_a_database_at_an_earlier_revision_gets_the_same_schema(revision: str, empty: Engine, engine: Engine) -> None:
    create_earlier(empty, revision)
    migrate(empty)
    assert schema_of(empty) == schema_of(engine)


def test_migrations_and_models_say_the_same(empty: Engine) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    migrate(empty)
    with empty.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _ours, "compare_server_default": False})
        assert compare_metadata(context, METADATA) == []


def _ours(name: str | None, kind: str, parents: object) -> bool:
    return kind != "table" or name in TABLES


def test_a_database_at_the_schemas_own_revision_can_be_upgraded() -> None:
    """Data folders stand at 0021, or get there from 0001 to 0020: every later revision must follow it."""
    scripts = _scripts()
    assert "0021" in {each.revision for each in scripts.iterate_revisions(scripts.get_current_head(), "base")}


def test_migrating_twice_changes_nothing(empty: Engine) -> None:
    migrate(empty)
    with empty.begin() as connection:
        connection.execute(text("INSERT INTO tenants VALUES ('kept')"))
    migrate(empty)
    with empty.begin() as connection:
        assert connection.scalar(text("SELECT tenant_id FROM tenants")) == "kept"


def test_searches_of_nobody_stay_where_nobody_signs_in_and_are_deleted_in_a_team(empty: Engine) -> None:
    create_earlier(empty, "0028")
    with empty.begin() as connection:
        for table in ("searches", "people"):
            connection.execute(text(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"))
        connection.execute(text("INSERT INTO tenants VALUES ('alone'), ('team')"))
        connection.execute(text("INSERT INTO people (tenant_id, login, version, data) VALUES ('team', 'ann', 1, '{}')"))
        for tenant, login in (("alone", ""), ("team", ""), ("team", "ann")):
            row = f"('{tenant}', 'When?', 1, now(), '{login}')"
            connection.execute(text(f"INSERT INTO searches (tenant_id, question, hits, at, login) VALUES {row}"))
        for table in ("searches", "people"):
            connection.execute(text(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"))
    migrate(empty)
    alone, team = Database(empty, "alone"), Database(empty, "team")
    assert len(last_searches(alone, 9, LOCAL_LOGIN)) == 1
    assert len(last_searches(team, 9, "ann")) == 1 and not last_searches(team, 9, LOCAL_LOGIN)


def test_rows_that_an_earlier_version_stored_are_read_as_they_were(empty: Engine) -> None:
    create_earlier(empty, "0019")
    with empty.begin() as connection:
        cursor = connection.connection.cursor()
        cursor.execute((_DATA / "rows_of_0019.sql").read_text("utf-8"))
        cursor.close()
    migrate(empty)
    database = Database(empty, "default")
    catalogue = SqlCatalogue(database)
    (document,) = catalogue.documents()
    assert (document.name, document.passages) == ("Ledgerloom_Release_Notes_6.4.md", 6)
    assert (document.labels.truth.value, document.labels.truth.confirmed) == (Truth.REFERENCE, False)
    assert document.labels.truth.evidence
    assert catalogue.page(document.id, 1).text.startswith("# ")
    first, second = catalogue.passages_of(document.id)
    assert first.truth is Truth.REFERENCE
    assert list(catalogue.admissible(SearchFilters())) == [first.id, second.id]
    assert [each.possible_labels for each in (first, second)] == [possible_labels(document.labels, first)] * 2
    assert catalogue.last_searches(1, LOCAL_LOGIN)[0][0] == "When must overtime be paid?"
    evaluation = SqlEvaluationStore(database)
    (version,) = evaluation.profile_versions()
    assert (version.profile.name, version.profile.half_life_days) == ("mine", 21.0)
    assert [default.name for default in evaluation.defaults()] == ["mine"]
    outcomes = SqlEnrichmentStore(database).outcomes([document.id])[document.id]
    assert [outcome.problem for outcome in outcomes] == [""] * 6
    own = ("pay statement", "release notes", "pay group", "earning code", "upgrade")  # one removed, one added by hand
    assert (first.keywords, second.keywords) == (own, own)
    assert SqlEntityGraph(database).search("form w", None, limit=5).total == 1


def test_a_file_that_failed_under_a_password_before_is_still_asked_for_it(empty: Engine) -> None:
    create_earlier(empty, "0018")
    messages = {1: "'a.pdf' is protected by a password.", 2: "'b.pdf' is damaged."}
    with empty.begin() as connection:
        connection.execute(text("INSERT INTO tenants VALUES ('old')"))
        for number, failure in messages.items():
            row = {"id": number, "name": "a.pdf", "sha": str(number), "failure": failure}
            connection.execute(text(_FAILED), row)
    migrate(empty)
    with empty.begin() as connection:
        assert dict(connection.execute(text("SELECT id, cure FROM documents")).all()) == {1: "password", 2: "again"}


def test_profiles_and_experiments_stored_under_former_factor_names_are_rewritten(empty: Engine) -> None:
    create_earlier(empty, "0019")
    former = '{"profile": {"weights": {"in_a_row": 0.5, "similarity": 0.5}, "multipliers": {"asked_date": 1.0}}}'
    searched = '{"optimising": {"factors": ["sentence"]}, "optimised": {"spread": {"sentence": [0, 1]}}}'
    with empty.begin() as connection:
        connection.execute(text("INSERT INTO tenants VALUES ('old')"))
        connection.execute(text("INSERT INTO score_profiles VALUES ('old', 'mine', 1, :data)"), {"data": former})
        connection.execute(text("INSERT INTO question_sets VALUES ('old', 1, NULL, 'set', false, 1, '{}')"))
        connection.execute(text("INSERT INTO experiments VALUES ('old', 1, 1, :data, '[]')"), {"data": searched})
    migrate(empty)
    with empty.begin() as connection:
        (profile,) = connection.scalars(text("SELECT data FROM score_profiles"))
        (experiment,) = connection.scalars(text("SELECT data FROM experiments"))
    assert list(profile["profile"]["weights"].items()) == [("phrase_match", 0.5), ("similarity", 0.5)]
    assert profile["profile"]["multipliers"] == {"date_match": 1.0}
    assert experiment["optimising"]["factors"] == ["best_sentence_similarity"]
    assert experiment["optimised"]["spread"] == {"best_sentence_similarity": [0, 1]}


def test_passages_stored_before_labels_could_be_uncertain_get_the_runner_up(empty: Engine) -> None:
    create_earlier(empty, "0019")
    close = {"value": "intent", "probability": 0.6, "runner_up": "compliance", "runner_up_probability": 0.3}
    labels = dumps({"truth": close | {"confirmed": False}, "domain": close | {"confirmed": True}})
    with empty.begin() as connection:
        cursor = connection.connection.cursor()
        cursor.execute((_DATA / "rows_of_0019.sql").read_text("utf-8"))
        cursor.execute("ALTER TABLE documents NO FORCE ROW LEVEL SECURITY")
        cursor.execute("ALTER TABLE knowledge_chunks NO FORCE ROW LEVEL SECURITY")
        cursor.execute("UPDATE documents SET labels = %s", (labels,))
        cursor.execute("UPDATE knowledge_chunks SET truth = 'intent', domain = 'intent'")
        cursor.execute("UPDATE knowledge_chunks SET truth = 'regulatory', truth_probability = 0.7 WHERE position = 1")
        cursor.close()
    migrate(empty)
    first, second = SqlCatalogue(Database(empty, "default")).passages_of(7)
    assert first.possible_labels == ("truth:compliance",)
    assert second.possible_labels == ("truth:intent",)


_FAILED = """
INSERT INTO documents (tenant_id, id, name, sha256, size_bytes, state, uploaded_at, media_type, paged, title,
    source_type, labels, tags, pages, passages, warnings, step, failure, remedy, archived)
VALUES ('old', :id, :name, :sha, 1, 'failed', now(), '', false, '', 'upload', '{}', '{}', 0, 0, '{}', 'read', :failure,
    '', false)
"""


def test_the_projects_of_documents_are_those_of_the_library_and_the_trash(empty: Engine) -> None:
    create_earlier(empty, "0030")
    tables = ("documents", "trash", "insights", "links")
    with empty.begin() as connection:
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"))
        connection.execute(text("INSERT INTO tenants VALUES ('old')"))
        for number in (1, 2, 3):
            connection.execute(text(_FAILED), {"id": number, "name": f"{number}", "sha": f"{number}", "failure": ""})
        connection.execute(text("UPDATE documents SET project = 'Alpha' WHERE id = 1"))
        for number, project, purging in ((4, "Alpha", False), (5, "Beta", True)):
            row = {"id": number, "project": project, "purging": purging}
            connection.execute(text(_TRASHED), row)
        for number, cited in ((2, 1), (3, 99)):  # the copies of a note on document 1, and of one on a purged document
            connection.execute(text(_NOTE), {"id": number})
            connection.execute(text(_LINKED), {"id": number, "cited": cited})
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"))
    migrate(empty)
    with Database(empty, "old").transaction("looking") as connection:
        rows = connection.execute(text("SELECT document_id, project, purged FROM document_projects ORDER BY 1")).all()
    assert [tuple(row) for row in rows] == [
        (1, "Alpha", False),
        (2, None, False),
        (3, "unknown project", False),
        (4, "Alpha", False),
        (5, "Beta", True),
    ]


_TRASHED = """
INSERT INTO trash (tenant_id, document_id, name, sha256, readable, size_bytes, project, who, at, contents, purging)
VALUES ('old', :id, '', '', '', 0, :project, '', now(), '{}', :purging)
"""
_NOTE = """
INSERT INTO insights (tenant_id, id, sector, tags, words, at, document_id, version, data)
VALUES ('old', :id, 'semantic', '{}', '', now(), :id, 1, '{}')
"""
_LINKED = "INSERT INTO links (tenant_id, insight_id, document_id, data) VALUES ('old', :id, :cited, '{}')"


def test_corrections_count_where_documents_show_them_or_where_they_were_made(empty: Engine) -> None:
    create_earlier(empty, "0031")
    tables = ("documents", "trash", "trash_contents", "corrections", "label_verdicts", "document_projects")
    with empty.begin() as connection:
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"))
        connection.execute(text("INSERT INTO tenants VALUES ('old'), ('plain')"))
        places = ((1, "shown", "Alpha", True), (2, "shown", "Beta", False), (3, "shown", None, True))
        for number, sha, project, confirmed in (*places, (4, "made", "Beta", False)):
            connection.execute(text(_FAILED), {"id": number, "name": f"{number}", "sha": sha, "failure": ""})
            labels = dumps({"truth": {"confirmed": confirmed}, "domain": {"confirmed": False}})
            values = {"id": number, "project": project, "labels": labels}
            connection.execute(text("UPDATE documents SET project = :project, labels = :labels WHERE id = :id"), values)
        connection.execute(text(_TRASHED), {"id": 5, "project": "Alpha", "purging": False})
        trashed = dumps({"sha256": "trashed", "project": "Alpha", "labels": {"truth": {"confirmed": True}}})
        connection.execute(text(_TRASHED_ROW), {"data": trashed})
        connection.execute(text(_VERDICT))
        for tenant, sha, value in (
            ("old", "shown", "intent"),
            ("old", "made", "reality"),
            ("old", "shown", "regulatory"),
            ("old", "trashed", "intent"),
            ("old", "purged", "intent"),
            ("plain", "purged", "intent"),
        ):
            connection.execute(text(_CORRECTED), {"tenant": tenant, "sha": sha, "value": value})
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"))
    migrate(empty)
    found = []
    for tenant in ("old", "plain"):
        with Database(empty, tenant).transaction("looking") as connection:
            rows = connection.execute(text("SELECT sha256, project, value FROM corrections ORDER BY id")).all()
        found.append(sorted((tuple(row) for row in rows), key=lambda row: (row[0], row[1] or "")))
    assert found == [
        [
            ("made", "Beta", "reality"),
            ("purged", "unknown project", "intent"),
            ("shown", None, "intent"),
            ("shown", None, "regulatory"),
            ("shown", "Alpha", "intent"),
            ("shown", "Alpha", "regulatory"),
            ("trashed", "Alpha", "intent"),
        ],
        [("purged", None, "intent")],
    ]


_TRASHED_ROW = """
INSERT INTO trash_contents (tenant_id, document_id, position, origin, data)
VALUES ('old', 5, 1, 'documents', :data)
"""
_VERDICT = """
INSERT INTO label_verdicts (tenant_id, document_id, sha256, field, said, who, at, automatic)
VALUES ('old', 4, 'made', 'truth', 'reality', 'ann', now(), true)
"""
_CORRECTED = """
INSERT INTO corrections (tenant_id, sha256, field, value, who, at) VALUES (:tenant, :sha, 'truth', :value, 'ann', now())
"""


def test_own_searches_and_visits_go_to_the_one_person_of_their_name(empty: Engine) -> None:
    create_earlier(empty, "0032")
    tables = ("people", "saved_views", "view_looks")
    with empty.begin() as connection:
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"))
        connection.execute(text("INSERT INTO tenants VALUES ('alone'), ('team')"))
        for login, name in (("ann@x", "Ann"), ("bo@x", "Bo"), ("bo@y", "Bo"), ("cy", "")):
            connection.execute(text(_PERSON), {"login": login, "data": dumps({"name": name})})
        number = count(1)
        for tenant in ("alone", "team"):
            for owner in ("Ann", "Bo", "cy", "Di", ""):
                view = view_of(f"View of {owner}", owner=owner, login="", id=next(number))
                row = {"tenant": tenant, "id": view.id, "owner": owner, "name": view.name.lower()}
                connection.execute(text(_VIEW), row | {"data": dumps(to_json(view))})
                look = dumps(to_json(look_of(view, owner, login="")))
                connection.execute(text(_LOOK), {"tenant": tenant, "who": owner, "id": view.id, "data": look})
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"))
    migrate(empty)
    found = {}
    for tenant in ("alone", "team"):
        store = SqlSavedSearchStore(Database(empty, tenant))
        found[tenant] = [(each.login, each.owner) for each in store.views()]
        for view in store.views():
            login, who = (view.login, view.owner) if view.owner else (LOCAL_LOGIN if tenant == "alone" else "", "")
            look = store.visit(view.id, login, who)
            assert look is not None and (look.login, look.who) == (login, who)
    assert found["alone"] == [*((LOCAL_LOGIN, name) for name in ("Ann", "Bo", "cy", "Di")), ("", "")]
    assert found["team"] == [("ann@x", "ann@x"), ("", "Bo"), ("cy", "cy"), ("", "Di"), ("", "")]


_PERSON = "INSERT INTO people (tenant_id, login, version, data) VALUES ('team', :login, 1, :data)"
_VIEW = """
INSERT INTO saved_views (tenant_id, id, project, owner, name, retired, version, data)
VALUES (:tenant, :id, NULL, :owner, :name, false, 1, :data)
"""
_LOOK = "INSERT INTO view_looks (tenant_id, who, view_id, at, data) VALUES (:tenant, :who, :id, now(), :data)"


def test_passages_stored_before_changes_were_noted_count_as_changed(empty: Engine) -> None:
    create_earlier(empty, "0007")
    with empty.begin() as connection:
        connection.execute(text("INSERT INTO tenants VALUES ('old')"))
        connection.execute(text(_FAILED), {"id": 7, "name": "a.pdf", "sha": "7", "failure": ""})
        for number in (1, 2):
            connection.execute(text(_PASSAGE), {"id": number})
    migrate(empty)
    with empty.begin() as connection:
        noted = connection.execute(text("SELECT tenant_id, document_id FROM library_changes")).all()
    assert [tuple(row) for row in noted] == [("old", 7)]


_PASSAGE = """
INSERT INTO knowledge_chunks (tenant_id, id, document_id, document_name, position, page, span_start, span_end, text,
    sentences, section, context, truth_probability, evidence, source_type, origin, tags, entities, keywords, archived)
VALUES ('old', :id, 7, 'a.pdf', 0, 1, 0, 1, 'a', '{0,1}', '', '', 0, '[]', 'upload', 'document', '{}', '{}', '{}',
    false)
"""


def test_four_at_once_migrate_it_once(empty: Engine) -> None:
    engines = [engine_for(empty.url.render_as_string(hide_password=False)) for _ in range(4)]
    with ThreadPoolExecutor(4) as together:
        list(together.map(migrate, engines))
    for engine in engines:
        engine.dispose()
    with empty.begin() as connection:
        assert list(connection.scalars(text("SELECT version_num FROM alembic_version"))) == [
            _scripts().get_current_head()
        ]


def test_a_migration_that_fails_leaves_nothing_behind(empty: Engine) -> None:
    with empty.begin() as connection:
        connection.execute(text("CREATE TABLE searches (of text)"))
    with pytest.raises(StoreFailed, match="searches"):
        migrate(empty)
    assert inspect(empty).get_table_names() == ["searches"]
