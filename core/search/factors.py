"""What each factor is worth for one candidate: one pure function each, giving a value and the reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import NamedTuple

from core.matching import stem, words
from core.queries import Route, ScoreProfile
from core.results import Candidate
from core.search.fading import kept_share, utility
from core.search.route import truth_weight
from core.tables.answer_kinds import answer_kinds
from core.tables.factors import FactorTable, factor_table

__all__ = ["FACTORS", "Asked", "Valued", "jurisdiction_value", "overlap"]

_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Asked:
    """What a factor may know of the question: its route, the profile that scores it, and the moment it is asked."""

    route: Route
    profile: ScoreProfile
    now: datetime
    table: FactorTable

    @classmethod
    def of(cls, route: Route, profile: ScoreProfile, now: datetime) -> "Asked":
        """With the table of this package."""
        return cls(route, profile, now, factor_table())

    def age_days(self, candidate: Candidate) -> float | None:
        """Age of the passage's own date in days; negative in the future, None when undated."""
        moment = candidate.passage.date
        return None if moment is None else (self.now - moment).total_seconds() / _SECONDS_PER_DAY


class Valued(NamedTuple):
    """A factor's value in [0, 1] and why."""

    value: float
    reason: str


def _similarity(candidate: Candidate, asked: Asked) -> Valued:
    value = min(max(candidate.signals.similarity, 0.0), 1.0)
    return Valued(value, f"cosine {value:.2f} between question and passage")


def _feedback(candidate: Candidate, asked: Asked) -> Valued:
    value = candidate.signals.feedback
    if value is None:
        return Valued(asked.table["feedback"]["unknown"], "neutral: not compared with the best matches")
    return Valued(min(max(value, 0.0), 1.0), f"cosine {value:.2f} with the question moved towards its best matches")


def _keyword(candidate: Candidate, asked: Asked) -> Valued:
    signals = candidate.signals
    hits = sorted((term for term in signals.terms if term.score > 0), key=lambda term: -term.score)
    if not hits or signals.bm25_most <= 0:
        why = "holds no word of the question" if signals.bm25_most > 0 else "no word of the question was searched for"
        return Valued(0.0, why)
    value = min(signals.bm25 / signals.bm25_most, 1.0)
    named = ", ".join(f"{term.term} {term.score:.1f}" for term in hits[:4])
    return Valued(value, f"BM25 {signals.bm25:.1f} of at most {signals.bm25_most:.1f} ({named})")


def _keyword_overlap(candidate: Candidate, asked: Asked) -> Valued:
    own, wanted = candidate.passage.keywords, asked.route.keywords
    if not own or not wanted:
        why = f"the {'document' if wanted else 'question'} has no keywords"
        return Valued(asked.table["keyword_overlap"]["unknown"], f"neutral: {why}")
    value = overlap(own, wanted)
    held = f"{round(value * len(wanted))} of {len(wanted)}"
    return Valued(value, f"{held} keywords of the question are keywords of the document")


def overlap(own: tuple[str, ...], wanted: tuple[str, ...]) -> float:
    """Share of the wanted keywords that stand, as whole words, among the own ones.

    >>> overlap(("raft consensus", "raft log"), ("raft",)), overlap(("startup culture", "article"), ("art",))
    (1.0, 0.0)
    """
    held = {stem(word) for keyword in own for word in words(keyword)}
    return sum(stem(word) in held for word in wanted) / len(wanted)


def _coverage(candidate: Candidate, asked: Asked) -> Valued:
    signals = candidate.signals
    if signals.bm25_most <= 0:
        return Valued(asked.table["coverage"]["unknown"], "neutral: the question has no keywords")
    held = {term.stem for term in signals.terms if term.score > 0}
    missing = [word for word in asked.route.keywords if stem(word) not in held]
    without = f", without {', '.join(missing[:4])}" if missing else ""
    return Valued(signals.coverage, f"holds {signals.coverage:.0%} of the question's words by rarity{without}")


def _sentence(candidate: Candidate, asked: Asked) -> Valued:
    value = candidate.signals.sentence
    if value is None:
        return Valued(asked.table["sentence"]["unknown"], "neutral: the meaning of its sentences was not measured")
    return Valued(value, f"cosine {value:.2f} between the question and its best sentence")


def _answer_kind(candidate: Candidate, asked: Asked) -> Valued:
    signals, row = candidate.signals, asked.table["answer_kind"]
    kind = answer_kinds().get(asked.route.answer_kind)
    if kind is None or signals.answer is None:
        why = "its sentences were not measured" if kind else "the question asks for no amount, day or length of time"
        return Valued(row["unknown"], f"neutral: {why}")
    if not signals.answer:
        return Valued(0.0, f"no sentence near the question holds {kind.label}")
    holder = "its best sentence" if signals.answer >= 1 else f"a sentence {signals.answer:.0%} as near as its best one"
    return Valued(signals.answer, f"{holder} holds {kind.label}: '{signals.answer_words}'")


def _nearness(candidate: Candidate, asked: Asked) -> Valued:
    signals = candidate.signals
    if signals.nearness is None:
        return Valued(asked.table["nearness"]["unknown"], "neutral: near words were not looked for")
    said = ", ".join(
        f"'{each.word}' for '{each.asked}'" + ("" if each.cosine is None else f" ({each.cosine:.2f})")
        for each in signals.near_words[:4]
    )
    by = f": {said}" if said else ""
    return Valued(signals.nearness, f"holds or nearly holds {signals.nearness:.0%} of the question's words{by}")


def _in_a_row(candidate: Candidate, asked: Asked) -> Valued:
    value = candidate.signals.in_a_row
    if value is None:
        return Valued(
            asked.table["in_a_row"]["unknown"], "neutral: no words side by side in the question were looked for"
        )
    return Valued(value, f"{value:.0%} of the words side by side in the question are so in the passage")


def _fusion(candidate: Candidate, asked: Asked) -> Valued:
    ranks = {leg: rank for leg, rank in candidate.signals.ranks.items() if leg != "fused"}
    if not ranks and candidate.signals.fusion == 0:
        return Valued(asked.table["fusion"]["unknown"], "neutral: not ranked by any leg")
    said = ", ".join(f"{leg} rank {rank}" for leg, rank in sorted(ranks.items()))
    return Valued(min(candidate.signals.fusion, 1.0), f"{said or 'fused'}, divided by first in every leg")


def _rerank(candidate: Candidate, asked: Asked) -> Valued:
    logit = candidate.signals.rerank_logit
    if logit is None:
        return Valued(asked.table["rerank"]["unknown"], "not read by a reranker")
    return Valued(1 / (1 + exp(-max(min(logit, 60.0), -60.0))), f"the reranker's logit is {logit:.2f}")


def _authority(candidate: Candidate, asked: Asked) -> Valued:
    authority, category = candidate.passage.authority, asked.route.category
    row = asked.table.authority_matrix.get(category) or asked.table.authority_matrix["default"]
    kind = category.replace("_", " ")
    if authority is None:
        return Valued(asked.table["authority"]["unknown"], "neutral: nobody knows who speaks here")
    return Valued(row[authority], f"{authority.value} source for a question of the kind '{kind}'")


def _domain(candidate: Candidate, asked: Asked) -> Valued:
    row, own, wanted = asked.table["domain"], candidate.passage.domain, asked.route.domain
    if own is None or wanted is None:
        what = "the question names no domain" if wanted is None else "the passage has no domain"
        return Valued(row["unknown"], f"neutral: {what}")
    if own == wanted:
        return Valued(row["same"], f"about {own}, as asked")
    return Valued(row["different"], f"about {own}, asked about {wanted}")


def _recency(candidate: Candidate, asked: Asked) -> Valued:
    def told(age: float) -> Valued:
        for most, value in asked.table.recency_steps:
            if int(age) <= most:
                return Valued(value, f"{int(age)} days old (at most {most:g})")
        return Valued(asked.table["recency"]["older"], f"{int(age)} days old")

    return _aged("recency", candidate, asked, told)


def _half_life(candidate: Candidate, asked: Asked) -> Valued:
    days = asked.table["half_life"].by_value.get(candidate.passage.source_type, asked.profile.half_life_days)
    said = f"days old, halving every {days:g} days"
    return _aged("half_life", candidate, asked, lambda age: Valued(0.5 ** (age / days), f"{int(age)} {said}"))


def _freshness(candidate: Candidate, asked: Asked) -> Valued:
    scale = asked.table["freshness"]["scale_days"]
    return _aged("freshness", candidate, asked, lambda age: Valued(1 / (1 + age / scale), f"{int(age)} days old"))


def _aged(name: str, candidate: Candidate, asked: Asked, told: Callable[[float], Valued]) -> Valued:
    """What a factor of age tells of a passage's age in days, when it has one."""
    row, age = asked.table[name], asked.age_days(candidate)
    if age is None:
        return Valued(row["unknown"], "neutral: undated")
    return Valued(row["future"], "dated in the future") if age < 0 else told(age)


def _jurisdiction(candidate: Candidate, asked: Asked) -> Valued:
    own, wanted = candidate.passage.jurisdiction, asked.route.jurisdiction
    rule = jurisdiction_value(own, wanted)
    said = f"applies to {own or 'an unknown place'}, asked about {wanted or 'no place'}"
    return Valued(asked.table["jurisdiction"][rule], f"neutral: {said}" if rule == "unknown" else said)


def jurisdiction_value(own: str | None, wanted: str | None) -> str:
    """Which rule of the jurisdiction factor holds for a passage's place and the question's. The states are of the US.

    >>> [jurisdiction_value(own, "state:CA") for own in ("federal", "state:TX", "country:DE")]
    ['enclosing', 'other_state', 'other_country']
    """
    us = ("federal", "country:US")
    if own is None or wanted is None:
        return "unknown"
    if own == wanted or (own in us and wanted in us):
        return "exact"
    if own == "global" or (own in us and wanted.startswith("state:")):
        return "enclosing"
    if own.startswith("state:"):
        if wanted in us:
            return "state_for_federal"
        return "other_state" if wanted.startswith("state:") else "other_country"
    return "unknown" if wanted == "global" else "other_country"


def _asked_date(candidate: Candidate, asked: Asked) -> Valued:
    row, route, own = asked.table["asked_date"], asked.route, candidate.passage.date
    if route.date_from is None and route.date_to is None:
        return Valued(row["inside"], "the question names no date")
    wanted = f"{route.date_from or 'any time'} to {route.date_to or 'any time'}"
    if own is None:
        return Valued(row["unknown"], f"undated, asked about {wanted}")
    day = own.date().isoformat()
    if (route.date_from or day) <= day <= (route.date_to or day):
        return Valued(row["inside"], f"dated {day}, within {wanted}")
    return Valued(row["outside"], f"dated {day}, asked about {wanted}")


def _utility(candidate: Candidate, asked: Asked) -> Valued:
    row, signals = asked.table["utility"], candidate.signals
    value = utility(signals.uses, signals.distinct_questions, row["distinct_weight"], row["full_at"])
    return Valued(value, f"used {signals.uses} times for {signals.distinct_questions} different questions")


def _strength(candidate: Candidate, asked: Asked) -> Valued:
    row, sector = asked.table["strength"], candidate.passage.sector
    if sector is None:
        return Valued(row["documents"], "documents do not fade")
    age = max(asked.age_days(candidate) or 0.0, 0.0)
    kept = kept_share(age, row.by_value[sector], candidate.signals.uses)
    return Valued(row["least"] + (1 - row["least"]) * kept, f"{sector.value}: {kept:.0%} of its strength left")


def _routing(candidate: Candidate, asked: Asked) -> Valued:
    truth = candidate.passage.truth
    named = truth.value if truth else "unknown truth"
    inside = truth in asked.route.truths
    value = truth_weight(asked.route, truth, asked.profile.routing_outside)
    return Valued(value, f"{named} is {'part of' if inside else 'outside'} the route")


def _temporal(candidate: Candidate, asked: Asked) -> Valued:
    row, temporal = asked.table["temporal"], candidate.passage.temporal_class
    if temporal is None:
        return Valued(row["unknown"], "neutral: temporal class unknown")
    return Valued(row.by_value[temporal], f"{temporal.value}")


FACTORS: Mapping[str, Callable[[Candidate, Asked], Valued]] = {
    "similarity": _similarity,
    "feedback": _feedback,
    "keyword": _keyword,
    "keyword_overlap": _keyword_overlap,
    "coverage": _coverage,
    "sentence": _sentence,
    "answer_kind": _answer_kind,
    "nearness": _nearness,
    "in_a_row": _in_a_row,
    "fusion": _fusion,
    "rerank": _rerank,
    "authority": _authority,
    "domain": _domain,
    "recency": _recency,
    "half_life": _half_life,
    "freshness": _freshness,
    "jurisdiction": _jurisdiction,
    "asked_date": _asked_date,
    "utility": _utility,
    "strength": _strength,
    "routing": _routing,
    "temporal": _temporal,
}
"""Factor name → its function. The names are those of core/tables/factors.toml."""
