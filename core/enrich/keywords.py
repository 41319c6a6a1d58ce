"""Keywords: phrases that stand out in the text and mean what the whole document means, each unlike the others.

The way of KeyBERT (Grootendorst 2020) – candidates embedded, ranked by their nearness to the document, chosen by
maximal marginal relevance – with the embedding model that is there, and with candidates that are names of things.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.enrich.phrases import INSIDE, Phrase, phrases
from core.enrich.reading import Reading
from core.enrich.values import Keywords
from core.naming.capitalised import well_known
from core.ports import Vectors

__all__ = ["MOST_KEYWORDS", "find_keywords"]

MOST_KEYWORDS, _LEAST_KEYWORDS = 10, 5
_CANDIDATES = 60
_DIVERSITY = 0.35
_SAME = 0.82
_FAINT = 0.15
_LONGEST_ABBREVIATION = 6
_MOST_ROWS = 200
_LONG_TEXT_SENTENCES = 12


def find_keywords(reading: Reading, embed: Callable[[Sequence[str]], Vectors]) -> Keywords:
    """At most ten keywords, the most telling first; none for a text too short or in a language not known.

    embed: texts to vectors, as core.ports.Embedder; asked once, for at most 60 short texts. Raises ModelUnavailable.
    """
    if reading.columns and not reading.sentences:
        return Keywords(_columns(reading.columns))
    said = [each.shown for each in reading.sentences] + [*reading.rows[:_MOST_ROWS]]
    found = phrases(said, [each.text for each in reading.headings], reading.title, reading.language)
    least = 2 if len(said) >= _LONG_TEXT_SENTENCES else 1
    candidates = [each for each in found if each.times >= least or each.titled][:_CANDIDATES]
    if not candidates:
        return Keywords()
    forms = [written_form(each) for each in candidates]
    weights = np.sqrt(np.array([each.weight for each in candidates]) / candidates[0].weight)
    if not reading.english:
        return Keywords(_chosen(candidates, forms, weights, np.eye(len(forms), dtype=np.float32)))
    vectors = embed([*forms, reading.title])
    about = _middle(reading, vectors[-1])
    nearness = np.clip(vectors[:-1] @ about, 0.0, 1.0)
    return Keywords(_chosen(candidates, forms, weights * nearness, vectors[:-1]))


def _middle(reading: Reading, title: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the document is about, length 1: the mean of its sentences and, a third, its title."""
    if not len(reading.vectors) or reading.vectors.shape[1] != len(title):
        return title
    mean = reading.vectors.mean(axis=0)
    both = mean / max(float(np.linalg.norm(mean)), 1e-9) + 0.5 * title
    unit: NDArray[np.float32] = both / max(float(np.linalg.norm(both)), 1e-9)
    return unit


def _chosen(
    candidates: Sequence[Phrase], forms: Sequence[str], scores: NDArray[np.float64], vectors: Vectors
) -> tuple[str, ...]:
    """Maximal marginal relevance (Carbonell & Goldstein 1998), without phrases that say a chosen one again."""
    likeness = vectors @ vectors.T
    scores = scores / max(float(scores.max()), 1e-9)
    chosen: list[int] = []
    left = list(range(len(forms)))
    while left and len(chosen) < MOST_KEYWORDS:
        gain = [scores[i] - _DIVERSITY * max((likeness[i, j] for j in chosen), default=0.0) for i in left]
        best = left[int(np.argmax(gain))]
        left.remove(best)
        if scores[best] < _FAINT and len(chosen) >= _LEAST_KEYWORDS:
            break
        if not any(_again(candidates[best], candidates[j]) or likeness[best, j] > _SAME for j in chosen):
            chosen.append(best)
    return tuple(forms[i] for i in sorted(chosen, key=lambda i: -scores[i]))


def _again(one: Phrase, other: Phrase) -> bool:
    """Whether two phrases share their words."""
    shared = len(set(one.stems) & set(other.stems))
    return shared == min(len(one.stems), len(other.stems)) or 2 * shared > max(len(one.stems), len(other.stems))


def written_form(phrase: Phrase) -> str:
    """How a phrase is best read: as it is written most often inside sentences; capitals of a heading are made small,
    those of names and abbreviations stay.

    >>> from collections import Counter
    >>> written_form(Phrase(("w-2", "form"), forms=Counter({"W-2 Forms": 3, "W-2 forms": 4000})))
    'W-2 forms'
    >>> written_form(Phrase(("overtim", "pay"), forms=Counter({"OVERTIME PAY": 2})))
    'overtime pay'
    """
    form, times = min(phrase.forms.items(), key=lambda item: (-item[1], item[0]))
    known = well_known(form)
    if known is not None and known.name.casefold() == form.casefold():
        return known.name
    same = (each for each in sorted(phrase.forms) if each.casefold() == form.casefold())
    told = form if _abbreviates(form) else next(filter(_abbreviates, same), form)
    if told != form or (times >= INSIDE and not form.isupper()):
        return told
    return " ".join(_small(word, form, phrase.names) for word in form.split())


def _abbreviates(form: str) -> bool:
    return not form.isupper() and any(word.isupper() and len(word) > 1 for word in form.split())


def _small(word: str, form: str, names: frozenset[str]) -> str:
    """A word of a heading in small letters, unless it is a name, an abbreviation or holds capitals inside."""
    if any(char.isdigit() for char in word):
        return word
    if word.isupper() and len(word) > 1:
        shouted = " " in form and form.isupper()
        kept = len(word) <= _LONGEST_ABBREVIATION and not shouted and word.casefold() in names
        return word if kept else word.lower()
    inner = word[1:]
    return word if inner != inner.lower() or word.casefold() in names else word.lower()


def _columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table as keywords."""
    told = [" ".join(each.replace("_", " ").split()) for each in columns]
    kept = {each.casefold(): each for each in reversed(told) if any(char.isalpha() for char in each)}
    return tuple(each for each in dict.fromkeys(kept.get(each.casefold(), "") for each in told) if each)[:MOST_KEYWORDS]
