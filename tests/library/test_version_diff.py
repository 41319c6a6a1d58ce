"""What changed between two texts, sentence by sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Passage, Span
from core.library.versions.diff import (
    ChangeKind,
    SentenceChange,
    VersionSentence,
    compared,
    folded,
    retained_share,
    sentences_of,
)

SENTENCES = [
    "Overtime must be approved in writing.",
    "Every hour is recorded on the day it is worked.",
    "The policy is reviewed every year.",
    "Who violates it is warned.",
    "Travel is booked by the office.",
    "Receipts are kept for seven years.",
]
texts = st.lists(st.sampled_from([*SENTENCES, "Yes", "No"]), max_size=25)


def sentences(*texts: str) -> tuple[VersionSentence, ...]:
    """Sentences, each at its place."""
    return tuple(VersionSentence(text, folded(text), 1, place, place + 1) for place, text in enumerate(texts))


def kinds(changes: tuple[SentenceChange, ...]) -> list[str]:
    """What happened, in order."""
    return [change.kind.value for change in changes]


@given(texts)
def test_a_text_does_not_differ_from_itself(text: list[str]) -> None:
    found = compared(sentences(*text), sentences(*text))
    assert (found.changes, found.same, found.tail) == ((), len(text), len(text))


@given(texts, texts)
def test_every_sentence_of_both_is_accounted_for(before: list[str], after: list[str]) -> None:
    found = compared(sentences(*before), sentences(*after))
    old = [change.before.start for change in found.changes if change.before is not None]
    new = [change.after.start for change in found.changes if change.after is not None]
    assert len(old) == len(set(old)) == len(before) - found.same
    assert len(new) == len(set(new)) == len(after) - found.same and new == sorted(new)
    assert sum(change.skipped for change in found.changes) + found.tail == found.same
    assert (found.before, found.after) == (len(before), len(after))


@given(texts, texts)
def test_what_is_added_one_way_is_removed_the_other(before: list[str], after: list[str]) -> None:
    there, back = compared(sentences(*before), sentences(*after)), compared(sentences(*after), sentences(*before))
    assert there.before - there.same >= there.count(ChangeKind.REMOVED)
    assert (there.before, there.after) == (back.after, back.before)


def test_a_reworded_sentence_shows_its_words() -> None:
    found = compared(
        sentences(SENTENCES[0], "Pay is due on Friday.", SENTENCES[1]),
        sentences(SENTENCES[0], "Pay is due on the last Monday.", SENTENCES[1]),
    )
    (change,) = found.changes
    assert (change.kind, change.skipped, change.lead) == (ChangeKind.CHANGED, 1, SENTENCES[0])
    assert [(part.kind.value, part.text) for part in change.parts] == [
        ("same", "Pay is due on "),
        ("removed", "Friday"),
        ("added", "the last Monday"),
        ("same", "."),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [("$2,000", "$2,500"), ("1.5", "1.75"), ("40%", "45%"), ("12:30", "13:30"), ("€1.000,00", "€1.000,50")],
)
def test_a_changed_number_is_one_change(before: str, after: str) -> None:
    (change,) = compared(
        sentences(f"The amount is {before} a month."), sentences(f"The amount is {after} a month.")
    ).changes
    assert [(part.kind.value, part.text) for part in change.parts if part.kind is not ChangeKind.SAME] == [
        ("removed", before),
        ("added", after),
    ]


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_words_of_a_change_spell_both_sentences(before: str, after: str) -> None:
    from core.library.versions.diff import _parts

    parts = _parts(before, after)
    assert "".join(part.text for part in parts if part.kind is not ChangeKind.REMOVED) == after
    assert folded("".join(part.text for part in parts if part.kind is not ChangeKind.ADDED)) == folded(before)


def test_new_gone_and_moved_sentences_are_told_apart() -> None:
    before = sentences(SENTENCES[0], SENTENCES[1], SENTENCES[2], SENTENCES[3])
    after = sentences(SENTENCES[2], SENTENCES[0], SENTENCES[1], SENTENCES[5])
    found = compared(before, after)
    assert kinds(found.changes) == ["moved", "removed", "added"]
    assert found.changes[0].before == before[2] and found.changes[0].after == after[0]


def test_capitals_and_blanks_are_no_change() -> None:
    assert compared(sentences("Pay  is due."), sentences("pay is\ndue.")).changes == ()


def test_long_texts_with_few_changes_and_without_any_in_common() -> None:
    before = [
        f"Clause {number}: the supplier delivers item {number * 7} on day {number % 31}." for number in range(20_000)
    ]
    after = [text.replace("delivers", "ships") if place % 500 == 0 else text for place, text in enumerate(before)]
    found = compared(sentences(*before), sentences(*after))
    assert (found.count(ChangeKind.CHANGED), found.same) == (40, 19_960)
    other = compared(sentences(*before), sentences(*(f"zz {number}" for number in range(20_000))))
    assert other.same == 0 and len(other.changes) == 40_000


def test_sentences_that_passages_share_are_given_once() -> None:
    page = "One is here. Two is there. Three is gone."
    spans = (Span(0, 12), Span(13, 26), Span(27, 41))
    first = Passage(page[0:26], 1, 0, 26, spans[:2], id=1)
    second = Passage(page[13:41], 1, 13, 41, (Span(0, 13), Span(14, 28)), id=2)
    found = sentences_of([first, second])
    assert [sentence.text for sentence in found] == ["One is here.", "Two is there.", "Three is gone."]
    assert [page[each.start : each.start + len(each.text)] for each in found] == [each.text for each in found]
    assert retained_share(found, found[:2]) == 2 / 3 and retained_share(found[:0], found) == 0.0
