"""The graph leg: what a question names, and which passages that leads to."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Passage
from core.domain.entities import Entity, EntityType, rarity
from core.domain.filters import SearchFilters
from core.ner.recognizer import tag_entities
from core.search.retrieval import graph as leg
from core.search.retrieval.graph import graph_reasons, question_entities, walk_graph
from tests.fakes import FakeCatalogue, FakeEntityGraph
from tests.label_edits import store_labels
from tests.stores.libraries import admitted, document, filters_of, passage, random_filters, random_vectors, store

ANYTHING = SearchFilters()
NOTHING = random_vectors(0, 0)


class Shelf:
    """A library in memory with its graph."""

    def __init__(self) -> None:
        self.catalogue = FakeCatalogue()
        self.graph = FakeEntityGraph(self.catalogue)
        self.passages: list[Passage] = []

    def read(self, name: str, *texts: str, **labels: object) -> Sequence[Passage]:
        """A document whose passages name what they are read to name."""
        named, entities = tag_entities([passage(text, **labels) for text in texts])
        return self._add(name, named, entities)

    def add_document(self, name: str, *names: Sequence[str], **labels: object) -> Sequence[Passage]:
        """A document whose passages name just these."""
        plain = [passage(f"{name} {n}", entities=tuple(each), **labels) for n, each in enumerate(names)]
        entities = [Entity(one, EntityType.CONCEPT) for each in names for one in each]
        return self._add(name, plain, entities)

    def _add(self, name: str, passages: Sequence[Passage], entities: Sequence[Entity]) -> Sequence[Passage]:
        stored = store(self.catalogue, document(name), passages, NOTHING)
        self.graph.add(stored, entities)
        self.passages += stored
        return stored


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf()
    shelf.read("law.txt", "The Fair Labor Standards Act (FLSA) sets the minimum wage.", "See Form 941 and the FLSA.")
    shelf.read("guide.txt", "“Covered employee” means staff.", "Form 941 is sent by the Acme Tools Inc.", "PostgreSQL.")
    shelf.read("far.txt", "Acme Tools, Inc. rents rooms.", "Nothing is named here.")
    return shelf


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does the FLSA say?", ["Fair Labor Standards Act"]),
        ("what does the flsa say about form 941?", ["Fair Labor Standards Act", "Form 941"]),
        ("fair labor standards act minimum wage", ["Fair Labor Standards Act", "minimum wage"]),
        ("Who are covered employees here?", ["covered employee"]),
        ("Where does acme tools inc work?", ["Acme Tools Inc"]),
        ("Is Form 940 due?", []),
        ("may it help us act in this?", []),
        ("postgresql", ["PostgreSQL"]),
        ("", []),
    ],
)
def test_a_question_names_what_the_library_names(shelf: Shelf, question: str, names: list[str]) -> None:
    assert list(question_entities(question, shelf.graph)) == names


def test_an_abbreviation_that_only_a_document_defines_is_understood() -> None:
    shelf = Shelf()
    shelf.read("rules.txt", "The Claims Review Board (CRB) meets monthly.")
    assert question_entities("Does the CRB meet?", shelf.graph) == ("Claims Review Board",)
    assert question_entities("Does the crb meet?", shelf.graph) == ()


def test_a_term_that_only_a_document_uses_as_a_name_is_found_in_a_question() -> None:
    shelf = Shelf()
    library = shelf.read(
        "raft.md",
        "Raft is a consensus algorithm for a replicated log. A leader in Raft sends heartbeats to its followers.",
        "When followers of a Raft cluster hear nothing, they vote. Clusters that run Raft survive lost servers.",
        "Nothing of this is said here.",
    )
    requested = question_entities("How does Raft elect a leader?", shelf.graph)
    assert requested == ("Raft",)
    hits = walk_graph(shelf.graph, requested, ANYTHING, None, 10).hits.hits
    assert [hit.passage_id for hit in hits] == [library[0].id, library[1].id]


def test_the_longest_name_is_meant() -> None:
    shelf = Shelf()
    shelf.add_document("a.txt", ["child", "qualifying child"], ["qualifying child"])
    assert question_entities("Who is a qualifying child?", shelf.graph) == ("qualifying child",)


def test_what_nearly_every_passage_names_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    shelf.add_document("a.txt", *([["tax year"]] * 5), ["tax credit"])
    monkeypatch.setattr(leg, "MOST_ENTITY_PASSAGES", 4)
    assert question_entities("Which tax credit in which tax year?", shelf.graph) == ("tax credit",)


def test_passages_that_share_more_come_first_and_then_those_one_step_on(shelf: Shelf) -> None:
    law, form, guide, far = (shelf.passages[place].id for place in (0, 1, 3, 5))
    found = walk_graph(shelf.graph, ("Fair Labor Standards Act", "Form 941"), ANYTHING, None, 10)
    assert [hit.passage_id for hit in found.hits.hits] == [form, law, guide, far]
    assert (found.hits.rows_before, found.hits.rows_after) == (7, 7)
    assert [found.paths[each].distance for each in (form, law, guide, far)] == [1, 1, 1, 2]
    reasons = graph_reasons(found)
    assert reasons[form] == "shares Fair Labor Standards Act, Form 941 with the question"
    assert reasons[far] == f"through 'Acme Tools Inc' with passage {guide}"


def test_a_question_without_entities_finds_nothing_and_says_how_much_there_was(shelf: Shelf) -> None:
    found = walk_graph(shelf.graph, (), SearchFilters(tags=("none",)), None, 10).hits
    assert (found.hits, found.rows_before, found.rows_after) == ((), 7, 0)
    assert walk_graph(shelf.graph, ("Form 941",), ANYTHING, None, 0).hits.hits == ()
    assert walk_graph(shelf.graph, ("Form 941",), ANYTHING, None, 5, rows=(70, 60)).hits.rows_after == 60


def test_no_passage_is_walked_through_that_may_not_be_found() -> None:
    shelf = Shelf()
    (start,) = shelf.add_document("start.txt", ["asked"])
    (way,) = shelf.add_document("way.txt", ["asked", "bridge"], tags=("hidden",))
    (end,) = shelf.add_document("end.txt", ["bridge"])
    everything = [hit.passage_id for hit in walk_graph(shelf.graph, ("asked",), ANYTHING, None, 9).hits.hits]
    assert everything == [start.id, way.id, end.id]
    narrowed = walk_graph(shelf.graph, ("asked",), SearchFilters(exclude_tags=("hidden",)), None, 9).hits
    assert [hit.passage_id for hit in narrowed.hits] == [start.id]
    among = np.array([start.id, end.id], dtype=np.int64)
    assert [hit.passage_id for hit in walk_graph(shelf.graph, ("asked",), ANYTHING, among, 9).hits.hits] == [start.id]


NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
LIBRARIES = st.lists(st.lists(st.sampled_from(NAMES), max_size=4, unique=True), min_size=1, max_size=14)
ASKED = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(tuple)


def of(library: Sequence[Sequence[str]]) -> Shelf:
    shelf = Shelf()
    for number, names in enumerate(library):
        shelf.add_document(f"{number}.txt", names, tags=(("even", "odd")[number % 2],), truth=None)
    return shelf


@settings(max_examples=60, deadline=None)
@given(LIBRARIES, ASKED, random_filters, st.integers(1, 20))
def test_every_hit_is_admissible_ordered_and_joined_to_the_question(
    library: list[list[str]], query: tuple[str, ...], filters: SearchFilters, top_k: int
) -> None:
    shelf = of(library)
    search_filters = filters_of(filters, shelf.passages)
    found = walk_graph(shelf.graph, query, search_filters, None, top_k)
    by_id = {each.id: each for each in shelf.passages}
    ids = [hit.passage_id for hit in found.hits.hits]
    assert all(search_filters.admits(by_id[i]) for i in ids) and len(set(ids)) == len(ids) <= top_k
    assert ids == [h.passage_id for h in sorted(found.hits.hits, key=lambda hit: (-hit.score, hit.passage_id))]
    assert found.hits.rows_after == len(admitted(search_filters, shelf.passages))
    for hit in found.hits.hits:
        path = found.paths[hit.passage_id]
        assert hit.score > 0 and set(path.shared) == set(query) & set(by_id[hit.passage_id].entities)
        for name, way in path.through:
            assert name in by_id[hit.passage_id].entities and name in by_id[way].entities
            assert search_filters.admits(by_id[way]) and set(query) & set(by_id[way].entities)


@settings(max_examples=60, deadline=None)
@given(LIBRARIES, ASKED)
def test_every_admissible_passage_that_shares_an_entity_is_found_and_scores_what_it_shares(
    library: list[list[str]], query: tuple[str, ...]
) -> None:
    shelf = of(library)
    found = walk_graph(shelf.graph, query, ANYTHING, None, 100)
    scores = {hit.passage_id: hit.score for hit in found.hits.hits}
    values = {name: sum(name in each.entities for each in shelf.passages) for name in query}
    most = max((rarity(number, len(shelf.passages)) for number in values.values() if number), default=0.0)
    for each in shelf.passages:
        shared = [rarity(values[name], len(shelf.passages)) for name in query if name in each.entities]
        if shared:
            assert scores[each.id] == pytest.approx(sum(shared))
        elif each.id in scores:
            assert found.paths[each.id].distance == 2 and scores[each.id] <= most / 2 + 1e-12


@settings(max_examples=60, deadline=None)
@given(LIBRARIES, ASKED, st.sampled_from(("even", "odd")))
def test_a_narrower_filter_only_takes_away_and_makes_no_passage_nearer(
    library: list[list[str]], query: tuple[str, ...], tag: str
) -> None:
    shelf = of(library)
    wide = walk_graph(shelf.graph, query, ANYTHING, None, 100)
    narrow = walk_graph(shelf.graph, query, SearchFilters(tags=(tag,)), None, 100)
    assert set(narrow.paths) <= set(wide.paths)
    assert all(narrow.paths[i].distance >= wide.paths[i].distance for i in narrow.paths)


@settings(max_examples=40, deadline=None)
@given(LIBRARIES, ASKED, st.randoms())
def test_the_order_of_asking_changes_nothing(library: list[list[str]], query: tuple[str, ...], chance: object) -> None:
    shelf = of(library)
    mixed = list(query)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = (walk_graph(shelf.graph, each, ANYTHING, None, 100) for each in (query, tuple(mixed)))
    assert [h.passage_id for h in one.hits.hits] == [h.passage_id for h in other.hits.hits]
    assert one.paths == other.paths


def test_work_is_bounded_however_much_shares_an_entity(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    shelf.add_document(
        "a.txt", *([["asked", f"bridge {n}"] for n in range(30)]), *([[f"bridge {n}"] for n in range(30)])
    )
    requests: list[int] = []
    plain = shelf.graph.passages_naming

    def counted(weights, filters, among, most):  # type: ignore[no-untyped-def]
        requests.append(len(weights))
        assert most <= leg.MOST_PASSAGES
        return plain(weights, filters, among, most)

    monkeypatch.setattr(shelf.graph, "passages_naming", counted)
    found = walk_graph(shelf.graph, ("asked",), ANYTHING, None, 500).hits
    assert requests == [1, leg.MOST_BRIDGES] and len(found.hits) == 30 + leg.MOST_BRIDGES


def test_archived_passages_are_reached_only_when_asked_for(shelf: Shelf) -> None:
    first = shelf.catalogue.document(shelf.passages[0].document_id)
    remaining = [replace(each, archived=True) for each in shelf.catalogue.passages_of(first.id)]
    store_labels(shelf.catalogue, replace(first, archived=True), remaining)
    assert question_entities("FLSA", shelf.graph) == ()
    assert walk_graph(shelf.graph, ("Form 941",), ANYTHING, None, 9).hits.rows_after == 5
