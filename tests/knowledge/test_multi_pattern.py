"""A finder of many patterns finds what each pattern's own search finds, in any text."""

import re
import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.enrichment import document_types
from core.knowledge.jurisdictions import implied_place_finder
from core.knowledge.multi_pattern import PatternFinder, starts_of
from core.knowledge.temporal import temporal_signs
from core.knowledge.truths import passage_signs
from core.knowledge.workspace_terms import BUILT_IN_TERMS

_AROUND = st.sampled_from(
    [" ", "\n", " the ", ". ", " Act ", " 12 ", "§", "\t", "\u00a0", "-", "\u212ai\u017fs", "K\u0130ss"]
)
_ODD = [r"(?i)kiss", r"a|ab", r"(?i)(?:s|k)i", "(?:ab)?c", "(?i:ab)c", r"\s+x", r"\d\d", "é", "(?i)É", r"(?=a)ab", "x*"]


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Every pattern of the tables that is looked for in texts, and some that are hard to foresee."""
    signs = [
        *(sign for row in document_types().values() for sign in (*row.signs, *row.titles)),
        *passage_signs(),
        *temporal_signs(),
        *BUILT_IN_TERMS.authorities.signals,
    ]
    own = [sign.pattern for sign in signs]
    places = (*BUILT_IN_TERMS.jurisdictions.finder.patterns, *implied_place_finder().patterns)
    return (*(each for each in own if each is not None), *places, *map(re.compile, _ODD))


@cache
def _starts() -> list[str]:
    return sorted({start for pattern in _patterns() for start in starts_of(pattern) or ()})


@cache
def _finder() -> PatternFinder:
    return PatternFinder(_patterns())


def _phrases() -> st.SearchStrategy[str]:
    """Texts full of what patterns begin with, in any case, among other things."""
    begun = st.sampled_from(_starts()).flatmap(lambda word: st.sampled_from([word, word.upper(), word.title()]))
    piece = st.one_of(begun, _AROUND, st.text(max_size=8), st.text("abehikst ;(§19.", max_size=12))
    return st.lists(piece, max_size=60).map("".join)


@given(_phrases())
def test_finds_the_same_matches_as_every_pattern_alone(text: str) -> None:
    found = [[(match.span(), match.groups()) for match in matches] for matches in _finder().find(text)]
    assert found == [[(match.span(), match.groups()) for match in each.finditer(text)] for each in _patterns()]


@pytest.mark.parametrize("pattern", [r"\b(?:Acts?|Laws?) of", r"(?i)\b(?:shall|must)\b", r"§+\s*\d", r"(?:a|b)c"])
def test_knows_what_such_a_pattern_begins_with(pattern: str) -> None:
    assert starts_of(re.compile(pattern))


@pytest.mark.parametrize("pattern", [r"\w+ of", "x*", "(?:abc)?", r"^ab", "(?i:ab)c", ".ab", "(?i)éa", r"(?!a)\wb"])
def test_knows_of_none_where_anything_may_begin_it(pattern: str) -> None:
    assert starts_of(re.compile(pattern)) is None


def test_no_other_character_matches_an_ascii_letter_where_case_is_ignored() -> None:
    letters = re.compile(r"(?i)[a-z]")
    beyond = (chr(code) for code in range(128, sys.maxunicode + 1))
    assert [char for char in beyond if letters.match(char)] == ["\u0130", "\u0131", "\u017f", "\u212a"]
