"""Finds the names in a question: acronyms, capitalised names and years."""

import re

from core.text.tokenize import STOP_WORDS

__all__ = ["named_in"]

_WORD = re.compile(r"[^\W_]+(?:[-'.&][^\W_]+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CALENDAR = frozenset(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday".split()
)


def named_in(question: str) -> tuple[str, ...]:
    """The names in a question: acronyms, capitalised names and years, in order.

    >>> named_in("How do I set up an earning code in Workday payroll?"), named_in("Jones Act waiver, FUTA 2025")
    (('Workday',), ('Jones', 'Act', 'FUTA', '2025'))
    """
    found: dict[str, None] = {}
    tokens = [(match.group().removesuffix("'s"), match.start()) for match in _WORD.finditer(question.replace("’", "'"))]
    for at, (word, start) in enumerate(tokens):
        opens = question[:start].rstrip()[-1:] in ("", ".", "?", "!", ":", '"', "“")
        following = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        capitalised = word[0].isupper() and (not opens or following[:1].isupper())
        common = word.lower() in STOP_WORDS | _CALENDAR or "'" in word
        if _YEAR.fullmatch(word) or ((_acronym(word) or capitalised) and not common):
            found[word] = None
    return tuple(found)


def _acronym(word: str) -> bool:
    return sum(letter.isupper() for letter in word) > 1 or (word[0].isupper() and any(c.isdigit() for c in word))
