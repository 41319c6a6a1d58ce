"""Hashes of words: a sentence is found again in any text that holds its words, and its text is not kept."""

from hypothesis import given
from hypothesis import strategies as st

from core.domain.filters import SearchFilters
from core.evaluation.judgments.folders import FolderQuestion
from core.evaluation.judgments.word_hashes import is_word_hash, word_hash, word_hashes_in

WORDS = st.lists(st.sampled_from(["Records", "are", "kept", "for", "ten", "years"]), min_size=1, max_size=12)


@given(WORDS, WORDS, WORDS)
def test_words_are_found_wherever_they_follow_one_another(
    before: list[str], words: list[str], after: list[str]
) -> None:
    kept = word_hash(" ".join(words))
    assert is_word_hash(kept)
    text = ", ".join([*before, *words, *after]).upper()
    assert word_hashes_in(text, [kept]) == {kept}


@given(WORDS, WORDS)
def test_other_words_are_not_found(words: list[str], other: list[str]) -> None:
    kept = word_hash(" ".join(words))
    text, first = " ".join(other), " ".join(words[:8])
    assert bool(word_hashes_in(text, [kept])) is (f" {first} " in f" {text} ")


def test_a_passage_answers_that_holds_all_words_as_they_are_or_as_hashes() -> None:
    answers = {"a": ((word_hash("ten years"), "archive"), (word_hash("never deleted"),))}
    question = FolderQuestion("q", "How long?", "natural", SearchFilters(), {"a": 3}, answers)
    assert question.answered_by("a", "The archive keeps them for ten years.")
    assert question.answered_by("a", "They are never deleted.")
    assert not question.answered_by("a", "The archive keeps them for years, ten or more.")
    assert not question.answered_by("b", "They are never deleted.")
