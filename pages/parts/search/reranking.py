"""Whether the best results are read once more by a reranker, and by which."""

from collections.abc import Mapping

import streamlit as st

from core.tables.rerankers import rerank_table
from pages.parts.wording import plain

__all__ = ["choice"]

_OFF = ""


def choice(key: str, troubles: Mapping[str, str]) -> None:
    """A choice among the rerankers, "" being none; what session state holds under `key` and is none becomes none.

    troubles: reranker → why its model could not be loaded when it was last tried. Whether a model's weights are on this
    machine is known only then, so nothing is said of one that was never asked for.
    """
    rows = rerank_table().rows
    if st.session_state.get(key, _OFF) not in (_OFF, *rows):
        st.session_state[key] = _OFF

    def shown(name: str) -> str:
        if name == _OFF:
            return "Off"
        return f"{rows[name].label} (not available)" if name in troubles else rows[name].label

    told = [f"{rows[name].label}: {plain(why)}" for name, why in troubles.items() if name in rows]
    st.selectbox("Rerank", [_OFF, *rows], key=key, format_func=shown, help="\n\n".join([_help(), *told]))


def _help() -> str:
    table = rerank_table()
    longest = ", ".join(f"{row.label.lower()} {row.deadline_ms / 1000:g} s" for row in table.rows.values())
    return (
        f"A cross-encoder reads the best {table.candidates} passages once more, each together with the question; what"
        f" it says counts as one factor of the score. It may take so long: {longest}. What is not read by then keeps"
        " its place, and the page says so. Its weights are looked for on this machine, else fetched, at first use."
    )
