"""A selectbox whose labels may change while an option is selected."""

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

import streamlit as st

__all__ = ["choice"]


def choice(
    label: str, called: Mapping[int, str], chosen: int, key: str, on_choose: Callable[[int], None], **how: Any
) -> None:
    """A selectbox of ids under their words, `chosen` being the one. on_choose: takes over another; how: passed on.

    The browser knows a choice by its words: with other words under one key it would fall back to the first. So the
    widget is another one whenever the words, or what is chosen, are.
    """
    name = f"{key}.{crc32(repr((chosen, sorted(called.items()))).encode())}"
    st.selectbox(
        label,
        list(called),
        index=list(called).index(chosen),
        key=name,
        format_func=lambda each: called.get(each, ""),
        on_change=lambda: on_choose(st.session_state[name]),
        **how,
    )
