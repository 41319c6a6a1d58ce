"""Decides whether the results answer the question, from measured signals only, never from the profile.

Reasons to return no answer: too little evidence in every passage; best matches on different topics; names, acronyms or
years of the question that no passage contains together; a year that occurs nowhere; a percentage asked for and not
found. A name missing from the library is no reason by itself: a statute never uses its own popular name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.documents import Origin
from core.domain.results import Candidate, Signals
from core.knowledge.answer_kinds import answer_kinds
from core.search.query.expansion import contained_wordings, wordings_of
from core.text.tokenize import STOP_WORDS

__all__ = ["Answerability", "judge", "named_in"]

LEAST_EVIDENCE = 0.315
"""Least evidence of the best passage when the question names nothing. Range [0, 1]."""
LEAST_NAMED_EVIDENCE = 0.43
"""Least evidence of the best passage with the question's names: it must be about them, not only mention them."""
_SIMILARITY, _KEYWORD = 0.6, 0.4  # weights of cosine and keywords in evidence
LEAST_CLEAR = 0.65
"""How clearly the best passage must stand out, in [0, 1]: similar to the other best matches, and containing the
question's words. Where the best matches are on different topics, the feedback vector is far from each of them (as a
clarity score identifies a hard query: Cronen-Townsend, Zhou & Croft 2002)."""
_CLEAR_FEEDBACK, _CLEAR_SIMILARITY, _CLEAR_KEYWORD, _CLEAR_COVERAGE = 0.5, 0.2, 0.2, 0.1  # weights
_FULL_BM25 = 10.0
"""BM25 that counts as full evidence: about two rare words. Absolute, not a share of the question: a long question that
uses other words than the library shares few of them, and that alone is no reason to return no answer."""
_ALL = 0.85 - 1e-9
"""Share of the question that a passage says which says all of it, each word itself or in another wording: it may be all
that was asked for. A word in another wording counts 0.85 (core/knowledge/factors.toml)."""
_WORD = re.compile(r"[^\W_]+(?:[-'.&][^\W_]+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CALENDAR = frozenset(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday".split()
)


@dataclass(frozen=True, slots=True)
class Answerability:
    """Whether the question is answered; `silence` is the reason when it is not."""

    answered: bool
    silence: str = ""


def judge(question: str, candidates: Sequence[Candidate], date_words: str = "", answer_kind: str = "") -> Answerability:
    """Decide whether some candidate carries enough evidence for an answer.

    date_words: the date expression of the question ("since 2024"); passages need not contain it. answer_kind: the kind
    of answer asked for, as in `Route`.
    """
    if not candidates:
        return Answerability(False, "Nothing in the library matches the question and the filters.")
    names = named_in(question)
    texts = [_full_text(candidate) for candidate in candidates]
    for name in names:
        if _only_as_a_common_word(name, texts):
            return Answerability(False, f"The library knows the word '{name.lower()}', but nothing named '{name}'.")
    for name in names:
        if _YEAR.fullmatch(name) and name not in date_words and not _mentions_year(name, candidates, texts):
            return Answerability(False, f"Nothing found speaks of {name}.")
    known = [name for name in names if any(_holds(text, name) for text in texts)]
    naming = [
        c for c, text in zip(candidates, texts, strict=True) if all(_names_or_synonym(text, name) for name in known)
    ]
    if not naming:
        return Answerability(False, f"No passage found speaks of {_listed(known)} together.")
    kind = answer_kinds().get(answer_kind)
    if kind and kind.needed and all(candidate.signals.answer == 0 for candidate in naming):
        where = f" that speaks of {_listed(known)}" if known else ""
        return Answerability(False, f"Nothing found{where} gives {kind.label}.")
    if any(_covers_question(candidate.signals) for candidate in naming):
        return Answerability(True)
    enough = _with_enough_evidence(naming, known)
    if not enough and known:
        return Answerability(
            False, f"The library mentions {_listed(known)}, but says nothing found that answers the question."
        )
    if not enough:
        return Answerability(False, "Nothing in the library is about this question.")
    noted = any(each.passage.origin is not Origin.DOCUMENT for each in enough)  # best matches are those of documents
    if noted or max(_clearness(each.signals) for each in candidates) >= LEAST_CLEAR:
        return Answerability(True)
    return Answerability(False, "What comes nearest speaks of different things; none of it stands out as an answer.")


def _with_enough_evidence(naming: Sequence[Candidate], known: Sequence[str]) -> Sequence[Candidate]:
    """Those with enough evidence among the passages with the known names. A name with a synonym is a topic rather than
    a proper name, so passages may use other words for it."""
    proper = [name for name in known if not wordings_of(name).all]
    least = LEAST_NAMED_EVIDENCE if proper else LEAST_EVIDENCE
    return [each for each in naming if _evidence(each.signals, wordings=not proper) >= least]


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


def _full_text(candidate: Candidate) -> str:
    passage = candidate.passage
    return f"{passage.document_name.replace('_', ' ')}\n{passage.context}\n{passage.text}"


def _holds(text: str, name: str) -> bool:
    """Whether a text contains a name as written; acronyms and years in any case, names also inside an address."""
    if name not in text and name.lower() not in text.lower():
        return False  # ruled out for most texts without matching word boundaries
    if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text):
        return True
    lower, plain = text.lower(), re.escape(name.lower())
    if _acronym(name) or name[0].isdigit():
        return re.search(rf"(?<![^\W_]){plain}(?![^\W_])", lower) is not None
    return re.search(rf"(?<=[@./_-]){plain}(?=[@./_-])", lower) is not None


def _names_or_synonym(text: str, name: str) -> bool:
    """Whether a text contains a name or a synonym of it: "annual leave" for "PTO"."""
    return _holds(text, name) or bool(contained_wordings(text, wordings_of(name).all))


def _only_as_a_common_word(name: str, texts: Sequence[str]) -> bool:
    if _acronym(name) or name[0].isdigit() or any(_holds(text, name) for text in texts):
        return False
    word = re.compile(rf"(?<![^\W_]){re.escape(name.lower())}s?(?![^\W_])")
    return any(word.search(text) for text in texts)


def _evidence(signals: Signals, *, wordings: bool) -> float:
    """Evidence of a passage for the question, in [0, 1], independent of the profile. wordings: whether synonyms count;
    they say too little when the question uses a proper name of the library."""
    return _SIMILARITY * signals.similarity + _KEYWORD * _keyword_share(signals, wordings=wordings)


def _clearness(signals: Signals) -> float:
    """How clearly a passage stands out, in [0, 1]; 1 when relevance feedback was not measured."""
    if signals.relevance_feedback is None:
        return 1.0
    keyword = _CLEAR_KEYWORD * _keyword_share(signals, wordings=True) + _CLEAR_COVERAGE * signals.term_coverage
    return _CLEAR_FEEDBACK * signals.relevance_feedback + _CLEAR_SIMILARITY * signals.similarity + keyword


def _covers_question(signals: Signals) -> bool:
    otherwise = signals.wordings / signals.bm25_most if signals.bm25_most > 0 else 0.0
    return signals.term_coverage >= 1 - 1e-9 or (otherwise > 0 and signals.term_coverage + otherwise >= _ALL)


def _keyword_share(signals: Signals, *, wordings: bool) -> float:
    """BM25 of a passage ÷ min(highest possible BM25, _FULL_BM25), in [0, 1]."""
    most = min(signals.bm25_most, _FULL_BM25)
    weight = signals.bm25 + (signals.wordings if wordings else 0.0)
    return min(weight / most, 1.0) if most > 0 else 0.0


def _mentions_year(year: str, candidates: Sequence[Candidate], texts: Sequence[str]) -> bool:
    """Whether some passage contains a year or some document is dated in it."""
    dates = (candidate.passage.date for candidate in candidates)
    return any(date is not None and str(date.year) == year for date in dates) or any(_holds(t, year) for t in texts)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)
