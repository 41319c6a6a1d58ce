"""What is said of the question's words: only what stands in the passage, and only of words that were searched for."""

import pytest

from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import Hit, SearchResult
from core.search.ranking.answerability import what_is_missing
from core.search.reasons import why_words
from pages.components.charts import term_bars
from tests.search.library import NOW, Library


def asked(question: str, *texts: str) -> tuple[SearchResult, Hit]:
    """The result of a question, and the hit in the first text; the others fill the library."""
    library = Library()
    for number, text in enumerate((*texts, "The picnic has music.", "Lunch is at noon.", "The gate is open.")):
        library.add(f"{number}.md", text)
    result = library.searcher.search(SearchRequest(question, top_k=20), NOW)
    return result, next(hit for hit in result.hits if hit.candidate.passage.text == texts[0])


def why(question: str, text: str) -> str:
    result, hit = asked(question, text)
    return why_words(hit.candidate, hit.score, tuple(result.rarity))


def test_a_part_of_a_compound_is_not_the_compound() -> None:
    """A paragraph with a 602 in it said that it contains 541.602."""
    result, hit = asked("Section 541.602 salary", "Form 602 is about a salary.")
    assert "contains “salary”, not “section”, “541.602”" in why_words(hit.candidate, hit.score, tuple(result.rarity))
    keyword = next(each for each in hit.score.factors if each.name == "keyword")
    assert "part of 541.602" in keyword.reason
    assert sum(each.score for each in hit.candidate.signals.terms) == pytest.approx(hit.candidate.signals.bm25)


def test_a_compound_counts_once_for_the_words_a_passage_covers() -> None:
    """Whole and parts counted each as if it were the whole: half of the question covered all of it."""
    _, half = asked("node.js version", "We use node.js here.")
    _, part = asked("node.js version", "We use node here.")
    _, whole = asked("node.js version", "The version of node.js is fixed.")
    assert half.candidate.signals.term_coverage < 0.5  # “version” is the rarer one
    assert part.candidate.signals.term_coverage == 0.0
    assert whole.candidate.signals.term_coverage == pytest.approx(1.0)


def test_a_part_that_is_asked_for_as_well_is_contained() -> None:
    assert "contains “541”, not “541.602”" in why("541.602 and 541", "Part 541 applies.")


def test_what_is_missing_names_a_compound_of_which_only_a_part_was_found() -> None:
    result, hit = asked("Zeppelin 541.602", "Part 602 applies.")
    assert "“541.602”" in what_is_missing([hit.candidate], result.rarity, "")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many hours are worked?", "Many work for forty hours."),
        ("I'm paid when?", "I'm paid on Friday."),
        ("Is an hourly-paid job exempt?", "A job that is hourly paid is exempt."),
        ("wings or a wing?", "One wing is closed."),
    ],
)
def test_no_word_is_called_missing_that_stands_there_or_was_not_searched_for(question: str, text: str) -> None:
    said = why(question, text)
    assert ", not " not in said or said.split(", not ")[1].startswith("“worked”"), said


def test_the_reason_for_coverage_names_only_words_that_were_searched_for() -> None:
    library = Library()
    library.add("a.md", "Many work for forty hours.")
    result = library.searcher.search(SearchRequest("How many hours?"), NOW)
    covered = library.searcher.rescore(result, ScoreProfile("words", {"term_coverage": 1.0}, threshold=0), NOW)
    assert "without" not in covered.hits[0].score.factors[0].reason


def test_each_stem_has_a_bar_of_its_own() -> None:
    """Bars of one name lie on each other, and no longer add up."""
    _, hit = asked("node.js", "We use node.js here.")
    names = term_bars(hit.candidate.signals.terms).data[0].y
    assert len(set(names)) == len(names) == 3
