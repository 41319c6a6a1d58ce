"""Explains a result: displayed parts that add up to a score, two scores compared, and why a document is missing."""
# Over 300 lines: what a score is made of, and what a document lacks for one.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, prod

from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import NotFound
from core.domain.filters import FIELDS, SearchFilters
from core.domain.results import Candidate, Factor, Multiplier, Score, SearchResult, TermScore
from core.knowledge.factors import factor_table
from core.ports.stores import PassageIds
from core.search.ranking.features import contained_terms

__all__ = [
    "ComparedResult",
    "MissingExplanation",
    "NearestPassage",
    "ResultComparison",
    "ScoreDifference",
    "compare",
    "compare_scores",
    "decided",
    "factor_label",
    "shown_differences",
    "shown_effects",
    "shown_parts",
    "shrink",
    "strip_words",
    "why_not",
]

_STEPS = 1000  # three decimals


def factor_label(name: str) -> str:
    """The label of a factor on pages."""
    rows = factor_table().rows
    return rows[name].label if name in rows else name.replace("_", " ").capitalize()


def shrink(score: Score) -> float:
    """The product of all multipliers, in [0, 1]."""
    product = 1.0
    for multiplier in score.multipliers:
        product *= multiplier.value
    return product


def shown_parts(score: Score) -> Sequence[tuple[Factor, float]]:
    """Factors, largest first, with contributions rounded to thousandths so that they add up to the rounded sum.

    Largest remainder method: each part is rounded down, and the rest goes to the parts with the largest remainders.

    >>> third = [Factor(name, 1.0, 1 / 3, 1 / 3, "") for name in "abc"]
    >>> [shown for _, shown in shown_parts(Score(1.0, tuple(third)))]
    [0.334, 0.333, 0.333]
    """
    factors = sorted(score.factors, key=lambda factor: -factor.contribution)
    exact = [factor.contribution * _STEPS for factor in factors]
    steps = [int(part + 1e-6) for part in exact]
    shown_sum = float(f"{fsum(factor.contribution for factor in factors):.3f}")  # as the total is added
    missing = round(shown_sum * _STEPS) - sum(steps)
    for index in sorted(range(len(exact)), key=lambda i: steps[i] - exact[i])[: max(0, missing)]:
        steps[index] += 1
    return [(factor, step / _STEPS) for factor, step in zip(factors, steps, strict=True)]


def shown_effects(score: Score) -> Sequence[tuple[Multiplier, float]]:
    """What each multiplier adds or takes, in order, in thousandths; with `shown_parts` they add up to the shown total.

    >>> half = Score(0.0625, (Factor("a", 0.25, 0.5, 0.125, ""),), (Multiplier("b", 0.5, ""),))
    >>> [shown for _, shown in shown_effects(half)]
    [-0.063]
    """
    running = fsum(factor.contribution for factor in score.factors)
    shown = [float(f"{running:.3f}")]
    for each in score.multipliers:
        running *= each.value
        shown.append(float(f"{running:.3f}"))
    if score.multipliers:
        shown[-1] = float(f"{score.total:.3f}")  # the same product, multiplied in another order
    effects = [round(after - before, 3) for before, after in pairwise(shown)]
    return list(zip(score.multipliers, effects, strict=True))


def strip_words(score: Score) -> str:
    """The sum as text, largest part first: "Similarity 0.310 + Keywords 0.120 − Route 0.012 = 0.418"; multipliers that
    change nothing in three decimals are left out."""
    parts = [(factor, points) for factor, points in shown_parts(score) if points > 0]
    total = " + ".join(f"{factor_label(factor.name)} {points:.3f}" for factor, points in parts) or "0"
    effects = "".join(
        f" {'+' if points > 0 else '−'} {factor_label(each.name)} {abs(points):.3f}"
        for each, points in shown_effects(score)
        if points
    )
    return f"{total}{effects} = {score.total:.3f}"


_THOUSANDTHS = 1000  # three decimals

_NAMED = 3  # parts named in a comparison; the others are added up. Chosen by hand.

_EQUAL = 1e-9  # totals that differ by less are equal, as in ranking


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """One factor or multiplier of two scores. value: in [0, 1], None where a score has no such part; weight: None for a
    multiplier. contribution: weight · value before multipliers, 0 for a multiplier. difference: its share of left total
    − right total. reason: per score, as text."""

    name: str
    left: float | None
    right: float | None
    weight: float | None
    left_contribution: float
    right_contribution: float
    difference: float
    left_reason: str = ""
    right_reason: str = ""

    @property
    def label(self) -> str:
        """The label shown on pages; multipliers start with a cross."""
        rows = factor_table().rows
        label = rows[self.name].label if self.name in rows else self.name.replace("_", " ").capitalize()
        return label if self.weight is not None else f"× {label}"


@dataclass(frozen=True, slots=True)
class ComparedResult:
    """One of two compared results. rank: among the hits, None when it is not shown; why: the reason it is not shown."""

    candidate: Candidate
    score: Score
    rank: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ResultComparison:
    """Two results and their parts, largest |difference| first; differences sum to left total − right total (< 1e-9)."""

    left: ComparedResult
    right: ComparedResult
    parts: tuple[ScoreDifference, ...]

    @property
    def difference(self) -> float:
        """Left total − right total, in [-1, 1]."""
        return self.left.score.total - self.right.score.total


def compare(result: SearchResult, left_id: int, right_id: int) -> ResultComparison:
    """Compare two candidates of a result, shown or not. Raises NotFound for a passage that is no candidate, or that was
    dropped before scoring."""
    left, right = _side(result, left_id), _side(result, right_id)
    return ResultComparison(left, right, compare_scores(left.score, right.score))


def _side(result: SearchResult, passage_id: int) -> ComparedResult:
    for hit in result.hits:
        if hit.candidate.passage.id == passage_id:
            return ComparedResult(hit.candidate, hit.score, hit.rank)
    for each in result.dropped:
        if each.candidate.passage.id == passage_id and each.score is not None:
            return ComparedResult(each.candidate, each.score, None, f"{each.reason.value}: {each.detail}")
    raise NotFound(f"Passage {passage_id} has no score in this result.", "Choose another one to compare with.")


def compare_scores(left: Score, right: Score) -> tuple[ScoreDifference, ...]:
    """Every factor and multiplier of two scores, largest |difference| first, ties in the order of the scores."""
    left_factors, right_factors = ({factor.name: factor for factor in score.factors} for score in (left, right))
    mean_product = (_product(left) + _product(right)) / 2
    parts = []
    for name in dict.fromkeys((*left_factors, *right_factors)):
        one, other = left_factors.get(name), right_factors.get(name)
        adds = (one.contribution if one else 0.0, other.contribution if other else 0.0)
        weight = next(each.weight for each in (one, other) if each is not None)
        values = (one.value if one else None, other.value if other else None)
        reasons = (one.reason if one else "", other.reason if other else "")
        parts.append(ScoreDifference(name, *values, weight, *adds, (adds[0] - adds[1]) * mean_product, *reasons))
    parts += _multipliers(left, right)
    return tuple(sorted(parts, key=lambda part: -abs(part.difference)))


def _product(score: Score) -> float:
    return prod(each.value for each in score.multipliers)


def _multipliers(left: Score, right: Score) -> list[ScoreDifference]:
    """The difference of the products, split by telescoping in both orders, so that it is symmetric:
    Π a − Π b = Σ (aᵢ − bᵢ) · ½(Π a before i · Π b after i + Π b before i · Π a after i)."""
    left_by_name, right_by_name = ({each.name: each for each in score.multipliers} for score in (left, right))
    names = tuple(dict.fromkeys((*left_by_name, *right_by_name)))
    a = [left_by_name[name].value if name in left_by_name else 1.0 for name in names]
    b = [right_by_name[name].value if name in right_by_name else 1.0 for name in names]
    mean_sum = fsum(fsum(factor.contribution for factor in score.factors) for score in (left, right)) / 2
    parts = []
    for index, name in enumerate(names):
        around = (prod(a[:index]) * prod(b[index + 1 :]) + prod(b[:index]) * prod(a[index + 1 :])) / 2
        values = (
            left_by_name[name].value if name in left_by_name else None,
            right_by_name[name].value if name in right_by_name else None,
        )
        reasons = (
            left_by_name[name].reason if name in left_by_name else "",
            right_by_name[name].reason if name in right_by_name else "",
        )
        parts.append(
            ScoreDifference(name, *values, None, 0.0, 0.0, (a[index] - b[index]) * around * mean_sum, *reasons)
        )
    return parts


def decided(versus: ResultComparison, names: tuple[str, str]) -> str:
    """One sentence on which result is ahead and why, with rounded numbers that add up.

    "A is ahead by 0.120: Similarity +0.090, Authority +0.050, Domain −0.020."
    """
    lead = versus.difference
    if abs(lead) < _EQUAL:
        first = min(versus.left, versus.right, key=lambda side: side.candidate.passage.id)
        name = names[0] if first is versus.left else names[1]
        return f"Both score {versus.left.score.total:.3f}; of equals, the one stored first comes first: {name}."
    sign = 1 if lead > 0 else -1
    rounded = [sign * step for step in _steps(versus)]
    steps = [(part.label, step) for part, step in zip(versus.parts, rounded, strict=True) if step]
    rest = sum(step for _, step in steps[_NAMED:])
    if len(steps) == _NAMED + 1:
        named, others = steps, ""
    else:
        named, others = steps[:_NAMED], f", all others {_signed(rest)}" if len(steps) > _NAMED else ""
    ahead, total = names[0] if lead > 0 else names[1], sum(rounded)
    listed = ", ".join(f"{label} {_signed(step)}" for label, step in named)
    if not total:
        return f"{ahead} is ahead by less than 0.001{f': {listed}{others}' if listed else ''}."
    return f"{ahead} is ahead by {total / _THOUSANDTHS:.3f}: {listed}{others}."


def shown_differences(versus: ResultComparison) -> tuple[float, ...]:
    """The difference of each part in thousandths; they add up to the difference of the displayed totals."""
    return tuple(step / _THOUSANDTHS for step in _steps(versus))


def _steps(versus: ResultComparison) -> list[int]:
    """Rounding losses go to the parts that lost most, non-zero parts first."""
    exact = [part.difference * _THOUSANDTHS for part in versus.parts]
    steps = [round(value) for value in exact]
    left, right = (round(float(f"{side.score.total:.3f}") * _THOUSANDTHS) for side in (versus.left, versus.right))
    missing = left - right - sum(steps)
    turn = 1 if missing > 0 else -1
    order = sorted(range(len(exact)), key=lambda i: (abs(exact[i]) < 0.5, turn * (steps[i] - exact[i])))
    for index in order[: abs(missing)]:
        steps[index] += turn
    return steps


def _signed(steps: int) -> str:
    return f"{'+' if steps >= 0 else '−'}{abs(steps) / _THOUSANDTHS:.3f}"


_SHOWN_VALUES = 3  # Chosen by hand.


@dataclass(frozen=True, slots=True)
class NearestPassage:
    """How near passages are to a question, by passage id: cosine in [-1, 1], and BM25 per term."""

    cosines: Mapping[int, float]
    words: Mapping[int, Sequence[TermScore]]


@dataclass(frozen=True, slots=True)
class MissingExplanation:
    """Why a document is missing, one sentence per reason, in order. passages: number of its passages; admitted: those
    the filters admit; found: those that were candidates; best: the admitted one nearest to the question."""

    document: Document
    reasons: tuple[str, ...]
    passages: int = 0
    admitted: int = 0
    found: int = 0
    best: Passage | None = None


def why_not(
    result: SearchResult,
    document: Document,
    passages: Sequence[Passage],
    text_matches: PassageIds | None,
    near: NearestPassage,
) -> MissingExplanation:
    """passages: of the document. text_matches: the passages that meet the question's phrase and exclusion
    conditions, None without such conditions. near: how near the document's passages are to the question."""
    if document.state is not DocumentState.READY and not passages:
        state = f"it could not be read: {document.failure}" if document.failure else "it is still being read"
        return MissingExplanation(document, (f"Nothing of it can be found: {state}.",))
    reasons = [*_filtered(result.filters, passages)]
    admitted = [each for each in passages if result.filters.admits(each)]
    if text_matches is not None:
        able = {int(i) for i in text_matches}
        unsaid = [each for each in admitted if each.id not in able]
        admitted = [each for each in admitted if each.id in able]
        if unsaid:
            reasons.append(f"A quoted phrase or a left-out word keeps out {_share(unsaid, passages)}.")
    known = {each.passage.id for each in result.candidates}
    found = [each for each in admitted if each.id in known]
    best = max(admitted, key=lambda each: near.cosines.get(each.id, -1.0), default=None)
    if best is not None and not found:
        reasons += _not_found(result, admitted, best, near)
    elif found:
        reasons.append(f"Found: {_share(found, passages)}; each is shown, or listed below with its reason.")
    return MissingExplanation(document, tuple(reasons), len(passages), len(admitted), len(found), best)


def _filtered(filters: SearchFilters, passages: Sequence[Passage]) -> list[str]:
    """One sentence per filter that excludes passages, with the values they have instead."""
    sentences = []
    for alone, attribute in _single(filters):
        out = [each for each in passages if not alone.admits(each)]
        if out:
            stated = alone.replace(archived=bool(alone.archived))
            words = "; ".join(stated.in_words()) or "archived documents are left out"
            values = sorted({_text(getattr(each, attribute)) for each in out})
            more = " …" if len(values) > _SHOWN_VALUES else ""
            values_text = "" if attribute == "document_id" else f" ({', '.join(values[:_SHOWN_VALUES])}{more})"
            sentences.append(f"The filter “{words}” leaves out {_share(out, passages)}{values_text}.")
    return sentences


def _single(filters: SearchFilters) -> list[tuple[SearchFilters, str]]:
    """Each set filter by itself, with the passage attribute it reads."""
    everything = SearchFilters(archived=None, strict_labels=filters.strict_labels)
    single = []
    for field in FIELDS:
        for name in (field.name, f"exclude_{field.name}"):
            if values := getattr(filters, name):
                changes = {name: values}
                if field.many and name == field.name:
                    changes[f"{field.name}_mode"] = getattr(filters, f"{field.name}_mode")
                single.append((everything.replace(**changes), field.attribute))
    if filters.dated:
        dates = ("date_from", "date_to", "recency_months", "include_undated")
        single.append((everything.replace(**{name: getattr(filters, name) for name in dates}), "date"))
    if filters.archived is not None:
        single.append((SearchFilters(archived=filters.archived), "archived"))
    return single


def _text(value: object) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return "archived" if value else "not archived"
        case tuple():
            return ", ".join(map(str, value)) or "none"
    return f"{value:%Y-%m-%d}" if hasattr(value, "strftime") else str(value)


def _share(some: Sequence[Passage], every: Sequence[Passage]) -> str:
    if len(some) == len(every):
        return "all its passages" if len(every) > 1 else "its only passage"
    return f"{len(some)} of its {len(every)} passages"


def _not_found(result: SearchResult, admitted: Sequence[Passage], best: Passage, near: NearestPassage) -> list[str]:
    """How far its nearest passages are from the last ones found, by meaning and by keyword."""
    sentences = []
    most = _count(result, "dense")
    nearest = sorted((each.signals.similarity for each in result.candidates), reverse=True)[:most]
    if nearest and best.id in near.cosines:
        sentences.append(
            f"By meaning its nearest passage has similarity {near.cosines[best.id]:.2f}; the {most} nearest in the"
            f" library reach down to {nearest[-1]:.2f}."
        )
    wordy = max(admitted, key=lambda each: _bm25(near, each.id))
    terms = tuple(result.rarity)
    matched = contained_terms(near.words.get(wordy.id, ()), terms)
    if terms and not matched:
        sentences.append(f"By keyword it shares none of: {', '.join(terms)}.")
    elif terms and (last := _last(result.candidates, "sparse")) is not None:
        sentences.append(
            f"By keyword its best passage contains {', '.join(matched)} ({len(matched)} of {len(terms)} words), BM25"
            f" {_bm25(near, wordy.id):.2f}; the {_count(result, 'sparse')} best reach down to {last.signals.bm25:.2f}."
        )
    return sentences


def _bm25(near: NearestPassage, passage_id: int) -> float:
    return sum(term.score for term in near.words.get(passage_id, ()))


def _last(candidates: Sequence[Candidate], leg: str) -> Candidate | None:
    """The last candidate of a leg."""
    ranked = [each for each in candidates if leg in each.signals.ranks]
    return max(ranked, key=lambda each: each.signals.ranks[leg], default=None)


def _count(result: SearchResult, leg: str) -> int:
    return sum(leg in each.signals.ranks for each in result.candidates)
