"""Jurisdictions: more names and public bodies of a place, and places the product does not know."""

from collections.abc import Mapping

import streamlit as st

from core.errors import BadRequest
from core.speaking import speaking
from core.tables.jurisdictions import built_in_jurisdictions, jurisdictions
from core.vocabulary import JurisdictionNames
from pages.parts.settings.vocabulary_state import change, draft, key, lines, refuse
from pages.parts.wording import plain

__all__ = ["draw_places"]


def draw_places() -> None:
    """Those with names of yours at the left, the opened one at the right."""
    with speaking(draft()):
        titles = dict(jurisdictions())
    listed, shown = st.columns([5, 4], gap="large")
    with listed:
        _list(titles)
        chosen = _opened(titles)
        _new()
    with shown:
        if chosen:
            _editor(chosen, titles[chosen])
        else:
            st.caption(":material/touch_app: Open a place to give it more names, or the names of its agencies.")


def _list(titles: Mapping[str, str]) -> None:
    own = draft().jurisdictions
    if not own:
        st.caption(
            "No names of yours yet. The product knows the US federal level, the states, the countries and many agencies"
            " and laws; the names of a province or of its agencies belong to its country."
        )
        return
    rows = [
        {
            "Place": titles.get(each.value, each.value),
            "Code": each.value,
            "Names": ", ".join(each.names),
            "Agencies": ", ".join(each.agencies),
        }
        for each in own
    ]
    st.dataframe(rows, hide_index=True, height="content", row_height=32, key=key("places"))


def _opened(titles: Mapping[str, str]) -> str | None:
    """The place that is opened, as the URL says it or as it is chosen here."""
    state, asked = st.session_state, st.query_params.get("place")
    if asked != state.get("settings.place.seen") or state.get("settings.place") not in titles:
        state["settings.place"] = asked if asked in titles else None
    chosen: str | None = st.selectbox(
        "Place", list(titles), key="settings.place", index=None, format_func=lambda value: titles.get(value, value),
        placeholder="Open any place", help="To give it names, or to call it otherwise.",
    )  # fmt: skip
    if chosen:
        st.query_params["place"] = chosen
    else:
        st.query_params.pop("place", None)
    state["settings.place.seen"] = chosen
    return chosen


def _new() -> None:
    with st.expander("A place that is not in the list", icon=":material/add_location:"):
        code, title = st.columns([2, 3])
        code.text_input("Code", key=key("code"), placeholder="country:XK", max_chars=12)
        title.text_input("Name", key=key("place title"), placeholder="Kosovo", max_chars=120)
        st.button("Add", key=key("add place"), icon=":material/add:", on_click=_add)


def _add() -> None:
    kind, _, code = str(st.session_state.get(key("code")) or "").strip().partition(":")
    value = f"{kind.lower()}:{code.strip().upper()}" if code else kind.lower()
    if not value or value in built_in_jurisdictions():
        told = f"'{value}' is in the list already." if value else "The code is empty."
        refuse(BadRequest(told, "Open it above." if value else "Write country:XX, as in country:XK."))
        return
    title = str(st.session_state.get(key("place title")) or "").strip()
    known = draft().jurisdiction(value)
    change(draft().told(JurisdictionNames(value, title or value, known.names, known.agencies)))
    st.query_params["place"] = value


def _editor(value: str, title: str) -> None:
    own = draft().jurisdiction(value)
    st.markdown(f"**{plain(title)}** :gray[· {plain(value)}]")
    st.text_input("Name on pages", title, key=key("place title", value), max_chars=120)
    st.text_area(
        "More names", "\n".join(own.names), key=key("names", value), height=110, placeholder="One in each line",
        help="Matched as written or in capitals; those of several words in small letters too.",
    )  # fmt: skip
    st.text_area(
        "Its agencies and public bodies", "\n".join(own.agencies), key=key("agencies", value), height=110,
        placeholder="Ministry of Labour\n(one in each line)",
    )  # fmt: skip
    st.button("Change", key=key("change", value), type="primary", icon=":material/check:", on_click=_change,
              args=(value,))  # fmt: skip
    if not own.silent:
        product = value in built_in_jurisdictions()
        st.button(
            "As the product has it" if product else "Remove", key=key("reset", value), type="tertiary",
            icon=":material/undo:" if product else ":material/delete:", on_click=_reset, args=(value,),
        )  # fmt: skip


def _change(value: str) -> None:
    typed = {what: str(st.session_state.get(key(what, value)) or "") for what in ("place title", "names", "agencies")}
    title = typed["place title"].strip()
    same = title == built_in_jurisdictions().get(value)
    names, agencies = tuple(lines(typed["names"])), tuple(lines(typed["agencies"]))
    change(draft().told(JurisdictionNames(value, "" if same else title, names, agencies)))


def _reset(value: str) -> None:
    change(draft().told(JurisdictionNames(value)))
    if value not in built_in_jurisdictions():
        st.query_params.pop("place", None)
