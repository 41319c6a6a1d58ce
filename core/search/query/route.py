"""Question → Route: its category, domain, jurisdiction and dates."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date

from core.domain.documents import Truth
from core.domain.filters import SearchFilters
from core.domain.queries import Chip, Route
from core.knowledge.answer_kinds import question_kind
from core.knowledge.languages import foreign_stop_words
from core.knowledge.routes import Category, Routes, routes
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.query.asked_dates import AskedDates, dates_in_question, without_other_numbers
from core.text.tokenize import STOP_WORDS, keywords, phrase_pattern, stem, words
from core.text.word_patterns import found_phrases

__all__ = [
    "matched_patterns",
    "question_category",
    "question_terms",
    "read_route",
    "routed_only",
    "truth_weight",
]

_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w-])")

_CONTRACTED = frozenset({"t", "ll", "ve", "re", "d", "m"})

_NOT_ASKED_FOR = frozenset({"general"})


def read_route(question: str, today: date, terms: WorkspaceTerms, removed_chips: Collection[str] = ()) -> Route:
    """Route a question, in the terms of a workspace. Kinds in `removed_chips` are not detected again.

    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> route = read_route("Is this compliant with FLSA?", date(2026, 1, 1), BUILT_IN_TERMS)
    >>> route.category, route.confidence, [t.value for t in route.truths]
    ('regulatory_required', 0.65, ['regulatory', 'compliance'])
    """
    table = routes()
    question = question.replace("’", "'")
    category, found = _category(question, table) if "category" not in removed_chips else (table.default, ())
    domain = {} if "domain" in removed_chips else _domains(question, terms)
    jurisdictions = {} if "jurisdiction" in removed_chips else terms.jurisdictions.hits(question)
    dates = None if "date" in removed_chips else dates_in_question(question, today)
    trend = () if "trend" in removed_chips else _trend(question, table, today)
    relational = () if "relational" in removed_chips else found_phrases(table.relational_phrases, question)
    confidence = min(table.confidence_base + table.confidence_step * len(found), table.confidence_most)
    return Route(
        category=category.name,
        confidence=round(confidence, 10),
        truths=dict(category.truths),
        domain=next(iter(domain), None),
        jurisdiction=next(iter(jurisdictions), None),
        date_from=dates.start.isoformat() if dates and dates.start else None,
        date_to=dates.end.isoformat() if dates and dates.end else None,
        trend=bool(trend),
        relational=bool(relational),
        keywords=_keywords(question),
        answer_kind=question_kind(question),
        chips=_chips(category, found, domain, jurisdictions, dates, trend, relational),
    )


def question_terms(question: str) -> tuple[str, ...]:
    """Search terms: the keywords, without question phrases ("how many"), contractions of stop words ("I'm"), and the
    stop words of the question's language. Compounds count by their parts: a text may write "hourly paid". A term is
    listed as often as the question repeats it, each time as first written.

    >>> question_terms("What's an hourly-paid W-2 job?"), question_terms("wings, or a wing?")
    (('hourly', 'paid', 'w-2', 'job'), ('wings', 'wings'))
    >>> question_terms("Wie lange darf man am Tag arbeiten?")
    ('lange', 'darf', 'tag', 'arbeiten')
    >>> question_terms("Est-ce qu'un développeur peut publier l'outil ?")
    ('développeur', 'peut', 'publier', 'outil')
    """
    first: dict[str, str] = {}
    found: list[str] = []
    bare = phrase_pattern(routes().frames).sub(" ", question.replace("’", "'"))
    question_words = words(bare if keywords(bare) else question)
    foreign = foreign_stop_words(question_words)
    ignored = STOP_WORDS | foreign
    for word in question_words:
        head, _, tail = word.partition("'")
        if tail and head in foreign:  # elided: l'outil
            word = tail
        elif tail and (head in STOP_WORDS or tail in _CONTRACTED):
            continue
        if word in ignored:
            continue
        word = word.removesuffix("'s")
        parts = [part for part in word.split("-") if len(part) > 1]
        terms = parts if len(parts) > 1 else (word,)
        found += [first.setdefault(stem(term), term) for term in terms if term not in ignored]
    return tuple(found)


def _keywords(question: str) -> tuple[str, ...]:
    foreign = foreign_stop_words(words(question))
    return tuple(word for word in keywords(question) if word not in foreign)


def routed_only(filters: SearchFilters, route: Route) -> SearchFilters:
    """The filters restricted to the route's truths; truths the user chose stay as they are."""
    return filters if filters.truths else filters.replace(truths=tuple(truth.value for truth in route.truths))


def question_category(question: str) -> Category:
    """The category of a question; the same in every workspace."""
    return _category(question.replace("’", "'"), routes())[0]


def matched_patterns(question: str, category: Category) -> tuple[str, ...]:
    """The words and phrases of a category found in a question, as the question writes them; each pattern once."""
    return tuple(found for found in (*_words_in(category.words, question), *found_phrases(category.phrases, question)))


def _category(question: str, table: Routes) -> tuple[Category, tuple[str, ...]]:
    """The category with most distinct matched patterns, the earlier one on ties; the default when nothing matches."""
    scored = [(category, matched_patterns(question, category)) for category in table.categories]
    best = max(scored, key=lambda item: len(item[1]))
    return best if best[1] else (table.default, ())


def _words_in(patterns: Sequence[str], question: str) -> list[str]:
    by_stem = {stem(word): word for word in reversed(words(question))}
    stems = dict.fromkeys(stem(pattern.lower()) for pattern in patterns)
    return [by_stem[pattern] for pattern in stems if pattern in by_stem]


def _domains(question: str, terms: WorkspaceTerms) -> Mapping[str, tuple[str, ...]]:
    return {name: found for name, found in terms.domains.hits(question).items() if name not in _NOT_ASKED_FOR}


def _trend(question: str, table: Routes, today: date) -> tuple[str, ...]:
    """The words that ask for what is new, or a year no older than last year."""
    masked = phrase_pattern(table.trend_never).sub(" ", without_other_numbers(question))
    years = [year for year in _YEAR.findall(masked) if int(year) >= today.year - 1]
    return (*_words_in(table.trend_words, masked), *years)


def _chips(
    category: Category,
    found: Sequence[str],
    domain: Mapping[str, Sequence[str]],
    jurisdictions: Mapping[str, Sequence[str]],
    dates: AskedDates | None,
    trend: Sequence[str],
    relational: Sequence[str],
) -> tuple[Chip, ...]:
    chips = [Chip("category", category.name, ", ".join(found))] if found else []
    chips += [Chip("domain", name, ", ".join(matched)) for name, matched in list(domain.items())[:1]]
    chips += [Chip("jurisdiction", name, ", ".join(matched)) for name, matched in list(jurisdictions.items())[:1]]
    if dates:
        bounds = [day.isoformat() if day else "" for day in (dates.start, dates.end)]
        chips.append(Chip("date", " to ".join(bounds).strip(), dates.words))
    chips += [Chip("trend", "trend", ", ".join(trend))] if trend else []
    chips += [Chip("relational", "relational", ", ".join(relational))] if relational else []
    return tuple(chips)


def truth_weight(route: Route, truth: Truth | None, outside: float | None = None) -> float:
    """Weight of a truth in a route, in [0, 1]; truths outside it get `outside`, or the table's value when None."""
    beyond = routes().outside if outside is None else outside
    return route.truths.get(truth, beyond) if truth is not None else beyond
