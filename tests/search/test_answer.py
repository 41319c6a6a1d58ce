"""When nothing found answers a question, the product says so."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.domain.documents import Origin, Passage, Span
from core.domain.results import Candidate, Signals
from core.search.ranking.answerability import judge, named_in


def found(text: str, similarity: float = 0.5, coverage: float = 0.8, name: str = "guide.md") -> Candidate:
    """A candidate of this text and evidence."""
    passage = Passage(text, 1, 0, len(text), (Span(0, len(text)),), id=1, document_id=1, document_name=name)
    return Candidate(passage, Signals(similarity, bm25=coverage * 5, bm25_most=10.0, term_coverage=coverage))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How do I set up an earning code in Workday payroll?", ("Workday",)),
        ("Jones Act waiver for vessels", ("Jones", "Act")),
        ("2025 Social Security wage base", ("2025", "Social", "Security")),
        ("I'm asking: Does the FSA of TTS run until April 30?", ("FSA", "TTS")),
        ("What time did Müller start on 20 February 2025?", ("Müller", "2025")),
        ("Reasonable accommodation deadline", ()),
    ],
)
def test_what_a_question_names(question: str, names: tuple[str, ...]) -> None:
    assert named_in(question) == names


@pytest.mark.parametrize(
    ("question", "candidate", "answered", "because"),
    [
        ("Who approves leave?", found("Leave is approved by the manager."), True, ""),
        ("Who approves leave?", found("Nothing.", 0.1, 0.1), False, "Nothing in the library is about"),
        ("wage base under FUTA", found("The FUTA wage base for 2023 is 7,000."), True, ""),
        ("FSBid", found("FSBid is replaced.", 0.1, 1.0), True, ""),
        ("Set up a code in Workday", found("Set up a code for each workday."), False, "nothing named 'Workday'"),
        ("When does Müller start?", found("Employee: v.müller@example.com; Start: 8"), True, ""),
        ("Bases of processing under the GDPR", found("See the GDPR.", 0.2, 0.4), False, "mentions 'GDPR'"),
        ("Medicare premiums 2027", found("Medicare premiums of 2026."), False, "speaks of 2027"),
        ("Rates in Rosedale", found("Rates.", name="Rosedale_rates.csv"), True, ""),
        ("USERRA service limit", found("The cumulative period of service is five years."), True, ""),
    ],
)
def test_one_passage_answers_or_not(question: str, candidate: Candidate, answered: bool, because: str) -> None:
    verdict = judge(question, [candidate])
    assert verdict.answered is answered
    assert because in verdict.silence
    assert bool(verdict.silence) is not answered


def test_what_is_named_must_be_held_together() -> None:
    apart = [found("Plans of the year 2025."), found("The FUTA wage base.")]
    assert not judge("2025 FUTA wage base", apart).answered
    together = replace(apart[0].passage, text="The FUTA wage base of 2025.")
    assert judge("2025 FUTA wage base", [*apart, replace(apart[0], passage=together)]).answered


def test_without_candidates_nothing_matches() -> None:
    assert "filters" in judge("overtime", []).silence


def test_a_year_that_only_says_when_is_not_looked_for() -> None:
    lasting = [found("Overtime is paid at one and one-half times the regular rate.")]
    assert not judge("overtime rate 2027", lasting).answered
    assert judge("How is overtime paid in 2027?", lasting, "in 2027").answered
    dated = replace(lasting[0], passage=replace(lasting[0].passage, date=datetime(2027, 1, 1, tzinfo=UTC)))
    assert judge("overtime rate 2027", [dated]).answered


def test_a_long_question_in_other_words_is_answered_by_what_two_rare_words_carry() -> None:
    passage = found("Leave is approved by the manager.").passage
    said = Signals(0.4, bm25=6.0, bm25_most=80.0, term_coverage=0.1)
    assert judge("one long question about leave", [Candidate(passage, said)]).answered
    assert not judge("one long question about leave", [Candidate(passage, replace(said, bm25=0.5))]).answered


def test_best_matches_that_speak_of_different_things_are_no_answer() -> None:
    near = found("Leave is approved by the manager.", 0.45, 0.5)
    scattered, together = (
        replace(near, signals=replace(near.signals, relevance_feedback=value)) for value in (0.55, 0.95)
    )
    assert judge("Who approves a sabbatical?", [together]).answered
    assert "speaks of different things" in judge("Who approves a sabbatical?", [scattered]).silence
    assert judge("Who approves a sabbatical?", [near]).answered  # not compared with others: nothing tells against it


def test_a_note_answers_by_itself_because_the_best_matches_are_those_of_documents() -> None:
    note = found("Ms Doe keeps the key of the cabinet.", 0.5, 0.8)
    far = replace(note, signals=replace(note.signals, relevance_feedback=0.3))
    assert not judge("Who keeps the key of the shed?", [far]).answered
    noted = replace(far, passage=replace(far.passage, origin=Origin.INSIGHT))
    assert judge("Who keeps the key of the shed?", [noted]).answered


def test_a_passage_that_holds_every_word_answers_however_scattered_the_others_are() -> None:
    near = found("Leave is approved by the manager.", 0.3, 1.0)
    assert judge("leave approved", [replace(near, signals=replace(near.signals, relevance_feedback=0.4))]).answered


def test_a_percentage_asked_for_must_be_given_by_a_passage_that_speaks_of_it() -> None:
    question = "What percentage does the agency match in the Thrift Plan?"
    silent, elsewhere = found("The Thrift Plan is for all."), found("Dues rose by 5%.")
    silent = replace(silent, signals=replace(silent.signals, answer=0.0))
    elsewhere = replace(elsewhere, signals=replace(elsewhere.signals, answer=1.0, answer_words="5%"))
    verdict = judge(question, [silent, elsewhere], answer_kind="percentage")
    assert verdict.silence == "Nothing found that speaks of 'Thrift' and 'Plan' gives a percentage."
    told = replace(silent, signals=replace(silent.signals, answer=0.9, answer_words="5%"))
    assert judge(question, [told, elsewhere], answer_kind="percentage").answered
    assert judge(question, [silent, elsewhere], answer_kind="number").answered  # said in many ways: never needed


def test_what_is_known_by_another_wording_is_a_matter_not_a_proper_name() -> None:
    """'paid leave' answers for 'PTO', whose name another passage holds; no wording answers for 'Tock'."""
    asked = "Can I be made to use PTO for my mother?"
    other = found("PTO is at the office.", 0.1, 0.1)
    leave = found("An employer may require the use of paid leave.", 0.33, 0.2)
    leave = replace(leave, signals=replace(leave.signals, wordings=3.0))
    assert judge(asked, [other, leave]).answered
    assert not judge(
        asked.replace("PTO", "Tock"), [replace(other, passage=found("Tock is here.").passage), leave]
    ).answered
