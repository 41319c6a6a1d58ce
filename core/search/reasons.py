"""Why a result ranks where it does, in one sentence."""

from collections.abc import Sequence

from core.domain.results import Candidate, Score, Signals
from core.search.explanation import factor_label, shown_effects
from core.search.ranking.features import contained_terms
from core.text.tokenize import stem

__all__ = ["why_words"]

_CLOSE, _RELATED = 0.6, 0.4
"""Cosines that read as close and as related; they choose words and change no score. Chosen by hand."""

_WORDS, _WORDINGS = 5, 3  # words and other wordings named; chosen by hand


def why_words(candidate: Candidate, score: Score, terms: Sequence[str]) -> str:
    """One sentence on why a passage ranks where it does: meaning, words of the question, other wordings, multipliers.

    terms: words of the question that were searched for, each once; () when the search by keyword failed.

    >>> from core.domain.documents import Passage
    >>> from core.domain.results import Signals, TermScore
    >>> signals = Signals(0.71, terms=(TermScore("overtime", "overtim", 2.0),))
    >>> why_words(Candidate(Passage("", 1, 0, 0, ()), signals), Score(0.5, ()), ["overtime", "paid"])
    'Close in meaning (similarity 0.71); contains “overtime”, not “paid”.'
    >>> why_words(Candidate(Passage("", 1, 0, 0, ()), Signals(0.0)), Score(0.5, ()), [])  # the search by meaning failed
    'Meaning not measured.'
    """
    signals = candidate.signals
    parts = [_meaning(signals)]
    contained = contained_terms(signals.terms, terms)
    stems = set(map(stem, contained))
    wordings = {near.query_word: near.word for near in signals.near_words if stem(near.query_word) not in stems}
    missing = [word for word in terms if word not in contained and word not in wordings]
    if contained:
        parts.append(f"contains {_quoted(contained)}{f', not {_quoted(missing)}' if missing else ''}")
    elif terms:
        parts.append("contains no query word")
    if wordings:
        parts.append(" and ".join(f"“{near}” for “{word}”" for word, near in list(wordings.items())[:_WORDINGS]))
    lowered = [(each, points) for each, points in shown_effects(score) if points < 0]
    if lowered:
        each, points = min(lowered, key=lambda item: item[1])
        parts.append(f"lowered by {-points:.3f} for {factor_label(each.name).lower()}: {each.reason}")
    return f"{'; '.join(parts)}."


def _meaning(signals: Signals) -> str:
    if not signals.similarity and signals.best_sentence_similarity is None:
        return "Meaning not measured"
    nearness = "Close" if signals.similarity >= _CLOSE else "Related" if signals.similarity >= _RELATED else "Not close"
    return f"{nearness} in meaning (similarity {signals.similarity:.2f})"


def _quoted(terms: Sequence[str]) -> str:
    more = f" and {len(terms) - _WORDS} more" if len(terms) > _WORDS else ""
    return ", ".join(f"“{term}”" for term in terms[:_WORDS]) + more
