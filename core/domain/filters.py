"""Search filters.

`SearchFilters.admits(passage)` is the reference definition of every filter; the SQL and Chroma translators are tested
against it. OR inside a field, AND across fields; None and empty mean "no restriction". Each field is one row of FIELDS:
name, passage attribute, allowed values and label, so that validation, filtering and page text stay consistent.
"""
# Longer than 300 lines: what a filter is, what it admits, and how raw input is checked are one definition.

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import partial
from operator import attrgetter
from typing import Any

from core.domain.documents import (
    Authority,
    Origin,
    Passage,
    Sector,
    SourceType,
    TemporalClass,
    Truth,
    possible_label,
)
from core.domain.errors import BadFilters
from core.domain.sanitize import storable_text

__all__ = ["FIELDS", "STRICT_LABELS", "FilterField", "MetadataFilter", "SearchFilters", "check_filters", "parse_bound"]


@dataclass(frozen=True, slots=True)
class FilterField:
    """One categorical filter: `attribute` is the Passage attribute it reads, `values` the closed set (None: open).
    classified: whether the classifier gives the value, so that it can be uncertain."""

    name: str
    attribute: str
    words: str
    values: type[StrEnum] | None = None
    excludable: bool = True
    many: bool = False
    classified: bool = False


FIELDS: tuple[FilterField, ...] = (
    FilterField("truths", "truth", "truth", Truth, classified=True),
    FilterField("domains", "domain", "domain", classified=True),
    FilterField("authorities", "authority", "authority", Authority, classified=True),
    FilterField("jurisdictions", "jurisdiction", "jurisdiction", classified=True),
    FilterField("source_types", "source_type", "source type", SourceType),
    FilterField("origins", "origin", "origin", Origin),
    FilterField("tags", "tags", "tag", many=True),
    FilterField("entities", "entities", "entity", many=True),
    FilterField("temporal_classes", "temporal_class", "temporal class", TemporalClass),
    FilterField("sectors", "sector", "sector", Sector),
    FilterField("projects", "project", "project"),
    FilterField("documents", "document_id", "document"),
)

_FIELD_BY_NAME = {field.name: field for field in FIELDS}
_EXCLUDES = tuple(f"exclude_{field.name}" for field in FIELDS)
_INCLUDED, _EXCLUDED = attrgetter(*_FIELD_BY_NAME), attrgetter(*_EXCLUDES)
_FORMER_ORIGIN = "graph"  # of stored filters; no passage ever had it, as the graph leg finds passages of documents

STRICT_LABELS = "certain labels only"
"""What pages say of a filter that leaves out uncertain labels."""
_NO_PROJECT = ""  # no project is named so: a filter on it admits only what all projects share
_LAST_ID = 2**63 - 1  # the largest PostgreSQL bigint


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """A set of filters. Build it from raw input with `check_filters`, which validates; the constructor does not.

    tags_mode, entities_mode: "any" or "all". date_from, date_to: timezone-aware, both inclusive.
    recency_months: m means at or after now - 30·m days (`now` is passed to `resolved`). include_undated: let undated
    documents through a date filter. archived: False shows living documents, True archived ones, None both.
    strict_labels: leave out passages whose label only may be a wanted one (`Passage.possible_labels`).
    A passage without a project belongs to every project of its tenant.
    """

    truths: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    authorities: tuple[str, ...] = ()
    jurisdictions: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tags_mode: str = "any"
    entities: tuple[str, ...] = ()
    entities_mode: str = "any"
    temporal_classes: tuple[str, ...] = ()
    sectors: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    date_from: datetime | None = None
    date_to: datetime | None = None
    recency_months: int | None = None
    include_undated: bool = False
    exclude_truths: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    exclude_authorities: tuple[str, ...] = ()
    exclude_jurisdictions: tuple[str, ...] = ()
    exclude_source_types: tuple[str, ...] = ()
    exclude_origins: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    exclude_entities: tuple[str, ...] = ()
    exclude_temporal_classes: tuple[str, ...] = ()
    exclude_sectors: tuple[str, ...] = ()
    exclude_projects: tuple[str, ...] = ()
    exclude_documents: tuple[int, ...] = ()
    archived: bool | None = False
    strict_labels: bool = False

    def __post_init__(self) -> None:
        """Stored filters may name the former origin: it meant passages of documents, and excluded nothing."""
        for name, current in (("origins", (Origin.DOCUMENT.value,)), ("exclude_origins", ())):
            if _FORMER_ORIGIN in (values := getattr(self, name)):
                rest = (each for each in values if each != _FORMER_ORIGIN)
                object.__setattr__(self, name, tuple(dict.fromkeys((*current, *rest))))

    def resolved(self, now: datetime) -> "SearchFilters":
        """The same filter with `recency_months` turned into a date_from (the later of both applies)."""
        if self.recency_months is None:
            return self
        known = now - datetime.min.replace(tzinfo=UTC)
        start = now - timedelta(days=min(30 * self.recency_months, known.days))
        if self.date_from is not None and self.date_from > start:
            start = self.date_from
        return self.replace(date_from=start, recency_months=None)

    def within(self, projects: Sequence[str]) -> "SearchFilters":
        """The same filter narrowed to these projects, and to what all projects share."""
        inside = tuple(each for each in self.projects or projects if each in projects)
        return self.replace(projects=inside or (_NO_PROJECT,))

    def replace(self, **changes: Any) -> "SearchFilters":
        """A copy with some fields changed."""
        return SearchFilters(**{field.name: getattr(self, field.name) for field in fields(self)} | changes)

    @property
    def project(self) -> str | None:
        """The project, if exactly one is set; else None."""
        return self.projects[0] if len(self.projects) == 1 else None

    @property
    def dated(self) -> bool:
        """Whether a date filter is set."""
        return any(bound is not None for bound in (self.date_from, self.date_to, self.recency_months))

    def admits(self, passage: Passage) -> bool:
        """Whether the passage passes every filter. `recency_months` must have been resolved."""
        return self.predicate()(passage)

    def predicate(self) -> Callable[[Passage], bool]:
        """`admits` for many passages: which filters are set is looked up once."""
        chosen = [
            (field, included, unwanted)
            for field, included, unwanted in zip(FIELDS, _INCLUDED(self), _EXCLUDED(self), strict=True)
            if included or unwanted
        ]
        archived, dated = self.archived, self.dated

        def admits(passage: Passage) -> bool:
            if archived is not None and passage.archived != archived:
                return False
            if dated and not self._admits_date(passage.date):
                return False
            return all(self._admits_field(field, passage, *both) for field, *both in chosen)

        return admits

    def _admits_date(self, moment: datetime | None) -> bool:
        if moment is None:
            return self.include_undated
        after = self.date_from is None or moment >= self.date_from
        return after and (self.date_to is None or moment <= self.date_to)

    def _admits_field(
        self, field: FilterField, passage: Passage, included: tuple[Any, ...], unwanted: tuple[Any, ...]
    ) -> bool:
        value = getattr(passage, field.attribute)
        own = set(value) if field.many else ({value} if value is not None else set())
        if field.name == "projects" and value is None:
            return True
        if unwanted and own & set(unwanted):
            return False
        if not included:
            return True
        if not set(self.possible_values(field)).isdisjoint(passage.possible_labels):
            return True
        mode = getattr(self, f"{field.name}_mode") if field.many else "any"
        return set(included) <= own if mode == "all" else bool(own & set(included))

    def possible_values(self, field: FilterField) -> tuple[str, ...]:
        """The entries of `Passage.possible_labels` that satisfy the field; () for a strict or another field."""
        if self.strict_labels or not field.classified:
            return ()
        return tuple(possible_label(field.attribute, value) for value in getattr(self, field.name))

    def uncertain_fields(self, passage: Passage) -> tuple[str, ...]:
        """The attributes for which an admitted passage only may have a wanted value."""
        return tuple(
            field.attribute
            for field in FIELDS
            if field.classified
            and getattr(self, field.name)
            and getattr(passage, field.attribute) not in getattr(self, field.name)
        )

    def data(self) -> dict[str, Any]:
        """The set filters by name, for JSON: lists, numbers, flags, and dates as ISO text.

        >>> SearchFilters(truths=("intent",), archived=None).data()
        {'truths': ['intent'], 'archived': None}
        """
        default = SearchFilters()
        changed = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: list(value)
            if isinstance(value, tuple)
            else value.isoformat()
            if isinstance(value, datetime)
            else value
            for name, value in changed.items()
            if value != getattr(default, name)
        }

    def in_words(self, document_names: Mapping[int, str] | None = None) -> tuple[str, ...]:
        """One phrase per set filter, in field order, e.g. "truth is regulatory or compliance"."""
        names = document_names or {}
        phrases: list[str] = []
        for field in FIELDS:
            for prefix, verb in (("", "is"), ("exclude_", "is not")):
                values = [names.get(v, str(v)) for v in getattr(self, prefix + field.name)]
                mode = getattr(self, f"{field.name}_mode", "any") if not prefix else "any"
                if values:
                    phrases.append(f"{field.words} {verb} {(' and ' if mode == 'all' else ' or ').join(values)}")
        phrases += self._dates_in_words()
        if self.archived is not False:
            phrases.append("archived documents only" if self.archived else "archived documents too")
        if self.strict_labels and any(getattr(self, field.name) for field in FIELDS if field.classified):
            phrases.append(STRICT_LABELS)
        return tuple(phrases)

    def _dates_in_words(self) -> list[str]:
        phrases = []
        if self.date_from is not None:
            phrases.append(f"dated on or after {self.date_from:%Y-%m-%d}")
        if self.date_to is not None:
            phrases.append(f"dated on or before {self.date_to:%Y-%m-%d}")
        if self.recency_months is not None:
            phrases.append(f"dated in the last {self.recency_months} months")
        if self.dated and self.include_undated:
            phrases.append("undated documents too")
        return phrases


def parse_bound(value: Any, *, upper: bool) -> datetime:
    """A date bound, timezone-aware (naive input is UTC). A date-only upper bound covers that whole day.

    Raises ValueError for an invalid date.
    """
    if isinstance(value, datetime):
        moment, date_only = value, False
    elif isinstance(value, date):
        moment, date_only = datetime.combine(value, time.min), True
    elif isinstance(value, str):
        moment, date_only = datetime.fromisoformat(value.strip()), len(value.strip()) <= 10
    else:
        raise ValueError(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if upper and date_only:
        moment = datetime.combine(moment, time.max, moment.tzinfo)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(value) from None


def check_filters(raw: Mapping[str, Any]) -> SearchFilters:
    """SearchFilters from raw input (page, URL, command line, API).

    Raises BadFilters listing every problem at once, in field order; its hint names the values of closed fields.
    """
    problems: list[str] = []
    allowed: dict[str, str] = {}
    clean: dict[str, Any] = {}
    for field in fields(SearchFilters):
        if field.name in raw and raw[field.name] is not None:
            clean |= _checked(field.name, raw[field.name], problems, allowed)
    problems += [f"unknown filter: '{name}'" for name in raw if name not in SearchFilters.__dataclass_fields__]
    start, end = clean.get("date_from"), clean.get("date_to")
    if start is not None and end is not None and start > end:
        problems.append("date_from must be <= date_to")
    if problems:
        raise BadFilters(problems, tuple(allowed.values()))
    return SearchFilters(**clean)


def _checked(name: str, value: Any, problems: list[str], allowed: dict[str, str]) -> dict[str, Any]:
    base = name.removeprefix("exclude_")
    if base in _FIELD_BY_NAME and (name == base or name in _EXCLUDES):
        return _checked_values(name, _FIELD_BY_NAME[base], value, problems, allowed)
    if name in ("date_from", "date_to"):
        try:
            return {name: parse_bound(value, upper=name == "date_to")}
        except ValueError:
            problems.append(f"{name} is not a date: {value!r}")
    elif name == "recency_months":
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return {name: value}
        problems.append(f"recency_months must be a whole number above 0, not {value!r}")
    elif name in ("tags_mode", "entities_mode"):
        if value in ("any", "all"):
            return {name: value}
        problems.append(f"{name} must be 'any' or 'all', not {value!r}")
    elif isinstance(value, bool):
        return {name: value}
    else:
        problems.append(f"{name} must be true or false, not {value!r}")
    return {}


def _checked_values(
    name: str, field: FilterField, value: Any, problems: list[str], allowed: dict[str, str]
) -> dict[str, Any]:
    kind: type = int if field.name == "documents" else str
    if isinstance(value, str) or not isinstance(value, Iterable):
        problems.append(f"{name} must be a list of {'numbers' if kind is int else 'strings'}")
        return {}
    values: Sequence[Any] = list(value)
    if not all(isinstance(v, kind) and not isinstance(v, bool) for v in values):
        problems.append(f"{name} must be a list of {'numbers' if kind is int else 'strings'}")
        return {}
    if kind is int:
        bad = [v for v in values if not 0 <= v <= _LAST_ID]
    else:
        bad = [v for v in values if field.values is not None and v not in set(field.values)]
    if bad:
        problems.append(f"Invalid {name.replace('_', ' ')}: {[str(v) for v in bad]}")
        if field.values is not None:
            allowed[field.name] = f"{field.name.replace('_', ' ').capitalize()} are: {', '.join(field.values)}."
        return {}
    return {name: tuple(dict.fromkeys(storable_text(str(v)) if kind is str else v for v in values))}


def _only(name: str, values: Iterable[Any]) -> SearchFilters:
    chosen = list(values)
    if not chosen:
        raise ValueError(f"{name} needs at least one value; leave the filter out to restrict nothing")
    return check_filters({name: chosen})


class MetadataFilter:
    """One field's filter, for code. Here an empty list is a programming error: ValueError; BadFilters otherwise.

    >>> MetadataFilter.truths(["regulatory"]).in_words()
    ('truth is regulatory',)
    """

    truths = staticmethod(partial(_only, "truths"))
    domains = staticmethod(partial(_only, "domains"))
    authorities = staticmethod(partial(_only, "authorities"))
    jurisdictions = staticmethod(partial(_only, "jurisdictions"))
    source_types = staticmethod(partial(_only, "source_types"))
    origins = staticmethod(partial(_only, "origins"))
    tags = staticmethod(partial(_only, "tags"))
    entities = staticmethod(partial(_only, "entities"))
    temporal_classes = staticmethod(partial(_only, "temporal_classes"))
    sectors = staticmethod(partial(_only, "sectors"))
    projects = staticmethod(partial(_only, "projects"))
    documents = staticmethod(partial(_only, "documents"))
