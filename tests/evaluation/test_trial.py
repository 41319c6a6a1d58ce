"""A profile tried on one question: what the sliders make of it, what moves and why, which cells would flip."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.coverage import Board, Cell, CellState, Topic
from core.domain.documents import Authority, Truth
from core.domain.errors import BadRequest
from core.domain.queries import LegWeights, ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.evaluation.tuning.sliders import (
    SliderGroup,
    acting,
    changed,
    changes_from_text,
    changes_in_text,
    idle,
    sliders,
    tried,
    value_of,
)
from core.evaluation.tuning.trial import compared, flips
from core.knowledge.factors import factor_table
from core.knowledge.profiles import BUILT_IN, check_profile, profiles
from tests.search.library import NOW, Library

BALANCED = BUILT_IN.find("balanced")
OWN = ScoreProfile(
    "own", {"similarity": 0.5, "keyword": 0.5}, {"recency": 0.5}, half_life_days=900.0, fusion_k=400, max_results=80,
    legs=LegWeights(2.0, 0.2, 0.0), routing_outside=0.1, covered=0.7, partial=0.02, version=3,
)  # fmt: skip
BASES = [*profiles().values(), OWN]
SHELF = Library()
TEXTS = (
    "Pension number one.",
    "Pension pension fund number two.",
    "Pension scheme rules number three.",
    "Pension fund scheme rules committee number four.",
    "Pension today number five.",
)
for text, authority in zip(TEXTS, Authority, strict=True):
    SHELF.add(f"{authority.value}.md", text, domain="benefits", authority=authority)


def found(profile: ScoreProfile, question: str = "pension fund scheme rules") -> SearchResult:
    """A question's candidates under a profile, nothing cited."""
    return SHELF.searcher.rescore(SHELF.searcher.search(SearchRequest(question), NOW), profile, NOW, cited=False)


# What can be moved


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_every_number_of_a_profile_has_one_slider_that_reaches_it(base: ScoreProfile) -> None:
    rows = sliders(base)
    keys = [row.key for row in rows]
    assert len(keys) == len(set(keys))
    assert {f"w.{name}" for name in factor_table().rows} <= set(keys)
    assert {f"m.{name}" for name in base.multipliers} <= set(keys)
    for row in rows:
        assert row.least <= value_of(base, row.key) <= row.most
        assert row.means and row.label


def test_its_own_factors_stand_first_the_heaviest_on_top() -> None:
    rows = sliders(BALANCED)
    own = [value_of(BALANCED, row.key) for row in rows if row.group is SliderGroup.WEIGHTS]
    assert own == sorted(own, reverse=True) and all(own)
    assert not any(value_of(BALANCED, row.key) for row in rows if row.group is SliderGroup.OTHERS)


def test_what_a_profile_leaves_open_stands_where_it_is_usual() -> None:
    assert (value_of(BALANCED, "covered"), value_of(BALANCED, "routing_outside")) == (0.5, 0.3)
    assert (value_of(OWN, "covered"), value_of(OWN, "legs.dense"), value_of(OWN, "m.temporal")) == (0.7, 2.0, 0.0)


def test_legs_that_did_not_run_and_those_of_other_questions_have_no_slider() -> None:
    rows = sliders(BALANCED)
    usual = {row.key for row in acting(rows, ["dense", "sparse"], relational=False) if row.leg}
    relational = {row.key for row in acting(rows, ["dense", "sparse", "graph"], relational=True) if row.leg}
    assert usual == {"legs.dense", "legs.sparse"}
    assert relational == {"relational_legs.dense", "relational_legs.sparse", "relational_legs.graph"}


def test_a_slider_without_effect_is_known() -> None:
    rows = {row.key: row for row in sliders(BALANCED)}
    assert idle(rows["fusion_k"], BALANCED) and not idle(rows["fusion_k"], BUILT_IN.find("trend"))
    assert not idle(rows["threshold"], BALANCED)


# What it makes


def moved(base: ScoreProfile) -> st.SearchStrategy[Mapping[str, float]]:
    """Some sliders of a profile, moved to a step of theirs."""
    steps = {row.key: round((row.most - row.least) / row.step) for row in sliders(base)}
    lows = {row.key: (row.least, row.step) for row in sliders(base)}
    return st.lists(st.sampled_from(sorted(steps)), unique=True, max_size=8).flatmap(
        lambda keys: st.fixed_dictionaries(
            {key: st.integers(0, steps[key]).map(lambda n, at=lows[key]: round(at[0] + n * at[1], 6)) for key in keys}
        )
    )


@given(st.sampled_from(BASES).flatmap(lambda base: st.tuples(st.just(base), moved(base))))
def test_what_the_sliders_make_is_sound_or_refused_in_words(drawn: tuple[ScoreProfile, Mapping[str, float]]) -> None:
    base, changes = drawn
    try:
        made = tried(base, changes)
    except BadRequest as problem:
        assert problem.hint
        return
    assert check_profile(made) is made
    assert made.version == (0 if changes else base.version)
    for key, value in changes.items():
        if not key.startswith("w."):
            assert value_of(made, key) == pytest.approx(value)


@given(st.sampled_from(BASES).flatmap(lambda base: st.tuples(st.just(base), moved(base))))
def test_a_trial_survives_the_way_through_a_url(drawn: tuple[ScoreProfile, Mapping[str, float]]) -> None:
    base, changes = drawn
    assert changes_from_text(changes_in_text(changes), sliders(base)) == (changes, ())


def test_weights_are_shares_of_what_they_add_up_to() -> None:
    made = tried(BALANCED, {"w.authority": 0.55, "w.synonym_match": 0.0})
    rest = 1 - BALANCED.weights["synonym_match"]
    assert made.weights["authority"] == pytest.approx(0.55 / (0.55 + rest))
    assert "synonym_match" not in made.weights
    similarity, keyword = BALANCED.weights["similarity"], BALANCED.weights["keyword"]
    assert made.weights["similarity"] / made.weights["keyword"] == pytest.approx(similarity / keyword)


def test_a_multiplier_of_strength_0_is_off_and_whole_numbers_stay_whole() -> None:
    made = tried(BALANCED, {"m.date_match": 0.0, "m.temporal": 0.5, "max_results": 20.0})
    others = {name: strength for name, strength in BALANCED.multipliers.items() if name != "date_match"}
    assert made.multipliers == {**others, "temporal": 0.5}
    assert made.max_results == 20 and isinstance(made.max_results, int)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({f"w.{name}": 0.0 for name in BALANCED.weights}, "Every weight is 0"),
        ({"legs.dense": 0.0, "legs.sparse": 0.0, "legs.graph": 0.0}, "Every leg is off"),
        ({"covered": 0.2}, "partly covered from 0.30 and covered from 0.20"),
    ],
)
def test_what_cannot_score_is_told_and_not_scored(changes: Mapping[str, float], expected: str) -> None:
    with pytest.raises(BadRequest, match=expected):
        tried(BALANCED, changes)


def test_only_what_differs_from_the_base_is_changed() -> None:
    standing = {"threshold": BALANCED.threshold, "floor": 0.3, "w.rerank": 0.0}
    standing |= {"w.keyword": BALANCED.weights["keyword"] + 4e-17}
    assert changed(BALANCED, standing) == {"floor": 0.3}


@pytest.mark.parametrize(
    "text",
    ["w.zebra:1", "threshold:nan", "threshold:inf", "threshold:1e999", "floor:-1", "max_results:2.5", "version:7",
     "name:evil", "legs:1", "__class__:1", "threshold", ":", "m.:1", "w.authority:0x1", "threshold:" + "9" * 400],
)  # fmt: skip
def test_what_a_hostile_url_says_is_left_out_and_told(text: str) -> None:
    changes, problems = changes_from_text(f"{text},floor:0.5", sliders(BALANCED))
    assert changes == {"floor": 0.5} and len(problems) == 1


def test_a_url_without_end_is_not_read_and_many_problems_are_told_shortly() -> None:
    assert changes_from_text("floor:0.5," * 1_000, sliders(BALANCED))[0] == {}
    _, problems = changes_from_text("a:1,b:1,c:1,d:1,e:1", sliders(BALANCED))
    assert len(problems) == 4 and problems[-1] == "2 more"


# What it does


def test_a_profile_against_itself_moves_nothing() -> None:
    trial = compared(found(BALANCED), found(BALANCED))
    assert (trial.overlap, trial.jaccard) == (1.0, 1.0)
    assert not trial.entering and not trial.leaving
    assert {move.why for move in trial.moves} == {"its own score is the same"}
    assert [move.after for move in trial.moves] == [move.before for move in trial.moves]


def test_every_move_stands_where_the_two_lists_say_and_names_what_moved_it() -> None:
    before, after = found(BALANCED), found(tried(BALANCED, {"w.authority": 1.0}))
    trial = compared(before, after)
    ranks = [{hit.candidate.passage.id: hit.rank for hit in result.hits} for result in (before, after)]
    assert (
        ranks[0] != ranks[1] and any(move.up > 0 for move in trial.moves) and any(move.up < 0 for move in trial.moves)
    )
    for move in trial.moves:
        assert (move.before, move.after) == tuple(side.get(move.passage_id) for side in ranks)
        assert "authority +" in move.why
    assert [move.after for move in trial.moves] == list(ranks[1].values())


def test_what_leaves_says_what_keeps_it_out_and_what_enters_what_kept_it_out_before() -> None:
    strict = replace(BALANCED, threshold=found(BALANCED).hits[1].score.total)
    out = compared(found(BALANCED), found(strict))
    assert [move.before for move in out.leaving] == [3, 4, 5]
    assert all(move.why.startswith("below threshold (score 0.") for move in out.leaving)
    back = compared(found(strict), found(BALANCED))
    assert [move.after for move in back.entering] == [3, 4, 5]
    assert all("before" in move.why and "below threshold" in move.why for move in back.entering)


def test_what_stands_after_the_last_result_keeps_its_place() -> None:
    few = compared(found(BALANCED), found(replace(BALANCED, max_results=2)))
    assert [(move.position_after, move.after) for move in few.moves] == [
        (1, 1),
        (2, 2),
        (3, None),
        (4, None),
        (5, None),
    ]
    assert [move.why for move in few.leaving] == [
        f"rank {place} now – its own score is the same" for place in (3, 4, 5)
    ]
    assert few.jaccard == pytest.approx(2 / 5)


def test_only_the_first_are_compared() -> None:
    trial = compared(found(BALANCED), found(tried(BALANCED, {"threshold": 0.0, "floor": 0.0})), depth=2)
    assert len(trial.moves) == 2 and trial.jaccard == 1.0


def test_multipliers_are_named_with_what_they_were_worth_also_when_they_are_taken_away() -> None:
    with_recency = replace(BALANCED, multipliers={"recency": 1.0})
    removed = compared(found(with_recency), found(replace(BALANCED, multipliers={})))
    come = compared(found(replace(BALANCED, multipliers={})), found(with_recency))
    assert all("× recency 1.00 instead of 0.70" in move.why for move in removed.moves)
    assert all("× recency 0.70 instead of 1.00" in move.why for move in come.moves)


def test_a_loser_that_gained_less_than_the_others_is_told() -> None:
    plain = replace(BALANCED, weights={"similarity": 1.0}, threshold=0.0, floor=0.0)
    mixed = replace(plain, weights={"similarity": 0.4, "authority": 0.6})
    reports = []
    for before, after in ((plain, mixed), (mixed, plain)):
        for move in compared(found(before, "pension fund"), found(after, "pension fund")).staying:
            gained = move.score_after.total - move.score_before.total  # type: ignore[union-attr]
            assert ("others" in move.why) == (move.up != 0 and gained * move.up <= 0)
            reports.append("others" in move.why)
    assert any(reports) and not all(reports)


def test_two_silent_lists_are_alike() -> None:
    silent = replace(BALANCED, threshold=1.0)
    trial = compared(found(silent), found(silent))
    assert trial.moves == () and trial.overlap == trial.jaccard == 1.0


# Which cells would flip


def board(*cells: Cell) -> Board:
    topics = tuple(Topic(cell.topic, id=n) for n, cell in enumerate(cells, 1))
    return Board(topics, cells, (), 0.5, "balanced", None, datetime(2026, 1, 1, tzinfo=UTC))


def cell(score: float, state: CellState, detected: CellState | None = None) -> Cell:
    return Cell(f"Topic {score}", Truth.REGULATORY, state, score, 0.5, detected=detected)


def test_cells_flip_with_the_coverage_thresholds_and_with_nothing_else() -> None:
    seen = board(cell(0.9, CellState.COVERED), cell(0.55, CellState.COVERED), cell(0.4, CellState.PARTIAL))
    flipped = flips(seen, BALANCED, tried(BALANCED, {"covered": 0.6, "partial": 0.45}))
    assert [(flip.cell.evidence_score, flip.before, flip.after) for flip in flipped] == [
        (0.55, CellState.COVERED, CellState.PARTIAL),
        (0.4, CellState.PARTIAL, CellState.GAP),
    ]
    assert flips(seen, BALANCED, tried(BALANCED, {"w.authority": 1.0, "threshold": 0.9, "floor": 0.9})) == ()


def test_a_persons_decision_stays_and_what_was_not_assessed_cannot_flip() -> None:
    stricter = tried(BALANCED, {"covered": 0.6})
    waived = cell(0.55, CellState.WAIVED, CellState.COVERED)
    others = (cell(0.55, CellState.NOT_ASSESSED), cell(0.55, CellState.ERROR))
    (flip,) = flips(board(waived, *others), BALANCED, stricter)
    assert flip.decided and flip.cell is waived
