"""What every core.ports.stores.EntityGraph does: only admissible passages, the heaviest first, nothing of what is
gone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Document, Passage
from core.domain.entities import Entity, EntityMentions, EntityType
from core.domain.filters import SearchFilters
from core.ports.catalogue import Catalogue
from core.ports.stores import EntityGraph
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.entities import SqlEntityGraph
from tests.database import new_tenant
from tests.fakes import FakeCatalogue, FakeEntityGraph
from tests.label_edits import store_labels
from tests.stores.libraries import (
    POOLS,
    admitted,
    document,
    filters_of,
    passage,
    random_documents,
    random_filters,
    random_vectors,
    store,
)

KINDS = {
    "IRS": Entity("IRS", EntityType.ORGANIZATION, ("Internal Revenue Service",)),
    "Form W-2": Entity("Form W-2", EntityType.FORM, ("W2",)),
    "100%": Entity("100%", EntityType.CONCEPT),
    "a_b": Entity("a_b", EntityType.TECHNOLOGY),
}
NOTHING = random_vectors(0, 0)
ANYTHING = SearchFilters()


@dataclass(frozen=True, slots=True)
class Shelf:
    """A catalogue and the graph beside it, of one tenant."""

    catalogue: Catalogue
    graph: EntityGraph

    def add(self, described: Document, passages: Sequence[Passage], *entities: Entity) -> Sequence[Passage]:
        """Store a document and what its passages name."""
        stored = store(self.catalogue, described, passages, NOTHING)
        self.graph.add(stored, entities or tuple(KINDS.values()))
        return stored


NewShelf = Callable[[], Shelf]


@pytest.fixture(scope="module", params=["memory", "sql"])
def new_shelf(request: pytest.FixtureRequest) -> NewShelf:
    """Makes an empty graph, of a new tenant at each call."""
    if request.param == "memory":

        def in_memory() -> Shelf:
            catalogue = FakeCatalogue()
            return Shelf(catalogue, FakeEntityGraph(catalogue))

        return in_memory
    engine = request.getfixturevalue("engine")

    def in_postgres() -> Shelf:
        database = new_tenant(engine)
        return Shelf(SqlCatalogue(database), SqlEntityGraph(database))

    return in_postgres


@pytest.fixture(scope="module")
def mixed(new_shelf: NewShelf) -> tuple[Shelf, Sequence[Passage]]:
    """Passages with any labels, naming any of four entities."""
    shelf = new_shelf()
    return shelf, [each for described, passages in random_documents(11) for each in shelf.add(described, passages)]


WEIGHTS = st.dictionaries(st.sampled_from(POOLS["entities"]), st.sampled_from((0.25, 0.5, 1.0)), min_size=1)


@settings(max_examples=60, deadline=None)
@given(filters=random_filters, weights=WEIGHTS, most=st.sampled_from((1, 7, 500)), part=st.none() | st.integers(2, 5))
def test_holding_is_what_looking_at_every_admissible_passage_gives(
    mixed: tuple[Shelf, Sequence[Passage]], filters: SearchFilters, weights: dict[str, float], most: int, part: int
) -> None:
    shelf, passages = mixed
    search_filters = filters_of(filters, passages)
    among = None if part is None else np.array([p.id for p in passages if p.id % part == 0], dtype=np.int64)
    ids = [i for i in admitted(search_filters, passages).tolist() if part is None or i % part == 0]
    by_id = {p.id: p for p in passages}
    weighed = {i: sum(weights[name] for name in by_id[i].entities if name in weights) for i in ids}
    expected = sorted((i for i in ids if weighed[i]), key=lambda i: (-weighed[i], i))[:most]
    found = shelf.graph.passages_naming(weights, search_filters, among, most)
    assert [passage_id for passage_id, _ in found] == expected
    assert all(set(names) == set(by_id[passage_id].entities) for passage_id, names in found)
    assert shelf.graph.rows(search_filters, among) == (len(passages), len(ids))


@pytest.fixture
def shelf(new_shelf: NewShelf) -> Shelf:
    """Two documents: the form in two passages, the office in one of them and in one of the other document."""
    shelf = new_shelf()
    shelf.add(
        document("a.txt"), [passage("One.", entities=("Form W-2", "IRS")), passage("Two.", entities=("Form W-2",))]
    )
    shelf.add(document("b.txt"), [passage("Three.", entities=("IRS", "100%", "a_b"))])
    return shelf


def names(shelf: Shelf, part: str, kind: EntityType | None = None, **page: int) -> list[str]:
    return [each.entity.name for each in shelf.graph.search(part, kind, **({"limit": 10} | page)).entries]


def test_a_name_is_known_in_any_capitals_an_alias_only_as_it_is_spelled(shelf: Shelf) -> None:
    requests = [
        "form w-2",
        "Form W-2",
        "W2",
        "w2",
        "irs",
        "internal revenue service",
        "Internal Revenue Service",
        "zebra",
    ]
    known = shelf.graph.known(requests)
    assert {name: each.entity.name for name, each in known.items()} == {
        "form w-2": "Form W-2",
        "Form W-2": "Form W-2",
        "W2": "Form W-2",
        "irs": "IRS",
        "Internal Revenue Service": "IRS",
    }
    assert known["W2"].entity == Entity("Form W-2", EntityType.FORM) and known["W2"].passages == 2
    assert shelf.graph.known([]) == {}


def test_an_alias_of_two_entities_means_the_one_in_most_passages(new_shelf: NewShelf) -> None:
    shelf = new_shelf()
    one, other = (Entity(name, EntityType.CONCEPT, ("CO",)) for name in ("contracting officer", "central office"))
    shelf.add(document("a.txt"), [passage("A.", entities=(one.name,))], one)
    shelf.add(document("b.txt"), [passage("B.", entities=(other.name,)), passage("C.", entities=(other.name,))], other)
    assert shelf.graph.known(["CO"])["CO"].entity.name == "central office"


def test_a_search_finds_parts_of_names_and_aliases_and_takes_signs_as_they_are(shelf: Shelf) -> None:
    assert names(shelf, "w-") == ["Form W-2"] and names(shelf, "REVENUE") == ["IRS"]
    assert names(shelf, "%") == ["100%"] and names(shelf, "_") == ["a_b"] and names(shelf, "\\") == []
    assert names(shelf, "") == ["Form W-2", "IRS", "100%", "a_b"]
    assert names(shelf, "", EntityType.FORM) == ["Form W-2"] and names(shelf, "irs", EntityType.FORM) == []


def test_pages_of_a_search_hold_every_entity_once_and_say_how_many_there_are(shelf: Shelf) -> None:
    assert names(shelf, "", limit=3) + names(shelf, "", limit=3, offset=3) == names(shelf, "")
    page = shelf.graph.search("", None, limit=1, offset=1)
    assert page.total == 4 and [(each.entity, each.passages) for each in page.entries] == [(KINDS["IRS"], 2)]
    assert shelf.graph.search("", None, limit=5, offset=9).entries == ()


def test_the_documents_that_mention_an_entity_are_listed_with_their_passages(shelf: Shelf) -> None:
    ids = {each.name: each.id for each in shelf.catalogue.documents()}
    first = {name: shelf.catalogue.passages_of(number)[0].id for name, number in ids.items()}
    form = shelf.graph.mentions("Form W-2", EntityType.FORM, limit=9)
    assert (form.entries, form.total) == ((EntityMentions(ids["a.txt"], 2, first["a.txt"]),), 1)
    office = shelf.graph.mentions("IRS", EntityType.ORGANIZATION, limit=9)
    assert [each.document_id for each in office.entries] == [ids["b.txt"], ids["a.txt"]]
    second = shelf.graph.mentions("IRS", EntityType.ORGANIZATION, limit=1, offset=1)
    assert second.entries == office.entries[1:] and second.total == 2
    assert shelf.graph.mentions("100%", EntityType.CONCEPT, limit=9).total == 1
    for name, kind in (
        ("IRS", EntityType.FORM),
        ("W2", EntityType.FORM),
        ("%", EntityType.CONCEPT),
        ("'", EntityType.LAW),
    ):
        assert shelf.graph.mentions(name, kind, limit=9).total == 0
    shelf.catalogue.delete(ids["a.txt"])
    shelf.graph.delete([ids["a.txt"]])
    assert shelf.graph.mentions("Form W-2", EntityType.FORM, limit=9).total == 0


def test_archived_documents_are_not_counted_and_found_only_when_asked_for(shelf: Shelf) -> None:
    catalogue = shelf.catalogue
    first = next(each for each in catalogue.documents() if each.name == "a.txt")
    remaining = [replace(each, archived=True) for each in catalogue.passages_of(first.id)]
    store_labels(catalogue, replace(first, archived=True), remaining)
    assert shelf.graph.mentions("Form W-2", EntityType.FORM, limit=9).total == 0
    assert "Form W-2" not in names(shelf, "") and "Form W-2" not in shelf.graph.known(["Form W-2"])
    assert shelf.graph.known(["IRS"])["IRS"].passages == 1
    assert len(shelf.graph.passages_naming({"Form W-2": 1.0}, ANYTHING, None, 9)) == 0
    assert len(shelf.graph.passages_naming({"Form W-2": 1.0}, SearchFilters(archived=True), None, 9)) == 2


def test_a_document_read_again_names_only_what_it_names_now(shelf: Shelf) -> None:
    first = next(each for each in shelf.catalogue.documents() if each.name == "a.txt")
    stored = shelf.catalogue.save_ingested(first, [], [passage("New.", entities=("a_b",))], NOTHING)
    shelf.graph.add(stored, [KINDS["a_b"]])
    assert names(shelf, "form") == [] and shelf.graph.known(["a_b"])["a_b"].passages == 2
    assert [i for i, _ in shelf.graph.passages_naming({"a_b": 1.0}, ANYTHING, None, 9)][-1] == stored[0].id


@pytest.mark.parametrize("how", ["graph", "catalogue"])
def test_a_deleted_document_names_nothing(shelf: Shelf, how: str) -> None:
    first = next(each for each in shelf.catalogue.documents() if each.name == "a.txt")
    if how == "graph":
        shelf.graph.delete([first.id])
    else:
        shelf.catalogue.delete(first.id)
        shelf.graph.delete([first.id])
    assert names(shelf, "form") == [] and shelf.graph.known(["IRS"])["IRS"].passages == 1


def test_a_failed_document_names_nothing(shelf: Shelf) -> None:
    first = next(each for each in shelf.catalogue.documents() if each.name == "a.txt")
    shelf.catalogue.fail(first.id, step="read", reason="It is damaged.", remedy="Save it again.")
    assert names(shelf, "form") != [], "its former text stays"
    shelf.catalogue.mark(first.id, step="store", unread=True)
    shelf.catalogue.fail(first.id, step="read", reason="It is damaged.", remedy="Save it again.")
    assert names(shelf, "form") == [] and shelf.graph.passages_naming({"Form W-2": 1.0}, ANYTHING, None, 9) == []


def test_entities_of_several_documents_are_stored_at_once_each_with_its_own(new_shelf: NewShelf) -> None:
    shelf = new_shelf()
    one, two, _ = (
        shelf.add(document(name), [passage(f"{name}.", entities=("IRS", "a_b"))], KINDS["IRS"], KINDS["a_b"])
        for name in ("one", "two", "other")
    )
    shelf.graph.add_each([(one, [KINDS["IRS"]]), (two, [KINDS["a_b"]])])
    assert {name: each.passages for name, each in shelf.graph.known(["IRS", "a_b"]).items()} == {"IRS": 2, "a_b": 2}


def test_tenants_never_see_each_others_entities(new_shelf: NewShelf, shelf: Shelf) -> None:
    other = new_shelf()
    assert other.graph.search("", None, limit=9).total == 0 and other.graph.known(["IRS"]) == {}
    assert other.graph.passages_naming({"IRS": 1.0}, ANYTHING, None, 9) == [] and other.graph.rows(ANYTHING, None) == (
        0,
        0,
    )
    other.graph.delete([each.id for each in shelf.catalogue.documents()])
    assert shelf.graph.known(["IRS"])["IRS"].passages == 2


def test_what_postgresql_cannot_hold_is_kept_all_the_same(new_shelf: NewShelf) -> None:
    shelf = new_shelf()
    odd = Entity("straße\0", EntityType.PLACE, ("STR\ud800",))
    shelf.add(document("odd.txt"), [passage("Odd.", entities=("straße\0",))], odd)
    assert shelf.graph.known(["STRASSE\0"])["STRASSE\0"].passages == 1
    assert shelf.graph.search("STRASSE", None, limit=5).total == 1
