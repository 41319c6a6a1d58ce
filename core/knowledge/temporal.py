"""Date vocabulary: month names, phrases before effective and other dates, signals of temporal classes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from core.domain.documents import TemporalClass, Truth
from core.domain.errors import BadTable
from core.knowledge.label_signals import LabelSignal, signals_of
from core.knowledge.loading import check_keys, table

_LEAST_LETTERS = 3  # of a month's name in Latin letters; shorter abbreviations stand for too much else
_DIGIT = re.compile(r"\d")

__all__ = ["DateCue", "date_cues", "dated_leads", "month_names", "temporal_by_truth", "temporal_signs"]


@cache
def date_cues() -> Mapping[str, tuple[str, ...]]:
    """Kind of word → how such words begin, in lower case. Raises BadTable."""
    rows = table("temporal")["cues"]
    if any(not row or not all(row) for row in rows.values()):
        raise BadTable("core/knowledge/temporal.toml: [cues] holds an empty row.", "Give each kind its words.")
    return {kind: tuple(row) for kind, row in rows.items()}


@lru_cache(maxsize=64)
def month_names(language: str = "en") -> Mapping[str, int]:
    """Lower-case month name → number: the table's, and those of a language (Unicode CLDR). Raises BadTable."""
    rows = table("temporal")["months"]
    check_keys("temporal", "months", rows, [str(number) for number in range(1, 13)])
    found = {name.lower(): int(number) for number, names in rows.items() for name in names}
    return {**found, **_month_names_of(language)} if language != "en" else found


def _month_names_of(language: str) -> dict[str, int]:
    """Month names of a language, also in the form they have in dates, without dots and words for "of"."""
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        return {}
    words = {
        re.sub(r"^(?:de |d[’'])|\.$", "", name.lower()): number
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in locale.months[context][width].items()
    }
    return {
        word: number
        for word, number in words.items()
        if len(word) >= (_LEAST_LETTERS if word.isascii() else _LEAST_LETTERS - 1) and not _DIGIT.search(word)
    }


@cache
def temporal_by_truth() -> Mapping[Truth, TemporalClass]:
    """Truth → its temporal class when no signal is found. Raises BadTable."""
    rows = table("temporal")
    check_keys("temporal", "top level", rows, ["by_truth", "cues", "months", *TemporalClass])
    check_keys("temporal", "by_truth", rows["by_truth"], list(Truth))
    try:
        return {Truth(key): TemporalClass(value) for key, value in rows["by_truth"].items()}
    except ValueError as error:
        raise BadTable(f"core/knowledge/temporal.toml: [by_truth] {error}.", "Correct the row.") from error


@cache
def temporal_signs() -> tuple[LabelSignal, ...]:
    """The signals of all temporal classes. Raises BadTable."""
    rows = table("temporal")
    return tuple(sign for c in TemporalClass for sign in signals_of("temporal", c, rows.get(c, {}).get("signs", [])))


@dataclass(frozen=True, slots=True)
class DateCue:
    """what: the kind of date. pattern: over the text before the date."""

    what: str
    pattern: re.Pattern[str]


@cache
def dated_leads() -> tuple[DateCue, ...]:
    """All rows in table order. Raises BadTable."""
    leads = []
    for row in table("date_cues")["leads"]:
        check_keys("date_cues", "leads", row, ("what", "pattern"))
        try:
            leads.append(DateCue(row["what"], re.compile(row["pattern"])))
        except (KeyError, re.error) as error:
            raise BadTable(f"core/knowledge/date_cues.toml: [leads] {error}.", "Correct the row.") from error
    return tuple(leads)
