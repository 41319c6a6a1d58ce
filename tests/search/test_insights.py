"""Insights and episodes among the documents: ranked, narrowed and cited with them, and fading as they age."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Origin, Sector
from core.domain.filters import FIELDS
from core.domain.results import DropReason
from core.knowledge.factors import factor_table
from core.search.ranking.factors import retention
from tests.insights.office import Office

QUESTION = "When must employers deposit withheld income taxes?"
NOTE = "Withheld income taxes: employers deposit them monthly. The lookback period decides."
SECTORS = st.sampled_from(list(Sector))


@pytest.fixture
def office() -> Office:
    """The payroll library with a note and an episode about deposits."""
    office = Office()
    office.desk.save(NOTE, tags=["deposits"], sector=Sector.PROCEDURAL, project="north")
    office.desk.finish_episode(QUESTION, opened=[1], reward=1, reflection="The publication on deposits says it.")
    return office


def test_a_note_is_ranked_among_the_documents_by_the_same_score(office: Office) -> None:
    result = office.ask(QUESTION)
    origins = [hit.candidate.passage.origin for hit in result.hits]
    assert {Origin.DOCUMENT, Origin.INSIGHT, Origin.EPISODE} <= set(origins)
    totals = [hit.score.total for hit in result.hits]
    assert totals == sorted(totals, reverse=True)
    ranks = {hit.candidate.passage.origin: hit.candidate.signals.ranks for hit in result.hits}
    assert {"dense", "sparse"} <= set(ranks[Origin.INSIGHT])
    assert {hit.candidate.passage.document_id for hit in result.hits} <= set(result.documents)


def test_no_memory_is_appended_a_document_that_fits_better_stands_before_it(office: Office) -> None:
    hits = office.ask("wage and tax statement furnished by January 31", "knowledge").hits
    assert hits[0].candidate.passage.origin is Origin.DOCUMENT


def test_every_quote_of_a_memory_stands_on_its_page(office: Office) -> None:
    cited = [c for hit in office.ask(QUESTION).hits for c in hit.citations]
    assert {c.document_name.split(" ")[0] for c in cited} >= {"Insight", "Episode"}
    for citation in cited:
        page = office.library.catalogue.page(citation.document_id, citation.page_number)
        assert citation.quote == page.text[citation.start : citation.end]
        assert (citation.page is None) or citation.document_name == "pub.pdf"


@pytest.mark.parametrize(
    ("filters", "origins"),
    [
        ({"origins": ("insight",)}, {Origin.INSIGHT}),
        ({"origins": ("episode",)}, {Origin.EPISODE}),
        ({"origins": ("document",)}, {Origin.DOCUMENT}),
        ({"origins": ("insight", "episode")}, {Origin.INSIGHT, Origin.EPISODE}),
        ({"exclude_origins": ("insight", "episode")}, {Origin.DOCUMENT}),
        ({"sectors": ("procedural",)}, {Origin.INSIGHT}),
        ({"sectors": ("episodic",)}, {Origin.EPISODE}),
        ({"sectors": ("emotional",)}, set()),
        ({"exclude_sectors": ("procedural", "episodic")}, {Origin.DOCUMENT}),
        ({"tags": ("deposits",)}, {Origin.INSIGHT}),
        ({"truths": ("regulatory",)}, {Origin.DOCUMENT}),
        ({"projects": ("south",), "exclude_origins": ("document",)}, {Origin.EPISODE}),
        ({"recency_months": 1}, {Origin.INSIGHT, Origin.EPISODE}),
        ({"archived": True}, set()),
    ],
)
def test_filters_hold_for_memories_on_every_leg(office: Office, filters: dict, origins: set[Origin]) -> None:
    result = office.ask(QUESTION, **filters)
    found = {each.passage.origin for each in result.candidates}
    assert found - {Origin.DOCUMENT} == origins - {Origin.DOCUMENT}
    assert found <= origins
    assert result.candidates == () if not origins else result.candidates
    assert len({leg.rows_after for leg in result.legs}) == 1
    assert all(result.filters.admits(each.passage) for each in result.candidates)


def test_facets_count_memories_under_their_origin_and_sector(office: Office) -> None:
    from core.domain.filters import SearchFilters

    counted = office.library.catalogue.facets(SearchFilters())
    assert {field.name for field in FIELDS} == set(counted)
    assert counted["origins"] == {"document": 6, "insight": 1, "episode": 1}
    assert counted["sectors"] == {"procedural": 1, "episodic": 1}


def test_an_older_memory_weighs_less_and_says_how_much_is_left(office: Office) -> None:
    def strength() -> float:
        (hit,) = office.ask(QUESTION, "memory", origins=("insight",)).hits
        part = next(each for each in hit.score.multipliers if each.name == "strength")
        assert "freshness" in part.reason
        return part.value

    fresh = strength()
    office.now += timedelta(days=365)
    assert 0.5 <= strength() < fresh <= 1


def test_what_is_deleted_is_neither_shown_nor_among_the_misses(office: Office) -> None:
    (note,) = office.desk.insights().items
    office.desk.delete(note)
    result = office.ask(QUESTION)
    seen = {each.passage.document_id for each in result.candidates} | {
        d.candidate.passage.document_id for d in result.dropped
    }
    assert note.document_id not in seen
    assert not [each for each in result.dropped if each.reason is DropReason.FILTERED]


# The law of fading (behaviour: "strength")


@given(SECTORS, st.floats(0, 20_000), st.floats(0.01, 5000), st.integers(0, 1000))
def test_a_memory_fades_with_every_day_and_never_below_nothing(
    sector: Sector, age: float, longer: float, uses: int
) -> None:
    base = factor_table()["strength"].by_value[sector]
    before, after = retention(age, base, uses), retention(age + longer, base, uses)
    assert 0 <= after <= before <= 1
    assert retention(0, base, uses) == 1


@given(SECTORS, st.floats(0.1, 5000), st.integers(0, 1000))
def test_use_slows_the_fading(sector: Sector, age: float, uses: int) -> None:
    base = factor_table()["strength"].by_value[sector]
    assert retention(age, base, uses + 1) >= retention(age, base, uses)


@given(st.floats(0.1, 5000), st.integers(0, 100))
def test_feelings_fade_slowest_and_facts_fastest(age: float, uses: int) -> None:
    base = factor_table()["strength"].by_value
    slowest_first = ["emotional", "reflective", "episodic", "procedural", "semantic"]
    remaining = [retention(age, base[sector], uses) for sector in slowest_first]
    assert remaining == sorted(remaining, reverse=True)
    assert [base[sector] for sector in slowest_first] == [200, 180, 150, 120, 100]


@given(SECTORS, st.floats(0, 3000), st.floats(0, 3000), st.integers(0, 100))
def test_fading_in_two_stretches_is_fading_in_one(sector: Sector, first: float, second: float, uses: int) -> None:
    base = factor_table()["strength"].by_value[sector]
    together = retention(first + second, base, uses)
    assert retention(first, base, uses) * retention(second, base, uses) == pytest.approx(together, abs=1e-9)
