"""What the label model reads of a text: its words, where they stand, and the form of its lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Page
from core.ingestion.classification.document_features import features_of, form_quote, word_places, words_of
from core.ingestion.classification.sample import read_for_classifying

SCRIPTS = st.text(st.sampled_from("aBz ÄßИя 労働者แรง한국 1_-.,\n'"), max_size=60)


@given(SCRIPTS)
def test_every_word_stands_where_it_is_said_to(text: str) -> None:
    places = word_places(text)
    for number, start, end in zip(places.numbers, places.starts, places.ends, strict=True):
        assert places.words[number] == text[start:end].lower()
    assert list(places.starts) == sorted(places.starts)
    assert sum(places.counts.values()) == len(places.numbers)


def test_letters_outside_the_everyday_scripts_are_no_words() -> None:
    assert words_of("a 𝒳𝒴 plan 🎈 for two") == ["plan", "for", "two"]


def test_the_opening_is_the_first_lines_only() -> None:
    text = "Bylaws of the club\n" + "Members meet in spring. " * 30 + "Ledger"
    features = features_of(read_for_classifying("a.txt", "", [Page(1, text)], {}), "en")
    assert features.opening["bylaws"] == 1
    assert features.words["ledger"] == 1
    assert "ledger" not in features.opening


SHOWN = [
    ("sections and articles", "See Section 12 and the rest", "See section twelve"),
    ("sections and articles", "Nach § 4 gilt das", "Nach Paragraf vier gilt das"),
    ("sections and articles", "Art.5 Abs 2", "A part 5 of the art"),
    ("sections and articles", "本办法第三条规定", "本办法规定"),
    ("sections and articles", "제 5 조 (목적)", "제목"),
    ("mail addresses", "Ask hr@example.org today", "Ask @example today"),
    ("sums of money", "It costs $ 5", "It costs five dollars"),
    ("sums of money", "It costs 12 €", "It is about the €uro"),
    ("sums of money", "It costs 12 EUR", "EUROPE has 12"),
    ("blanks to fill in", "Name: ______", "snake_case"),
    ("blanks to fill in", "Between [Company] and us", "See [the page](https://example.org)"),
    ("blanks to fill in", "Dear {{ name }}", "a { b }"),
    ("signatures", "Signature of the manager", "A sign of spring"),
    ("signatures", "Unterschrift", "Unterricht"),
    ("signatures", "Date: today", "Dates and places"),
]


@pytest.mark.parametrize(("feature", "text", "without"), SHOWN)
def test_the_form_of_a_line_is_seen(feature: str, text: str, without: str) -> None:
    assert form_quote(feature, text) == text
    assert form_quote(feature, without) == ""
