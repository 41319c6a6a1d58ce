"""What a table is for, told from its rows: what is configured, or what happens."""

import re
from collections import Counter
from collections.abc import Sequence

from core.documents import TableRole

__all__ = ["suggested_role"]

_MOST_SETUP_ROWS = 500
_KEY_COLUMNS = 2
_CODE = re.compile(r"(?=.*[A-Z])[A-Z0-9][A-Z0-9_./+-]{0,15}")
_NUMBERED = re.compile(r"([A-Z]*)[-_]?\d{3,}")
_MOSTLY = 0.8
_NEARLY_ALL = 0.9
_DESCRIBING_WORDS = 1.5


def suggested_role(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> TableRole | None:
    """Setup for a short table of codes, each different and each described in words; None when that is not clear.

    Numbered keys (E1001, E1002 …) count things that happen, so they never make a set-up table. Precision first: a
    records table taken for set-up would hide a gap.

    >>> suggested_role(["code", "text"], [["REG", "Regular pay"], ["OT15", "Overtime at 1.5"], ["HOL", "Paid holiday"]])
    <TableRole.SETUP: 'setup'>
    >>> suggested_role(["id", "name"], [["E1001", "Ann Lee"], ["E1002", "Bo Ray"], ["E1003", "Cy Fox"]]) is None
    True
    """
    if not 2 <= len(rows) <= _MOST_SETUP_ROWS or len(columns) < 2:
        return None
    values = [[(row[at].strip() if at < len(row) else "") for row in rows] for at in range(len(columns))]
    keyed = any(_is_key(column) for column in values[:_KEY_COLUMNS])
    described = any(_describes(column) for column in values)
    return TableRole.SETUP if keyed and described else None


def _is_key(column: Sequence[str]) -> bool:
    if len(set(column)) < len(column) or not all(column):
        return False
    codes = sum(_CODE.fullmatch(value) is not None for value in column)
    numbered = Counter(match.group(1) for value in column if (match := _NUMBERED.fullmatch(value)))
    return codes >= _MOSTLY * len(column) and max(numbered.values(), default=0) < len(column) / 2


def _describes(column: Sequence[str]) -> bool:
    filled = [value for value in column if value]
    if len(filled) < _NEARLY_ALL * len(column) or len(set(filled)) < _NEARLY_ALL * len(filled):
        return False
    worded = [len(re.findall(r"[^\W\d_]{2,}", value)) for value in filled]
    return all(worded) and sum(worded) / len(worded) >= _DESCRIBING_WORDS
