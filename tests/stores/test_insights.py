"""Insights and episodes in PostgreSQL, with each vector index and the keyword files: found, and never again once
deleted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import pytest
from sqlalchemy import Engine, text

from core.domain.documents import Origin
from core.domain.errors import NotFound, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.insights.service import InsightService
from core.insights.store import Episode, Insight, InsightQuery
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import VectorIndex
from core.search.pipeline import SearchPipeline
from storage.keywords.index import KeywordIndex
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database
from storage.postgres.insights import SqlInsightStore
from storage.vectors.chroma import ChromaIndex, embedded_client
from storage.vectors.pgvector import PgvectorIndex
from tests.database import new_tenant
from tests.search.library import NOW, WordEmbedder
from tests.stores.contracts.insights import LINK, episode, insight
from tests.stores.libraries import document, passage, store

NOTE = "Zebras deposit their stripes quarterly."
QUESTION = "How often do zebras deposit stripes?"


@dataclass(frozen=True, slots=True)
class Memorial:
    """One tenant's library with a desk of memories."""

    database: Database
    catalogue: SqlCatalogue
    vectors: VectorIndex
    sparse: KeywordIndex
    folder: Path

    @property
    def desk(self) -> InsightService:
        return InsightService(
            store=SqlInsightStore(self.database),
            catalogue=self.catalogue,
            vectors=self.vectors,
            sparse=self.sparse,
            embedder=WordEmbedder(),
            now=lambda: NOW,
        )

    def found(self, **filters: object) -> set[int]:
        """The documents any leg finds, and both legs must run."""
        request = SearchRequest(QUESTION, SearchFilters(**filters), "trend")  # type: ignore[arg-type]
        result = SearchPipeline(
            self.catalogue, self.vectors, self.sparse, WordEmbedder(), terms=lambda: BUILT_IN_TERMS, timer=perf_counter
        ).search(request, NOW)
        assert not result.notices
        return {each.passage.document_id for each in result.candidates}


@pytest.fixture(params=["pgvector", "chroma"])
def memorial(request: pytest.FixtureRequest, engine: Engine, tmp_path: Path) -> Callable[[], Memorial]:
    """Makes the library of a new tenant at each call."""

    def made() -> Memorial:
        database = new_tenant(engine)
        folder = tmp_path / database.tenant
        vectors: VectorIndex
        if request.param == "pgvector":
            catalogue = SqlCatalogue(database, lambda: "words")
            vectors = PgvectorIndex(database, "words")
        else:
            catalogue = SqlCatalogue(database)
            vectors = ChromaIndex(lambda: embedded_client(tmp_path / "chroma"), database.tenant, lambda: "words")
        return Memorial(database, catalogue, vectors, KeywordIndex(folder, catalogue), folder)

    return made


def test_a_note_is_found_and_narrowed_and_once_deleted_never_found_again(memorial: Callable[[], Memorial]) -> None:
    library = memorial()
    insight = library.desk.save(NOTE, tags=["herd"], project="north")
    lived = library.desk.finish_episode(QUESTION, reward=0.5, reflection=NOTE)
    assert library.found() == {insight.document_id, lived.document_id}
    assert library.found(origins=("insight",), sectors=(insight.sector.value,), tags=("herd",)) == {insight.document_id}
    assert library.found(exclude_origins=("insight",)) == {lived.document_id}
    assert library.found(truths=("regulatory",)) == set()
    changed = library.desk.tag(insight, ["stripes"])
    assert library.found(tags=("stripes",)) == {insight.document_id}
    library.desk.delete(changed)
    assert library.found() == {lived.document_id}
    library.desk.reindex()
    built_anew = replace(library, sparse=KeywordIndex(library.folder / "anew", library.catalogue))
    assert library.found() == built_anew.found() == {lived.document_id}
    assert library.desk.insight(insight.id).deleted_at == NOW


def test_a_restored_note_is_found_again(memorial: Callable[[], Memorial]) -> None:
    library = memorial()
    back = library.desk.restore(library.desk.delete(library.desk.save(NOTE)))
    assert library.found() == {back.document_id}


def test_documents_statistics_and_lists_leave_notes_out(memorial: Callable[[], Memorial]) -> None:
    library = memorial()
    library.desk.save(NOTE)
    assert library.catalogue.documents() == []
    assert [each.origin for each in library.catalogue.documents(origin=None)] == [Origin.INSIGHT]
    statistics = library.catalogue.statistics()
    assert (statistics.documents, statistics.passages, dict(statistics.by_truth)) == (0, 0, {})
    assert library.catalogue.facets(SearchFilters())["origins"] == {"insight": 1}


def test_another_tenants_notes_are_found_by_no_one_else(memorial: Callable[[], Memorial]) -> None:
    ours, theirs = memorial(), memorial()
    insight = theirs.desk.save(NOTE)
    assert ours.found() == set()
    assert ours.desk.insights().total == 0
    assert ours.desk.behind(insight.document_id) is None
    with pytest.raises(NotFound):
        ours.desk.insight(insight.id)
    with pytest.raises(NotFound):
        ours.desk.change(replace(insight, text="stolen"))


# Row-level security holds by itself: these ask without the code's own tenant condition.


@pytest.fixture(scope="module")
def filled(engine: Engine) -> tuple[Database, Database]:
    """Two tenants with a row in every table of memories."""
    both = (new_tenant(engine), new_tenant(engine))
    for database in both:
        store(SqlCatalogue(database), document(), [passage("secret")], None)  # type: ignore[arg-type]
        memories = SqlInsightStore(database)
        memories.add(insight(links=(LINK,)))
        memories.add(episode(links=(LINK,)))
    return both


@pytest.mark.parametrize("table", ["insights", "episodes", "links"])
def test_a_query_without_a_tenant_condition_sees_its_own_rows_only(
    filled: tuple[Database, Database], table: str
) -> None:
    for database in filled:
        with database.transaction("looking") as connection:
            seen = set(connection.scalars(text(f"SELECT DISTINCT tenant_id FROM {table}")))
        assert seen == {database.tenant}


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM insights",
        "DELETE FROM episodes",
        "UPDATE links SET document_id = 1",
        "UPDATE insights SET tenant_id = :other",
        "UPDATE episodes SET at = now()",
        "INSERT INTO links (tenant_id, id, insight_id, document_id, data) SELECT :other, 1, id, 1, '{}' FROM insights",
        "INSERT INTO links (tenant_id, id, document_id, data) SELECT tenant_id, 1, 1, '{}' FROM insights",
    ],
)
def test_what_no_tenant_may_do_is_refused(filled: tuple[Database, Database], statement: str) -> None:
    ours, theirs = filled
    with pytest.raises(StoreFailed), ours.transaction("trespassing") as connection:
        connection.execute(text(statement), {"other": theirs.tenant} if ":other" in statement else {})


def test_the_codes_own_condition_holds_too(filled: tuple[Database, Database]) -> None:
    """As a superuser, whom row-level security does not bind, the store's queries still see one tenant."""
    ours, theirs = filled
    (stolen,) = SqlInsightStore(theirs).every(Insight)
    mine = SqlInsightStore(_Unguarded(ours.engine, ours.tenant))
    assert len(mine.every(Insight)) == len(mine.every(Episode)) == 1
    assert mine.counts(Insight, InsightQuery()).total == len(mine.about(Insight, [LINK.document_id])) == 1
    with pytest.raises(NotFound):
        mine.find(Insight, stolen.id)
    with pytest.raises(NotFound):
        mine.change(stolen)
    (own,) = mine.every(Insight)
    assert own.links == (LINK,)


class _Unguarded(Database):
    """A database entered as its superuser."""

    def transaction(self, doing: str):  # type: ignore[no-untyped-def]
        return self.engine.begin()
