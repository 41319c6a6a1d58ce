"""Phrases of a document that may be its keywords: words in a row without verbs and stop words at their ends."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log1p

from core.matching import stem
from core.tables.keywords import keyword_words, language_of

__all__ = ["INSIDE", "Phrase", "phrases"]

_TOKEN = re.compile(r"[^\W_]+(?:[-'’&./][^\W_]+)*[+#]*|\([a-z0-9]{1,3}\)(?=\s)")
_JOINS = re.compile(r"[ \u00a0]|[ ]?\n[ ]?$|\s?&\s?")
_ADDRESS = re.compile(r"\S*(?:https?:|www\.|@)\S*|\]\([^)\s]*\)|<[^<>\s][^<>]{0,80}>|`[^`\n]{1,80}`")
_SMALL = re.compile(r"\b[^\W\d_A-Z][^\W\d_]+\b")
_CLIPPED = ("'s", "n't", "'re", "'ll", "'ve", "'d")
_LENGTHS = (0.55, 1.6, 1.9, 1.9)
_MOST_WORDS = 4
_LEAST_LETTERS, _MOST_DIGITS = 3, 4
INSIDE = 1000
"""So much more counts a form within a sentence than one that begins it or stands in a heading."""


@dataclass(slots=True)
class Phrase:
    """Words that mean the same whatever their endings. forms: how it is written, and how often inside sentences.

    names: its words (casefolded) that this document never writes in small letters.
    times: how often; headed: how often in headings; as_verb, as_name: how often after a word that tells which it is.
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
        """How much it stands out, > 0: after the C-value of Frantzi, Ananiadou & Mima 2000: how often it stands
        outside longer ones, more for several words than for one, more in headings and in the title."""
        alone = max(self.times - self.nested, 0.5)
        raised = 1.0 + min(self.headed, 3) * 0.35 + (0.8 if self.titled else 0.0)
        return log1p(alone) * _LENGTHS[len(self.stems) - 1] * raised


def phrases(sentences: Sequence[str], headings: Sequence[str], title: str, language: str) -> Sequence[Phrase]:
    """The phrases of a text that may be keywords, those that stand out most first. Deterministic.

    language: ISO 639-1; "" and "en" are English. One whose stop words are not known has none.

    >>> said = ["Overtime pay is due weekly.", "The overtime pay of a worker is due."]
    >>> [" ".join(each.stems) for each in phrases(said, ["Overtime pay"], "Overtime pay", "en")][:1]
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
    kept = [
        each for each in found.values() if each.as_verb <= each.as_name and not rules.furniture.issuperset(each.stems)
    ]
    return sorted(kept, key=lambda each: (-each.weight, each.stems))


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
    """What a language lets stand at the ends of a phrase and within it."""

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
    told = language_of(language)
    if told is None:
        return None
    none: frozenset[str] = frozenset()
    return _Rules(told.stop_words, (), none, none, none, none, told.stemmed, told.nouns)


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
