"""How much two texts have in common: the laws a comparison keeps, whatever the texts."""

import random
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState
from core.library.duplicates.comparer import _blocks, group_pairs
from core.library.duplicates.minhash import (
    NEAR_DUPLICATE,
    buckets,
    estimate_jaccard,
    minima,
    percent,
    shared_text,
    triples,
)
from core.library.versions.store import DuplicatePair

WORDS = [f"word{number}" for number in range(400)]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=120).map(" ".join)
any_text = st.text(max_size=200)


@given(any_text)
def test_a_text_has_everything_in_common_with_itself(text: str) -> None:
    own = triples([text])
    assume(len(own))
    assert (shared_text(own, own).jaccard, shared_text(own, own).most) == (1.0, 1.0)
    assert estimate_jaccard(minima(own), minima(triples([text]))) == 1.0
    assert buckets(minima(own)) == buckets(minima(triples([text])))


@given(texts, texts)
def test_the_order_of_two_texts_makes_no_difference(first: str, second: str) -> None:
    one, other = triples([first]), triples([second])
    there, back = shared_text(one, other), shared_text(other, one)
    assert there.jaccard == back.jaccard
    assert (there.first_in_second, there.second_in_first) == (back.second_in_first, back.first_in_second)
    assert estimate_jaccard(minima(one), minima(other)) == estimate_jaccard(minima(other), minima(one))


@given(texts, texts)
def test_shares_are_shares(first: str, second: str) -> None:
    common = shared_text(triples([first]), triples([second]))
    assert 0.0 <= common.jaccard <= min(common.first_in_second, common.second_in_first) <= common.most <= 1.0


@given(st.lists(st.sampled_from(WORDS), min_size=60, max_size=200, unique=True), st.data())
def test_one_changed_word_keeps_texts_near_duplicates(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:place], "another", *words[place + 1 :]]
    before, after = triples([" ".join(words)]), triples([" ".join(changed)])
    assert NEAR_DUPLICATE <= shared_text(before, after).jaccard < 1.0
    assert set(buckets(minima(before))) & set(buckets(minima(after)))


def test_different_texts_have_next_to_nothing_in_common() -> None:
    chance = random.Random(7)
    for _ in range(50):
        first, second = (" ".join(chance.choices(WORDS, k=200)) for _ in range(2))
        assert shared_text(triples([first]), triples([second])).jaccard < 0.01
        assert estimate_jaccard(minima(triples([first])), minima(triples([second]))) < 0.2


@given(texts, st.integers(0, 120))
def test_how_a_text_is_cut_into_sentences_makes_no_difference(text: str, at: int) -> None:
    words = text.split()
    assert np.array_equal(triples([text]), triples([" ".join(words[:at]), " ".join(words[at:])]))


def test_the_estimate_comes_near_the_exact_share() -> None:
    chance = random.Random(3)
    for stored in (50, 100, 150, 190):
        first = chance.sample(WORDS, 200)
        second = first[:stored] + chance.sample([word for word in WORDS if word not in first], 200 - stored)
        one, other = triples([" ".join(first)]), triples([" ".join(second)])
        assert abs(estimate_jaccard(minima(one), minima(other)) - shared_text(one, other).jaccard) < 0.15


def test_capitals_and_punctuation_do_not_count() -> None:
    assert np.array_equal(triples(["Pay is due, on FRIDAY."]), triples(["pay is due on friday"]))


def test_texts_without_blanks_are_compared_letter_by_letter() -> None:
    before = "残業は、事前に上司の承認を得なければならない。超過勤務手当は二十五パーセント増しとする。"
    after = before.replace("二十五", "三十五")
    assert 0.7 < shared_text(triples([before]), triples([after])).jaccard < 1.0


def test_a_text_without_words_is_like_nothing() -> None:
    empty = triples(["… – !"])
    assert len(empty) == 0 and shared_text(empty, empty).jaccard == 0.0


def test_signatures_stay_what_they_are() -> None:
    """They are stored: a signature of another version of the product must still be comparable."""
    own = minima(triples(["An employer shall pay overtime at one and one-half times the regular rate."]))
    assert own[:4].tolist() == STORED and len(buckets(own)) == 32


STORED = [840307597, 717228198, 261079609, 350228352]


@pytest.mark.parametrize(("share", "expected"), [(1.0, "100%"), (0.99999, "99%"), (0.94, "94%"), (0.0, "0%")])
def test_only_the_same_is_called_100_per_cent(share: float, expected: str) -> None:
    assert percent(share) == expected


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1), st.randoms())
def test_groups_do_not_depend_on_the_order_of_pairs(drawn: list[tuple[int, int]], chance: random.Random) -> None:
    pairs = [
        DuplicatePair(low, high, 0.9, 1, 1) for low, high in {(min(each), max(each)) for each in drawn} if low != high
    ]
    mixed = list(pairs)
    chance.shuffle(mixed)
    groups = group_pairs(pairs)
    assert groups == group_pairs(mixed)
    members = [each for group in groups for each in group.ids]
    assert sorted(members) == sorted({each for pair in pairs for each in (pair.first, pair.second)})
    for pair in pairs:
        assert any({pair.first, pair.second} <= set(group.ids) for group in groups)


@given(st.lists(st.integers(0, 3_000), max_size=12))
def test_candidates_are_read_in_their_order_and_no_more_at_once_than_memory_holds(sizes: list[int]) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    documents = [
        Document(number, f"{number}.md", "", 1, DocumentState.READY, at, passages=size)
        for number, size in enumerate(sizes)
    ]
    blocks = list(_blocks(documents))
    assert [each for block in blocks for each in block] == documents
    assert all(len(block) == 1 or sum(each.passages for each in block) <= 1_000 for block in blocks)
