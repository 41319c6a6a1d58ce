"""Score factors: one pure function each, from a candidate to a value in [0, 1] and its reason."""
# Over 300 lines: one function per factor, in the order of factors.toml.

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import exp, fsum, log
from typing import NamedTuple

from core.domain.filters import FIELDS, SearchFilters
from core.domain.queries import LEG_LABELS, Route, ScoreProfile
from core.domain.results import Candidate, SearchResult, Signals
from core.knowledge.answer_kinds import answer_kinds
from core.knowledge.factors import FactorTable, factor_table
from core.search.query.route import truth_weight
from core.search.ranking.features import contained_terms
from core.text.tokenize import stem, words

__all__ = ["FACTORS", "FactorValue", "ScoringContext", "jurisdiction_value", "overlap", "retention", "utility"]


def retention(age_days: float, base_days: float, uses: int = 0) -> float:
    """exp(-age / S), S = base · (1 + ln(1 + uses)): exponential decay that slows with use, in (0, 1].

    >>> round(retention(50, 200), 3), retention(0, 100)
    (0.779, 1.0)
    """
    return exp(-age_days / (base_days * (1 + log(1 + uses))))


def utility(uses: int, distinct_questions: int, distinct_weight: float = 0.1, full_at: float = 11.0) -> float:
    """min(1, ln(u + 1) / ln full_at) with u = ln(uses + 1) · (1 + distinct_weight · distinct questions), in [0, 1].

    >>> utility(0, 0), round(utility(10, 5), 3)
    (0.0, 0.636)
    """
    used = log(uses + 1) * (1 + distinct_weight * distinct_questions)
    return min(1.0, log(used + 1) / log(full_at))


_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class ScoringContext:
    """The inputs of all factors: the question's route and filters, the profile, and the time of the search. newest:
    the latest date of a candidate of the first band, None when none is dated. rerank_mean: of the factor `rerank` over
    the candidates read, None unless the reranker reads only English. terms: words searched for, each once."""

    route: Route
    profile: ScoreProfile
    now: datetime
    table: FactorTable
    filters: SearchFilters = SearchFilters()
    newest: datetime | None = None
    rerank_mean: float | None = None
    terms: tuple[str, ...] = ()

    @classmethod
    def of(cls, route: Route, profile: ScoreProfile, now: datetime) -> "ScoringContext":
        """With the built-in factor table, and without filters."""
        return cls(route, profile, now, factor_table())

    @classmethod
    def of_result(cls, result: SearchResult, profile: ScoreProfile, now: datetime) -> "ScoringContext":
        """For the candidates of a result."""
        first = [candidate.passage for candidate in result.candidates if not candidate.signals.band]
        dates = [passage.date for passage in first if passage.date is not None]
        newest = max(dates, default=None)
        of_all = (newest, _rerank_mean(result), tuple(result.rarity))
        return cls(result.route, profile, now, factor_table(), result.filters, *of_all)

    @property
    def multipliers(self) -> Mapping[str, float]:
        """The profile's multipliers with their strengths. The place counts only when the question names one; label
        certainty counts where a filter may admit a doubt."""
        found = dict(self.profile.multipliers)
        if self.route.jurisdiction is None:
            found.pop("jurisdiction", None)
        if any(self.filters.possible_values(field) for field in FIELDS):
            found["label_match"] = 1.0
        return found

    def age_days(self, candidate: Candidate) -> float | None:
        """Age of the passage's date in days; negative in the future, None when undated."""
        moment = candidate.passage.date
        return None if moment is None else (self.now - moment).total_seconds() / _SECONDS_PER_DAY


class FactorValue(NamedTuple):
    """A factor's value in [0, 1] and its reason: a text, or what writes it. Of more than a hundred candidates, a
    person looks at the reasons of a few."""

    value: float
    why: str | Callable[[], str]

    @property
    def reason(self) -> str:
        """The reason as text."""
        return self.why if isinstance(self.why, str) else self.why()


def _similarity(candidate: Candidate, context: ScoringContext) -> FactorValue:
    value = min(max(candidate.signals.similarity, 0.0), 1.0)
    return FactorValue(value, lambda: f"cosine {value:.2f} between question and passage")


def _keyword(candidate: Candidate, context: ScoringContext) -> FactorValue:
    signals = candidate.signals
    if signals.bm25_most <= 0:
        return FactorValue(0.0, "no word of the question was searched for")
    if signals.other_language and (signals.synonym_match or 0.0) >= signals.keyword_share > 0:
        return FactorValue(signals.keyword_share, "in another language than the question: counts as synonym match")
    if signals.bm25 <= 0:
        return FactorValue(0.0, "contains no word of the question")

    def why() -> str:
        named = ", ".join(f"{word} {share:.1f}" for word, share in _shares(signals)[:4])
        return f"BM25 {signals.bm25:.1f} of at most {signals.bm25_most:.1f} ({named})"

    return FactorValue(signals.keyword_share, why)


def _shares(signals: Signals) -> list[tuple[str, float]]:
    """What each term of the question adds to the BM25 of a passage, most first; of a compound that the passage does not
    contain whole, its parts."""
    shares: dict[str, float] = {}
    for each in signals.terms:
        shares[each.term] = shares.get(each.term, 0.0) + each.score
    whole = contained_terms(signals.terms, shares)
    named = [(term if term in whole else f"part of {term}", share) for term, share in shares.items() if share > 0]
    return sorted(named, key=lambda item: -item[1])


def _keyword_overlap(candidate: Candidate, context: ScoringContext) -> FactorValue:
    own, question_keywords = candidate.passage.keywords, context.route.keywords
    if not own or not question_keywords:
        why = f"the {'document' if question_keywords else 'question'} has no keywords"
        return FactorValue(context.table["keyword_overlap"]["unknown"], f"neutral: {why}")
    value = overlap(own, question_keywords)
    matched = f"{round(value * len(question_keywords))} of {len(question_keywords)}"
    return FactorValue(value, f"{matched} keywords of the question are keywords of the document")


def overlap(own: tuple[str, ...], keywords: tuple[str, ...]) -> float:
    """Share of these keywords that occur as whole words in the passage's own keywords, in [0, 1].

    >>> overlap(("raft consensus", "raft log"), ("raft",)), overlap(("startup culture", "article"), ("art",))
    (1.0, 0.0)
    """
    stems = {stem(word) for keyword in own for word in words(keyword)}
    return sum(stem(word) in stems for word in keywords) / len(keywords)


def _term_coverage(candidate: Candidate, context: ScoringContext) -> FactorValue:
    signals = candidate.signals
    if signals.bm25_most <= 0:
        return FactorValue(context.table["term_coverage"]["unknown"], "neutral: the question has no keywords")

    def why() -> str:
        contained = contained_terms(signals.terms, context.terms)
        missing = [word for word in context.terms if word not in contained]
        without = f", without {', '.join(missing[:4])}" if missing else ""
        return f"contains {signals.term_coverage:.0%} of the question's words, rare ones counting more{without}"

    return FactorValue(signals.term_coverage, why)


def _best_sentence_similarity(candidate: Candidate, context: ScoringContext) -> FactorValue:
    value = candidate.signals.best_sentence_similarity
    if value is None:
        return FactorValue(
            context.table["best_sentence_similarity"]["unknown"],
            "neutral: the meaning of its sentences was not measured",
        )
    return FactorValue(value, lambda: f"cosine {value:.2f} between the question and its best sentence")


def _answer_kind(candidate: Candidate, context: ScoringContext) -> FactorValue:
    signals, row = candidate.signals, context.table["answer_kind"]
    kind = answer_kinds().get(context.route.answer_kind)
    if kind is None or signals.answer is None:
        why = "its sentences were not measured" if kind else "the question asks for no amount, day or length of time"
        return FactorValue(row["unknown"], f"neutral: {why}")
    if not signals.answer:
        return FactorValue(0.0, f"no sentence near the question contains {kind.label}")
    holder = "its best sentence" if signals.answer >= 1 else f"a sentence {signals.answer:.0%} as near as its best one"
    return FactorValue(signals.answer, f"{holder} contains {kind.label}: '{signals.answer_words}'")


def _synonym_match(candidate: Candidate, context: ScoringContext) -> FactorValue:
    signals = candidate.signals
    if signals.synonym_match is None:
        return FactorValue(context.table["synonym_match"]["unknown"], "neutral: near words were not looked for")

    def why() -> str:
        listed = ", ".join(
            f"'{each.word}' for '{each.query_word}'" + ("" if each.cosine is None else f" ({each.cosine:.2f})")
            for each in signals.near_words[:4]
        )
        by = f": {listed}" if listed else ""
        return f"contains {signals.synonym_match:.0%} of the question's words, or words like them{by}"

    return FactorValue(signals.synonym_match, why)


def _phrase_match(candidate: Candidate, context: ScoringContext) -> FactorValue:
    value = candidate.signals.phrase_match
    if value is None:
        return FactorValue(
            context.table["phrase_match"]["unknown"], "neutral: the question has no adjacent words to look for"
        )
    return FactorValue(value, lambda: f"{value:.0%} of the question's adjacent words are adjacent in the passage, too")


def _fusion(candidate: Candidate, context: ScoringContext) -> FactorValue:
    ranks = {leg: rank for leg, rank in candidate.signals.ranks.items() if leg != "fused"}
    if not ranks and candidate.signals.fusion == 0:
        return FactorValue(context.table["fusion"]["unknown"], "neutral: not ranked by any search")
    named = ", ".join(f"{LEG_LABELS[leg]} rank {rank}" for leg, rank in sorted(ranks.items()))
    return FactorValue(min(candidate.signals.fusion, 1.0), f"{named or 'fused'}; rank 1 in every search would be 1")


def _rerank(candidate: Candidate, context: ScoringContext) -> FactorValue:
    logit = candidate.signals.rerank_logit
    if logit is not None:
        return FactorValue(_sigmoid(logit), f"the reranker's logit is {logit:.2f}")
    if candidate.signals.unreadable and context.rerank_mean is not None:
        return FactorValue(context.rerank_mean, "in another language than it reads: the mean of the passages it read")
    return FactorValue(context.table["rerank"]["unknown"], "not read by a reranker")


def _rerank_mean(result: SearchResult) -> float | None:
    """What the factor counts for passages in a language that the reranker does not read; None when it read none."""
    logits = [each.signals.rerank_logit for each in result.candidates]
    read = [_sigmoid(logit) for logit in logits if logit is not None]
    return fsum(read) / len(read) if read else None


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-max(min(logit, 60.0), -60.0)))


def _authority(candidate: Candidate, context: ScoringContext) -> FactorValue:
    authority, category = candidate.passage.authority, context.route.category
    row = context.table.authority_matrix.get(category) or context.table.authority_matrix["default"]
    kind = category.replace("_", " ")
    if authority is None:
        return FactorValue(context.table["authority"]["unknown"], "neutral: its author is unknown")
    return FactorValue(row[authority], f"{authority.value} source for a question of the kind '{kind}'")


def _domain(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, own, question_domain = context.table["domain"], candidate.passage.domain, context.route.domain
    if own is None or question_domain is None:
        what = "the question names no domain" if question_domain is None else "the passage has no domain"
        return FactorValue(row["unknown"], f"neutral: {what}")
    if own == question_domain:
        return FactorValue(row["same"], f"about {own}, as asked")
    return FactorValue(row["different"], f"about {own}, asked about {question_domain}")


def _recency(candidate: Candidate, context: ScoringContext) -> FactorValue:
    def factor_value(age: float) -> FactorValue:
        for most, value in context.table.recency_steps:
            if int(age) <= most:
                return FactorValue(value, f"{int(age)} days old (at most {most:g})")
        return FactorValue(context.table["recency"]["older"], f"{int(age)} days old")

    return _aged("recency", candidate, context, factor_value)


def _half_life(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, days = context.table["half_life"], context.profile.half_life_days
    if days is None:
        days = row.by_value.get(candidate.passage.source_type, row["days"])
    reason = f"days old, halving every {days:g} days"
    return _aged("half_life", candidate, context, lambda age: FactorValue(0.5 ** (age / days), f"{int(age)} {reason}"))


def _freshness(candidate: Candidate, context: ScoringContext) -> FactorValue:
    scale = context.table["freshness"]["scale_days"]
    return _aged(
        "freshness", candidate, context, lambda age: FactorValue(1 / (1 + age / scale), f"{int(age)} days old")
    )


def _aged(
    name: str, candidate: Candidate, context: ScoringContext, value_at_age: Callable[[float], FactorValue]
) -> FactorValue:
    """The value of an age factor from the passage's age in days, if it is dated."""
    row, age = context.table[name], context.age_days(candidate)
    if age is None:
        return FactorValue(row["unknown"], "neutral: undated")
    return FactorValue(row["future"], "dated in the future") if age < 0 else value_at_age(age)


def _jurisdiction(candidate: Candidate, context: ScoringContext) -> FactorValue:
    own, question_place = candidate.passage.jurisdiction, context.route.jurisdiction
    rule = jurisdiction_value(own, question_place)
    neutral = "neutral: " if rule == "unknown" else ""
    return FactorValue(
        context.table["jurisdiction"][rule],
        lambda: f"{neutral}applies to {own or 'an unknown place'}, asked about {question_place or 'no place'}",
    )


def jurisdiction_value(own: str | None, question_place: str | None) -> str:
    """Which rule of the jurisdiction factor applies to a passage's and the question's jurisdiction. States are US
    states.

    >>> [jurisdiction_value(own, "state:CA") for own in ("federal", "state:TX", "country:DE")]
    ['enclosing', 'other_state', 'other_country']
    """
    us = ("federal", "country:US")
    if own is None or question_place is None:
        return "unknown"
    if own == question_place or (own in us and question_place in us):
        return "exact"
    if own == "global" or (own in us and question_place.startswith("state:")):
        return "enclosing"
    if own.startswith("state:"):
        if question_place in us:
            return "state_for_federal"
        return "other_state" if question_place.startswith("state:") else "other_country"
    return "unknown" if question_place == "global" else "other_country"


def _date_match(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, route, own = context.table["date_match"], context.route, candidate.passage.date
    if route.date_from is None and route.date_to is None:
        return FactorValue(row["inside"], "the question names no date")
    period = f"{route.date_from or 'any time'} to {route.date_to or 'any time'}"
    if own is None:
        return FactorValue(row["unknown"], f"undated, asked about {period}")
    day = own.date().isoformat()
    if (route.date_from or day) <= day <= (route.date_to or day):
        return FactorValue(row["inside"], f"dated {day}, within {period}")
    return FactorValue(row["outside"], f"dated {day}, asked about {period}")


def _utility(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, signals = context.table["utility"], candidate.signals
    value = utility(signals.uses, signals.distinct_questions, row["distinct_weight"], row["full_at"])
    return FactorValue(value, f"used {signals.uses} times for {signals.distinct_questions} different questions")


def _strength(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, sector = context.table["strength"], candidate.passage.sector
    if sector is None:
        return FactorValue(row["documents"], "documents do not fade")
    age = max(context.age_days(candidate) or 0.0, 0.0)
    retained = retention(age, row.by_value[sector], candidate.signals.uses)
    return FactorValue(row["least"] + (1 - row["least"]) * retained, f"{sector.value}: freshness {retained:.0%}")


def _routing(candidate: Candidate, context: ScoringContext) -> FactorValue:
    truth = candidate.passage.truth
    if truth is None:
        return FactorValue(context.table["routing"]["unknown"], "neutral: its truth is unknown")
    inside = truth in context.route.truths
    value = truth_weight(context.route, truth, context.profile.routing_outside)
    return FactorValue(value, lambda: f"the question is {'about' if inside else 'not about'} {truth.value}")


def _trend(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, own = context.table["trend"], candidate.passage.date
    if not context.route.trend:
        return FactorValue(row["not_asked"], "the question does not ask for the latest")
    if own is None or context.newest is None:
        return FactorValue(row["unknown"], "neutral: undated")
    days = max((context.newest - own).total_seconds(), 0.0) / _SECONDS_PER_DAY  # a later band may hold newer ones
    return FactorValue(0.5 ** (days / row["half_life_days"]), f"{int(days)} days older than the newest document found")


def _label_match(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, uncertain = context.table["label_match"], context.filters.uncertain_fields(candidate.passage)
    if not uncertain:
        return FactorValue(row["certain"], "its labels are those of the filter")
    return FactorValue(row["uncertain"], f"its {' and '.join(uncertain)} may differ from its label")


def _temporal(candidate: Candidate, context: ScoringContext) -> FactorValue:
    row, temporal = context.table["temporal"], candidate.passage.temporal_class
    if temporal is None:
        return FactorValue(row["unknown"], "neutral: temporal class unknown")
    return FactorValue(row.by_value[temporal], f"{temporal.value}")


FACTORS: Mapping[str, Callable[[Candidate, ScoringContext], FactorValue]] = {
    "similarity": _similarity,
    "keyword": _keyword,
    "keyword_overlap": _keyword_overlap,
    "term_coverage": _term_coverage,
    "best_sentence_similarity": _best_sentence_similarity,
    "answer_kind": _answer_kind,
    "synonym_match": _synonym_match,
    "phrase_match": _phrase_match,
    "fusion": _fusion,
    "rerank": _rerank,
    "authority": _authority,
    "domain": _domain,
    "recency": _recency,
    "half_life": _half_life,
    "freshness": _freshness,
    "jurisdiction": _jurisdiction,
    "date_match": _date_match,
    "label_match": _label_match,
    "trend": _trend,
    "utility": _utility,
    "strength": _strength,
    "routing": _routing,
    "temporal": _temporal,
}
"""Factor name → its function. The names are those of core/knowledge/factors.toml."""
