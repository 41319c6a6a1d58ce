"""Every way of writing passages is noted, once per document and transaction, for the tenant it belongs to."""

from dataclasses import replace

import pytest
from sqlalchemy import Engine, text

from storage.migrations import migrate
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for
from storage.vectors.cache.changes import changes_since
from storage.vectors.pgvector import PgvectorIndex
from tests.database import new_tenant
from tests.label_edits import store_labels
from tests.stores.libraries import document, passage, random_vectors, store
from tests.stores.test_migrations import create_earlier

VECTORS = random_vectors(3, 1)


@pytest.fixture
def catalogue(database: Database) -> SqlCatalogue:
    return SqlCatalogue(database, lambda: "random")


def test_each_way_of_writing_gives_the_document_a_new_version(database: Database, catalogue: SqlCatalogue) -> None:
    seen = list[bytes]()

    def noted() -> None:
        ((number, version),) = changes_since(database, 0).noted.items()
        assert number == known.id
        assert version not in seen
        seen.append(version)

    passages = store(catalogue, document(), [passage("a"), passage("b"), passage("c")], VECTORS)
    known = catalogue.document(passages[0].document_id)
    noted()
    store_labels(catalogue, known, [replace(passages[0], domain="taxes")])
    noted()
    PgvectorIndex(database, "random").add(passages[:1], VECTORS[1:2])
    noted()
    PgvectorIndex(database, "random").delete([known.id])
    noted()
    catalogue.save_ingested(known, [], [passage("d")], VECTORS[:1])
    noted()
    catalogue.mark(known.id, step="store", unread=True)
    noted()
    catalogue.save_ingested(known, [], [passage("e")], VECTORS[:1])
    noted()
    catalogue.delete(known.id)
    noted()


def test_what_was_seen_is_not_listed_again_and_what_is_read_only_changes_nothing(
    database: Database, catalogue: SqlCatalogue
) -> None:
    store(catalogue, document(), [passage("a")], VECTORS[:1])
    first = changes_since(database, 0)
    catalogue.documents()
    assert changes_since(database, first.next).noted == {}
    other = store(catalogue, document("b.txt"), [passage("b")], VECTORS[:1])
    assert list(changes_since(database, first.next).noted) == [other[0].document_id]


def test_another_tenants_changes_are_not_listed(engine: Engine, database: Database, catalogue: SqlCatalogue) -> None:
    first = changes_since(database, 0)
    other = new_tenant(engine)
    store(SqlCatalogue(other), document(), [passage("a")], VECTORS[:1])
    assert changes_since(database, first.next).noted == {}
    assert len(changes_since(other, 0).noted) == 1


def test_a_tenant_can_be_deleted_with_everything_it_has(engine: Engine) -> None:
    database = new_tenant(engine)
    store(SqlCatalogue(database), document(), [passage("a")], VECTORS[:1])
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM tenants WHERE tenant_id = :tenant"), {"tenant": database.tenant})
        left = text("SELECT count(*) FROM library_changes WHERE tenant_id = :tenant")
        assert connection.scalar(left, {"tenant": database.tenant}) == 0


def test_documents_stored_before_changes_were_noted_are_noted_when_the_table_is_made(engine: Engine) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("CREATE DATABASE before_changes"))
    made = engine_for(engine.url.set(database="before_changes").render_as_string(hide_password=False))
    create_earlier(made, "0007")
    with made.begin() as connection:
        connection.execute(text("INSERT INTO tenants VALUES ('old')"))
        connection.execute(text(_OLD_DOCUMENT))
        connection.execute(text(_OLD_PASSAGES))
    migrate(made)
    assert len(changes_since(Database(made, "old"), 0).noted) == 1
    made.dispose()


_OLD_DOCUMENT = """
INSERT INTO documents (tenant_id, id, name, sha256, size_bytes, state, uploaded_at, media_type, paged, title,
    source_type, labels, tags, pages, passages, warnings, step, failure, remedy, archived)
VALUES ('old', 1, 'a', 'b', 1, 'ready', now(), '', false, '', 'upload', '{}', '{}', 1, 2, '{}', '', '', '', false)
"""
_OLD_PASSAGES = """
INSERT INTO knowledge_chunks (tenant_id, document_id, document_name, position, page, span_start, span_end, text,
    sentences, section, context, truth_probability, evidence, source_type, origin, tags, entities, keywords, archived)
SELECT 'old', 1, 'a', place, 1, 0, 1, 'x', '{0,1}', '', '', 0, '[]', 'upload', 'document', '{}', '{}', '{}', false
FROM generate_series(1, 2) AS place
"""
