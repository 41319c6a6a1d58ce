"""What a search is worth: units that outlast reading again, grades by people and known answers, and measures."""

from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import BadRequest
from core.domain.evaluation import NOTHING_ANSWERS, JudgedQuestion, Judgment, Level, QuestionOutcome, Relevant
from core.domain.filters import SearchFilters
from core.domain.queries import Route, ScoreProfile, SearchRequest
from core.domain.results import Candidate, Dropped, DropReason, Hit, Score, SearchResult, Signals
from core.evaluation.judgments.units import document_of, passage_unit, passages_in, ranking, unit_of
from core.evaluation.metrics.grades import grades_of, measure_rankings, measured, prepared, summary, unjudged_share
from core.evaluation.metrics.measures import MEASURES

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
NAMES = {"law": 1, "guide": 2, "memo": 3}
SHA = {name: f"{number:02}" * 32 for name, number in NAMES.items()}
DOCUMENTS = {
    number: Document(number, f"{name}.pdf", SHA[name], 1, DocumentState.READY, NOON) for name, number in NAMES.items()
}

Place = tuple[str, int, str]
"""Document, page and text of a passage."""
MONTHLY: Place = ("law", 3, "Deposits are due monthly, on the 15th.")
YEARLY: Place = ("law", 7, "Statements are due yearly.")
ADVICE: Place = ("guide", 1, "Deposit early.")
NOTE: Place = ("memo", 1, "Lunch is at noon.")


def passage(place: Place, number: int = 1) -> Passage:
    name, page, text = place
    return Passage(text, page, 0, len(text), (), id=number, document_id=NAMES[name], document_name=f"{name}.pdf")


def unit(place: Place) -> str:
    return passage_unit(SHA[place[0]], passage(place))


def result(*shown: Place, missed: Sequence[Place] = (), dropped: Sequence[Place] = ()) -> SearchResult:
    """A search that showed some passages, dropped some, and only retrieved others."""
    found = [
        Candidate(passage(place, number), Signals(0.5)) for number, place in enumerate((*shown, *dropped, *missed))
    ]
    hits = tuple(Hit(n, candidate, Score(1 / n, ()), ()) for n, candidate in enumerate(found[: len(shown)], 1))
    left_out = found[len(shown) : len(shown) + len(dropped)]
    return SearchResult(
        request=SearchRequest("When are deposits due?"),
        route=Route(),
        profile=ScoreProfile("balanced", {}),
        filters=SearchFilters(),
        filters_in_words=(),
        hits=hits,
        dropped=tuple(Dropped(candidate, DropReason.BELOW_THRESHOLD, "too low") for candidate in left_out),
        candidates=tuple(found),
        documents=DOCUMENTS,
        legs=(),
        answered=bool(hits),
        milliseconds=12.5,
    )


def question(*relevant: Relevant, kind: str = "natural", number: int = 1) -> JudgedQuestion:
    return JudgedQuestion(1, f"q{number}", "When are deposits due?", kind, relevant=relevant, id=number)


def judgment(named: Place | str, grade: int | None, who: str = "Ada", about: int = 1) -> Judgment:
    name = unit(named) if isinstance(named, tuple) else SHA[named]
    return Judgment(1, about, name, grade, who, NOON)


def one(
    question: JudgedQuestion, found: SearchResult, judgments: Sequence[Judgment] = (), level: Level = Level.PASSAGE
) -> QuestionOutcome:
    (outcome,) = measured([question], {question.id: found}, judgments, level)
    return outcome


DUE_15TH = Relevant(SHA["law"], ("deposits", "15TH"), 3)


# Units


def test_a_passage_keeps_its_name_when_its_file_is_read_again() -> None:
    read = passage(MONTHLY, 1)
    again = replace(read, id=999, document_id=77, document_name="copy.pdf", position=4, start=9)
    assert passage_unit(SHA["law"], read) == passage_unit(SHA["law"], again)
    assert unit(MONTHLY).startswith(f"{SHA['law']}:3:")
    assert len(unit(MONTHLY).rsplit(":", 1)[1]) == 12
    assert document_of(unit(MONTHLY)) == document_of(SHA["law"]) == SHA["law"]


@pytest.mark.parametrize("other", [YEARLY, ("law", 4, MONTHLY[2]), ("guide", 3, MONTHLY[2])])
def test_another_text_page_or_file_is_another_unit(other: Place) -> None:
    assert unit(other) != unit(MONTHLY)


def test_a_ranking_names_each_unit_once_where_its_best_hit_stands() -> None:
    found = result(ADVICE, MONTHLY, ADVICE, YEARLY, NOTE)
    assert ranking(found, Level.PASSAGE, 10) == tuple(map(unit, (ADVICE, MONTHLY, YEARLY, NOTE)))
    assert ranking(found, Level.DOCUMENT, 10) == (SHA["guide"], SHA["law"], SHA["memo"])
    assert ranking(found, Level.DOCUMENT, 2) == (SHA["guide"], SHA["law"])
    assert ranking(result(), Level.PASSAGE, 10) == ()


def test_hits_candidates_and_dropped_ones_are_named_alike() -> None:
    found = result(MONTHLY, dropped=[ADVICE])
    assert unit_of(found, found.hits[0], Level.PASSAGE) == unit_of(found, found.candidates[0], Level.PASSAGE)
    assert unit_of(found, found.dropped[0], Level.DOCUMENT) == SHA["guide"]


def test_everything_a_search_looked_at_has_its_passage() -> None:
    found = passages_in(result(MONTHLY, dropped=[ADVICE], missed=[NOTE]))
    assert {name: values.text for name, values in found.items()} == {
        unit(place): place[2] for place in (MONTHLY, ADVICE, NOTE)
    }
    assert passages_in(result()) == {}


# Grades


def known(
    question: JudgedQuestion, judgments: Sequence[Judgment], level: Level, *looked_at: Place
) -> Mapping[str, int]:
    return grades_of(question, judgments, level, {unit(place): passage(place) for place in looked_at}).units


def test_a_units_grade_is_the_lower_median_of_those_who_can_judge() -> None:
    judges = [
        judgment(NOTE, 3, "Ada"),
        judgment(NOTE, 1, "Ben"),
        judgment(NOTE, None, "Cy"),
        judgment(ADVICE, None, "Ada"),
    ]
    assert known(question(), judges, Level.PASSAGE, NOTE, ADVICE) == {unit(NOTE): 1}
    assert known(question(), [*judges, judgment(NOTE, 3, "Di")], Level.PASSAGE, NOTE) == {unit(NOTE): 3}


def test_judgments_of_other_questions_do_not_count() -> None:
    assert known(question(), [judgment(NOTE, 3, about=2)], Level.PASSAGE, NOTE) == {}


def test_a_document_has_the_highest_of_its_own_and_its_passages_grades() -> None:
    judges = [judgment("law", 1), judgment(MONTHLY, 3), judgment(YEARLY, 0), judgment("memo", 2), judgment(NOTE, 0)]
    assert known(question(), judges, Level.DOCUMENT) == {SHA["law"]: 3, SHA["memo"]: 2}


def test_what_is_said_of_a_document_says_nothing_of_its_passages() -> None:
    assert known(question(), [judgment("law", 3)], Level.PASSAGE, MONTHLY) == {}


def test_a_known_answer_gives_its_grade_to_every_passage_of_its_document_that_holds_all_its_words() -> None:
    again: Place = ("law", 9, "As said, deposits are due on the 15th.")
    elsewhere: Place = ("guide", 3, MONTHLY[2])
    looked_at = (MONTHLY, again, elsewhere, YEARLY)
    assert known(question(DUE_15TH), [], Level.PASSAGE, *looked_at) == {unit(MONTHLY): 3, unit(again): 3}
    assert known(question(replace(DUE_15TH, page=9)), [], Level.PASSAGE, *looked_at) == {unit(again): 3}
    assert known(question(DUE_15TH), [], Level.DOCUMENT, *looked_at) == {SHA["law"]: 3}


def test_of_two_known_answers_in_one_place_the_higher_grade_holds() -> None:
    both = question(replace(DUE_15TH, grade=1), DUE_15TH)
    assert known(both, [], Level.PASSAGE, MONTHLY) == {unit(MONTHLY): 3}
    assert known(both, [], Level.DOCUMENT) == {SHA["law"]: 3}


def test_people_win_over_known_answers() -> None:
    questions = question(DUE_15TH)
    assert known(questions, [judgment(MONTHLY, 0)], Level.PASSAGE, MONTHLY) == {unit(MONTHLY): 0}
    assert known(questions, [judgment(MONTHLY, 0)], Level.DOCUMENT, MONTHLY) == {SHA["law"]: 0}
    assert known(questions, [judgment("law", 1)], Level.DOCUMENT, MONTHLY) == {SHA["law"]: 1}


def test_who_cannot_judge_leaves_the_known_answer_standing() -> None:
    assert known(question(DUE_15TH), [judgment(MONTHLY, None)], Level.PASSAGE, MONTHLY) == {unit(MONTHLY): 3}


def test_another_passage_judged_irrelevant_leaves_the_known_answer_of_its_document_standing() -> None:
    assert known(question(DUE_15TH), [judgment(YEARLY, 0)], Level.DOCUMENT, MONTHLY, YEARLY) == {SHA["law"]: 3}


# Measures


def test_the_measures_of_one_question_are_those_of_the_textbook() -> None:
    judges = [judgment(MONTHLY, 3), judgment(ADVICE, 1), judgment(NOTE, 0)]
    outcome = one(question(), result(NOTE, MONTHLY, YEARLY), judges)
    ideal = 3 + 1 / log2(3)
    assert dict(outcome.measures) == pytest.approx(
        {
            "ndcg@10": 3 / log2(3) / ideal,
            "map": 0.25,
            "mrr@10": 0.5,
            "recall@20": 0.5,
            "p@5": 0.2,
            "hit@5": 1.0,
            "answer@5": 1.0,
            "false_refusal": 0.0,
        }
    )
    assert outcome.unjudged == pytest.approx(1 / 3)
    assert outcome.ranking == tuple(map(unit, (NOTE, MONTHLY, YEARLY)))
    assert (outcome.question_id, outcome.key, outcome.kind, outcome.hits) == (1, "q1", "natural", 3)
    assert (outcome.first, outcome.milliseconds, outcome.answerable) == ("memo.pdf", 12.5, True)


def test_measures_stand_in_the_order_of_every_table() -> None:
    named = list(one(question(DUE_15TH), result(MONTHLY)).measures)
    assert named == [name for name in MEASURES if name != "refused"]


def test_documents_are_measured_in_the_order_of_their_best_passage() -> None:
    outcome = one(question(DUE_15TH), result(ADVICE, ADVICE, YEARLY, MONTHLY), level=Level.DOCUMENT)
    assert outcome.measures["mrr@10"] == 0.5
    assert outcome.measures["answer@5"] == 1.0
    assert outcome.ranking == (SHA["guide"], SHA["law"])


def test_a_question_nothing_answers_is_only_rightly_refused_or_not() -> None:
    silence = question(kind=NOTHING_ANSWERS)
    assert dict(one(silence, result(dropped=[NOTE])).measures) == {"refused": 1.0}
    assert dict(one(silence, result(NOTE), [judgment(NOTE, 3)]).measures) == {"refused": 0.0}


def test_a_question_left_without_results_is_falsely_refused_and_0_in_all_else() -> None:
    outcome = one(question(DUE_15TH), result(dropped=[MONTHLY]))
    assert outcome.measures["false_refusal"] == 1.0
    assert not any(value for name, value in outcome.measures.items() if name != "false_refusal")
    assert outcome.unjudged is None
    assert (outcome.first, outcome.ranking, outcome.hits) == ("", (), 0)


@pytest.mark.parametrize("level", list(Level))
def test_while_nothing_relevant_is_known_rankings_are_not_measured_rather_than_0(level: Level) -> None:
    outcome = one(question(), result(NOTE), [judgment(NOTE, 0)], level)
    assert dict(outcome.measures) == {"false_refusal": 0.0}


def test_a_known_answer_that_was_not_even_retrieved_counts_as_missed() -> None:
    outcome = one(question(DUE_15TH), result(NOTE, YEARLY))
    assert outcome.measures["recall@20"] == outcome.measures["ndcg@10"] == outcome.measures["answer@5"] == 0.0
    assert outcome.unjudged == 1.0


def test_a_found_and_a_missed_answer_are_half_the_recall() -> None:
    outcome = one(question(DUE_15TH, Relevant(SHA["guide"], ("never seen",), 2)), result(MONTHLY))
    assert outcome.measures["recall@20"] == 0.5


def test_what_people_grade_related_is_relevant_but_no_answer() -> None:
    outcome = one(question(), result(NOTE), [judgment(NOTE, 1), judgment(MONTHLY, 2)])
    assert (outcome.measures["hit@5"], outcome.measures["answer@5"]) == (1.0, 0.0)
    assert "answer@5" not in one(question(), result(NOTE), [judgment(NOTE, 1)]).measures


@pytest.mark.parametrize(("places", "found"), [(4, 1.0), (5, 0.0)])
def test_an_answer_counts_among_the_first_five_passages_only(places: int, found: float) -> None:
    before = [("memo", page, "Lunch is at noon.") for page in range(places)]
    assert one(question(DUE_15TH), result(*before, MONTHLY), level=Level.DOCUMENT).measures["answer@5"] == found


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize(("places", "found"), [(4, 1.0), (5, 0.0)])
def test_a_hit_counts_among_the_first_five_results_shown_though_they_come_from_one_document(
    places: int, found: float, level: Level
) -> None:
    before = [("memo", page, "Lunch is at noon.") for page in range(places)]
    assert one(question(DUE_15TH), result(*before, MONTHLY), level=level).measures["hit@5"] == found


def test_any_passage_of_a_relevant_document_is_a_hit_where_documents_are_graded() -> None:
    found = result(NOTE, YEARLY)
    assert one(question(DUE_15TH), found, level=Level.DOCUMENT).measures["hit@5"] == 1.0
    assert one(question(DUE_15TH), found, level=Level.PASSAGE).measures["hit@5"] == 0.0


def test_a_passage_people_reject_carries_no_answer_though_it_holds_the_words() -> None:
    again: Place = ("law", 9, "As said, deposits are due on the 15th.")
    outcome = one(question(DUE_15TH), result(MONTHLY, missed=[again]), [judgment(MONTHLY, 0)])
    assert outcome.measures["answer@5"] == 0.0
    rejected = one(question(DUE_15TH), result(MONTHLY), [judgment("law", 0)], Level.DOCUMENT)
    assert dict(rejected.measures) == {"false_refusal": 0.0}


def test_other_documents_are_unjudged_until_a_person_has_judged_them() -> None:
    found = result(MONTHLY, ADVICE, NOTE)
    assert one(question(DUE_15TH), found, level=Level.DOCUMENT).unjudged == pytest.approx(2 / 3)
    judges = [judgment(ADVICE, 0), judgment("memo", None)]
    assert one(question(DUE_15TH), found, judges, Level.DOCUMENT).unjudged == pytest.approx(1 / 3)


def test_only_the_first_ten_results_are_asked_for_grades_and_twenty_are_kept() -> None:
    places = [("memo", page, "Lunch is at noon.") for page in range(25)]
    outcome = one(question(), result(*places), [judgment(place, 0) for place in places[:5]])
    assert outcome.unjudged == 0.5
    assert outcome.ranking == tuple(map(unit, places[:20]))


def test_questions_without_a_result_are_left_out_and_the_others_keep_their_order() -> None:
    questions = [question(DUE_15TH, number=number) for number in (3, 1, 2)]
    outcomes = measured(questions, {1: result(), 3: result(MONTHLY)}, [], Level.PASSAGE)
    assert [outcome.key for outcome in outcomes] == ["q3", "q1"]
    assert measured([], {}, [], Level.PASSAGE) == ()


GRADED = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3), st.sampled_from(["Ada", "Ben"])), max_size=20)
TEXTS = [("law" if number % 2 else "memo", number % 3, f"Deposits on the 15th, {number}.") for number in range(8)]


@given(GRADED, st.lists(st.integers(0, 7), max_size=15), st.booleans(), st.sampled_from(list(Level)))
def test_every_measure_is_between_0_and_1_whatever_is_there_twice(
    graded: list[tuple[int, int, str]], shown: list[int], answer_known: bool, level: Level
) -> None:
    judges = [judgment(TEXTS[place], grade, who) for place, grade, who in graded]
    questions = question(*[DUE_15TH, DUE_15TH] * answer_known)
    outcome = one(questions, result(*(TEXTS[place] for place in shown), missed=TEXTS), judges, level)
    assert all(0.0 <= value <= 1.0 for value in outcome.measures.values())
    assert outcome.unjudged is None or 0.0 <= outcome.unjudged <= 1.0


@given(GRADED, st.permutations(range(8)))
def test_the_best_order_has_ndcg_1_and_no_other_has_more(graded: list[tuple[int, int, str]], order: list[int]) -> None:
    judges = [judgment(TEXTS[place], grade, who) for place, grade, who in graded]
    grades = known(question(), judges, Level.PASSAGE, *TEXTS)
    best = sorted(TEXTS, key=lambda place: -grades.get(unit(place), 0))
    outcome = one(question(), result(*best), judges)
    if any(grades.values()):
        assert outcome.measures["ndcg@10"] == pytest.approx(1.0)
        assert one(question(), result(*(TEXTS[n] for n in order)), judges).measures["ndcg@10"] <= 1.0


# Many questions


def test_prepared_grades_measure_rankings_as_a_measurement_does() -> None:
    questions = [question(DUE_15TH, number=1), question(kind=NOTHING_ANSWERS, number=2), question(number=3)]
    results = {number: result(NOTE, MONTHLY) for number in (1, 2, 3)}
    judges = [judgment(NOTE, 2, about=2)]
    grades = prepared(questions, results, judges, Level.PASSAGE)
    rankings = {number: ranking(found, Level.PASSAGE, 100) for number, found in results.items()}
    found = measure_rankings(grades, rankings, ["ndcg@10", "map"])
    outcomes = measured(questions, results, judges, Level.PASSAGE)
    assert found == {1: {name: outcomes[0].measures[name] for name in ("ndcg@10", "map")}}


def test_only_the_questions_that_are_ranked_are_measured() -> None:
    questions = [question(DUE_15TH, number=number) for number in (1, 2)]
    grades = prepared(questions, {1: result(MONTHLY), 2: result(MONTHLY)}, [], Level.PASSAGE)
    assert measure_rankings(grades, {2: [unit(MONTHLY)], 9: []}, ["map"]) == {2: {"map": 1.0}}
    assert measure_rankings(grades, {1: []}, ["map"]) == {1: {"map": 0.0}}
    assert measure_rankings(grades, {}, ["map"]) == {}


@pytest.mark.parametrize("name", ["hit@5", "answer@5", "refused", "accuracy"])
def test_a_measure_that_is_not_one_of_rankings_is_refused_by_name(name: str) -> None:
    with pytest.raises(BadRequest, match=f"'{name}' does not measure a ranking") as caught:
        measure_rankings(prepared([], {}, [], Level.PASSAGE), {}, ["map", name])
    assert "ndcg@10" in caught.value.hint


def test_the_summary_is_over_the_questions_each_measure_applies_to() -> None:
    questions = [question(DUE_15TH, number=1), question(kind=NOTHING_ANSWERS, number=2), question(number=3)]
    outcomes = measured(questions, {1: result(MONTHLY), 2: result(), 3: result(NOTE)}, [], Level.PASSAGE)
    found = summary(outcomes, seed=1)
    assert list(found) == list(MEASURES)
    assert {name: values.n for name, values in found.items() if values.n > 1} == {"false_refusal": 2}
    assert found["ndcg@10"].mean == found["refused"].mean == 1.0
    assert unjudged_share(outcomes) == 0.5
    assert summary([]) == {}
    assert unjudged_share([]) is None


def test_what_was_measured_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        one(question(), result()).hits = 3  # type: ignore[misc]
