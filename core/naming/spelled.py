"""What the abbreviations of a document stand for, where it says so itself."""

import re
from collections.abc import Iterable, Mapping

from core.naming.defined import ABBREVIATION, SPELLED_OUT, abbreviations
from core.naming.words import read_words

__all__ = ["Spelled", "spelled_out"]

_BEFORE = 160  # letters before an abbreviation in which its words stand
_SHORT = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Z][A-Za-z&/]{1,9}")


class Spelled:
    """The abbreviations a document defines, and what each stands for."""

    def __init__(self, meanings: Mapping[str, str]) -> None:
        self._meanings = meanings
        longest = sorted(meanings, key=lambda short: (-len(short), short))
        self._used = (
            re.compile(rf"(?<![\w&/])(?:{'|'.join(map(re.escape, longest))})(?=s?(?![\w&/]))") if meanings else None
        )

    def of(self, text: str, most: int) -> str:
        """What the abbreviations of a text stand for that it does not say itself, in its order, in `most` letters.

        >>> Spelled({"PHI": "protected health information"}).of("BA reports loss of PHI.", 220)
        'PHI: protected health information'
        """
        if self._used is None:
            return ""
        told, folded = "", text.casefold()
        for short in dict.fromkeys(self._used.findall(text)):
            longer = f"{told}; {short}: {self._meanings[short]}".removeprefix("; ")
            if self._meanings[short].casefold() not in folded and len(longer) <= most:
                told = longer
        return told


def spelled_out(texts: Iterable[str]) -> Spelled:
    """The abbreviations defined in the texts of one document; the first definition of each counts.

    >>> spelled_out(["Protected health information (PHI) is kept."]).of("Send no PHI.", 220)
    'PHI: protected health information'
    """
    meanings: dict[str, str] = {}
    for text in texts:
        for pattern, before in ((ABBREVIATION, _BEFORE), (SPELLED_OUT, 0)):
            for match in pattern.finditer(text):
                window = text[max(0, match.start() - before) : match.end()]
                for named in abbreviations(window, read_words(window)):
                    for alias in named.entity.aliases:
                        if _SHORT.fullmatch(alias):
                            meanings.setdefault(alias, named.entity.name)
    return Spelled(meanings)
