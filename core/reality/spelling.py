"""Words no table knows, read as the nearest word one does know."""

import re
from collections.abc import Collection, Sequence

from core.reality.words import Token
from core.tables.asking import asking
from core.tabular import RealityTable

__all__ = ["corrections"]

_ALIKE = 86.0
_ALIKE_LONG = 80.0
_LONG = 7
_SHORTEST = 5
_SHORTEST_OPPOSITE = 5
_LENGTHS_APART = 2
_OPPOSITES = ("non", "un", "in", "dis", "im")


def corrections(unexplained: Sequence[Token], tables: Sequence[RealityTable]) -> list[tuple[Token, str]]:
    """Each unexplained word with what it is read as; [] when one of them is like nothing.

    "inactive" is "not active" where only "active" is known. Words of headers come before words of cells.
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
        cutoff = _ALIKE_LONG if len(token.word) >= _LONG else _ALIKE
        for known in (headers, cells):
            near = sorted(word for word in known if _comparable(word, token.word))
            if best := process.extractOne(token.word, near, scorer=fuzz.ratio, score_cutoff=cutoff):
                corrected.append((token, best[0]))
                break
    return corrected if len(corrected) == len(unexplained) else []


def _comparable(word: str, other: str) -> bool:
    return word[0] == other[0] and abs(len(word) - len(other)) <= _LENGTHS_APART


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
    asked = asking()
    headers = {word for phrase in asked.operators for word in phrase if len(word) > 3}
    headers |= {word for row in asked.value_words for phrase in row.words for word in phrase.split()}
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
