"""What every catalogue's list of documents does: filtered, counted and sorted alike in memory and in PostgreSQL."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from core.domain.document_list import ARCHIVED, UNKNOWN_TRUTH, DocumentOrder, DocumentPage, DocumentQuery
from core.domain.documents import DocumentState, Label, Labels
from core.ports.catalogue import Catalogue
from storage.postgres.catalogue import SqlCatalogue
from tests.database import new_tenant
from tests.fakes import FakeCatalogue
from tests.label_edits import store_labels
from tests.stores.libraries import DATES, MOMENT, document, passage, random_vectors, store

_NAMES = ("Über_50%_pay.pdf", "b_law.md", "残業規程.md", 'it\'s "quoted".txt', "مرسوم_العمل.pdf", "a.pdf")
_TRUTHS = ("regulatory", "intent", None)
_TAGS = ((), ("pay",), ("pay", "{a,b}"), ('quoted "tag"',))


def _fill(catalogue: Catalogue) -> list[int]:
    """Eighteen documents of every state, with a passage each where they were read; the passage ids."""
    passages = []
    for number in range(18):
        name = f"{number:02} {_NAMES[number % len(_NAMES)]}"
        truth = Label(_TRUTHS[number % 3], (number % 5) / 5)
        described = document(
            name,
            title="Straße" if number % 4 == 0 else "",
            project=(None, "north")[number % 2],
            tags=_TAGS[number % 4],
            labels=Labels(truth=truth),
            date=DATES[number % len(DATES)],
            uploaded_at=MOMENT + timedelta(hours=number // 2),
        )
        if number % 6 == 5:
            failed = catalogue.add_document(described)
            catalogue.fail(failed.id, step="reading", reason="broken", remedy="none")
            continue
        (stored,) = store(catalogue, described, [passage(f"text {number}")], random_vectors(1, number))
        passages.append(stored.id)
        if number % 7 == 6:
            known = catalogue.document(stored.document_id)
            store_labels(catalogue, replace(known, archived=True), [])
    return passages


@pytest.fixture(scope="module")
def filled(request: pytest.FixtureRequest) -> tuple[Catalogue, Catalogue, dict[int, int]]:
    """The same library in memory and in PostgreSQL, and the passage ids of the one in those of the other."""
    engine: Engine = request.getfixturevalue("engine")
    memory, postgres = FakeCatalogue(), SqlCatalogue(new_tenant(engine), lambda: "model")
    return memory, postgres, dict(zip(_fill(memory), _fill(postgres), strict=True))


def _described(
    page: DocumentPage, passage_of: Callable[[int], int]
) -> tuple[list[tuple[str, int | None]], int, object]:
    rows = [(each.document.name, passage_of(each.passage) if each.passage else None) for each in page.entries]
    return rows, page.total, page.counts


_QUERIES = st.builds(
    DocumentQuery,
    words=st.sampled_from(["", " LAW ", "straße", "50%", "_", "残業", "'", "مرسوم", "zebra"]),
    state=st.sampled_from(["", ARCHIVED, *map(str, DocumentState)]),
    project=st.sampled_from([None, "", "north", "no'where"]),
    truths=st.sampled_from([(), ("intent",), (UNKNOWN_TRUTH, "regulatory")]),
    tags=st.sampled_from([(), ("pay",), ("{a,b}", 'quoted "tag"')]),
    order=st.sampled_from(DocumentOrder),
    reverse=st.booleans(),
    limit=st.sampled_from([None, 3, 50]),
    offset=st.sampled_from([0, 2, 99]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=_QUERIES, found=st.sets(st.integers(0, 14), max_size=4))
def test_both_list_the_same_documents_in_the_same_order_with_the_same_counts(
    filled: tuple[Catalogue, Catalogue, dict[int, int]], query: DocumentQuery, found: set[int]
) -> None:
    memory, postgres, ids = filled
    own = [list(ids)[place] for place in sorted(found)]
    hits = [(passage_id, 1.0 + number % 2) for number, passage_id in enumerate(own)]
    expected = memory.list_documents(replace(query, hits=tuple(hits)))
    given = postgres.list_documents(replace(query, hits=tuple((ids[each], score) for each, score in hits)))
    assert _described(given, lambda each: each) == _described(expected, lambda each: ids[each])


@pytest.fixture(params=[0, 1], ids=["memory", "postgresql"])
def library(request: pytest.FixtureRequest, filled: tuple[Catalogue, Catalogue, dict[int, int]]) -> Catalogue:
    """The library in one of the two."""
    return filled[request.param]  # type: ignore[return-value]


def test_a_page_counts_what_the_other_filters_leave(library: Catalogue) -> None:
    everything = library.list_documents(DocumentQuery(limit=None))
    chosen = library.list_documents(DocumentQuery(truths=("intent",), project="north", limit=None))
    assert everything.total == len(everything.entries) == 16
    assert chosen.total == everything.counts["truth"]["intent"] - sum(
        1 for each in everything.entries if each.document.labels.truth.value == "intent" and not each.document.project
        and each.document.state is DocumentState.READY
    )  # fmt: skip
    assert chosen.counts["truth"]["regulatory"] > 0 and chosen.counts["project"][""] > 0


def test_another_tenants_passages_bring_none_of_its_documents(engine: Engine) -> None:
    theirs = SqlCatalogue(new_tenant(engine), lambda: "model")
    foreign = _fill(theirs)
    ours = SqlCatalogue(new_tenant(engine), lambda: "model")
    assert ours.list_documents(DocumentQuery(words="x", hits=((foreign[0], 1.0),))).total == 0


def test_a_hit_inside_a_document_lists_it_after_those_whose_name_matches(library: Catalogue) -> None:
    first = library.list_documents(DocumentQuery(words="law", limit=None)).entries
    other = next(
        each
        for each in library.list_documents(DocumentQuery(limit=None)).entries
        if "law" not in each.document.name and each.document.passages
    )
    hit = library.passages_of(other.document.id)[0].id
    found = library.list_documents(DocumentQuery(words="law", hits=((hit, 2.0),), order=DocumentOrder.MATCH)).entries
    assert [each.document.id for each in found] == [*(each.document.id for each in first), other.document.id]
    assert found[-1].passage == hit
