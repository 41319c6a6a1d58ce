"""Whether a claim denies, forbids or permits otherwise than a source.

Only what the main clauses deny counts: "if it is not paid" is a condition, "records that are not public" names what is
spoken of, "not later than" bounds an amount, and "not … until" says when something holds.
"""

import re
from collections.abc import Sequence

from core.coverage.statements import BindingForce, binding_of, content_stems
from core.text.tokenize import STOP_WORDS, stem, word_spans

__all__ = ["CLAUSE", "contradiction"]

CLAUSE = re.compile(
    r"(?:;|,?\s+\b(?:and|but|while|whereas|because(?! of)|although|though|unless|except|provided)\b"
    r"|,\s+(?:which|who|so|or)\b)\s+"
)
"""Where a clause of a sentence ends."""
_BOUND = re.compile(
    r"(?i)\b(?:no|not)\s+(?:less|more|fewer|later|earlier|longer|sooner)\s+than\b|\bnot (?:to )?exceed\w*"
)
_CONDITION = re.compile(
    r"(?i)\b(?:if|when|where|whether|as long as|so long as|in case|provided that)\b[^,;]*(?:[,;]|$)"
    r"|\b(?:that|which|who)\s+\S+(?:(?!\b(?:must|shall|may|should|will|can|is|are|was|were|has|have|needs?|do|does)\b)[^,;])*"
)
_CONTRAST = re.compile(r"(?i)[,–—-]\s*not\s+(?:on|in|to|by|for|the|a|an)\b[^,;.]*|\brather than\b[^,;.]*")
_UNTIL = re.compile(r"(?i)\b(?:not|no|never|nobody|cannot)\b(?=.*\b(?:until|unless|without|except|before)\b)")
_ONLY = re.compile(r"(?i)\b(?:only|needs?|requires?|required|after|until|unless|without|except|before|first)\b")
_DENIAL = re.compile(
    r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|prohibited|forbidden|prohibits|forbids"
    r"|free (?:of|from))\b|n['’]t\b"
)
_LACK = re.compile(r"(?i)\b(?:without|fail\w*|lack\w*|missing|refus\w*|instead of|rather than)\b")


def contradiction(claim: str, texts: Sequence[str], full_claim: str = "") -> str:
    """Where a claim turns round what the texts say, in words; "" where it does not.

    whole: all clauses of the claim, where `claim` is one of them.

    >>> contradiction("It may be shared.", ["It must not be shared."])
    'What it cites denies something, and it does not.'
    >>> contradiction("It is due in May.", ["If it is not paid, it is due in May."])
    ''
    """
    near, every = _nearest_clause(claim, texts), " ".join(texts)
    main, source, context = _main(claim), _main(near), _main(every)
    if _UNTIL.search(near) and _ONLY.search(claim) and not _denies(main):
        source = context = _UNTIL.sub(" ", context)
    if _denies(main) and not _denies(context):
        return _DENIED_HERE
    if _denies(source) and not (_denies(_main(full_claim or claim)) or _LACK.search(full_claim or claim)):
        return _DENIED_THERE
    forces = {binding_of(main), binding_of(source)}
    if forces == {BindingForce.REQUIRED, BindingForce.OPTIONAL}:
        return f"It says {binding_of(main)}, what it cites says {binding_of(source)}."
    return _crossed(main, context) or _crossed(_conditions(claim), _conditions(every))


_DENIED_HERE = "It denies something that what it cites does not deny."
_DENIED_THERE = "What it cites denies something, and it does not."


def _crossed(claim: str, source: str) -> str:
    """Where one text denies a word that the other affirms."""
    ours, theirs = _denied(claim), _denied(source)
    if (ours & _affirmed(source)) - theirs:
        return _DENIED_HERE
    return _DENIED_THERE if (theirs & _affirmed(claim)) - ours else ""


def _conditions(text: str) -> str:
    """The conditions and relative clauses of a text."""
    return " ".join(match.group() for match in _CONDITION.finditer(_BOUND.sub(" ", text)))


def _main(text: str) -> str:
    """The text without bounds of amounts, conditions, relative clauses and contrasts."""
    for pattern in (_BOUND, _CONTRAST, _CONDITION):
        text = pattern.sub(" ", text)
    return text


def _denies(text: str) -> bool:
    return _DENIAL.search(text) is not None


def _denied(text: str) -> frozenset[str]:
    """The stems that the denials of a text deny: each the next content word in the same part of the sentence, and those
    joined to it by "or"."""
    rests = (re.split(r"[,;.:]", text[match.end() :])[0] for match in _DENIAL.finditer(text))
    return frozenset(word for rest in rests for part in re.split(r"\b(?:n?or)\b", rest) for word in _stems(part)[:1])


def _affirmed(text: str) -> frozenset[str]:
    return frozenset(_stems(text))


def _stems(text: str) -> list[str]:
    """Stems of the content words, in order."""
    return [stem(word) for _, _, word in word_spans(text) if word not in STOP_WORDS and not word[0].isdigit()]


def _nearest_clause(claim: str, texts: Sequence[str]) -> str:
    """The clause of the texts that shares most words with the claim; all of them where several share as many."""
    stems = content_stems(claim)
    clauses = [clause for text in texts for clause in CLAUSE.split(text)]
    shared = [len(stems & content_stems(clause)) for clause in clauses]
    return " ".join(clause for clause, count in zip(clauses, shared, strict=True) if count == max(shared))
