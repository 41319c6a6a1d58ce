"""Spelling corrections: the words of a question that resemble one of the tables."""

import re
from collections.abc import Collection, Sequence

from core.domain.datasets import RealityTable
from core.knowledge.question_lexicon import asking
from core.table_qa.parsing.tokens import Token

__all__ = ["corrections"]

# Spelling corrections, tried on misspelt words of the question sets; not fitted.
_LEAST_SIMILARITY = 86.0
"""Similarity (rapidfuzz ratio, 0–100) of a short word to the one it is read as; about one letter in five differs."""
_LEAST_SIMILARITY_LONG = 84.0
"""The same for long words, in which two letters may differ."""
_LONG = 7  # letters from which a word is long
_SHORTEST = 5
"""Letters below which a word is not corrected: too many words are near it."""
_SHORTEST_OPPOSITE = 4
_LENGTHS_APART = 2  # difference in letters, at most
_OPPOSITES = ("non", "un", "in", "dis", "im")


def corrections(unexplained: Sequence[Token], tables: Sequence[RealityTable]) -> list[tuple[Token, str]]:
    """Each unexplained token with its correction; [] when one of them resembles nothing.

    "inactive" becomes "not active" where only "active" is known. Header words come before cell words.
    """
    from rapidfuzz import fuzz, process

    headers, cells = _vocabulary(tables)
    corrected = []
    for token in unexplained:
        if len(token.word) < _SHORTEST or token.number or token.quoted:
            continue
        if opposite := _opposite(token.word, headers | cells):
            corrected.append((token, f"not {opposite}"))
            continue
        cutoff = _LEAST_SIMILARITY_LONG if len(token.word) >= _LONG else _LEAST_SIMILARITY
        for known in (headers, cells):
            near = sorted(word for word in known if _comparable(word, token.word) and not _derived(word, token.word))
            if best := process.extractOne(token.word, near, scorer=fuzz.ratio, score_cutoff=cutoff):
                corrected.append((token, best[0]))
                break
    return corrected if len(corrected) == len(unexplained) else []


def _comparable(word: str, other: str) -> bool:
    return word[0] == other[0] and abs(len(word) - len(other)) <= _LENGTHS_APART


_ENDINGS = (
    "or",
    "er",
    "ee",
    "ist",
    "ant",
    "ment",
    "ness",
    "ity",
    "ion",
    "al",
    "ance",
    "ence",
    "able",
    "age",
    "ing",
    "ive",
)


def _derived(word: str, other: str) -> bool:
    """Whether two words differ by a known ending rather than by a slip: an inspector is no inspection.

    >>> _derived("inspections", "inspector"), _derived("terminated", "terminatd")
    (True, False)
    """
    endings = [_ending(each.removesuffix("s")) for each in (word, other)]
    return all(endings) and endings[0] != endings[1]


def _ending(word: str) -> str:
    return next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) > len(ending) + 3), "")


def _opposite(word: str, known: Collection[str]) -> str:
    """
    >>> _opposite("inactive", {"active"}), _opposite("unicorn", {"corn"})
    ('active', '')
    """
    for prefix in _OPPOSITES:
        rest = word.removeprefix(prefix)
        if rest != word and len(rest) >= _SHORTEST_OPPOSITE and rest in known:
            return rest
    return ""


def _vocabulary(tables: Sequence[RealityTable]) -> tuple[set[str], set[str]]:
    """Words a question may have meant: those of operators, tables and headers; and those of cells."""
    lexicon = asking()
    headers = {word for phrase in lexicon.operators for word in phrase if len(word) > 3}
    headers |= {word for row in lexicon.value_words for phrase in row.words for word in phrase.split()}
    headers |= {"employees", "people", "staff", "salary"}
    cells: set[str] = set()
    for table in tables:
        headers |= _words(table.name)
        for column in table.columns:
            headers |= _words(column.header)
            for value in column.values:
                cells |= _words(value)
    return headers, cells


def _words(text: str) -> set[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    return {word.lower() for word in re.findall(r"[^\W\d_]{4,}", spaced)}
