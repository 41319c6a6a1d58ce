"""What a sentence means where it stands."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.inference.embedder import OpenVinoEmbedder, StockEmbedder, model_folder
from adapters.inference.translating_embedder import TranslatingEmbedder
from core.domain.documents import Passage, Span
from core.domain.int8_vectors import cosines, packed
from core.ingestion.sentence_vectors import embed_passages, part_vectors
from core.ports.stores import Embedder
from core.text.sentences import sentences

TEXT = "Deposits are due monthly. Semiweekly filers deposit sooner. Ask the payroll office."


def passage(text: str, context: str = "") -> Passage:
    """A passage with its sentences."""
    return Passage(text, 1, 0, len(text), tuple(sentences(text)), context=context)


def meanings(embedder: Embedder, *arguments: Passage) -> Sequence[np.ndarray]:
    """The vectors of each passage's sentences."""
    passages = embed_passages(embedder, arguments).meanings
    return [np.frombuffer(each, dtype=np.int8).reshape(-1, embedder.dimensions) for each in passages]


@pytest.mark.slow
def test_the_passages_vectors_are_what_embedding_gives(embedder: Embedder) -> None:
    passages = [passage(TEXT, "Payroll manual"), passage("One line")]
    found = embed_passages(embedder, passages)
    vectors, stored = found.vectors, found.meanings
    alone = embedder.embed([f"Payroll manual\n{TEXT}", "One line"])
    np.testing.assert_allclose((vectors * alone).sum(axis=1), 1.0, atol=1e-3)
    assert [len(each) for each in stored] == [3 * 384, 384]


@pytest.mark.slow
def test_a_question_is_nearest_to_the_sentence_that_answers_it(embedder: Embedder) -> None:
    (found,) = meanings(embedder, passage(TEXT))
    vectors = embedder.embed(["Whom do I ask about payroll?", "When are deposits due?"])
    assert cosines(found, vectors).argmax(axis=0).tolist() == [2, 0]


@pytest.mark.slow
def test_what_the_model_does_not_read_any_more_is_measured_alone(embedder: Embedder) -> None:
    long = " ".join(f"Line {number} says nothing that matters to anybody." for number in range(60))
    (found,) = meanings(embedder, passage(f"{long} Bicycles are repaired on Mondays."))
    vectors = embedder.embed(["When are bicycles repaired?"])
    assert int(cosines(found, vectors)[:, 0].argmax()) == len(found) - 1


@pytest.mark.slow
def test_sampled_sentences_are_read_with_their_passage_and_change_nothing_of_it(embedder: Embedder) -> None:
    passages = [passage("Deposits are due: monthly. Pay them.", "Payroll manual"), passage("One line")]
    segments = ("Pay them.", "monthly. Pay them.", "It stands in no passage, as headers do.")
    found, before = embed_passages(embedder, passages, segments=segments), embed_passages(embedder, passages)
    assert found.meanings == before.meanings
    np.testing.assert_array_equal(found.vectors, before.vectors)
    text, starts = "Payroll manual\nDeposits are due: monthly. Pay them.", (42, 33)
    _, [inside] = embedder.embed_parts([text], [[Span(start, len(text)) for start in starts]])
    assert list(found.segments) == ["Pay them.", "monthly. Pay them."]
    np.testing.assert_allclose(list(found.segments.values()), inside, atol=1e-6)


@pytest.mark.slow
def test_both_ways_to_serve_the_model_agree(embedder: Embedder) -> None:
    assert isinstance(embedder, TranslatingEmbedder) and isinstance(embedder.model, OpenVinoEmbedder)
    stock = TranslatingEmbedder(StockEmbedder(model_folder("default"), "stock", 2))
    passages = [passage(TEXT, "Payroll manual"), passage("Überstunden werden bezahlt. Das gilt immer."), passage("W-2")]
    for ours, theirs in zip(meanings(embedder, *passages), meanings(stock, *passages), strict=True):
        wide = theirs.astype(np.float32)
        unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
        assert np.diag(cosines(ours, unit)).min() > 0.995


def test_a_part_is_the_mean_of_its_tokens_and_one_without_any_is_nothing() -> None:
    tokens = np.array([[9, 9], [1, 0], [0, 1], [0, 1], [9, 9]], dtype=np.float32)
    offsets = [(0, 0), (0, 3), (4, 7), (8, 9), (0, 0)]
    found = part_vectors(tokens, offsets, [Span(0, 3), Span(0, 7), Span(4, 9), Span(20, 30)])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found, [[1, 0], [half, half], [0, 1], [0, 0]], atol=1e-6)


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8), min_size=1, max_size=6))
def test_a_byte_a_number_keeps_the_direction(rows: list[list[float]]) -> None:
    vectors = np.array(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    sound = lengths[:, 0] > 1e-3
    units = (vectors / np.where(lengths == 0, 1, lengths))[sound]
    same = np.diag(cosines(packed(vectors)[sound], units))
    assert (same > 0.999).all()
