"""Keyword extraction: phrases prominent in the text, close in meaning to the whole document, and distinct."""
# Over 300 lines: candidate phrases serve the choice of keywords alone.

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log1p

import numpy as np
from numpy.typing import NDArray

from core.knowledge.enrichment import keyword_words
from core.knowledge.languages import language_of
from core.library.enrichment.document_reader import DocumentText
from core.library.enrichment.values import MOST_KEYWORDS, Keywords
from core.ner.capitalised import well_known
from core.ports.stores import Vectors
from core.text.tokenize import stem

__all__ = ["INSIDE", "Phrase", "find_keywords", "phrases"]

_TOKEN = re.compile(r"[^\W_]+(?:[-'’&./][^\W_]+)*[+#]*|\([a-z0-9]{1,3}\)(?=\s)")

_JOINS = re.compile(r"[ \u00a0]|[ ]?\n[ ]?$|\s?&\s?")

_ADDRESS = re.compile(r"\S*(?:https?:|www\.|@)\S*|\]\([^)\s]*\)|<[^<>\s][^<>]{0,80}>|`[^`\n]{1,80}`")

_SMALL = re.compile(r"\b[^\W\d_A-Z][^\W\d_]+\b")

_CLIPPED = ("'s", "n't", "'re", "'ll", "'ve", "'d")

_LENGTHS = (0.55, 1.6, 1.9, 1.9)  # weight of phrases of 1, 2, 3 and 4 words. Chosen by hand, not fitted.

_MOST_WORDS = 4

_LEAST_LETTERS, _MOST_DIGITS = 3, 4

INSIDE = 1000
"""Weight of a form inside a sentence against one that begins it or is in a heading. Chosen by hand, not fitted."""


@dataclass(slots=True)
class Phrase:
    """A phrase, identified by its word stems. forms: each written form and how often it occurs inside sentences.

    names: its words (casefolded) that this document never writes in lower case. times: how often it occurs; headed: how
    often in headings; as_verb, as_name: how often after a word that marks it as a verb or as a noun.
    """

    stems: tuple[str, ...]
    times: int = 0
    headed: int = 0
    titled: bool = False
    as_name: int = 0
    as_verb: int = 0
    nested: float = 0.0
    forms: Counter[str] = field(default_factory=Counter)
    names: frozenset[str] = frozenset()

    @property
    def weight(self) -> float:
        """Termhood, > 0, after the C-value of Frantzi, Ananiadou & Mima 2000: frequency outside longer phrases, raised
        for several words, and for headings and the title.
        """
        alone = max(self.times - self.nested, 0.5)
        raised = 1.0 + min(self.headed, 3) * 0.35 + (0.8 if self.titled else 0.0)
        return log1p(alone) * _LENGTHS[len(self.stems) - 1] * raised


def phrases(sentences: Sequence[str], headings: Sequence[str], title: str, language: str) -> Sequence[Phrase]:
    """Candidate phrases of a text, highest weight first. Deterministic.

    language: ISO 639-1; "" and "en" are English. A language without a stop word list gives none.

    >>> texts = ["Overtime pay is due weekly.", "The overtime pay of a worker is due."]
    >>> [" ".join(each.stems) for each in phrases(texts, ["Overtime pay"], "Overtime pay", "en")][:1]
    ['overtim pay']
    """
    rules = _rules_of(language)
    if rules is None:
        return ()
    found: dict[tuple[str, ...], Phrase] = {}
    small = {word for text in sentences for word in _SMALL.findall(text)}
    for texts, headed, titled in ((sentences, False, False), (headings, True, False), ((title,), False, True)):
        for text in texts:
            for key, form, before in rules.in_text(_ADDRESS.sub(" | ", text)):
                phrase = found.setdefault(key, Phrase(key))
                phrase.times += 1
                phrase.headed += headed
                phrase.titled = phrase.titled or titled
                phrase.forms[form] += 1 if headed or titled or not before else INSIDE
                phrase.as_name += before in rules.before_names
                phrase.as_verb += before in rules.before_verbs
    _tell_nested(found)
    for phrase in found.values():
        phrase.names = frozenset(word.casefold() for form in phrase.forms for word in form.split()) - small
    likely = [
        each for each in found.values() if each.as_verb <= each.as_name and not rules.furniture.issuperset(each.stems)
    ]
    return sorted(likely, key=lambda each: (-each.weight, each.stems))


def _tell_nested(found: dict[tuple[str, ...], Phrase]) -> None:
    """How often each phrase stands inside longer ones, on average over those that come again."""
    inside: dict[tuple[str, ...], list[int]] = {}
    for key, phrase in found.items():
        if phrase.times < 2:
            continue
        for length in range(1, len(key)):
            for at in range(len(key) - length + 1):
                part = key[at : at + length]
                if part in found:
                    inside.setdefault(part, []).append(phrase.times)
    for part, times in inside.items():
        found[part].nested = sum(times) / len(times)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The words a language allows at the ends of a phrase and inside it."""

    outside: frozenset[str]
    endings: tuple[str, ...]
    inside: frozenset[str]
    furniture: frozenset[str]
    before_names: frozenset[str]
    before_verbs: frozenset[str]
    stemmed: Callable[[str], str]
    nouns: bool = False

    def in_text(self, text: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """Each phrase: its stems, as it is written, and the small letters of the word before it."""
        for run in _runs(text):
            keys = [word.casefold().replace("’", "'") for word, _, _ in run]
            ends = [self._may_end(word, key) for (word, _, _), key in zip(run, keys, strict=True)]
            for first in range(len(run)):
                if not ends[first]:
                    continue
                for last in range(first, min(first + _MOST_WORDS, len(run))):
                    if last > first and not ends[last]:
                        if keys[last] not in self.inside:
                            break
                        continue
                    stems = tuple(self.stemmed(key) for key in keys[first : last + 1])
                    if len(set(stems)) == len(stems) and self._stands(run[first : last + 1]):
                        form = " ".join(text[run[first][1] : run[last][2]].split())
                        yield stems, form, keys[first - 1] if first else ""

    def _stands(self, words: Sequence[tuple[str, int, int]]) -> bool:
        """Whether the last word may be what is named."""
        word = words[-1][0]
        if self.nouns and not word[0].isupper():
            return False
        return word.isupper() or not word.endswith(self.endings if len(words) == 1 else self.endings[:2])

    def _may_end(self, word: str, key: str) -> bool:
        if key in self.outside or not any(char.isalpha() for char in word):
            return False
        short = sum(char.isalpha() for char in word) < _LEAST_LETTERS
        if short and not (word.isupper() and len(word) > 1):
            return False
        odd = "/" in word or "." in word.strip(".") or sum(char.isdigit() for char in word) > _MOST_DIGITS
        return not key.endswith(_CLIPPED) and not odd


def _rules_of(language: str) -> _Rules | None:
    if language in ("", "en"):
        known = keyword_words()
        return _Rules(
            known.outside,
            known.endings,
            known.inside,
            known.furniture,
            known.before_names,
            known.before_verbs,
            stem,
        )
    rules = language_of(language)
    if rules is None:
        return None
    none: frozenset[str] = frozenset()
    return _Rules(rules.stop_words, (), none, none, none, none, rules.stemmed, rules.nouns)


def _runs(text: str) -> Iterator[list[tuple[str, int, int]]]:
    """Words in a row with only blanks between them."""
    run: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(text):
        if run and not _JOINS.fullmatch(text[run[-1][2] : match.start()]):
            yield run
            run = []
        run.append((match.group(), match.start(), match.end()))
    if run:
        yield run


# The numbers below were chosen by hand, not fitted.
_LEAST_KEYWORDS = 5
_CANDIDATES = 60  # embedded per document

_DIVERSITY = 0.35  # weight of the similarity to chosen keywords

_SAME = 0.82  # cosine above which two phrases are the same keyword

_FAINT = 0.15  # score relative to the best; after five keywords, selection stops below it

_LONGEST_ABBREVIATION = 6

_MOST_ROWS = 200

_LONG_TEXT_SENTENCES = 12


def find_keywords(reading: DocumentText, embed: Callable[[Sequence[str]], Vectors]) -> Keywords:
    """At most ten keywords, the best first; none when the text is too short or its language unsupported.

    embed: texts to vectors, as core.ports.stores.Embedder; called once, for at most 60 short texts and the title.
    Raises ModelUnavailable.
    """
    if reading.columns and not reading.sentences:
        return Keywords(_columns(reading.columns))
    texts = [each.shown for each in reading.sentences] + [*reading.rows[:_MOST_ROWS]]
    found = phrases(texts, [each.text for each in reading.headings], reading.title, reading.language)
    least = 2 if len(texts) >= _LONG_TEXT_SENTENCES else 1
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


def _middle(reading: DocumentText, title: NDArray[np.float32]) -> NDArray[np.float32]:
    """The topic vector, of length 1: the mean of the sentences (two thirds) and the title (one third)."""
    if not len(reading.vectors) or reading.vectors.shape[1] != len(title):
        return title
    mean = reading.vectors.mean(axis=0)
    both = mean / max(float(np.linalg.norm(mean)), 1e-9) + 0.5 * title
    unit: NDArray[np.float32] = both / max(float(np.linalg.norm(both)), 1e-9)
    return unit


def _chosen(
    candidates: Sequence[Phrase], forms: Sequence[str], scores: NDArray[np.float64], vectors: Vectors
) -> tuple[str, ...]:
    """Maximal marginal relevance (Carbonell & Goldstein 1998), without phrases that repeat a chosen one."""
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
    """The form in which to show a phrase: the most frequent one inside sentences; capitals of headings become lower
    case, those of names and abbreviations stay.

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
    form_used = form if _abbreviates(form) else next(filter(_abbreviates, same), form)
    if form_used != form or (times >= INSIDE and not form.isupper()):
        return form_used
    return " ".join(_small(word, form, phrase.names) for word in form.split())


def _abbreviates(form: str) -> bool:
    return not form.isupper() and any(word.isupper() and len(word) > 1 for word in form.split())


def _small(word: str, form: str, names: frozenset[str]) -> str:
    """A word of a heading in small letters, unless it is a name, an abbreviation or holds capitals inside."""
    if any(char.isdigit() for char in word):
        return word
    if word.isupper() and len(word) > 1:
        shouted = " " in form and form.isupper()
        abbreviation = len(word) <= _LONGEST_ABBREVIATION and not shouted and word.casefold() in names
        return word if abbreviation else word.lower()
    inner = word[1:]
    return word if inner != inner.lower() or word.casefold() in names else word.lower()


def _columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table as keywords."""
    names = [" ".join(each.replace("_", " ").split()) for each in columns]
    spelling = {each.casefold(): each for each in reversed(names) if any(char.isalpha() for char in each)}
    return tuple(each for each in dict.fromkeys(spelling.get(each.casefold(), "") for each in names) if each)[
        :MOST_KEYWORDS
    ]
