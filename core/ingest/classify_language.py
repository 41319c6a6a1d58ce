"""The language of a text."""

from math import exp

from core.documents import Evidence, EvidenceSource, Label
from core.ingest.classify_reading import Reading

__all__ = ["is_native", "language_label"]

_LEAST_LETTERS = 24
_READ_CHARACTERS = 3_000
_SURE = 0.9
_NATIVE = "en"


def language_label(reading: Reading) -> Label:
    """ISO 639-1 code ("en", "de"), by py3langid's character model over the first 3,000 characters."""
    text = reading.body[:_READ_CHARACTERS]
    if sum(char.isalpha() for char in text) < _LEAST_LETTERS:
        return Label(reason="Too little text to tell the language.")
    from py3langid import rank

    ranked = rank(text)
    (first, best), (second, next_best) = ranked[0], ranked[1]
    probability = 1.0 / (1.0 + exp(max(-50.0, float(next_best) - float(best))))
    quote = reading.segments[0] if reading.segments else text.strip()[:80]
    evidence = Evidence(quote, EvidenceSource.TEXT, first, 1.0, "letters and words as in this language")
    return Label(str(first), probability, str(second), 1.0 - probability, (evidence,))


def is_native(language: Label) -> bool:
    """Whether the embedding and the English signs may be trusted: false only for a text surely in another language."""
    return language.value in (None, _NATIVE) or language.probability < _SURE
