"""Does anything found answer the question? Decided from what was measured, never from the profile.

Signs of silence, all general: too little evidence anywhere; best matches that speak of different things; names,
acronyms or years of the question that no passage found holds together; a year nobody speaks of; and a percentage asked
for that nobody gives. Another name the library lacks is no sign: a statute never uses its own popular name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.documents import Origin
from core.matching import STOP_WORDS
from core.results import Candidate, Signals
from core.search.wordings import said_in, wordings_of
from core.tables.answer_kinds import answer_kinds

__all__ = ["Verdict", "judge", "named_in"]

LEAST_EVIDENCE = 0.315
"""Evidence the best passage must carry when the question names nothing in particular."""
LEAST_NAMED_EVIDENCE = 0.43
"""Evidence the best passage must carry that holds what the question names: it must be about it, not only mention it."""
_SIMILARITY, _KEYWORD = 0.6, 0.4
LEAST_CLEAR = 0.65
"""How clearly the best passage must stand out: alike to the others that match best, and saying what is asked. Where the
best matches speak of different things, the question moved towards them lies far from each (as a clarity score tells a
hard query: Cronen-Townsend, Zhou & Croft 2002)."""
_CLEAR_FEEDBACK, _CLEAR_SIMILARITY, _CLEAR_KEYWORD, _CLEAR_COVERAGE = 0.5, 0.2, 0.2, 0.1
_MUCH_SAID = 10.0
"""BM25 that counts as full evidence: about two rare words. Not a share of the question, because a long question in
other words than the library's shares few of them, and its many words are no reason for silence."""
_ALL = 0.85 - 1e-9
"""Share of the question that a passage says which says all of it, each word itself or in another wording: it may be all
that was asked for. A word in another wording counts 0.85 (core/tables/factors.toml)."""
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


def judge(question: str, candidates: Sequence[Candidate], date_words: str = "", answer_kind: str = "") -> Verdict:
    """Whether some candidate carries enough evidence to count as an answer.

    date_words: the date expression read from the question ("since 2024"): when something happened or was written is not
    what the passage must say. answer_kind: what the question asks for, as `Route`.
    """
    if not candidates:
        return Verdict(False, "Nothing in the library matches the question and the filters.")
    names = named_in(question)
    texts = [_told(candidate) for candidate in candidates]
    for name in names:
        if _only_as_a_common_word(name, texts):
            return Verdict(False, f"The library knows the word '{name.lower()}', but nothing named '{name}'.")
    for name in names:
        if _YEAR.fullmatch(name) and name not in date_words and not _spoken_of(name, candidates, texts):
            return Verdict(False, f"Nothing found speaks of {name}.")
    known = [name for name in names if any(_holds(text, name) for text in texts)]
    carrying = [c for c, text in zip(candidates, texts, strict=True) if all(_says(text, name) for name in known)]
    if not carrying:
        return Verdict(False, f"No passage found speaks of {_listed(known)} together.")
    kind = answer_kinds().get(answer_kind)
    if kind and kind.needed and all(candidate.signals.answer == 0 for candidate in carrying):
        where = f" that speaks of {_listed(known)}" if known else ""
        return Verdict(False, f"Nothing found{where} gives {kind.label}.")
    if any(_says_all(candidate.signals) for candidate in carrying):
        return Verdict(True)
    enough = _saying_enough(carrying, known)
    if not enough and known:
        return Verdict(
            False, f"The library mentions {_listed(known)}, but says nothing found that answers the question."
        )
    if not enough:
        return Verdict(False, "Nothing in the library is about this question.")
    noted = any(each.passage.origin is not Origin.DOCUMENT for each in enough)  # best matches are those of documents
    if noted or max(_clearness(each.signals) for each in candidates) >= LEAST_CLEAR:
        return Verdict(True)
    return Verdict(False, "What comes nearest speaks of different things; none of it stands out as an answer.")


def _saying_enough(carrying: Sequence[Candidate], known: Sequence[str]) -> Sequence[Candidate]:
    """Those that say enough of the passages that carry the known names. A name that has another wording is a matter
    rather than a proper name: what is known by it is said in other words, too."""
    proper = [name for name in known if not wordings_of(name).all]
    least = LEAST_NAMED_EVIDENCE if proper else LEAST_EVIDENCE
    return [each for each in carrying if _evidence(each.signals, wordings=not proper) >= least]


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
    if name not in text and name.lower() not in text.lower():
        return False  # most texts: told without looking for the borders of words
    if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text):
        return True
    lower, plain = text.lower(), re.escape(name.lower())
    if _acronym(name) or name[0].isdigit():
        return re.search(rf"(?<![^\W_]){plain}(?![^\W_])", lower) is not None
    return re.search(rf"(?<=[@./_-]){plain}(?=[@./_-])", lower) is not None


def _says(text: str, name: str) -> bool:
    """Whether a text holds a name, or another wording of it: "annual leave" for "PTO"."""
    return _holds(text, name) or bool(said_in(text, wordings_of(name).all))


def _only_as_a_common_word(name: str, texts: Sequence[str]) -> bool:
    if _acronym(name) or name[0].isdigit() or any(_holds(text, name) for text in texts):
        return False
    word = re.compile(rf"(?<![^\W_]){re.escape(name.lower())}s?(?![^\W_])")
    return any(word.search(text) for text in texts)


def _evidence(signals: Signals, *, wordings: bool) -> float:
    """How much a passage says on the question, in [0, 1], whatever the profile. wordings: whether other wordings count;
    for one who asks by a proper name the library knows, they say too little."""
    return _SIMILARITY * signals.similarity + _KEYWORD * _said(signals, wordings=wordings)


def _clearness(signals: Signals) -> float:
    """How clearly a passage stands out, in [0, 1]; 1 where it was not compared with the best matches."""
    if signals.feedback is None:
        return 1.0
    said = _CLEAR_KEYWORD * _said(signals, wordings=True) + _CLEAR_COVERAGE * signals.coverage
    return _CLEAR_FEEDBACK * signals.feedback + _CLEAR_SIMILARITY * signals.similarity + said


def _says_all(signals: Signals) -> bool:
    otherwise = signals.wordings / signals.bm25_most if signals.bm25_most > 0 else 0.0
    return signals.coverage >= 1 - 1e-9 or (otherwise > 0 and signals.coverage + otherwise >= _ALL)


def _said(signals: Signals, *, wordings: bool) -> float:
    """The question's words a passage holds, as a share of what is much for any question, in [0, 1]."""
    most = min(signals.bm25_most, _MUCH_SAID)
    said = signals.bm25 + (signals.wordings if wordings else 0.0)
    return min(said / most, 1.0) if most > 0 else 0.0


def _spoken_of(year: str, candidates: Sequence[Candidate], texts: Sequence[str]) -> bool:
    """Whether some passage holds a year or some document is of it."""
    dates = (candidate.passage.date for candidate in candidates)
    return any(date is not None and str(date.year) == year for date in dates) or any(_holds(t, year) for t in texts)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)
