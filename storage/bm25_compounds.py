"""Words inside compounds: which stems of an index tell that a passage holds a word.

The index keeps a compound whole and, where it comes apart well, in parts; a part it does not keep (the 2 of W-2, the
word before an apostrophe) still stands in the whole one. A text can only say a word that is found here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.matching import STOP_WORDS, stem

__all__ = ["held_as", "sought"]

_RUN = re.compile(r"[^\W_]+")
_UNTOLD = "s"  # the stemmer cuts 's off, so no stem tells of it


def sought(terms: Sequence[str]) -> tuple[str, ...]:
    """The words, lower case, each once, that a passage must hold to hold the terms; stop words are not indexed.

    >>> sought(["W-2", "The employee's"])
    ('w', '2', 'employee')
    """
    runs = (run.lower() for term in terms for run in _RUN.findall(term))
    return tuple(dict.fromkeys(run for run in runs if run not in STOP_WORDS and run != _UNTOLD))


def held_as(wanted: Sequence[str], stems: Mapping[str, int]) -> Sequence[Sequence[str]]:
    """Per word wanted, the stems of an index of which a passage holds one when it holds the word.

    >>> held_as(["2", "taxes"], {"w-2": 0, "tax": 1, "non-tax": 2, "2024": 3})
    [['w-2'], ['tax', 'non-tax']]
    """
    if not wanted:
        return []
    compounds = "\n".join(["", *(known for known in stems if not known.isalnum()), ""])
    return [[*_alone(word, stems), *dict.fromkeys(_inside(word, compounds))] for word in wanted]


def _alone(word: str, stems: Mapping[str, int]) -> Iterable[str]:
    return (found for found in _stemmed(word) if found in stems)


def _stemmed(word: str) -> set[str]:
    """What the index makes of a word, and of the word with 's, which the stemmer cuts off before it looks."""
    return {stem(word), stem(f"{word}'s")}


def _inside(word: str, compounds: str) -> Iterator[str]:
    """Compounds, one per line, with the word in them. The last word of a compound is stemmed with the whole: what is
    left of it begins alike, or is nothing, an e or an i; each of those is looked at in that light."""
    at = compounds.find(word)
    while at >= 0:
        end = at + len(word)
        if not (compounds[at - 1].isalnum() or compounds[end].isalnum()):
            yield _line(compounds, at)
        at = compounds.find(word, end)
    if word[-1].isalpha():
        for match in re.finditer(rf"[-'.&]({word[0]}[^\W_]*|[ei])?\n", compounds):
            compound = _line(compounds, match.start())
            if compound in _stemmed(compound.removesuffix(match[1] or "") + word):
                yield compound


def _line(text: str, at: int) -> str:
    """The line around a place of a text."""
    return text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)]
