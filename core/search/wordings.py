"""Other wordings of what a question says, out of the product's thesaurus: "annual leave" for "PTO".

Near words (near.py) are single words that the embedding model takes for alike. These are what people of the trade know
to mean the same, also in several words; so they find passages, and do not only weigh those found.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from core.matching import STOP_WORDS, keywords, stem
from core.results import NearWord
from core.search.route import question_terms
from core.tables.factors import factor_table
from core.tables.synonyms import other_wordings

__all__ = ["NO_WORDINGS", "Wordings", "pair_worths", "row_share", "said_in", "wordings_of", "worth"]

_ENDING = r"\w{0,4}"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Wordings:
    """by_term: term of the question → the wordings that stand for it; terms: the words of them, to search for; pairs:
    words that stand side by side in the question."""

    by_term: Mapping[str, tuple[NearWord, ...]]
    terms: tuple[str, ...]
    pairs: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Each wording once."""
        return tuple(dict.fromkeys(each.word for found in self.by_term.values() for each in found))


NO_WORDINGS = Wordings({}, ())


@lru_cache(maxsize=256)
def wordings_of(question: str) -> Wordings:
    """The other wordings of a question in plain words.

    >>> [each.word for each in wordings_of("How much PTO is left?").by_term["pto"]][:2]
    ['vacation', 'annual leave']
    """
    closeness = float(factor_table()["nearness"]["wording"])
    by_term: dict[str, tuple[NearWord, ...]] = {}
    for (start, end), others in other_wordings(question).items():
        said = question[start:end]
        found = tuple(NearWord(said, other, other, None, closeness) for other in others)
        for term in question_terms(said):
            by_term[term] = (*by_term.get(term, ()), *found)
    own = {stem(term) for term in question_terms(question)}
    words = dict.fromkeys(word for found in by_term.values() for each in found for word in keywords(each.word))
    return Wordings(by_term, tuple(word for word in words if stem(word) not in own), _pairs(question))


def _pairs(question: str) -> tuple[str, ...]:
    """The words side by side in a question, none of them a stop word.

    >>> _pairs("What is the base salary of a police chief, HQ?")
    ('base salary', 'police chief')
    """
    small = question.lower()
    said = list(_WORD.finditer(small))
    return tuple(
        dict.fromkeys(
            f"{one.group()} {other.group()}"
            for one, other in pairwise(said)
            if not small[one.end() : other.start()].strip(" -") and not {one.group(), other.group()} & STOP_WORDS
        )
    )


def pair_worths(rarity: Mapping[str, float], wordings: Wordings) -> Mapping[str, float]:
    """Pair of words side by side in the question → the rarity of both. rarity: term → rarity."""
    return {pair: sum(rarity.get(word, 0.0) for word in pair.split()) for pair in wordings.pairs}


def row_share(worths: Mapping[str, float], held: frozenset[str]) -> float | None:
    """Share of the question's pairs of words that a passage holds in a row, in [0, 1], those of rarer words counting
    more; None for a question without such pairs.

    worths: of its pairs. held: the pairs it holds, among others.

    >>> worths = pair_worths({"base": 1.0, "pay": 1.0, "grade": 5.0}, Wordings({}, (), ("base pay", "pay grade")))
    >>> row_share(worths, frozenset({"base pay"}))
    0.25
    """
    total = sum(worths.values())
    return sum([value for pair, value in worths.items() if pair in held]) / total if total > 0 else None


def said_in(text: str, wordings: tuple[str, ...]) -> frozenset[str]:
    """Those of the wordings that stand in a text, in a row and by their stems; acronyms as they are written.

    >>> sorted(said_in("Annual leaves are granted by the Ot team of the capital.", ("annual leave", "OT", "cap")))
    ['annual leave']
    """
    lower, found = text.lower(), []
    for wording, stems, shape in _patterns(wordings):
        # Most texts are told without a search.
        if shape.rarest in lower and shape.other in lower and _stands(text, lower, stems, shape):
            found.append(wording)
    return frozenset(found)


def _stands(text: str, lower: str, stems: tuple[str, ...], shape: "_Shape") -> bool:
    """Whether words of these stems stand in a text; tried only where one begins as the first of them does."""
    if len(lower) != len(text):  # a letter that has two in small: the places differ
        return any(_stems(match.group()) == stems for match in shape.pattern.finditer(text))
    at = lower.find(shape.begins)
    while at >= 0:
        match = shape.pattern.match(text, at)
        if match is not None and _stems(match.group()) == stems:
            return True
        at = lower.find(shape.begins, at + 1 if match is None else match.end())
    return False


def worth(rarity: Mapping[str, float], wordings: Wordings, held: frozenset[str]) -> float:
    """Σ rarity · closeness over the terms of the question that a passage holds only in another wording.

    held: the stems and wordings it holds.
    """
    total = 0.0
    for term, others in wordings.by_term.items():
        if stem(term) not in held:
            total += rarity.get(term, 0.0) * max((each.closeness for each in others if each.stem in held), default=0.0)
    return total


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a wording looks. rarest, other, begins: how its two longest words and its first one begin, in small letters;
    pattern: what finds it, and perhaps words that begin alike."""

    rarest: str
    other: str
    begins: str
    pattern: re.Pattern[str]


@lru_cache(maxsize=256)
def _patterns(wordings: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...], _Shape], ...]:
    return tuple((wording, _stems(wording), _shape(wording)) for wording in wordings)


def _stems(words: str) -> tuple[str, ...]:
    return tuple(stem(word.lower()) for word in _WORD.findall(words))


@lru_cache(maxsize=20_000)
def _shape(wording: str) -> _Shape:
    parts = [_word(word) for word in _WORD.findall(wording)]
    inside = r"[\W_]+".join(shape for _, shape in parts)
    begins = [each for each, _ in parts]
    longest, second, *_ = [*sorted(begins, key=len, reverse=True), ""]
    return _Shape(longest, second, begins[0], re.compile(rf"(?<![^\W_]){inside}(?![^\W_])"))


def _word(word: str) -> tuple[str, str]:
    if word.isupper() and len(word) > 1:
        return word.lower(), re.escape(word)
    begins = stem(word.lower()).removesuffix("i")
    shared = begins if word.lower().startswith(begins) else word.lower()
    return shared, f"(?i:{re.escape(shared)}{_ENDING})"
