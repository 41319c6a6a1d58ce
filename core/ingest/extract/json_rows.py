"""JSON: a list of objects, or an object that holds such lists, as tables; JSON lines too. Anything else is text."""

import json
from collections.abc import Mapping
from typing import Any

from core.ingest.extract.clean import clean
from core.ingest.extract.tables import Table

__all__ = ["json_tables"]

_MOST_DEPTH = 4


def json_tables(text: str) -> list[Table]:
    """The tables of a JSON text, [] when it holds none or is no JSON; nested objects become "outer.inner" columns.

    >>> [table] = json_tables('[{"code": "REG", "rate": {"base": 1.5}}, {"code": "OT", "active": true}]')
    >>> table.columns, table.rows
    (('code', 'rate.base', 'active'), (('REG', '1.5', ''), ('OT', '', 'yes')))
    """
    read = _parsed(text)
    if isinstance(read, list):
        table = _table("Table", read)
        return [table] if table else []
    if isinstance(read, dict):
        lists = [_table(f"Sheet: {key}", value) for key, value in read.items() if isinstance(value, list)]
        return [table for table in lists if table]
    return []


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return None


def _table(label: str, values: list[Any]) -> Table | None:
    if not values or not all(isinstance(value, dict) for value in values):
        return None
    flat = [_flat(value) for value in values]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    if not columns:
        return None
    headers = tuple(clean(name).strip() or f"Column {at}" for at, name in enumerate(columns, 1))
    return Table(label, headers, tuple(tuple(row.get(name, "") for name in columns) for row in flat))


def _flat(value: Mapping[str, Any], before: str = "", depth: int = 1) -> dict[str, str]:
    row: dict[str, str] = {}
    for name, inner in value.items():
        if isinstance(inner, dict) and depth < _MOST_DEPTH:
            row |= _flat(inner, f"{before}{name}.", depth + 1)
        else:
            row[f"{before}{name}"] = _shown(inner)
    return row


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).strip()
