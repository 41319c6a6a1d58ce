"""Term groups that distinguish one case from another ("full-time" and "part-time")."""

import re
from functools import cache

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["other_case"]


def other_case(first: str, second: str) -> bool:
    """Whether two sentences are about different cases of the same kind.

    >>> other_case("Full-time staff get 20 days.", "Part-time staff get 10 days.")
    True
    """
    for row in _rows():
        one, other = ({group for group in row if group.search(sentence)} for sentence in (first, second))
        if one and other and not one & other:
            return True
    return False


@cache
def _rows() -> tuple[tuple[re.Pattern[str], ...], ...]:
    """One pattern per group of each row. Raises BadTable."""
    content = table("distinguishing_terms")
    check_keys("distinguishing_terms", "top", content, ("rows",))
    rows = content.get("rows", [])
    if not all(len(row) > 1 and all(group and all(isinstance(p, str) for p in group) for group in row) for row in rows):
        raise BadTable(
            "core/knowledge/distinguishing_terms.toml: a row needs two or more groups of phrases.", "Correct the file."
        )
    return tuple(tuple(_pattern(group) for group in row) for row in rows)


def _pattern(phrases: list[str]) -> re.Pattern[str]:
    words = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?i)(?<![\w-])(?:{words})s?\b")
