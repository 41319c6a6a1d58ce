"""Names PostgreSQL takes without quotes, made from headers and file names."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePath

__all__ = ["distinct_names", "sql_name", "table_name"]

_LONGEST = 50
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}")
# PostgreSQL 18: the words that cannot name a column or table without quotes (appendix C), then the columns every table
# has already (5.6).
_RESERVED = frozenset(
    "all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate"
    " collation column concurrently constraint create cross current_catalog current_date current_role"
    " current_schema current_time current_timestamp current_user default deferrable desc distinct do else end"
    " except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into"
    " is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on"
    " only or order outer overlaps placing primary references returning right select session_user similar some"
    " symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when"
    " where window with"
    " tableoid xmin cmin xmax cmax ctid".split()
)


def sql_name(text: str, otherwise: str = "column_") -> str:
    """A header as a plain SQL name: small letters, digits and underscores, no reserved word.

    >>> sql_name("2020 Overtime Pay"), sql_name("WorkTimeStart"), sql_name("Order"), sql_name("名前")
    ('_2020_overtime_pay', 'work_time_start', 'order_', 'column_')
    """
    plain = unicodedata.normalize("NFKD", _SEAM.sub("_", text).replace("ß", "ss").replace("%", " percent "))
    plain = plain.encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")[:_LONGEST].strip("_") or otherwise
    if name[0].isdigit() or name.startswith("pg_"):  # pg_class is looked up in the system's own schema first
        name = f"_{name}"
    return f"{name}_" if name in _RESERVED else name


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names, later repetitions numbered.

    >>> distinct_names(["pay", "name", "pay"])
    ['pay', 'name', 'pay_2']
    """
    taken: set[str] = set()
    told = []
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken.add(free)
        told.append(free)
    return told


def table_name(file_name: str, sheet: str = "") -> str:
    """What a file's table is called: its words, without what looks like a hash.

    >>> table_name("86c9e325__Employee_Salaries_-_2020.csv"), table_name("plan.v2.xlsx", "Rates 2025")
    ('employee_salaries_2020', 'plan_v2_rates_2025')
    """
    stem = "_".join(part for part in re.split(r"[^\w]+|_+", PurePath(file_name).stem) if not _HASH.fullmatch(part))
    return sql_name(f"{stem} {sheet}".strip(), "table_")
