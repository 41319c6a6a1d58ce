"""What every core.insights.store.InsightStore does."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Sector
from core.domain.errors import BadRequest, NotFound, Outdated
from core.insights.store import Episode, Insight, InsightOrEpisode, InsightQuery, InsightStore
from core.ports.catalogue import Catalogue
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.insights import SqlInsightStore
from tests.database import new_tenant
from tests.fakes import FakeCatalogue, FakeInsightStore
from tests.label_edits import store_labels
from tests.stores.contracts.insights import AT, FULL, LINK, NOWHERE, episode, insight
from tests.stores.libraries import document


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> InsightStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeInsightStore(FakeCatalogue())
    return SqlInsightStore(new_tenant(request.getfixturevalue("engine")))


def texts(store: InsightStore, page: int = 1, per_page: int = 100, **query: object) -> Sequence[str]:
    listed = store.listed(Insight, InsightQuery(**query), page, per_page)  # type: ignore[arg-type]
    return [each.text for each in listed.items]


@pytest.mark.parametrize(
    "full",
    [
        insight("What\nit says: 100% _ 'x'; -- 残業 🙂", question="Why?", **FULL),
        episode("Why\n?", reward=-0.1 - 0.2, reflection="Ask Ann.", **FULL),
    ],
    ids=["insight", "episode"],
)
def test_what_was_stored_is_read_back_exactly(store: InsightStore, full: InsightOrEpisode) -> None:
    stored = store.add(full)
    assert stored == replace(full, id=stored.id, version=1)
    assert store.find(type(full), stored.id) == stored
    assert store.listed(type(full), InsightQuery(), 1, 10).items == (stored,)
    assert store.every(type(full)) == [stored]


def test_insights_and_episodes_are_counted_apart(store: InsightStore) -> None:
    note = store.add(insight())
    assert store.listed(Episode, InsightQuery(), 1, 10).total == 0
    lived = store.add(episode())
    assert [each.id for each in store.every(Insight)] == [note.id]
    assert [each.id for each in store.every(Episode)] == [lived.id]


@pytest.mark.parametrize("kind", [Insight, Episode])
def test_what_was_never_stored_is_not_found(store: InsightStore, kind: type[InsightOrEpisode]) -> None:
    with pytest.raises(NotFound, match=kind.origin.value):
        store.find(kind, NOWHERE)
    for change in (
        lambda: store.change(insight(id=NOWHERE, version=1)),
        lambda: store.assign_document(insight(id=NOWHERE), 1),
    ):
        with pytest.raises(NotFound):
            change()


def test_a_change_replaces_everything_its_links_too(store: InsightStore) -> None:
    stored = store.add(insight(**FULL))
    changed = store.change(replace(stored, text="New.", tags=(), links=(LINK,), project=None, changed_at=AT))
    assert changed == replace(stored, text="New.", tags=(), links=(LINK,), project=None, changed_at=AT, version=2)
    assert store.find(Insight, stored.id) == changed


def test_the_second_of_two_who_change_the_same_is_told(store: InsightStore) -> None:
    read = store.add(insight())
    store.change(replace(read, text="Ann's"))
    with pytest.raises(Outdated, match="insight has been changed"):
        store.change(replace(read, text="Bob's"))
    assert store.find(Insight, read.id).text == "Ann's"


def test_where_it_is_searchable_is_no_change(store: InsightStore) -> None:
    read = store.add(insight())
    store.assign_document(read, 12)
    assert store.find(Insight, read.id) == replace(read, document_id=12)
    changed = store.change(replace(read, text="New."))
    assert changed.document_id == 12
    assert store.behind(Insight, [12, 13]) == {12: changed}
    assert store.behind(Episode, [12]) == {}


def test_a_deleted_one_keeps_its_row_and_leaves_every_list(store: InsightStore) -> None:
    stored = store.add(insight(links=(LINK,), tags=("tax",)))
    store.assign_document(stored, 12)
    deleted = store.change(replace(stored, deleted_at=AT))
    assert store.listed(Insight, InsightQuery(), 1, 10).items == ()
    assert store.counts(Insight, InsightQuery()).total == 0
    assert store.about(Insight, [LINK.document_id]) == []
    assert store.behind(Insight, [12]) == {}
    assert store.find(Insight, stored.id) == deleted
    assert store.listed(Insight, InsightQuery(deleted=True), 1, 10).items == (deleted,)
    assert store.every(Insight) == [deleted]


def test_the_newest_stand_first_and_pages_count_all(store: InsightStore) -> None:
    for number in (3, 1, 2, 2):
        store.add(insight(f"note {number}", at=AT + timedelta(days=number)))
    assert texts(store) == ["note 3", "note 2", "note 2", "note 1"]
    first, last, beyond = (store.listed(Insight, InsightQuery(), page, 3) for page in (1, 2, 3))
    assert (first.total, first.page, first.pages, len(first.items)) == (4, 1, 2, 3)
    assert [each.text for each in last.items] == ["note 1"]
    assert (beyond.items, beyond.total) == ((), 4)
    assert store.listed(Insight, InsightQuery(words="nowhere"), 1, 3).pages == 1


@pytest.mark.parametrize(("page", "per_page"), [(0, 10), (-1, 10), (1, 0), (1, 101), (1, -5)])
def test_limits_no_list_has_are_refused_by_name(store: InsightStore, page: int, per_page: int) -> None:
    with pytest.raises(BadRequest, match=str(page if page < 1 else per_page)) as refused:
        store.listed(Insight, InsightQuery(), page, per_page)
    assert "1" in refused.value.message
    assert page < 1 or "100" in refused.value.message


@pytest.mark.parametrize("per_page", [1, 100])
def test_pages_of_one_and_of_a_hundred_are_given(store: InsightStore, per_page: int) -> None:
    store.add(insight())
    assert len(store.listed(Insight, InsightQuery(), 1, per_page).items) == 1


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("APPROVED", ["Approved by Ann."]),
        ("  ann  ", ["Approved by Ann."]),
        ("100%", ["It is 100% sure."]),
        ("0_%", []),
        ("%", ["It is 100% sure."]),
        ("_", []),
        ("STRASSE", ["Straße."]),
        ("\\", []),
        ("'; DROP TABLE insights; --", []),
        ("why so", ["Straße."]),
        ("überstunden – 残業", ["Straße."]),
        ("", ["Straße.", "It is 100% sure.", "Approved by Ann."]),
    ],
)
def test_words_are_looked_for_letter_by_letter_whatever_the_capitals(
    store: InsightStore, words: str, found: list[str]
) -> None:
    store.add(insight("Approved by Ann."))
    store.add(insight("It is 100% sure.", at=AT + timedelta(seconds=1)))
    store.add(insight("Straße.", question="Why so?", links=(LINK,), at=AT + timedelta(seconds=2)))
    assert texts(store, words=words) == found


def test_an_episode_is_found_by_its_question_its_reflection_and_what_was_opened(store: InsightStore) -> None:
    store.add(episode("Who approves?", reflection="Ask the controller.", links=(LINK,)))
    for words in ("approves", "CONTROLLER", "überstunden"):
        assert store.listed(Episode, InsightQuery(words=words), 1, 10).total == 1
    assert store.listed(Episode, InsightQuery(words="nobody"), 1, 10).total == 0


def test_sectors_tags_and_projects_narrow_a_list_and_its_counts(store: InsightStore) -> None:
    store.add(insight("a", sector=Sector.SEMANTIC, tags=("tax", "2024"), project="north"))
    store.add(insight("b", sector=Sector.EMOTIONAL, tags=("tax",), project="south", at=AT + timedelta(1)))
    store.add(insight("c", sector=Sector.EMOTIONAL, tags=(), at=AT + timedelta(2)))
    assert texts(store, sectors=(Sector.EMOTIONAL,)) == ["c", "b"]
    assert texts(store, tags=("2024", "nothing")) == ["a"]
    assert texts(store, tags=("tax",), sectors=(Sector.EMOTIONAL,)) == ["b"]
    assert texts(store, project="north") == ["c", "a"]
    assert texts(store, project="nowhere") == ["c"]
    everything, north = store.counts(Insight, InsightQuery()), store.counts(Insight, InsightQuery(project="north"))
    assert (everything.total, dict(everything.sectors)) == (3, {Sector.SEMANTIC: 1, Sector.EMOTIONAL: 2})
    assert dict(everything.tags) == {"tax": 2, "2024": 1}
    assert (north.total, dict(north.tags)) == (3, {"tax": 1, "2024": 1})
    emotional = store.counts(Insight, InsightQuery(sectors=(Sector.EMOTIONAL,), tags=("tax",)))
    assert dict(emotional.sectors) == {Sector.SEMANTIC: 1, Sector.EMOTIONAL: 1} and dict(emotional.tags) == {"tax": 1}
    assert store.counts(Insight, InsightQuery(deleted=True)).total == 0


def test_what_rests_on_a_document_is_found_by_it(store: InsightStore) -> None:
    ours = store.add(insight(links=(LINK, replace(LINK, document_id=4))))
    store.add(episode(links=(LINK,)))
    store.add(insight(links=(replace(LINK, document_id=99),)))
    assert store.about(Insight, [4, 5]) == [ours]
    assert store.about(Insight, []) == []
    store.change(replace(ours, links=()))
    assert store.about(Insight, [4, LINK.document_id]) == []


@pytest.mark.parametrize("kind", ["memory", "postgres"])
def test_a_deleted_document_keeps_the_project_it_had_at_last(kind: str, request: pytest.FixtureRequest) -> None:
    catalogue: Catalogue = FakeCatalogue()
    store: InsightStore = FakeInsightStore(catalogue)  # type: ignore[arg-type]
    if kind == "postgres":
        database = new_tenant(request.getfixturevalue("engine"))
        catalogue, store = SqlCatalogue(database), SqlInsightStore(database)
    shared, moved = (catalogue.add_document(document(name)) for name in ("a.pdf", "b.pdf"))
    store_labels(catalogue, replace(moved, project="north"), ())
    for _ in range(2):
        assert store.projects_of([shared.id, moved.id, NOWHERE]) == {shared.id: None, moved.id: "north"}
        catalogue.delete(moved.id)


@given(words=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4))
def test_both_stores_find_the_same_words(words: str, two: Callable[[], tuple[InsightStore, InsightStore]]) -> None:
    query = InsightQuery(words=words)
    memory, sql = two()
    found = [[each.text for each in store.listed(Insight, query, 1, 100).items] for store in (memory, sql)]
    assert found[0] == found[1]


@pytest.fixture(scope="module")
def two(request: pytest.FixtureRequest) -> Callable[[], tuple[InsightStore, InsightStore]]:
    """The same notes in both stores."""
    both = (FakeInsightStore(FakeCatalogue()), SqlInsightStore(new_tenant(request.getfixturevalue("engine"))))
    for store in both:
        for number, text in enumerate(("a%b", "A_B", "ß ss", "İi", "ſ s", "0", "\ufffd", "x\ny", "Ǆ ǆ")):
            store.add(insight(text, at=AT + timedelta(seconds=number)))
    return lambda: both
