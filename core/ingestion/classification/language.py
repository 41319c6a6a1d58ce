"""Detects the language of a text."""

from math import exp

from core.domain.documents import Evidence, EvidenceSource, Label
from core.ingestion.classification.sample import DocumentSample

__all__ = ["language_label"]

_LEAST_LETTERS = 24  # Letters; shorter texts get no language. Chosen by hand, not fitted.
_READ_CHARACTERS = 3_000  # Chosen by hand, not fitted.
_CODE_LETTERS = 2  # of ISO 639-1
_NO_LANGUAGE = "zxx"  # ISO 639-2: no linguistic content


def language_label(reading: DocumentSample) -> Label:
    """ISO 639-1 code ("en", "de"), detected by py3langid on the first 3,000 characters.

    Other three-letter codes than "no language" do not count: they are near relatives of larger languages, and names of
    places and months are known by ISO 639-1.
    """
    text = reading.body[:_READ_CHARACTERS]
    if sum(char.isalpha() for char in text) < _LEAST_LETTERS:
        return Label(reason="Too little text to tell the language.")
    from py3langid import rank

    found = rank(text)
    if found[0][0] == _NO_LANGUAGE:
        return Label(reason="Codes and numbers, too few words to tell the language.")
    ranked = [(code, score) for code, score in found if len(code) == _CODE_LETTERS]
    (first, best), (second, next_best) = ranked[0], ranked[1]
    probability = 1.0 / (1.0 + exp(max(-50.0, float(next_best) - float(best))))
    quote = reading.segments[0] if reading.segments else text.strip()[:80]
    evidence = Evidence(quote, EvidenceSource.TEXT, first, 1.0, "letters and words as in this language")
    return Label(str(first), probability, str(second), 1.0 - probability, (evidence,))
