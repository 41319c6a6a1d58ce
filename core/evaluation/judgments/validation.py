"""Validates names, keys and grades of question sets, and converts known answers and filters from and to JSON."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from core.domain.errors import BadRequest
from core.domain.evaluation import GRADES, Relevant
from core.domain.filters import FIELDS, SearchFilters, check_filters

__all__ = [
    "CANNOT_JUDGE",
    "DEFAULT_KIND",
    "checked_grade",
    "checked_judge",
    "checked_key",
    "checked_kind",
    "checked_name",
    "checked_note",
    "checked_question",
    "filters_data",
    "filters_of",
    "free_keys",
    "grade_words",
    "json_row",
    "relevant_of",
    "stands_for_text",
]

DEFAULT_KIND = "natural"

CANNOT_JUDGE = "can't judge"
"""Label of the grade None."""

_LONGEST = {"set's name": 80, "key": 64, "question": 2_000, "kind": 40, "judge's name": 80, "note": 2_000}

_BLANK = re.compile(r"\s")

_NUMBERED = re.compile(r"q([1-9][0-9]{0,8})")


def stands_for_text(text: str) -> bool:
    """Whether the text can be stored in PostgreSQL and encoded as UTF-8: no NUL, no lone surrogate.

    >>> stands_for_text("Würde?"), stands_for_text("a" + chr(0))
    (True, False)
    """
    return not any(each == "\0" or "\ud800" <= each <= "\udfff" for each in text)


def _checked(text: str, what: str, *, empty: bool = False) -> str:
    """The text without surrounding whitespace. Raises BadRequest when it is empty, too long or not storable."""
    tidy = text.strip()
    if not tidy and not empty:
        raise BadRequest(f"The {what} is empty.", "Write it.")
    if len(tidy) > _LONGEST[what]:
        problem = f"A {what} has at most {_LONGEST[what]:,} characters, this one has {len(tidy):,}."
        raise BadRequest(problem, "Shorten it.")
    if not stands_for_text(tidy):
        raise BadRequest(f"The {what} contains an invalid character.", "Type it again.")
    return tidy


def checked_name(name: str) -> str:
    """A set's name in one line. Raises BadRequest."""
    return _checked(" ".join(name.split()), "set's name")


def checked_note(note: str) -> str:
    """A note, which may be empty. Raises BadRequest."""
    return _checked(note, "note", empty=True)


def checked_question(question: str) -> str:
    """A question as it is asked. Raises BadRequest."""
    return _checked(question, "question")


def checked_kind(kind: str) -> str:
    """A question's kind in lower case; "natural" for none. Raises BadRequest.

    >>> checked_kind(" Acronym "), checked_kind("")
    ('acronym', 'natural')
    """
    return _checked(" ".join(kind.lower().split()) or DEFAULT_KIND, "kind")


def checked_key(key: str) -> str:
    """A question's external key, without whitespace because it is a column of TREC files. Raises BadRequest."""
    tidy = _checked(key, "key")
    if _BLANK.search(tidy) or not tidy.isprintable():
        raise BadRequest(f"The key '{tidy[:60]}' holds blanks.", "Write it as one word, such as q1.")
    return tidy


def checked_judge(who: str) -> str:
    """The judge's name in one line. Raises BadRequest when it is empty."""
    if not who.strip():
        raise BadRequest("A judgment needs the name of who judges.", "Fill in “Your name”, then try again.")
    return _checked(" ".join(who.split()), "judge's name")


def checked_grade(grade: Any) -> int | None:
    """A grade of GRADES, or None for "can't judge". Raises BadRequest.

    >>> checked_grade(3), checked_grade(None)
    (3, None)
    """
    if grade is None or (isinstance(grade, int) and not isinstance(grade, bool) and grade in GRADES):
        return grade
    grades = ", ".join(f"{number} {words}" for number, words in GRADES.items())
    raise BadRequest(f"'{str(grade)[:20]}' is not a grade.", f"Grades are: {grades}; or {CANNOT_JUDGE}.")


def grade_words(grade: int | None) -> str:
    """A grade as display text.

    >>> grade_words(2), grade_words(None)
    ('2 answers in part', "can't judge")
    """
    return CANNOT_JUDGE if grade is None else f"{grade} {GRADES[grade]}"


def free_keys(taken: Iterable[str]) -> Iterator[str]:
    """Keys for new questions: "q1", "q2" …, starting after the highest one in use.

    >>> keys = free_keys(["q2", "d40", "q7"])
    >>> next(keys), next(keys)
    ('q8', 'q9')
    """
    numbers = [int(match[1]) for match in map(_NUMBERED.fullmatch, taken) if match]
    number = max(numbers, default=0)
    while True:
        number += 1
        yield f"q{number}"


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
"""Value of `archived` for searching archived documents together with the others."""


def json_row(text: str, keys: Sequence[str]) -> dict[str, Any]:
    """The JSON object of one line, which must have these keys. Raises BadRequest without file and line."""
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRequest(f"is not JSON ({error.msg}).", "Write one JSON object per line.") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets nested thousands deep
        raise BadRequest("is not JSON that can be read.", "Write one JSON object per line.") from error
    if not isinstance(row, dict):
        raise BadRequest("is not a JSON object.", "Write one JSON object per line.")
    if not _holds_text(row):
        raise BadRequest("it contains an invalid character.", "Remove it.")
    absent = [key for key in keys if key not in row]
    if absent:
        raise BadRequest(f"has no {', '.join(absent)}.", "Write the keys the corpus README names.")
    found: dict[str, Any] = row
    return found


def _holds_text(value: Any) -> bool:
    """Whether all texts in the value can be stored: no NUL, no lone surrogate."""
    if isinstance(value, str):
        return stands_for_text(value)
    if isinstance(value, dict):
        return all(_holds_text(each) for each in (*value, *value.values()))
    return not isinstance(value, list) or all(map(_holds_text, value))


def relevant_of(raw: Any) -> tuple[Relevant, ...]:
    """Known answers of a JSON line. Raises BadRequest naming the problem, without file and line."""
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
        raise BadRequest("'must_contain' is not a list of texts.", "List the words that occur together in the answer.")
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
    """Filters as JSON-compatible data that `filters_of` restores exactly; unrestricted fields are absent.

    >>> filters_data(SearchFilters(truths=("intent",), archived=None))
    {'truths': ['intent'], 'archived': 'too'}
    """
    data: dict[str, Any] = {}
    for field in fields(SearchFilters):
        value = getattr(filters, field.name)
        if value == field.default:
            continue
        if isinstance(value, datetime):
            data[field.name] = value.isoformat()
        else:
            data[field.name] = list(value) if isinstance(value, tuple) else _BOTH if value is None else value
    return data
