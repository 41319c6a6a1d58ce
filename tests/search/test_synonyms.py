"""Words that mean nearly the same, and what they are worth."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.errors import ModelUnavailable
from core.domain.int8_vectors import packed, rough_cosines, unpacked
from core.domain.queries import SearchRequest
from core.domain.results import NearWord
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import Vectors
from core.search.pipeline import SearchPipeline
from core.search.query.expansion import ContainedWords, SynonymFinder, nearness_of
from core.text.tokenize import stem
from tests.fakes import FakeWordVectorStore
from tests.search.library import NOW, Library, WordEmbedder

ALIKE = {"vendor": 0, "supplier": 0, "vendors": 0, "biggest": 1, "largest": 1, "overtime": 2}


class Thesaurus:
    """An embedder that knows which words mean the same; suppliers are a little apart from vendors."""

    name, dimensions = "thesaurus", 4

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        vectors = np.zeros((len(texts), 4), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, ALIKE.get(text, 3)] = 1
            if text == "supplier":
                vectors[row] = [0.8, 0, 0.6, 0]
        return vectors


def passage(text: str) -> Passage:
    """A passage without more."""
    return Passage(text, 1, 0, len(text), ())


@pytest.fixture
def known() -> SynonymFinder:
    """The near words of a library that speaks of suppliers."""
    near = SynonymFinder(FakeWordVectorStore(), Thesaurus())
    near.learn([passage("Every supplier with the largest order works overtime.")])
    return near


def test_a_word_is_learnt_once() -> None:
    embedder = Thesaurus()
    near = SynonymFinder(FakeWordVectorStore(), embedder)
    assert near.learn([passage("The vendor pays vendors."), passage("A vendor in 2024.")]) == 2
    assert near.learn([passage("The vendor pays.")]) == 0
    assert sorted(embedder.embedded) == ["pays", "vendor"]


def test_a_question_finds_the_words_of_the_library_that_mean_the_same(known: SynonymFinder) -> None:
    found = known.near(["vendor", "biggest", "overtime"])
    (supplier,) = found["vendor"]
    assert (supplier.word, round(supplier.cosine, 2), round(supplier.closeness, 2)) == ("supplier", 0.8, 0.67)
    assert [each.word for each in found["biggest"]] == ["largest"]
    assert found["overtime"][0].word == "supplier"  # never itself
    assert known.near(["vendor"]) == {"vendor": (supplier,)}


def test_a_new_word_is_known_at_once(known: SynonymFinder) -> None:
    assert all(each.word != "vendor" for each in known.near(["vendors", "supplier"])["supplier"])
    known.learn([passage("vendor")])
    assert known.near(["supplier"])["supplier"][0].word == "vendor"


def test_numbers_and_codes_have_no_near_words(known: SynonymFinder) -> None:
    known.learn([passage("Form and wage.")])  # whose vectors equal those of any unknown text
    assert known.near(["other", "2024", "W-2"]) == {"other": known.near(["other"])["other"], "2024": (), "W-2": ()}
    assert known.near(["other"])["other"]


class Spread:
    """An embedder whose vectors lie around one direction, so that a term has many near words."""

    name, dimensions = "spread", 24

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.stack([np.random.default_rng(list(text.encode())).normal(size=24) for text in texts])
        vectors[:, 0] += 6
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype(np.float32)


def test_near_words_do_not_depend_on_the_error_of_rough_cosines() -> None:
    words = [f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in "klmnp"]
    exact, rough = FakeWordVectorStore(), FakeWordVectorStore()
    chance = np.random.default_rng(1)

    def off(codes: NDArray[np.int8], scales: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        found = rough_cosines(codes, scales, vector)
        return found + chance.uniform(-0.001, 0.001, len(found)).astype(np.float32)

    one, other = SynonymFinder(exact, Spread()), SynonymFinder(rough, Spread(), off)
    for each in (one, other):
        each.learn([passage(" ".join(words))])
    expected = {}
    vectors = unpacked(packed(Spread().embed(words)))
    for term, vector in zip(words, vectors, strict=True):
        cosines = {each: float(own @ vector) for each, own in zip(words, vectors, strict=True) if each != term}
        expected[term] = sorted(cosines, key=cosines.__getitem__, reverse=True)[:16]
        assert cosines[expected[term][-1]] > 0.4
    for near in (one.near(words), other.near(words)):
        assert {term: [each.word for each in found] for term, found in near.items()} == expected


def test_an_empty_library_knows_none() -> None:
    assert SynonymFinder(FakeWordVectorStore(), Thesaurus()).near(["vendor"]) == {"vendor": ()}


near_words = st.builds(
    lambda query, word, closeness: NearWord(query, word, word, 0.4 + 0.6 * closeness, closeness),
    st.sampled_from(("a", "b")),
    st.sampled_from(("c", "d", "e")),
    st.floats(0.01, 1),
)


def nearness(
    rarity: dict[str, float], near: dict[str, list[NearWord]], stored: frozenset[str]
) -> tuple[float, tuple[NearWord, ...]]:
    """The share of one text with these words, beside one without any, and the near words in it."""
    words = ContainedWords(2)
    words.add(sorted(stored), np.array([[False] * len(stored), [True] * len(stored)]))
    measured = nearness_of(rarity, near, words)
    assert measured.shares[0] == 0 and measured.words(0) == ()
    return float(measured.shares[1]), measured.words(1)


@given(
    st.dictionaries(st.sampled_from(("a", "b", "f")), st.floats(0, 9)),
    st.lists(near_words, max_size=6),
    st.frozensets(st.sampled_from(("a", "b", "c", "d", "e", "f"))),
)
def test_nearness_is_a_share_and_never_less_than_the_words_held(
    rarity: dict[str, float], words: list[NearWord], stored: frozenset[str]
) -> None:
    near = {term: sorted((w for w in words if w.query_word == term), key=lambda w: -w.closeness) for term in rarity}
    share, by = nearness(rarity, near, stored)
    total = sum(rarity.values())
    own = sum(value for term, value in rarity.items() if stem(term) in stored) / total if total else 0.0
    assert min(own, 1.0) - 1e-9 <= share <= 1
    assert {each.query_word for each in by} <= {term for term in rarity if stem(term) not in stored}
    more, _ = nearness(rarity, near, stored | {"c", "d", "e"})
    assert more >= share - 1e-9


def query(library: Library, near: SynonymFinder, question: str) -> list[tuple[str, float | None, tuple[NearWord, ...]]]:
    """Name, nearness and near words of each candidate."""
    searcher = SearchPipeline(
        library.catalogue,
        library.vectors,
        library.sparse,
        library.embedder,
        near=near,
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
    )
    result = searcher.search(SearchRequest(question), NOW)
    reported = [(c.passage.document_name, c.signals.synonym_match, c.signals.near_words) for c in result.candidates]
    return sorted(reported, key=lambda item: -(item[1] or 0.0))


def test_a_search_says_by_which_word_a_passage_nearly_holds_the_question(known: SynonymFinder) -> None:
    library = Library()
    library.add("terms.md", "Each supplier sends one invoice.")
    library.add("lunch.md", "Lunch is at noon for the office.")
    (name, share, by), *_ = query(library, known, "vendor invoice")
    assert name == "terms.md"
    assert share is not None and 0.5 < share < 1
    assert [(each.query_word, each.word) for each in by] == [("vendor", "supplier")]


def test_without_its_model_a_search_does_without_near_words(known: SynonymFinder) -> None:
    class Gone(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise ModelUnavailable("The weights are gone.")

    library = Library()
    library.add("terms.md", "Each supplier sends one invoice.")
    store = FakeWordVectorStore()
    SynonymFinder(store, Thesaurus()).learn([replace(passage("supplier"))])
    assert query(library, SynonymFinder(store, Gone()), "vendor invoice")[0][1] is None
