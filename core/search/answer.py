"""Does anything found answer the question? Decided from what was measured, never from the profile.

Two signs of silence, both general: too little evidence anywhere, and names, acronyms or years of the question that
no passage found holds together. A name the library lacks is no sign: a statute never uses its own popular name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.matching import STOP_WORDS
from core.results import Candidate, Signals

__all__ = ["Verdict", "judge", "named_in"]

LEAST_EVIDENCE = 0.20
"""Evidence the best passage must carry when the question names nothing in particular."""
LEAST_NAMED_EVIDENCE = 0.32
"""Evidence the best passage must carry that holds what the question names: it must be about it, not only mention it."""
_SIMILARITY, _KEYWORD, _COVERAGE = 0.6, 0.3, 0.1
_WORD = re.compile(r"[^\W_]+(?:[-'.&][^\W_]+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CALENDAR = frozenset(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday".split()
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the question is answered; `silence` says in words why not."""

    answered: bool
    silence: str = ""


def judge(question: str, candidates: Sequence[Candidate]) -> Verdict:
    """Whether some candidate carries enough evidence to count as an answer."""
    if not candidates:
        return Verdict(False, "Nothing in the library matches the question and the filters.")
    names = named_in(question)
    texts = [_told(candidate) for candidate in candidates]
    for name in names:
        if _only_as_a_common_word(name, texts):
            return Verdict(False, f"The library knows the word '{name.lower()}', but nothing named '{name}'.")
    known = [name for name in names if any(_holds(text, name) for text in texts)]
    carrying = [c for c, text in zip(candidates, texts, strict=True) if all(_holds(text, name) for name in known)]
    if not carrying:
        return Verdict(False, f"No passage found speaks of {_listed(known)} together.")
    best = max(_evidence(candidate.signals) for candidate in carrying)
    if best >= (LEAST_NAMED_EVIDENCE if known else LEAST_EVIDENCE):
        return Verdict(True)
    if known:
        return Verdict(
            False, f"The library mentions {_listed(known)}, but says nothing found that answers the question."
        )
    return Verdict(False, "Nothing in the library is about this question.")


def named_in(question: str) -> tuple[str, ...]:
    """What a question names: acronyms, capitalised names and years, in order.

    >>> named_in("How do I set up an earning code in Workday payroll?"), named_in("Jones Act waiver, FUTA 2025")
    (('Workday',), ('Jones', 'Act', 'FUTA', '2025'))
    """
    found: dict[str, None] = {}
    said = [(match.group().removesuffix("'s"), match.start()) for match in _WORD.finditer(question.replace("’", "'"))]
    for at, (word, start) in enumerate(said):
        opens = question[:start].rstrip()[-1:] in ("", ".", "?", "!", ":", '"', "“")
        following = said[at + 1][0] if at + 1 < len(said) else ""
        capitalised = word[0].isupper() and (not opens or following[:1].isupper())
        common = word.lower() in STOP_WORDS | _CALENDAR or "'" in word
        if _YEAR.fullmatch(word) or ((_acronym(word) or capitalised) and not common):
            found[word] = None
    return tuple(found)


def _acronym(word: str) -> bool:
    return sum(letter.isupper() for letter in word) > 1 or (word[0].isupper() and any(c.isdigit() for c in word))


def _told(candidate: Candidate) -> str:
    passage = candidate.passage
    return f"{passage.document_name.replace('_', ' ')}\n{passage.context}\n{passage.text}"


def _holds(text: str, name: str) -> bool:
    """Whether a text holds a name as it is written; acronyms and years also in other capitals, names in an address."""
    if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text):
        return True
    lower, plain = text.lower(), re.escape(name.lower())
    if _acronym(name) or name[0].isdigit():
        return re.search(rf"(?<![^\W_]){plain}(?![^\W_])", lower) is not None
    return re.search(rf"(?<=[@./_-]){plain}(?=[@./_-])", lower) is not None


def _only_as_a_common_word(name: str, texts: Sequence[str]) -> bool:
    if _acronym(name) or name[0].isdigit() or any(_holds(text, name) for text in texts):
        return False
    word = re.compile(rf"(?<![^\W_]){re.escape(name.lower())}s?(?![^\W_])")
    return any(word.search(text) for text in texts)


def _evidence(signals: Signals) -> float:
    keyword = signals.bm25 / signals.bm25_most if signals.bm25_most > 0 else 0.0
    return _SIMILARITY * signals.similarity + _KEYWORD * min(keyword, 1.0) + _COVERAGE * signals.coverage


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)
