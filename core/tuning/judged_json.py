"""Known answers and filters as lines of JSON say them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from core.errors import BadRequest
from core.filters import FIELDS, SearchFilters, check_filters
from core.judged import GRADES, Relevant
from core.tuning.judged_checks import stands_for_text

__all__ = ["filters_data", "filters_of", "json_row", "relevant_of"]

_ALIASES = {
    "truth_types": "truths",
    "truth_type": "truths",
    "source": "source_types",
    "from": "date_from",
    "to": "date_to",
}
_SINGULARS = {
    "truth": "truths",
    "domain": "domains",
    "authority": "authorities",
    "jurisdiction": "jurisdictions",
    "source_type": "source_types",
    "origin": "origins",
    "tag": "tags",
    "entity": "entities",
    "temporal_class": "temporal_classes",
    "sector": "sectors",
    "project": "projects",
}
_LISTS = {field.name for field in FIELDS} | {f"exclude_{field.name}" for field in FIELDS}
_BOTH = "too"
"""How `archived` says that archived documents are searched with the others."""


def json_row(text: str, keys: Sequence[str]) -> dict[str, Any]:
    """The object of one line of JSON, which must have these keys. Raises BadRequest, without file or line."""
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRequest(f"is not JSON ({error.msg}).", "Write one JSON object per line.") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets nested thousands deep
        raise BadRequest("is not JSON that can be read.", "Write one JSON object per line.") from error
    if not isinstance(row, dict):
        raise BadRequest("is not a JSON object.", "Write one JSON object per line.")
    if not _holds_text(row):
        raise BadRequest("it holds a character that stands for nothing.", "Take it out.")
    absent = [key for key in keys if key not in row]
    if absent:
        raise BadRequest(f"has no {', '.join(absent)}.", "Write the keys the corpus README names.")
    found: dict[str, Any] = row
    return found


def _holds_text(value: Any) -> bool:
    """Whether all its texts can be stored: a NUL cannot, nor half a pair of surrogates."""
    if isinstance(value, str):
        return stands_for_text(value)
    if isinstance(value, dict):
        return all(_holds_text(each) for each in (*value, *value.values()))
    return not isinstance(value, list) or all(map(_holds_text, value))


def relevant_of(raw: Any) -> tuple[Relevant, ...]:
    """Known answers as a line of JSON gives them. Raises BadRequest saying what is wrong, without file or line."""
    if not isinstance(raw, list | tuple):
        raise BadRequest("'relevant' is not a list.", "Write [] when no answer is known.")
    return tuple(_relevant(entry) for entry in raw)


def _relevant(entry: Any) -> Relevant:
    if not isinstance(entry, dict) or not isinstance(entry.get("sha256"), str):
        raise BadRequest("an entry of 'relevant' has no sha256.", "Name the document by its SHA-256.")
    grade, page, words = entry.get("grade", 1), entry.get("page"), entry.get("must_contain") or ()
    if not isinstance(grade, int) or isinstance(grade, bool) or grade not in GRADES or grade < 1:
        raise BadRequest(f"grade {grade!r} is not 1, 2 or 3.", "Give a whole number from 1.")
    if page is not None and (not isinstance(page, int) or isinstance(page, bool) or page < 1):
        raise BadRequest(f"page {page!r} is not a page number.", "Give a whole number from 1, or null for any page.")
    if not isinstance(words, list | tuple) or not all(isinstance(each, str) for each in words):
        raise BadRequest("'must_contain' is not a list of texts.", "List the words that stand together in the answer.")
    return Relevant(entry["sha256"], tuple(words), grade, page)


def filters_of(raw: Any) -> SearchFilters:
    """Filters as people write them: singular or plural names, one value or a list. Raises BadRequest, or BadFilters.

    >>> filters_of({"jurisdiction": "state:AK", "truth_types": ["intent"]}).in_words()
    ('truth is intent', 'jurisdiction is state:AK')
    """
    if not isinstance(raw, Mapping):
        raise BadRequest("'filters' is not an object.", "Write {} for no filter.")
    clean: dict[str, Any] = {}
    for name, value in raw.items():
        prefix = "exclude_" if name.startswith("exclude_") else ""
        base = name.removeprefix(prefix)
        full = prefix + _ALIASES.get(base, _SINGULARS.get(base, base))
        clean[full] = [value] if full in _LISTS and not isinstance(value, list | tuple) else value
    if clean.get("archived") == _BOTH:
        return check_filters(clean | {"archived": None}).replace(archived=None)
    return check_filters(clean)


def filters_data(filters: SearchFilters) -> dict[str, Any]:
    """What filters restrict, as JSON data that `filters_of` reads back exactly; what they leave open is absent.

    >>> filters_data(SearchFilters(truths=("intent",), archived=None))
    {'truths': ['intent'], 'archived': 'too'}
    """
    said: dict[str, Any] = {}
    for field in fields(SearchFilters):
        value = getattr(filters, field.name)
        if value == field.default:
            continue
        if isinstance(value, datetime):
            said[field.name] = value.isoformat()
        else:
            said[field.name] = list(value) if isinstance(value, tuple) else _BOTH if value is None else value
    return said
