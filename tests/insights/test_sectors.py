"""Which kind of memory a note is: by its words, by what it sounds like, and always with the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Sector
from core.domain.errors import BadTable
from core.insights.sectors import SectorClassifier
from core.knowledge import sectors as table
from core.ports.stores import Embedder
from tests.search.library import WordEmbedder

READER = SectorClassifier(WordEmbedder())


@pytest.mark.parametrize(
    ("text", "sector", "reason"),
    [
        ("Form 941 means the quarterly return.", Sector.SEMANTIC, "“means”"),
        ("Select the project, then press Assess.", Sector.PROCEDURAL, "“select”, “then”"),
        ("On a call with Dana we asked for the SOW.", Sector.EPISODIC, "“call with”, “we asked”"),
        ("Looking back, we should have asked first.", Sector.REFLECTIVE, "“looking back”, “should have”"),
        ("The controller is worried about penalties.", Sector.EMOTIONAL, "“worried”"),
        ("Worries: none. Trusting mood.", Sector.EMOTIONAL, "“worries”, “trusting”"),
    ],
)
def test_words_decide_and_are_quoted_as_they_stand(text: str, sector: Sector, reason: str) -> None:
    suggested = READER.suggest(text)
    assert suggested.sector is sector
    assert suggested.reason == f"it says {reason}"


@pytest.mark.parametrize("text", ["", "---", "Zzyzx qwfp.", "fearsomely steppenwolf hotel"])
def test_what_nothing_marks_is_a_fact(text: str) -> None:
    suggested = READER.suggest(text)
    assert suggested.sector is Sector.SEMANTIC
    assert "nothing marks it" in suggested.reason


def test_what_it_sounds_like_decides_where_no_word_does() -> None:
    suggested = READER.suggest("Employees get overtime at one and one-half times regular pay.")
    assert suggested.sector is Sector.SEMANTIC
    assert suggested.reason.startswith("it sounds like “The overtime rate is one and one-half")
    assert suggested.reason[-2:].removesuffix("”") != "."  # who tells it ends the sentence


def test_without_a_model_the_words_decide() -> None:
    reader = SectorClassifier(WordEmbedder(broken=True))
    assert reader.suggest("We were worried.").sector is Sector.EMOTIONAL
    assert reader.suggest("Employees get overtime.").sector is Sector.SEMANTIC


@given(st.text(max_size=200))
def test_the_same_text_gives_the_same_suggestion(text: str) -> None:
    assert READER.suggest(text) == SectorClassifier(WordEmbedder()).suggest(text)


def test_every_sector_has_words_sentences_and_a_title() -> None:
    assert set(table.sectors()) == set(Sector)
    for row in table.sectors().values():
        assert row.label
        assert row.means.endswith(".")
        assert len(row.words) >= 10
        assert len(row.sentences) >= 8


def test_no_sentence_and_no_word_speaks_for_two_sectors() -> None:
    for what in ("words", "sentences"):
        text = [each for row in table.sectors().values() for each in getattr(row, what)]
        assert len(text) == len(set(text))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows.pop("emotional"), r"\[emotional\] is missing"),
        (lambda rows: rows["emotional"].pop("words"), r"\[emotional\] words is missing"),
        (lambda rows: rows["emotional"].update(mood=1), "unknown key 'mood'"),
        (lambda rows: rows.update(angry={}), "unknown key 'angry'"),
    ],
)
def test_a_wrong_table_is_told_with_file_and_key(change, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {sector.value: {"label": "a", "means": "b.", "words": ["c"], "sentences": ["d"]} for sector in Sector}
    change(rows)
    monkeypatch.setattr(table, "table", lambda name: rows)
    table.sectors.cache_clear()
    try:
        with pytest.raises(BadTable, match=rf"core/knowledge/sectors\.toml.*{problem}"):
            table.sectors()
    finally:
        table.sectors.cache_clear()


NOTES = {
    Sector.SEMANTIC: (
        "Colorado's COMPS order sets a daily threshold of twelve hours.",
        "EC 1125 is the code for double time in the export.",
        "Nonexempt staff are paid hourly.",
        "Form 941 is filed quarterly.",
        "Retro pay is treated as supplemental wages.",
    ),
    Sector.PROCEDURAL: (
        "Select the project, then press Assess and review the red cells from the top.",
        "When a policy has no date, look up its version history before citing it.",
        "Start with the statute, then read the agency guidance, and only afterwards the vendor guide.",
        "Sort the register by effective date and delete duplicates.",
        "To test a rate, change it in a copy of the table.",
    ),
    Sector.EPISODIC: (
        "Maria called this morning to say the Boise office is closing.",
        "Our second delivery was rejected in September because two annexes were missing.",
        "The audit team visited the Reno site last week.",
        "During the demo someone asked about meal penalties.",
        "We received version 3 of the handbook from HR.",
    ),
    Sector.REFLECTIVE: (
        "In the end the missing rule was in an appendix nobody had opened; read appendices next time.",
        "Questions with two topics return worse evidence; better to split them.",
        "I assumed 'workweek' meant calendar week, which was a mistake.",
        "Vendor guides tend to lag one year behind the law.",
        "It seems the customer decides by e-mail and never updates the SOW.",
    ),
    Sector.EMOTIONAL: (
        "The payroll lead is nervous about the go-live date.",
        "Everybody is tired of this exception.",
        "HR was very proud of the new handbook.",
        "The client loses trust whenever a number changes.",
        "Tensions between finance and HR make this topic painful.",
    ),
}
"""Written after the table, by its author: what a suggestion is right about, not what it was made from."""


@pytest.mark.slow
def test_nine_of_ten_notes_get_the_sector_a_person_would_give(embedder: Embedder) -> None:
    reader = SectorClassifier(embedder)
    right = [reader.suggest(text).sector is sector for sector, texts in NOTES.items() for text in texts]
    assert sum(right) / len(right) >= 0.9
