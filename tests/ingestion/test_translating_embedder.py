"""The embedding model is given texts of other languages in English, and their parts where they are then."""

from collections.abc import Sequence

import numpy as np

from adapters.inference.translating_embedder import TranslatingEmbedder
from core.domain.documents import Span
from core.knowledge.english_reading import in_english
from core.ports.stores import Vectors

GERMAN = "Titel des Vertrags\nDie Frist beträgt zwei Wochen. Der Vertrag endet im Mai."


class Recorder:
    """An embedder that remembers what it was given."""

    name, dimensions, notice = "recorder", 2, "slow"

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.parts: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return np.ones((len(texts), 2), dtype=np.float32)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        self.parts += [[part.of(text) for part in own] for text, own in zip(texts, parts, strict=True)]
        return self.embed(texts), [np.ones((len(own), 2), dtype=np.float32) for own in parts]


def test_each_text_is_read_in_its_own_language() -> None:
    model = Recorder()
    assert TranslatingEmbedder(model).embed([GERMAN, "The deadline is two weeks."]).shape == (2, 2)
    german, english = model.texts
    assert "deadline" in german and english == "The deadline is two weeks."


def test_parts_are_the_same_sentences_also_where_they_overlap() -> None:
    sentences = (
        "Die Frist beträgt zwei Wochen.",
        "Der Vertrag endet im Mai.",
        "zwei Wochen. Der Vertrag endet im Mai.",
    )
    spans = [Span(start := GERMAN.index(each), start + len(each)) for each in sentences]
    model = Recorder()
    _, [vectors] = TranslatingEmbedder(model).embed_parts([GERMAN], [spans])
    [parts] = model.parts
    assert vectors.shape == (3, 2)
    assert parts[0].startswith("the deadline") and parts[1].startswith("the contract") and parts[2].endswith(parts[1])
    assert "".join(in_english([GERMAN])) == model.texts[0]


def test_parts_of_english_texts_stay() -> None:
    model, text = Recorder(), "The deadline is two weeks. It ends in May."
    TranslatingEmbedder(model).embed_parts([text, text], [[Span(0, 26)], []])
    assert (model.texts, model.parts) == ([text, text], [["The deadline is two weeks."], []])


def test_it_speaks_for_its_model() -> None:
    embedder = TranslatingEmbedder(Recorder())
    assert (embedder.name, embedder.dimensions, embedder.notice) == ("recorder", 2, "slow")
