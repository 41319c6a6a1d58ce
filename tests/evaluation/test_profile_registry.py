"""Profiles that are kept: found by name and version, chosen per project, saved, rolled back, retired; and as text."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.environment import utc_now
from core.domain.errors import BadRequest, BadTable, Outdated
from core.domain.filters import SearchFilters
from core.domain.profiles import ProfileVersion
from core.domain.queries import LegWeights, ScoreProfile
from core.evaluation.tuning.profile_registry import ProfileDifference, ProfileRegistry, differences, from_toml, to_toml
from core.knowledge.factors import factor_table
from core.knowledge.profiles import check_profile, profiles
from core.ports.own_changes import ChangeCount
from tests.fakes import FakeEvaluationStore

MINE = ScoreProfile("mine", {"similarity": 0.7, "recency": 0.3})
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


class Silent(FakeEvaluationStore):
    """A store that must not be asked."""

    def profile_versions(self) -> list[ProfileVersion]:
        raise AssertionError("the store was asked")


@pytest.fixture
def book() -> ProfileRegistry:
    return ProfileRegistry(FakeEvaluationStore(), now=lambda: NOON)


def heavier(similarity: float, name: str = "mine") -> ScoreProfile:
    return replace(MINE, name=name, weights={"similarity": similarity, "recency": 1 - similarity})


def three_versions(book: ProfileRegistry) -> None:
    """Versions 1, 2 and 3 of "mine", with similarity 0.7, 0.8 and 0.9."""
    for after, similarity in enumerate((0.7, 0.8, 0.9)):
        book.save(heavier(similarity), "Ada", after=after)


# Found


def test_built_in_names_never_touch_the_store() -> None:
    book = ProfileRegistry(Silent(), now=utc_now)
    assert all(book.find(name) is profile for name, profile in profiles().items())


def test_a_bare_name_is_the_newest_version_and_a_number_names_one(book: ProfileRegistry) -> None:
    three_versions(book)
    assert book.find("mine").weights["similarity"] == 0.9
    assert [book.find(f"mine@{number}").weights["similarity"] for number in (1, 2, 3)] == [0.7, 0.8, 0.9]
    assert book.find("Mine@2").ref == "mine@2"


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("yours", ["'yours'", "balanced", "mine"]),
        ("", ["''", "balanced"]),
        ("mine@4", ["no version '4'", "1 to 3"]),
        ("mine@0", ["no version '0'"]),
        ("mine@two", ["no version 'two'"]),
        ("mine@" + "9" * 5000, ["no version"]),
        ("balanced@2", ["'balanced@2'"]),
    ],
)
def test_what_is_not_there_is_told_with_what_is(book: ProfileRegistry, ref: str, expected: list[str]) -> None:
    three_versions(book)
    with pytest.raises(BadRequest) as refused:
        book.find(ref)
    assert all(words in str(refused.value) for words in expected)


def test_choices_are_the_built_in_ones_and_then_the_living_own_ones_by_name(book: ProfileRegistry) -> None:
    for name in ("zeta", "Alpha", "gone"):
        book.save(replace(MINE, name=name), "Ada")
    book.save(heavier(0.9, "Alpha"), "Ada", after=1)
    book.retire("gone", "Ada", 1)
    assert list(book.choices()) == [*profiles(), "Alpha", "zeta"]
    assert book.choices()["Alpha"].ref == "Alpha@2"


def test_every_version_is_there_by_its_ref_also_of_the_retired(book: ProfileRegistry) -> None:
    three_versions(book)
    book.retire("mine", "Ada", 3)
    every = book.every()
    assert list(every) == [*profiles(), "mine@4", "mine@3", "mine@2", "mine@1"]
    assert all(book.find(ref) == profile for ref, profile in every.items())


# The default


def test_the_project_comes_before_the_library_and_the_library_before_the_product(book: ProfileRegistry) -> None:
    book.save(MINE, "Ada")
    assert book.default("Tallgrass").name == book.default(None).name == "balanced"
    book.choose(None, "relevance", "Ada")
    assert book.default("Tallgrass").name == book.default(None).name == "relevance"
    book.choose("Tallgrass", "MINE", "Ben")
    assert (book.default("Tallgrass").ref, book.default(None).name) == ("mine@1", "relevance")
    choice = book.chosen("Tallgrass")
    assert choice is not None and (choice.name, choice.who, choice.at) == ("mine", "Ben", NOON)
    assert book.chosen("Riverbend") is None


def test_a_default_follows_the_newest_version(book: ProfileRegistry) -> None:
    book.save(MINE, "Ada")
    book.choose(None, "mine", "Ada")
    book.save(heavier(0.8), "Ada", after=1)
    assert book.default(None).ref == "mine@2"


def test_a_choice_given_back_falls_through(book: ProfileRegistry) -> None:
    book.choose(None, "relevance", "Ada")
    book.choose("Tallgrass", "authority", "Ada")
    book.choose("Tallgrass", "", "Ada")
    assert (book.chosen("Tallgrass"), book.default("Tallgrass").name) == (None, "relevance")
    book.choose(None, "", "Ada")
    assert book.default("Tallgrass").name == "balanced"


def test_a_retired_choice_falls_through_and_holds_again_once_it_is_back(book: ProfileRegistry) -> None:
    three_versions(book)
    book.choose(None, "relevance", "Ada")
    book.choose("Tallgrass", "mine", "Ada")
    book.retire("mine", "Ada", 3)
    assert book.default("Tallgrass").name == "relevance"
    assert book.chosen("Tallgrass") is not None
    book.rollback("mine", 3, "Ada", 4)
    assert book.default("Tallgrass").ref == "mine@5"


def test_default_filters_and_the_default_profile_are_chosen_apart(book: ProfileRegistry) -> None:
    assert book.default_filters() == SearchFilters()
    narrowed = SearchFilters(truths=("intent",))
    book.choose_filters(narrowed, "Ada")
    assert book.chosen(None) is None and book.default(None).name == "balanced"
    book.choose(None, "relevance", "Ben")
    assert (book.default_filters(), book.default(None).name) == (narrowed, "relevance")
    book.choose_filters(SearchFilters(), "Ada")
    assert (book.default_filters(), book.default(None).name) == (SearchFilters(), "relevance")
    with pytest.raises(BadRequest):
        book.choose_filters(narrowed, " ")


def test_a_default_reranker_is_chosen_apart_and_must_exist(book: ProfileRegistry) -> None:
    assert book.default_reranker() == ""
    book.choose_reranker("included", "Ada")
    book.choose_filters(SearchFilters(truths=("intent",)), "Ben")
    book.choose(None, "relevance", "Ben")
    book.choose("Tallgrass", "trend", "Ben")
    assert (book.default_reranker(), book.default(None).name) == ("included", "relevance")
    for name, who in (("huge", "Ada"), ("fast", " ")):
        with pytest.raises(BadRequest):
            book.choose_reranker(name, who)
    book.choose_reranker("", "Ada")
    assert (book.default_reranker(), book.default_filters().truths) == ("", ("intent",))


@pytest.mark.parametrize(("name", "who"), [("yours", "Ada"), ("mine@1", "Ada"), ("relevance", "  ")])
def test_a_choice_needs_a_known_name_and_a_person(book: ProfileRegistry, name: str, who: str) -> None:
    book.save(MINE, "Ada")
    with pytest.raises(BadRequest):
        book.choose(None, name, who)
    assert book.chosen(None) is None


# Saved


def test_what_is_saved_says_who_when_why_and_from_what(book: ProfileRegistry) -> None:
    profile = book.save(MINE, " Ada\tL. ", note="laws\nfirst", origin="relevance")
    assert profile == ProfileVersion(replace(MINE, version=1), "Ada L.", NOON, "laws first", "relevance")
    assert book.versions("mine") == (profile,)


def test_versions_come_newest_first(book: ProfileRegistry) -> None:
    three_versions(book)
    assert [each.profile.ref for each in book.versions("MINE")] == ["mine@3", "mine@2", "mine@1"]
    assert book.versions("balanced") == book.versions("yours") == ()


def test_nobody_overwrites_what_they_have_not_seen(book: ProfileRegistry) -> None:
    book.save(MINE, "Ada")
    book.save(heavier(0.8), "Ben", after=1)
    for after in (0, 1, 5):
        with pytest.raises(Outdated):
            book.save(heavier(0.9), "Ada", after=after)
    assert [each.who for each in book.versions("mine")] == ["Ben", "Ada"]


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a@b", "a\nb", "a\x00b", "a\u202eb", "balanced", " Balanced "])
def test_names_that_cannot_be_are_refused(book: ProfileRegistry, name: str) -> None:
    with pytest.raises(BadRequest):
        book.save(replace(MINE, name=name), "Ada")
    assert list(book.choices()) == list(profiles())


def test_a_name_keeps_its_first_spelling(book: ProfileRegistry) -> None:
    book.save(replace(MINE, name="Größe"), "Ada")
    assert book.save(heavier(0.8, "GRO\u0308ßE"), "Ada", after=1).profile.ref == "Größe@2"


def test_saving_needs_a_person_and_a_sound_profile(book: ProfileRegistry) -> None:
    with pytest.raises(BadRequest, match="Fill in “Your name”"):
        book.save(MINE, " \n ")
    with pytest.raises(BadTable, match=r"profile: \[mine\] 'threshold' is 2"):
        book.save(replace(MINE, threshold=2), "Ada")


def test_what_says_the_same_is_not_saved_again(book: ProfileRegistry) -> None:
    book.save(MINE, "Ada")
    again = replace(MINE, weights={"recency": 0.3 + 1e-15, "similarity": 0.7, "authority": 0.0})
    with pytest.raises(BadRequest, match="Nothing has changed"):
        book.save(again, "Ada", after=1)


def test_rolling_back_saves_the_older_content_as_the_next_version(book: ProfileRegistry) -> None:
    three_versions(book)
    profile = book.rollback("mine", 1, "Ben", 3)
    assert (profile.profile.ref, profile.origin, profile.note) == ("mine@4", "mine@1", "Rolled back to version 1.")
    assert differences(book.find("mine@1"), book.find("mine")) == ()
    assert len(book.versions("mine")) == 4


def test_rolling_back_is_refused_where_it_makes_no_sense(book: ProfileRegistry) -> None:
    three_versions(book)
    with pytest.raises(BadRequest, match="Nothing has changed"):
        book.rollback("mine", 3, "Ada", 3)
    with pytest.raises(BadRequest, match="no version '9'"):
        book.rollback("mine", 9, "Ada", 3)
    with pytest.raises(BadRequest, match="comes with the product"):
        book.rollback("balanced", 1, "Ada", 0)
    with pytest.raises(Outdated):
        book.rollback("mine", 1, "Ada", 2)


def test_a_retired_profile_is_found_by_number_only(book: ProfileRegistry) -> None:
    three_versions(book)
    ended = book.retire("mine", "Ben", 3)
    assert ended.retired and ended.profile.ref == "mine@4"
    assert book.find("mine@2").weights["similarity"] == 0.8
    with pytest.raises(BadRequest, match=r"retired by Ben on 2025-03-01.*mine@4"):
        book.find("mine")
    assert [each.profile.name for each in book.retired()] == ["mine"]


def test_retiring_is_refused_where_it_makes_no_sense(book: ProfileRegistry) -> None:
    three_versions(book)
    with pytest.raises(Outdated):
        book.retire("mine", "Ada", 2)
    book.retire("mine", "Ada", 3)
    for name in ("mine", "balanced", "yours"):
        with pytest.raises(BadRequest):
            book.retire(name, "Ada", 4)


def test_a_retired_name_begins_again_where_it_ended(book: ProfileRegistry) -> None:
    book.save(MINE, "Ada")
    book.retire("mine", "Ada", 1)
    assert book.save(MINE, "Ben").profile.ref == "mine@3"
    assert book.find("mine").ref == "mine@3"


def test_saving_gives_the_moment_of_the_clock() -> None:
    ticks = (NOON + timedelta(days=day) for day in range(9))
    book = ProfileRegistry(FakeEvaluationStore(), now=lambda: next(ticks))
    three_versions(book)
    assert [each.at.day for each in book.versions("mine")] == [3, 2, 1]


def test_a_default_chosen_elsewhere_is_known_within_two_seconds_and_an_own_one_at_once() -> None:
    store, seconds, own = FakeEvaluationStore(), [0.0], ChangeCount()
    here = ProfileRegistry(store, now=utc_now, timer=lambda: seconds[0], own=own)
    there = ProfileRegistry(store, now=utc_now)
    usual = here.default(None).name
    there.choose(None, "knowledge", "Ann")
    assert here.default(None).name == usual
    own.follow(1)  # the program that this one works for has changed something
    assert here.default(None).name == "knowledge"
    there.choose(None, "balanced", "Ann")
    assert here.default(None).name == "knowledge"
    seconds[0] = 2.1
    assert here.default(None).name == "balanced"
    here.choose(None, "knowledge", "Ann")
    assert here.default(None).name == "knowledge"


# Brought from outside


def test_a_file_is_told_what_it_would_do_before_it_is_saved(book: ProfileRegistry) -> None:
    three_versions(book)
    book.save(replace(MINE, name="gone"), "Ada")
    book.retire("gone", "Ada", 1)
    brought = [
        replace(MINE, name="fresh"),
        heavier(0.8),
        replace(MINE, name="Mine"),
        profiles()["balanced"],
        replace(MINE, name="relevance"),
        replace(MINE, name="gone"),
        replace(MINE, name="a@b"),
    ]
    new, changed, twice, same, built_in, back, bad = book.proposals(brought)
    assert (new.worth_saving, new.known, new.after) == (True, None, 0)
    assert changed.worth_saving and changed.after == 3
    assert [each.key for each in changed.differences] == ["weights.similarity", "weights.recency"]
    assert "twice" in twice.problem and not twice.worth_saving
    assert not same.worth_saving and not same.problem
    assert "comes with the product" in built_in.problem
    assert back.worth_saving and back.after == 2
    assert "@" in bad.problem
    for proposal in (new, changed, back):
        book.save(proposal.profile, "Ada", after=proposal.after)
    assert book.find("gone").ref == "gone@3"


# Compared


def test_differences_come_in_the_order_of_the_fields() -> None:
    before = replace(MINE, multipliers={"temporal": 0.5}, covered=0.6)
    after = replace(
        MINE,
        name="other",
        version=7,
        weights={"similarity": 0.7 + 1e-13, "authority": 0.3},
        multipliers={"date_match": 1.0},
        fusion_k=30,
        legs=LegWeights(0.65, 0.5, 0.15),
        routing_outside=0.0,
    )
    assert differences(before, after) == (
        ProfileDifference("weights.recency", 0.3, None),
        ProfileDifference("weights.authority", None, 0.3),
        ProfileDifference("multipliers.temporal", 0.5, None),
        ProfileDifference("multipliers.date_match", None, 1.0),
        ProfileDifference("fusion_k", 60, 30),
        ProfileDifference("legs.sparse", 0.2, 0.5),
        ProfileDifference("routing_outside", None, 0.0),
        ProfileDifference("covered", 0.6, None),
    )


share = st.floats(0, 1)


@st.composite
def sound_profiles(draw: st.DrawFn) -> ScoreProfile:
    """Any profile the check lets through, but for its name, which may be any text."""
    factors = st.sampled_from(list(factor_table().rows))
    parts = draw(st.dictionaries(factors, st.floats(0.01, 1), min_size=1, max_size=6))
    total = sum(parts.values())
    legs = st.builds(LegWeights, st.floats(0.01, 9), st.floats(0, 9), st.floats(0, 9))
    partial = draw(st.none() | st.floats(0.01, 0.5))
    profile = ScoreProfile(
        name=draw(st.text(st.characters(codec="utf-8"), max_size=20)),
        weights={factor: weight / total for factor, weight in parts.items()},
        multipliers=draw(st.dictionaries(factors, st.floats(0, 1, exclude_min=True), max_size=3)),
        threshold=draw(share),
        floor=draw(share),
        max_results=draw(st.integers(1, 100)),
        half_life_days=draw(st.floats(1e-9, 1e9)),
        fusion_k=draw(st.integers(1, 1000)),
        legs=draw(legs),
        relational_legs=draw(legs),
        routing_outside=draw(st.none() | share),
        covered=draw(st.none() | st.floats(0.5, 1)),
        partial=partial,
        version=draw(st.integers(0, 1000)),
    )
    return check_profile(profile)


def any_profiles() -> st.SearchStrategy[list[ScoreProfile]]:
    return st.lists(sound_profiles(), min_size=1, max_size=4, unique_by=lambda profile: profile.name)


@given(any_profiles())
def test_toml_gives_back_exactly_what_was_written(written: list[ScoreProfile]) -> None:
    assert from_toml(to_toml(written), "kept.toml") == {profile.name: profile for profile in written}
    assert from_toml(to_toml(written).encode(), "kept.toml") == {profile.name: profile for profile in written}


@given(sound_profiles(), sound_profiles())
def test_two_profiles_differ_by_the_same_keys_either_way(one: ScoreProfile, other: ScoreProfile) -> None:
    assert differences(one, one) == ()
    there, back = differences(one, other), differences(other, one)
    assert {(each.key, each.before, each.after) for each in there} == {
        (each.key, each.after, each.before) for each in back
    }


# Read


def test_the_product_s_own_profiles_pass_through_a_file_unchanged() -> None:
    assert from_toml(to_toml(profiles().values()), "all.toml") == profiles()


def test_two_versions_of_one_name_do_not_fit_one_file() -> None:
    with pytest.raises(BadRequest, match="'mine'"):
        to_toml([MINE, replace(MINE, version=2)])


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read() -> None:
    text = "\ufeff[mine]\r\nweights = { similarity = 1 }\r\nmultipliers = ['temporal']\r\n"
    for form in (text, text.encode()):
        assert from_toml(form, "mine.toml")["mine"].multipliers == {"temporal": 1.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[mine]\nweights { similarity = 1 }", r"'p\.toml' is not TOML: .*line 2"),
        ("", "'p.toml' contains no profile"),
        ("# only this", "'p.toml' contains no profile"),
        (b"[mine]\nnote = '\xff'", "not UTF-8"),
        ("x = " + "9" * 5000, "not TOML"),
        ("x = " + "[" * 5000, r"'p\.toml' is (nested too deeply|not TOML)"),
        ("#" * 1_000_001, "too large"),
        ("threshold = 0.5", r"p\.toml: 'threshold' belongs to no profile"),
        ("[mine]\nweights = { similarity = 0.5 }", r"p\.toml: \[mine\] 'weights' sum to 0\.5"),
        ("[mine]\nweights = { similarity = 1 }\nversion = -1", r"p\.toml: \[mine\] 'version' is -1"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_by_name_and_place(text: str | bytes, expected: str) -> None:
    with pytest.raises((BadRequest, BadTable), match=expected):
        from_toml(text, "p.toml")
