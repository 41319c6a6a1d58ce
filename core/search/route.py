"""Question → Route: what kind of question it is, about which field, where and when."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import cache

from core.documents import Truth
from core.filters import SearchFilters
from core.matching import STOP_WORDS, keywords, phrase_pattern, stem, words
from core.queries import Chip, Route
from core.search.dates import AskedDates, asked_dates
from core.tables.answer_kinds import asked_kind
from core.tables.domains import domain_hits
from core.tables.jurisdictions import jurisdiction_hits
from core.tables.routes import Category, Routes, routes

__all__ = ["matched_patterns", "question_terms", "read_route", "routed_only", "truth_weight"]

_WILDCARD = r"(?:\S+[\s_-]+){0,3}\S+"
_YEAR = re.compile(r"(?<![\w.,$-])(?:19|20)\d\d(?![\w-]|[.,]\d)")
_CONTRACTED = frozenset({"t", "ll", "ve", "re", "d", "m"})
_NOT_ASKED_FOR = frozenset({"general"})


def read_route(question: str, today: date, removed_chips: Collection[str] = ()) -> Route:
    """What a question is about. A removed chip's kind is not read again.

    >>> route = read_route("Is this compliant with FLSA?", date(2026, 1, 1))
    >>> route.category, route.confidence, [t.value for t in route.truths]
    ('regulatory_required', 0.65, ['regulatory', 'compliance'])
    """
    table = routes()
    question = question.replace("’", "'")
    category, found = _category(question, table) if "category" not in removed_chips else (table.default, ())
    domain = {} if "domain" in removed_chips else _domains(question)
    place = {} if "jurisdiction" in removed_chips else jurisdiction_hits(question)
    dates = None if "date" in removed_chips else asked_dates(question, today)
    trend = () if "trend" in removed_chips else _trend(question, table, today)
    relational = () if "relational" in removed_chips else _phrases_in(table.relational_phrases, question)
    confidence = min(table.confidence_base + table.confidence_step * len(found), table.confidence_most)
    return Route(
        category=category.name,
        confidence=round(confidence, 10),
        truths=dict(category.truths),
        domain=next(iter(domain), None),
        jurisdiction=next(iter(place), None),
        date_from=dates.start.isoformat() if dates and dates.start else None,
        date_to=dates.end.isoformat() if dates and dates.end else None,
        trend=bool(trend),
        relational=bool(relational),
        keywords=keywords(question),
        answer_kind=asked_kind(question),
        chips=_chips(category, found, domain, place, dates, trend, relational),
    )


def question_terms(question: str) -> tuple[str, ...]:
    """The words searched for, each stem once: the keywords, without words that only frame the question ("how many")
    and contractions of stop words ("I'm"). Compounds count by their parts: a text may write "hourly paid".

    >>> question_terms("What's an hourly-paid W-2 job?")
    ('hourly', 'paid', 'w-2', 'job')
    """
    found: dict[str, str] = {}
    bare = phrase_pattern(routes().frames).sub(" ", question.replace("’", "'"))
    for word in keywords(bare) or keywords(question):
        head, _, tail = word.partition("'")
        if tail and (head in STOP_WORDS or tail in _CONTRACTED):
            continue
        word = word.removesuffix("'s")
        parts = [part for part in word.split("-") if len(part) > 1]
        for term in parts if len(parts) > 1 else (word,):
            if term not in STOP_WORDS:
                found.setdefault(stem(term), term)
    return tuple(found.values())


def routed_only(filters: SearchFilters, route: Route) -> SearchFilters:
    """The filters, narrowed to the truths of the route; truths the user chose stay as they are."""
    return filters if filters.truths else filters.replace(truths=tuple(truth.value for truth in route.truths))


def matched_patterns(question: str, category: Category) -> tuple[str, ...]:
    """The words and phrases of a category that a question holds, as the question writes them; each pattern once."""
    return tuple(found for found in (*_words_in(category.words, question), *_phrases_in(category.phrases, question)))


def _category(question: str, table: Routes) -> tuple[Category, tuple[str, ...]]:
    """The category with most distinct matched patterns, the earlier one on ties; the default when nothing matches."""
    scored = [(category, matched_patterns(question, category)) for category in table.categories]
    best = max(scored, key=lambda item: len(item[1]))
    return best if best[1] else (table.default, ())


def _words_in(patterns: Sequence[str], question: str) -> list[str]:
    said = {stem(word): word for word in reversed(words(question))}
    stems = dict.fromkeys(stem(pattern.lower()) for pattern in patterns)
    return [said[pattern] for pattern in stems if pattern in said]


def _phrases_in(phrases: Sequence[str], question: str) -> tuple[str, ...]:
    matches = (_pattern(phrase).search(question) for phrase in phrases)
    return tuple(match.group() for match in matches if match)


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    if "*" not in phrase:
        return phrase_pattern((phrase,))
    body = r"[\s_-]+".join(_WILDCARD if word == "*" else re.escape(word) for word in phrase.split())
    return re.compile(rf"(?<![^\W_]){body}(?![^\W_])", re.IGNORECASE)


def _domains(question: str) -> Mapping[str, tuple[str, ...]]:
    return {name: found for name, found in domain_hits(question).items() if name not in _NOT_ASKED_FOR}


def _trend(question: str, table: Routes, today: date) -> tuple[str, ...]:
    """The words that ask for what is new, or a year no older than last year."""
    masked = phrase_pattern(table.trend_never).sub(" ", question)
    years = [year for year in _YEAR.findall(masked) if int(year) >= today.year - 1]
    return (*_words_in(table.trend_words, masked), *years)


def _chips(
    category: Category,
    found: Sequence[str],
    domain: Mapping[str, Sequence[str]],
    place: Mapping[str, Sequence[str]],
    dates: AskedDates | None,
    trend: Sequence[str],
    relational: Sequence[str],
) -> tuple[Chip, ...]:
    chips = [Chip("category", category.name, ", ".join(found))] if found else []
    chips += [Chip("domain", name, ", ".join(said)) for name, said in list(domain.items())[:1]]
    chips += [Chip("jurisdiction", name, ", ".join(said)) for name, said in list(place.items())[:1]]
    if dates:
        bounds = [day.isoformat() if day else "" for day in (dates.start, dates.end)]
        chips.append(Chip("date", " to ".join(bounds).strip(), dates.words))
    chips += [Chip("trend", "trend", ", ".join(trend))] if trend else []
    chips += [Chip("relational", "relational", ", ".join(relational))] if relational else []
    return tuple(chips)


def truth_weight(route: Route, truth: Truth | None, outside: float | None = None) -> float:
    """Weight of a truth in a route, in [0, 1]; truths outside it weigh `outside`, None: what the table says."""
    beyond = routes().outside if outside is None else outside
    return route.truths.get(truth, beyond) if truth is not None else beyond
