"""An embedding model that knows English only, given texts of other languages as English words
(core/knowledge/english_reading.py)."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from core.domain.documents import Span
from core.knowledge.english_reading import in_english
from core.ports.stores import Embedder, Vectors

__all__ = ["TranslatingEmbedder"]


class TranslatingEmbedder:
    """core.ports.stores.Embedder over another one. Texts in English are given to it unchanged."""

    def __init__(self, model: Embedder) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """Of the model."""
        return self.model.name

    @property
    def notice(self) -> str:
        """The model's notice for the user."""
        return str(getattr(self.model, "notice", ""))

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self.model.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts, in their order."""
        return self.model.embed([in_english([text])[0] for text in texts])

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        """Vectors for texts, and for the parts of each."""
        read = [_read(text, spans) for text, spans in zip(texts, parts, strict=True)]
        return self.model.embed_parts([text for text, _ in read], [spans for _, spans in read])


def _read(text: str, spans: Sequence[Span]) -> tuple[str, Sequence[Span]]:
    """A text in English, and where its parts are then.

    >>> _read("Titel. Die Frist endet.", [Span(7, 23)])
    ('title. the deadline end.', [Span(start=7, end=24)])
    """
    cuts = sorted({0, len(text), *(at for span in spans for at in (span.start, span.end))})
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    english = in_english(pieces)
    if english is pieces:
        return text, spans
    moved = dict(zip(cuts, accumulate(map(len, english), initial=0), strict=True))
    return "".join(english), [Span(moved[span.start], moved[span.end]) for span in spans]
