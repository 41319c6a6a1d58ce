"""The laws every operation obeys on any text: quotes stand on the page, the same gives the same, nothing raises."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.library.enrichment.document_reader import DocumentText, is_prose
from core.library.enrichment.store import OPERATIONS
from core.library.enrichment.values import (
    RESULTS,
    Citations,
    Dates,
    Keywords,
    Operation,
    Questions,
    QuotedSpan,
    Result,
    Summary,
)
from tests.enrich.reading import POLICY, document_of, passages_of, read
from tests.search.library import WordEmbedder

FOREIGN = (
    "Der Arbeitgeber hat dem Arbeitnehmer eine Abrechnung in Textform zu erteilen. Die Abrechnung muss Angaben über den"
    " Abrechnungszeitraum enthalten. Eine Abrechnung über das Arbeitsentgelt entfällt, wenn sich die Angaben nicht"
    " geändert haben."
)
LETTERS = st.characters(codec="utf-8", exclude_categories=("Cs",))
GARBAGE = st.text(alphabet=LETTERS, max_size=400)
PIECES = st.lists(
    st.sampled_from(
        [
            "The term “covered employee” means any person who",
            "must",
            "be kept for",
            "five years.",
            "Employees",
            "shall file Form 941 by the end of",
            "the month.",
            "What is overtime?",
            "\n\n# Heading\n\n",
            "| a | b |\n",
            "29 U.S.C. § 207",
            "Smith v. Jones, 45 F.3d 67 (9th Cir. 1999)",
            "on January 31, 2024",
            "........ 7",
            "**",
            "[link](http://x)",
            "残業は。",
            "is a",
            "responsible for",
            "If you are late, you must",
        ]
    ),
    max_size=20,
).map(" ".join)


def drawn(reading: DocumentText) -> dict[Operation, Result]:
    """What every operation finds."""
    return {operation: row.run(reading, WordEmbedder().embed) for operation, row in OPERATIONS.items()}


def quotes(results: dict[Operation, Result]) -> Iterator[QuotedSpan]:
    """Every quote of every result."""
    for result in results.values():
        match result:
            case Summary(sentences=sentences):
                yield from sentences
            case Questions(questions=questions):
                yield from (each.answer for each in questions)
            case Citations(citations=citations):
                yield from (each.said for each in citations)
            case Dates(dates=dates):
                yield from (each.said for each in dates)


def assert_lawful(text: str, results: dict[Operation, Result]) -> None:
    """Whatever was drawn from a text stands in it, and is no more than promised."""
    for passages in quotes(results):
        assert passages.text == text[passages.start : passages.end] and passages.text.strip()
    keywords, summary, questions = (
        results[each] for each in (Operation.KEYWORDS, Operation.SUMMARY, Operation.QUESTIONS)
    )
    assert isinstance(keywords, Keywords) and isinstance(summary, Summary) and isinstance(questions, Questions)
    assert len(keywords.words) <= 10 and len({each.casefold() for each in keywords.words}) == len(keywords.words)
    assert len(summary.sentences) <= 3 and len(questions.questions) <= 5
    assert all(each.question.endswith("?") and each.question[0].isupper() for each in questions.questions)


def test_there_is_one_row_per_operation_and_each_gives_its_own_kind_of_result() -> None:
    assert set(OPERATIONS) == set(Operation) == set(RESULTS)
    for operation, result in drawn(read(POLICY, title="Leave and Absence Policy")).items():
        assert isinstance(result, RESULTS[operation])


@given(GARBAGE | PIECES, st.sampled_from(["", "en", "de", "ja", "xx"]), st.integers(1, 5))
@settings(max_examples=120, deadline=None)
def test_any_text_can_be_read_and_every_quote_stands_in_it(text: str, language: str, per_passage: int) -> None:
    reading = read(text, language=language, title=text[:20], per_passage=per_passage)
    assert_lawful(text, drawn(reading))


def test_a_document_gives_the_same_each_time() -> None:
    assert drawn(read(POLICY)) == drawn(read(POLICY))


def test_a_policy_is_summed_up_asked_and_told_apart() -> None:
    results = drawn(read(POLICY, title="Leave and Absence Policy"))
    assert_lawful(POLICY, results)
    summary = results[Operation.SUMMARY]
    assert isinstance(summary, Summary) and 2 <= len(summary.sentences) <= 3
    assert summary.sentences[0].text.startswith("This policy explains")
    starts = [each.start for each in summary.sentences]
    assert starts == sorted(starts)


@pytest.mark.parametrize("text", ["", " ", "Overtime", "\n\n", "7", "###"])
def test_a_tiny_text_gives_little_and_no_error(text: str) -> None:
    results = drawn(read(text))
    keywords, summary = results[Operation.KEYWORDS], results[Operation.SUMMARY]
    assert isinstance(keywords, Keywords) and len(keywords.words) <= 1
    assert summary == Summary()


def test_a_german_text_has_keywords_and_sentences_of_its_own_and_no_english_questions() -> None:
    results = drawn(read(FOREIGN, language="de"))
    keywords, summary = results[Operation.KEYWORDS], results[Operation.SUMMARY]
    assert isinstance(keywords, Keywords) and "Abrechnung" in keywords.words
    assert isinstance(summary, Summary) and summary.sentences
    assert results[Operation.QUESTIONS] == Questions()


def test_a_language_without_known_words_has_no_keywords() -> None:
    results = drawn(read("残業は、事前に上司の承認を得なければならない。", language="ja"))
    assert results[Operation.KEYWORDS] == Keywords()


def test_a_table_of_contents_and_furniture_are_not_quoted() -> None:
    contents = "Table of contents\nIntroduction ......... 3\nScope ......... 5\nAnnexes ......... 9\n\n"
    line = "This copy is for the internal use of the office alone.\n\n"
    text = contents + line + POLICY + line + line
    passages = [each.text for each in quotes(drawn(read(text, per_passage=3)))]
    assert passages and not [each for each in passages if "...." in each or "internal use" in each]


def test_a_sentence_that_opens_the_next_passage_again_is_read_once() -> None:
    passages = passages_of(POLICY)
    from core.library.enrichment.document_reader import reading_of

    repeated = [passages[0], *passages[0:]]
    assert reading_of(document_of(), repeated).sentences == reading_of(document_of(), passages).sentences


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("The employer must keep a copy of the notice.", True),
        ("employer must keep a copy of the notice.", False),
        ("Copy of the notice", False),
        ("Records And Retention Schedule For All Offices.", False),
        ("General.** Please submit the quote in the form below.", False),
        ("See https://example.org for what must be kept.", False),
        ("1200 3400 5600 7800 9000 and so on it goes.", False),
    ],
)
def test_a_whole_sentence_is_told_from_a_fragment(text: str, whole: bool) -> None:
    assert is_prose(text) is whole
