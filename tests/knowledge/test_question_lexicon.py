"""The open table of how questions to tables are worded, and what is said when it is wrong."""

from copy import deepcopy
from typing import Any

import pytest

from core.domain.errors import BadTable
from core.knowledge.loading import table
from core.knowledge.question_lexicon import asking, read_asking
from core.text.tokenize import stem


def changed(**parts: Any) -> dict[str, Any]:
    """The product's own table with some parts changed; None takes a part away."""
    rows = deepcopy(dict(table("question_lexicon"))) | parts
    return {name: part for name, part in rows.items() if part is not None}


def operators(**lists: list[str] | None) -> dict[str, Any]:
    """The table with some lists of operators changed."""
    named = dict(table("question_lexicon")["operators"]) | lists
    return changed(operators={name: phrases for name, phrases in named.items() if phrases is not None})


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (changed(colours=["red"]), "'colours'"),
        (changed(light=None), r"\[top level\] lacks 'light'"),
        (operators(nearly=["almost"]), "'nearly'"),
        (operators(between=None), r"\[operators\] lacks 'between'"),
        (operators(after=["after", "before"]), "'before' is in two lists"),
        (changed(refuse={"future": ["will"], "past": ["was"]}), "'past'"),
        (changed(value_words=[{"values": ["f"], "words": ["female"], "when": ["sex"], "not": []}]), "'not'"),
    ],
)
def test_what_is_wrong_in_the_table_is_named(rows: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadTable, match=problem) as refused:
        read_asking(rows)
    assert "question_lexicon.toml" in str(refused.value)


def test_synonyms_are_synonyms_of_each_other_and_never_of_themselves() -> None:
    synonyms = asking().synonyms
    for word, others in synonyms.items():
        assert word not in others
        assert all(word in synonyms[other] for other in others)


def test_words_are_stemmed_as_those_of_questions_are() -> None:
    requested = asking()
    for words in (requested.light, requested.ignorable, requested.row_words, requested.units, requested.synonyms):
        assert all(word == word.lower() for word in words)
    assert stem("employees") in requested.synonyms["staff"]


def test_operators_are_small_words_and_what_a_header_shortens_is_spelt_out() -> None:
    requested = asking()
    assert all(word == word.lower() for phrase in requested.operators for word in phrase)
    assert all(intended not in ("", short) for short, intended in requested.abbreviations.items())
    assert requested.operators[("more", "than")] == "more"
