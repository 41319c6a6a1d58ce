"""A table in the browser: rows are chosen, ticked, sorted and opened; `table.js` draws it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.knowledge.glossary import explanation
from pages.components import browser_scripts

__all__ = ["TableColumn", "draw_table"]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column. style: classes of table.css that give its width, and where there is room for it. sort: what a click on
    its head sorts by, "" for nothing. term: the glossary's name of what it shows, whose meaning its head shows on hover
    unless it has a `help` of its own. The column "name" has the link."""

    key: str
    title: str
    style: str = "middle"
    sort: str = ""
    help: str = ""
    term: str = ""


# What the table is told, and what it tells, in one place.
def draw_table(
    key: str,
    label: str,
    columns: Sequence[TableColumn],
    rows: Sequence[dict[str, Any]],
    *,
    on: dict[str, Callable[[Any], None]],
    chosen: int | None = None,
    ticked: Sequence[int] | None = None,
    order: str = "",
    descending: bool = False,
    keys: bool = True,
) -> None:
    """Draw the table; a click on a name opens its address.

    rows: id, name, full (its whole name), address (of its link), sentence (parts with whether they are marked), and
    cells by column. on: "chosen", "sorted" or "ticked" → called with what was clicked, before the page is drawn again.
    ticked: None without boxes. keys: whether it hears keys wherever the focus is, which one table of a page may.
    """
    data = {
        "label": label,
        "columns": [
            {
                "key": each.key,
                "title": each.title,
                "style": each.style,
                "sort": each.sort,
                "help": each.help or explanation(each.term),
            }
            for each in columns
        ],
        "rows": list(rows),
        "chosen": chosen,
        "ticked": None if ticked is None else list(ticked),
        "order": order,
        "descending": descending,
        "keys": keys,
    }

    def on_event(event: str) -> None:
        value = getattr(st.session_state[key], event)
        if value is not None:
            on[event](value)

    draw = browser_scripts.browser_component("fivefold_table", "library/table.js")
    events = {f"on_{event}_change": lambda event=event: on_event(event) for event in on}
    draw(key=key, data=data, **events)
