"""Saved views as stories: kept under a name, looked at again, and told honestly what is new since when."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from time import perf_counter

import pytest

from bootstrap.environment import utc_now
from core.domain.documents import DocumentState, Truth
from core.domain.errors import BadRequest, NotFound, Outdated, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.people import Door, Principal, local_principal
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.tuning.profile_registry import ProfileRegistry
from core.knowledge.profiles import BUILT_IN
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.library.saved_searches import SavedSearch, SavedSearchService, same_search
from core.ports.stores import Profiles
from core.search.pipeline import SearchPipeline
from tests.fakes import FakeEvaluationStore, FakeSavedSearchStore
from tests.search.library import NOW, Library, payroll_library

QUESTION = "overtime rate"


def person(name: str) -> Principal:
    """Who uses this machine under a name, where nobody signs in."""
    return local_principal(Door.BROWSER, name)


ANN, BOB, NOBODY = person("Ann"), person("Bob"), person("")


class Desk:
    """A small library with a desk of saved views over it, and a clock to move."""

    def __init__(self, profiles: Profiles = BUILT_IN) -> None:
        self.library, self.now, self.searches = payroll_library(), NOW + timedelta(hours=1), 0
        library = self.library
        self.searcher = SearchPipeline(
            library.catalogue,
            library.vectors,
            library.sparse,
            library.embedder,
            profiles,
            terms=lambda: BUILT_IN_TERMS,
            timer=perf_counter,
        )
        self.views = SavedSearchService(FakeSavedSearchStore(), self.search, library.catalogue, profiles, self.clock)

    def clock(self) -> datetime:
        return self.now

    def search(self, request: SearchRequest) -> SearchResult:
        self.searches += 1
        return self.searcher.search(request, self.now)

    def saved(self, name: str = "Overtime", question: str = QUESTION, **options: object) -> SavedSearch:
        request = SearchRequest(question, **options)  # type: ignore[arg-type]
        return self.views.save(name, request, "results", ANN, shared=True)

    def look(self, view: SavedSearch, by: Principal = ANN) -> tuple[datetime | None, list[str]]:
        """Look and have seen it: since when what is new, and the documents of the new results."""
        looked = self.views.open(view, by)
        self.views.seen(looked, by)
        hits = [hit.candidate.passage for hit in looked.result.hits]
        return looked.since, [passage.document_name for passage in hits if passage.id in looked.new]

    def add(self, name: str, *texts: str, library: Library | None = None, **labels: object) -> int:
        """A document uploaded now."""
        (first, *_) = (library or self.library).add(name, *texts, **labels)
        catalogue = self.library.catalogue
        document = replace(catalogue.document(first.document_id), uploaded_at=self.now)
        catalogue._documents[document.id] = document
        return document.id

    def later(self, **time: float) -> datetime:
        before = self.now
        self.now += timedelta(**time)
        return before


@pytest.fixture
def desk() -> Desk:
    return Desk()


def names(views: Sequence[SavedSearch]) -> list[str]:
    return [view.name for view in views]


# Keeping


def test_a_search_is_kept_whole_but_for_how_far_one_had_looked(desk: Desk) -> None:
    request = SearchRequest(f" {QUESTION} ", SearchFilters(truths=("reality",)), "relevance", 40, True, ("date",))
    view = desk.views.save("  Over \n time ", request, "five", person(" Ann "), shared=False)
    assert view.name == "Over time" and (view.owner, view.who, view.at) == ("Ann", "Ann", desk.now)
    assert view.request == replace(request, question=QUESTION, top_k=None) and view.shown == "five"
    assert desk.views.view(view.id, ANN) == view


def test_own_views_are_seen_by_their_owner_only_and_shared_ones_by_all(desk: Desk) -> None:
    own = desk.views.save("Mine", SearchRequest(QUESTION), "results", ANN, shared=False)
    desk.saved("Ours")
    assert names(desk.views.views(None, ANN)) == ["Mine", "Ours"]
    assert names(desk.views.views(None, BOB)) == ["Ours"] == names(desk.views.views(None, NOBODY))
    for attempt in (
        lambda: desk.views.view(own.id, BOB),
        lambda: desk.views.rename(own, "Stolen", BOB),
        lambda: desk.views.delete(own, BOB),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_people_with_the_same_name_have_their_own_views_and_visits(desk: Desk) -> None:
    ann, other = (Principal(login, "Ann", (), Door.BROWSER) for login in ("ann@x.org", "ann@y.org"))
    shared = desk.saved()
    own = desk.views.save("Mine", SearchRequest(QUESTION), "results", ann, shared=False)
    desk.views.save("Mine", SearchRequest(QUESTION), "results", other, shared=False)  # a name of her own, too
    desk.look(shared, ann)
    assert desk.views.last_visits(ann).keys() == {shared.id} and desk.views.last_visits(other) == {}
    assert desk.views.matching(own.request, ann)[0] == own != desk.views.matching(own.request, other)[0]
    for stranger in (other, ANN):
        assert own not in desk.views.views(None, stranger)
        with pytest.raises(NotFound):
            desk.views.view(own.id, stranger)


def test_a_person_who_is_renamed_keeps_their_views_and_visits(desk: Desk) -> None:
    before, after = (Principal("ann@x.org", name, (), Door.BROWSER) for name in ("Ann Archer", "Ann Baker"))
    own = desk.views.save("Mine", SearchRequest(QUESTION), "results", before, shared=False)
    desk.look(own, before)
    assert desk.views.views(None, after) == [own] and desk.views.last_visits(after).keys() == {own.id}
    assert own.who == "Ann Archer"


def test_a_view_whose_login_is_not_known_is_shown_to_nobody(desk: Desk) -> None:
    own = desk.views.save("Mine", SearchRequest(QUESTION), "results", ANN, shared=False)
    desk.views._store.change_view(replace(own, login=""))
    for each in (ANN, Principal("Ann", "Ann", (), Door.BROWSER), NOBODY):
        assert desk.views.views(None, each) == []


def test_views_are_listed_for_their_project_and_the_whole_library(desk: Desk) -> None:
    for project in ((), ("north",), ("south",), ("north", "south")):
        desk.saved(f"v{'+'.join(project)}", filters=SearchFilters(projects=project))
    assert names(desk.views.views("north", ANN)) == ["v", "vnorth", "vnorth+south"]
    assert names(desk.views.views(None, ANN)) == ["v", "vnorth", "vnorth+south", "vsouth"]


def test_the_same_name_is_free_in_another_project_and_refused_in_its_own(desk: Desk) -> None:
    north = desk.saved("Leave", filters=SearchFilters(projects=("north",)))
    desk.saved("Leave", filters=SearchFilters(projects=("south",)))
    with pytest.raises(BadRequest, match="There is a shared view 'leave' of the project 'north' already"):
        desk.saved("leave", filters=SearchFilters(projects=("north",)))
    desk.views.save("Leave", north.request, "results", ANN, shared=False)  # her own
    other = desk.saved("Pay", filters=SearchFilters(projects=("north",)))
    with pytest.raises(BadRequest, match="rename that one"):
        desk.views.rename(other, "LEAVE", ANN)
    assert desk.views.rename(other, "Wages", BOB).name == "Wages"


@pytest.mark.parametrize(
    ("name", "question", "who", "problem"),
    [
        (" ", QUESTION, "Ann", "has no name"),
        ("x" * 81, QUESTION, "Ann", "at most 80 characters, this one has 81"),
        ("a\0b", QUESTION, "Ann", "control characters"),
        ("Leave", "  ", "Ann", "no question to save"),
        ("Leave", QUESTION, " ", "needs your name"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_what_to_do(
    desk: Desk, name: str, question: str, who: str, problem: str
) -> None:
    with pytest.raises(BadRequest, match=problem) as raised:
        desk.views.save(name, SearchRequest(question), "results", person(who), shared=False)
    assert raised.value.hint


def test_a_deleted_view_comes_back_with_what_was_seen_unless_its_name_is_gone(desk: Desk) -> None:
    view = desk.saved()
    desk.look(view)
    deleted = desk.views.delete(view, BOB)
    assert desk.views.views(None, ANN) == []
    back = desk.views.restore(deleted, BOB)
    assert desk.views.views(None, ANN) == [back]
    assert desk.views.last_visits(ANN) == {view.id: desk.now}
    deleted = desk.views.delete(back, BOB)
    desk.saved()
    with pytest.raises(BadRequest, match="There is a shared view 'Overtime'"):
        desk.views.restore(deleted, BOB)
    with pytest.raises(Outdated):
        desk.views.delete(view, ANN)


def test_a_request_finds_the_views_that_ask_just_this(desk: Desk) -> None:
    filters = SearchFilters(truths=("reality", "intent"))
    shared = desk.saved("Ours", filters=filters)
    own = desk.views.save("Mine", shared.request, "results", ANN, shared=False)
    request = SearchRequest(QUESTION, SearchFilters(truths=("intent", "reality")), top_k=30)
    assert list(desk.views.matching(request, ANN)) == [own, shared]
    assert list(desk.views.matching(request, BOB)) == [shared]
    for other in (
        replace(request, question="Overtime"),
        replace(request, filters=SearchFilters()),
        replace(request, profile="relevance"),
        replace(request, only_routed=True),
        replace(request, removed_chips=("date",)),
        replace(request, rerank="fast"),
    ):
        assert not same_search(request, other) and desk.views.matching(other, ANN) == []


# Looking


def test_at_the_first_look_nothing_is_called_new(desk: Desk) -> None:
    view = desk.saved()
    looked = desk.views.open(view, ANN)
    assert looked.result.hits and (looked.since, looked.new, looked.added) == (None, frozenset(), ())


def test_what_was_not_shown_at_the_last_look_is_new_and_since_when_is_said(desk: Desk) -> None:
    view = desk.saved()
    desk.look(view)
    seen_at = desk.later(days=2)
    assert desk.look(view) == (seen_at, [])
    desk.later(days=2)
    added = desk.add("rates.md", "The overtime rate is reviewed every year.")
    looked = desk.views.open(view, ANN)
    assert [document.id for document in looked.added] == [added]
    assert desk.look(view)[1] == ["rates.md"]


def test_looking_is_one_look_while_one_comes_back_soon(desk: Desk) -> None:
    view = desk.saved()
    desk.look(view)
    first = desk.later(days=1)
    desk.add("rates.md", "The overtime rate is reviewed every year.")
    for _ in range(5):  # each click draws the page again
        assert desk.look(view) == (first, ["rates.md"])
        last = desk.later(minutes=20)
    desk.later(minutes=31)
    assert desk.look(view) == (last, [])


def test_each_person_has_looks_of_their_own(desk: Desk) -> None:
    view = desk.saved()
    desk.look(view)
    desk.look(view, BOB)
    desk.later(days=1)
    desk.add("rates.md", "The overtime rate is reviewed every year.")
    assert desk.look(view)[1] == ["rates.md"]
    desk.later(days=1)
    assert desk.look(view)[1] == []
    assert desk.look(view, BOB)[1] == ["rates.md"]
    assert desk.look(view, person("Cleo")) == (None, [])


def test_a_file_that_was_deleted_and_read_again_is_not_new(desk: Desk) -> None:
    text = "The overtime rate is reviewed every year."
    first = desk.add("rates.md", text)
    view = desk.saved()
    before = {hit.candidate.passage.id for hit in desk.views.open(view, ANN).result.hits}
    desk.look(view)
    desk.later(days=1)
    for store in (desk.library.vectors, desk.library.sparse):
        store.delete([first])
    desk.library.catalogue.delete(first)
    again = desk.add("rates.md", text)
    looked = desk.views.open(view, ANN)
    ids = {hit.candidate.passage.id for hit in looked.result.hits}
    assert again != first and ids != before
    assert looked.new == frozenset() and [document.id for document in looked.added] == [again]


def test_what_stood_behind_a_near_identical_passage_is_not_new_when_it_comes_forward(desk: Desk) -> None:
    text = "The overtime rate is reviewed every year by the board of the company in its first meeting."
    both = [desk.add(name, text + tail) for name, tail in (("a.md", ""), ("b.md", " "))]
    view = desk.saved(question="Who reviews the overtime rate every year?")
    (front,) = (hit for hit in desk.views.open(view, ANN).result.hits if hit.similar)
    desk.look(view)
    desk.later(days=1)
    removed = front.candidate.passage.document_id
    for store in (desk.library.vectors, desk.library.sparse):
        store.delete([removed])
    desk.library.catalogue.delete(removed)
    looked = desk.views.open(view, ANN)
    assert {hit.candidate.passage.document_id for hit in looked.result.hits} >= set(both) - {removed}
    assert looked.new == frozenset()


def test_documents_uploaded_since_are_those_its_filters_admit_and_that_are_ready(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.library.catalogue, "documents", None)
    view = desk.saved(filters=SearchFilters(truths=("reality",)))
    desk.look(view)
    desk.later(days=1)
    rows = desk.add("rows.csv", "OT2 overtime at 2.0 of the regular rate.", truth=Truth.REALITY)
    desk.add("law.pdf", "Overtime is due.", truth=Truth.REGULATORY)
    failed = desk.add("failed.csv", "OT3 overtime.", truth=Truth.REALITY)
    documents = desk.library.catalogue._documents
    documents[failed] = replace(documents[failed], state=DocumentState.FAILED)
    looked = desk.views.open(view, ANN)
    assert [document.id for document in looked.added] == [rows]
    narrowed = desk.saved("One", filters=SearchFilters(documents=(rows,)))
    desk.look(narrowed)
    desk.later(days=1)
    desk.add("more.csv", "OT4 overtime.", truth=Truth.REALITY)
    assert desk.views.open(narrowed, ANN).added == ()


def test_an_answer_that_is_known_is_not_asked_again(desk: Desk) -> None:
    view = desk.saved()
    result = desk.search(replace(view.request, top_k=1))
    looked = desk.views.open(view, ANN, result)
    assert desk.searches == 1 and looked.result is result


def test_looking_further_down_makes_nothing_new_that_was_seen(desk: Desk) -> None:
    view = desk.saved()
    whole, first = desk.search(view.request), desk.search(replace(view.request, top_k=1))
    assert len(whole.hits) > 1
    desk.views.seen(desk.views.open(view, ANN, whole), ANN)
    desk.later(days=1)
    desk.views.seen(desk.views.open(view, ANN, first), ANN)
    desk.later(days=1)
    assert desk.views.open(view, ANN, whole).new == frozenset()


# Checking


def test_a_check_counts_what_was_never_shown_and_is_no_look(desk: Desk) -> None:
    view = desk.saved()
    never = desk.views.check(view, ANN)
    assert never.found > 0 and (never.new, never.since, never.problem) == (0, None, "")
    desk.look(view)
    seen_at = desk.later(days=1)
    desk.add("rates.md", "The overtime rate is reviewed every year.")
    for _ in range(2):
        checked = desk.views.check(view, ANN)
        assert (checked.new, checked.since, checked.at) == (1, seen_at, desk.now)
    desk.look(view)
    assert desk.views.check(view, ANN).new == 0  # though it is still marked on the page


def test_a_view_whose_profile_was_deleted_says_so(desk: Desk) -> None:
    book = ProfileRegistry(FakeEvaluationStore(), now=utc_now)
    stored = Desk(book)
    mine = book.save(replace(book.find("relevance"), name="mine", threshold=0.1), "Ann").profile
    view, sound = stored.saved(profile="mine"), stored.saved("Sound")
    assert stored.views.problems([view, sound]) == {}
    book.retire("mine", "Bob", mine.version)
    assert "'mine' was retired by Bob" in stored.views.problems([view, sound])[view.id]
    assert set(stored.views.problems([view, sound])) == {view.id}
    with pytest.raises(BadRequest, match="'Overtime' can no longer be asked") as raised:
        stored.views.open(view, ANN)
    assert "another profile" in raised.value.hint
    assert "retired by Bob" in stored.views.check(view, ANN).problem
    assert stored.views.check(sound, ANN).problem == ""


def test_a_failing_store_is_an_error_and_not_nothing_new(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    view = desk.saved()

    def broken(*args: object) -> None:
        raise StoreFailed("The database went away.")

    monkeypatch.setattr(desk, "search", broken)
    monkeypatch.setattr(desk.views, "_search", broken)
    for attempt in (desk.views.open, desk.views.check):
        with pytest.raises(StoreFailed):
            attempt(view, ANN)
