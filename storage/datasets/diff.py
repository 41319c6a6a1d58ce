"""Compares two stored versions of a table row by row in the database."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from core.domain.datasets import Column, ColumnType, RealityTable, RowChange, TableDiff

__all__ = ["diff_of"]


def diff_of(
    connection: Connection, older: RealityTable, newer: RealityTable, stored: tuple[str, str], most_rows: int
) -> TableDiff:
    """The differences. stored: names of the older and the newer version in the current search path. Values are
    compared as text, so that a column whose type changed can still be compared.
    """
    driver: Any = connection.connection.driver_connection
    before, after = {c.name: c for c in older.columns}, {c.name: c for c in newer.columns}
    shared = [name for name in after if name in before]
    key = _comparing_key([before[name] for name in shared], [after[name] for name in shared])
    told = [[_text(each[name]) for name in shared] for each in (before, after)]
    if key:
        counts, rows = _by_key(driver, stored, shared, key, told, most_rows)
    else:
        counts, rows = _by_row(driver, stored, shared, told, most_rows)
    return TableDiff(
        table=newer.name,
        before=older.rows,
        after=newer.rows,
        by=key,
        added=counts.get("added", 0),
        removed=counts.get("removed", 0),
        changed=counts.get("changed", 0),
        rows=tuple(rows),
        columns_added=tuple(name for name in after if name not in before),
        columns_removed=tuple(name for name in before if name not in after),
    )


def _comparing_key(before: Sequence[Column], after: Sequence[Column]) -> str:
    """A column whose values identify the rows of both versions."""
    return next((new.name for old, new in zip(before, after, strict=True) if old.key and new.key), "")


Found = tuple[dict[str, int], list[RowChange]]


def _text(column: Column) -> str:
    """A cell as text; 10.50 and 10.5 become equal."""
    scaled = column.type in (ColumnType.NUMBER, ColumnType.MONEY)
    return f'trim_scale({{}}."{column.name}")::text' if scaled else f'{{}}."{column.name}"::text'


def _by_key(
    driver: Any, stored: tuple[str, str], shared: Sequence[str], key: str, told: Sequence[Sequence[str]], most: int
) -> Found:
    others = [name for name in shared if name != key]
    pairs = [(old.format("o"), new.format("n")) for name, old, new in zip(shared, *told, strict=True) if name in others]
    cells = "".join(f", {old}, {new}" for old, new in pairs)
    differs = " OR ".join(f"{old} IS DISTINCT FROM {new}" for old, new in pairs) or "FALSE"
    kind = f"""CASE WHEN o."{key}" IS NULL THEN 'added' WHEN n."{key}" IS NULL THEN 'removed' ELSE 'changed' END"""
    source = (
        f'FROM "{stored[0]}" AS o FULL JOIN "{stored[1]}" AS n ON o."{key}"::text = n."{key}"::text'
        f' WHERE o."{key}" IS NULL OR n."{key}" IS NULL OR {differs}'
    )
    counts = dict(driver.execute(f"SELECT {kind} AS kind, count(*) {source} GROUP BY 1").fetchall())
    listed = f'SELECT {kind} AS kind, COALESCE(n."{key}"::text, o."{key}"::text){cells}'
    rows = driver.execute(f"{listed} {source} ORDER BY 1, 2 LIMIT {int(most)}").fetchall()
    return counts, [_change(row, others) for row in rows]


def _change(row: Sequence[Any], names: Sequence[str]) -> RowChange:
    kind, key, *cells = row
    old, new = dict(zip(names, cells[::2], strict=True)), dict(zip(names, cells[1::2], strict=True))
    if kind == "changed":
        differ = [name for name in names if old[name] != new[name]]
        return RowChange(str(key), kind, {name: old[name] for name in differ}, {name: new[name] for name in differ})
    return RowChange(str(key), kind, old if kind == "removed" else {}, new if kind == "added" else {})


def _by_row(
    driver: Any, stored: tuple[str, str], shared: Sequence[str], told: Sequence[Sequence[str]], most: int
) -> Found:
    """Compare whole rows, counting repeats. Without a key, a changed row appears as one removed and one added."""
    if not shared:
        return {}, []
    older, newer = (
        f'SELECT {", ".join(text.format("v") for text in texts)} FROM "{name}" AS v'
        for name, texts in zip(stored, told, strict=True)
    )
    order = ", ".join(str(place) for place in range(1, len(shared) + 1))
    counts: dict[str, int] = {}
    rows: list[RowChange] = []
    for kind, first, second in (("added", newer, older), ("removed", older, newer)):
        only = f"{first} EXCEPT ALL {second}"
        counts[kind] = driver.execute(f"SELECT count(*) FROM ({only}) AS d").fetchone()[0]
        for row in driver.execute(f"{only} ORDER BY {order} LIMIT {int(most) - len(rows)}").fetchall():
            cells = dict(zip(shared, row, strict=True))
            rows.append(RowChange("", kind, cells if kind == "removed" else {}, cells if kind == "added" else {}))
    return counts, rows
