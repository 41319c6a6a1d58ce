"""Bringing a database up to date: from nothing, again, and by several at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect, text

from storage import (
    batch_models,
    change_models,
    enrichment_models,
    entity_models,
    feed_models,
    lesson_models,
    memory_models,
    migrations,
    mirror_models,
    reality_models,
    review_models,
    signature_models,
    tuning_models,
    use_models,
    view_models,
    vocabulary_models,
)
from storage.database import engine_for
from storage.migrations import migrate

_NAMES = count(1)
_MODELS = (
    *(batch_models, change_models, enrichment_models, entity_models, feed_models, lesson_models),
    *(memory_models, mirror_models, reality_models, review_models, signature_models),
    *(tuning_models, use_models, view_models, vocabulary_models),
)
TABLES = {name for models in _MODELS for name in models.Base.metadata.tables}


@pytest.fixture
def empty(engine: Engine) -> Iterator[Engine]:
    """A database with nothing in it."""
    name = f"empty{next(_NAMES)}"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    made = engine_for(engine.url.set(database=name).render_as_string(hide_password=False))
    yield made
    made.dispose()


def test_an_empty_database_gets_every_table_of_the_models_and_of_the_queue(empty: Engine) -> None:
    migrate(empty)
    names = set(inspect(empty).get_table_names())
    assert names >= TABLES | {"procrastinate_jobs", "procrastinate_workers"}


def test_migrations_and_models_say_the_same(empty: Engine) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    migrate(empty)
    with empty.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _ours, "compare_server_default": False})
        assert compare_metadata(context, tuning_models.Base.metadata) == []


def _ours(name: str | None, kind: str, parents: object) -> bool:
    return kind != "table" or name in TABLES


def test_migrating_twice_changes_nothing(empty: Engine) -> None:
    migrate(empty)
    with empty.begin() as connection:
        connection.execute(text("INSERT INTO tenants VALUES ('kept')"))
    migrate(empty)
    with empty.begin() as connection:
        assert connection.scalar(text("SELECT tenant_id FROM tenants")) == "kept"


def test_a_file_that_failed_under_a_password_before_is_still_asked_for_it(empty: Engine) -> None:
    _migrate_to("0018", empty)
    said = {1: "'a.pdf' is protected by a password.", 2: "'b.pdf' is damaged."}
    with empty.begin() as connection:
        connection.execute(text("INSERT INTO tenants VALUES ('old')"))
        for number, failure in said.items():
            row = {"id": number, "name": "a.pdf", "sha": str(number), "failure": failure}
            connection.execute(text(_FAILED), row)
    migrate(empty)
    with empty.begin() as connection:
        assert dict(connection.execute(text("SELECT id, cure FROM documents")).all()) == {1: "password", 2: "again"}


_FAILED = """
INSERT INTO documents (tenant_id, id, name, sha256, size_bytes, state, uploaded_at, media_type, paged, title,
    source_type, labels, tags, pages, passages, warnings, step, failure, remedy, archived)
VALUES ('old', :id, :name, :sha, 1, 'failed', now(), '', false, '', 'upload', '{}', '{}', 0, 0, '{}', 'read', :failure,
    '', false)
"""


def _migrate_to(revision: str, engine: Engine) -> None:
    """The database as an earlier version of the product left it."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def test_four_at_once_migrate_it_once(empty: Engine) -> None:
    engines = [engine_for(empty.url.render_as_string(hide_password=False)) for _ in range(4)]
    with ThreadPoolExecutor(4) as together:
        list(together.map(migrate, engines))
    for engine in engines:
        engine.dispose()
    with empty.begin() as connection:
        assert list(connection.scalars(text("SELECT version_num FROM alembic_version"))) == ["0019"]


def test_a_migration_that_fails_leaves_nothing_behind(empty: Engine) -> None:
    from core.errors import StoreFailed

    with empty.begin() as connection:
        connection.execute(text("CREATE TABLE searches (of text)"))
    with pytest.raises(StoreFailed, match="searches"):
        migrate(empty)
    assert inspect(empty).get_table_names() == ["searches"]
