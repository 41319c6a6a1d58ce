"""Near-identical texts, told as by their definition: shingles of four words, compared two by two."""

from hypothesis import given
from hypothesis import strategies as st

from core.search.ranking.score import NEAR_IDENTICAL, near_duplicates


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    statement = text.lower().split()
    return frozenset(tuple(statement[at : at + 4]) for at in range(max(1, len(statement) - 3)))


def resemblance(one: str, other: str) -> float:
    own, others = shingles(one), shingles(other)
    return len(own & others) / len(own | others)


@st.composite
def libraries(draw: st.DrawFn) -> list[str]:
    """Texts of which some are others with a few words changed; some are short, some empty."""
    word = st.sampled_from(["pay", "Pay", "due", "on", "time", "late", "fee", "§"])
    bases = draw(st.lists(st.lists(word, max_size=45), min_size=1, max_size=3))
    texts = []
    for _ in range(draw(st.integers(0, 8))):
        words = list(draw(st.sampled_from(bases)))
        for _ in range(draw(st.integers(0, 2)) if words else 0):
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(["fee", "new", "x"]))
        texts.append("  ".join(words))
    return texts


@given(libraries())
def test_each_pair_is_told_as_by_the_definition(texts: list[str]) -> None:
    expected = tuple(
        frozenset(n for n in range(place) if resemblance(text, texts[n]) >= NEAR_IDENTICAL)
        for place, text in enumerate(texts)
    )
    assert near_duplicates(texts) == expected


def test_a_word_changed_in_a_long_text_is_near_identical_and_in_a_short_one_is_not() -> None:
    long = " ".join(f"w{number}" for number in range(60))
    assert near_duplicates([long, long.replace("w30", "other"), "one two three", "one two four"]) == (
        frozenset(),
        frozenset({0}),
        frozenset(),
        frozenset(),
    )
