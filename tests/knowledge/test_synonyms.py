"""The thesaurus: what stands for what, which way, at which place, and what is said when the table is wrong."""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import BadTable
from core.knowledge.loading import table
from core.knowledge.synonyms import other_wordings, read_synonyms
from core.text.tokenize import STOP_WORDS, stem

SAME: list[list[str]] = table("synonyms")["same"]
WIDER: dict[str, list[str]] = table("synonyms")["wider"]
WORDINGS = [
    *(wording for group in SAME for wording in group),
    *WIDER,
    *(each for row in WIDER.values() for each in row),
]
SMALL = {
    "same": [["time off", "leave"], ["sick leave", "sick time"], ["PTO", "vacation"], ["=fired", "dismiss"]],
    "wider": {"mother": ["parent"], "vacation": ["leave"], "boss": ["supervisor"], "=fines": ["penalty"]},
}


def synonyms_of(words: str, rows: dict[str, Any] = SMALL) -> dict[str, tuple[str, ...]]:
    """The wordings found in the words → the others, by a small thesaurus."""
    return {words[start:end]: others for (start, end), others in read_synonyms(rows).others(words).items()}


def others_of(wording: str) -> list[list[str]]:
    """What the product's table has for a wording, as it is matched; a span ends with the last letter: 401(k."""
    statement = wording.removeprefix("=")
    return [stems(other) for other in other_wordings(statement).get((0, len(statement.rstrip(")"))), ())]


def stems(wording: str) -> list[str]:
    """A wording as it is matched."""
    return [stem(word) for word in re.findall(r"[^\W_]+", wording.lower())]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"same": [], "narrower": {}}, "'narrower'"),
        ({"same": [["leave", " "]]}, r"\[same\].*with words"),
        ({"same": [["leave", "="]]}, r"\[same\].*with words"),
        ({"same": [["leave", 7]]}, r"\[same\].*not a list of wordings"),
        ({"same": ["leave"]}, r"\[same\].*not a list of wordings"),
        ({"same": [["leave"]]}, r"\['leave'\].*has no other wording"),
        ({"same": [["leave", "absence", "leave"]]}, r"'absence'.*holds a wording twice"),
        ({"same": [["holiday", "Holidays"]]}, r"'Holidays'.*holds a wording twice"),
        ({"wider": {"mother": []}}, r"\[wider\].*'mother'.*has no other wording"),
        ({"wider": {"mother": "parent"}}, r"'mother'.*not a list of wordings"),
        ({"wider": {"mother": ["parent", "mothers"]}}, r"'mother'.*holds a wording twice"),
        ({"wider": {"": ["parent"]}}, r"\[wider\].*with words"),
    ],
)
def test_what_is_wrong_in_the_table_is_named(rows: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadTable, match=problem) as refused:
        read_synonyms(rows)
    assert "synonyms.toml" in refused.value.message
    assert refused.value.hint


def test_what_says_the_same_says_it_both_ways() -> None:
    assert synonyms_of("any time off?") == {"time off": ("leave",)}
    assert synonyms_of("any leave?") == {"leave": ("time off",)}


def test_what_is_wider_says_it_one_way() -> None:
    assert synonyms_of("my mother") == {"mother": ("parent",)}
    assert synonyms_of("my parent") == {}


def test_what_is_wider_than_a_wording_is_wider_than_those_that_say_the_same_and_comes_last() -> None:
    assert synonyms_of("PTO") == {"PTO": ("vacation", "leave")}
    assert synonyms_of("vacation") == {"vacation": ("PTO", "leave")}


def test_the_longest_wording_at_a_place_wins() -> None:
    assert synonyms_of("sick leave") == {"sick leave": ("sick time",)}


def test_wordings_are_found_in_the_plural_in_any_capitals_and_only_on_word_borders() -> None:
    assert synonyms_of("Our BOSSES' ptos") == {"BOSSES": ("supervisor",), "ptos": ("vacation", "leave")}
    assert synonyms_of("embossed") == {}


def test_a_wording_marked_as_written_is_found_only_so_and_told_without_the_mark() -> None:
    assert synonyms_of("Fired!") == {"Fired": ("dismiss",)}
    assert synonyms_of("the fire") == {}
    assert synonyms_of("dismissed") == {"dismissed": ("fired",)}
    assert synonyms_of("fines, not fine") == {"fines": ("penalty",)}
    assert synonyms_of("trip", {"wider": {"=tripping": ["fall"], "trip": ["travel"]}}) == {"trip": ("travel",)}


def test_a_wording_of_several_groups_is_told_each_other_one_once() -> None:
    rows = {"same": [["bid", "tender"], ["bids", "tenders", "offer"]], "wider": {"bid": ["offer", "proposal"]}}
    assert synonyms_of("the bid", rows) == {"bid": ("tender", "offer", "proposal")}


def test_a_thesaurus_without_rows_tells_nothing() -> None:
    assert synonyms_of("any leave?", {}) == {}


def test_every_wording_is_at_most_four_words_and_no_single_small_word() -> None:
    assert not [wording for wording in WORDINGS if len(wording.split()) > 4]
    assert not [wording for wording in WORDINGS if wording.removeprefix("=").lower() in STOP_WORDS]


def test_wordings_are_written_small_but_for_acronyms() -> None:
    words = {word for wording in WORDINGS for word in wording.split()}
    assert not [
        word for word in words if word != word.lower() and not re.search(r"[A-Z].*[A-Z]|[A-Z]-?\d|P-card", word)
    ]


def test_every_wording_of_a_group_stands_for_each_other_unless_only_its_endings_differ() -> None:
    for group in SAME:
        for wording in group:
            assert stems(wording) not in others_of(wording)
            assert all(stems(other) in [*others_of(wording), stems(wording)] for other in group)


def test_a_special_wording_is_answered_by_its_general_ones_and_never_the_other_way_round() -> None:
    for key, general in WIDER.items():
        for each in general:
            assert stems(each) in others_of(key)
            assert stems(key) not in others_of(each)


@pytest.mark.parametrize(
    ("question", "wording", "other"),
    [
        ("Can I take time off for my sick mother?", "sick mother", "serious health condition"),
        ("When is my final paycheck due?", "final paycheck", "final wages"),
        ("Who bid for the rfp?", "rfp", "request for proposal"),
        ("May they swap out key staff?", "swap out", "replace"),
        ("What is the cap on 401k matching contributions?", "401k", "401(k)"),
        ("Must the e-mails be scrambled?", "e-mails", "electronic mail"),
    ],
)
def test_everyday_words_lead_to_official_ones(question: str, wording: str, other: str) -> None:
    start = question.index(wording)
    assert other in other_wordings(question)[start, start + len(wording)]


@given(st.text() | st.lists(st.sampled_from(WORDINGS) | st.text(max_size=3)).map(" ".join))
def test_any_text_is_answered_with_spans_that_do_not_overlap_and_others_that_differ(text: str) -> None:
    found = other_wordings(text)
    spans = sorted(found)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))
    for (start, end), others in found.items():
        assert others
        keys = [tuple(stems(each)) for each in [text[start:end], *others]]
        assert len(set(keys)) == len(keys)
