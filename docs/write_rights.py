"""Writes docs/rights.md from the rights table: `python -m docs.write_rights`. A test says when it is out of date."""

from collections import defaultdict
from pathlib import Path

from core.access.rights import RIGHTS, Right
from core.domain.people import Role

__all__ = ["PAGE", "rights_page"]

PAGE = Path(__file__).parent / "rights.md"

_HEAD = """# Rights

What every role may do. Pages, REST, MCP and Python ask the same table. A role includes the ones before it: viewer,
analyst, reviewer, administrator. Only people with a role in a project see what is in it.

*Where* says in which projects the role must count: **any** – a role in one project is enough, and the answer is
narrowed to the person's projects; **its project** – the one that the object belongs to; **every project** – for what
all projects share. *Recorded* actions are written into the [audit log](team.md#audit-log), and so is every refused
try.

This page is written by `python -m docs.write_rights`.

| service | least role | where | recorded | actions |
|---|---|---|---|---|
"""


def rights_page() -> str:
    """The page: a row for each service, role, place and record."""
    rows: defaultdict[tuple[str, int, str, str], list[str]] = defaultdict(list)
    for action, right in RIGHTS.items():
        service, _, method = action.rpartition(".")
        rank = right.role.rank if isinstance(right.role, Role) else -1
        rows[service, rank, _where(right), "yes" if right.audited else ""].append(f"`{method}`")
    lines = [
        f"| {service} | {_role(rank)} | {where} | {recorded} | {', '.join(sorted(methods))} |"
        for (service, rank, where, recorded), methods in sorted(rows.items())
    ]
    return _HEAD + "\n".join(lines) + "\n"


def _role(rank: int) -> str:
    return list(Role)[rank].value if rank >= 0 else "as for the change"


def _where(right: Right) -> str:
    if right.where is None:
        return "any"
    return "every project" if right.library_wide else "its project"


if __name__ == "__main__":
    PAGE.write_text(rights_page(), "utf-8")
