"""Custom names of jurisdictions, their public bodies, and authorities."""

from collections.abc import Mapping

import streamlit as st

from core.domain.documents import Authority
from core.domain.errors import BadRequest
from core.domain.vocabulary import AuthorityNames, JurisdictionNames
from core.knowledge.jurisdictions import built_in_jurisdictions
from core.knowledge.workspace_terms import WorkspaceTerms
from pages.components.settings.vocabulary_state import change, draft, key, lines, refuse
from pages.components.wording import plain

__all__ = ["draw_authorities", "draw_places"]


def draw_places() -> None:
    """Those with names of yours at the left, the opened one at the right."""
    titles = WorkspaceTerms(draft()).jurisdictions.titles
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


_WHO = {
    Authority.GOVERNMENT: ("Public bodies and their publications", "Ministry of Labour"),
    Authority.VENDOR: ("Makers of products and services you use", "Acme Payroll"),
    Authority.INDUSTRY: ("Associations, standards bodies, research", "Institute of Payroll Professionals"),
    Authority.CUSTOMER: ("Whoever asks or buys", "the Purchaser"),
    Authority.INTERNAL: ("Your own organisation, speaking to its staff", "Group Compliance Office"),
}


def draw_authorities() -> None:
    """A box of names for each authority, and one button for all of them."""
    st.caption(
        "Names and phrases that tell who speaks, one in each line. They come to the product's own signs and weigh as"
        " much as the strongest of them; what a document *is* still counts: a policy that names a ministry stays yours."
    )
    columns = st.columns(2, gap="large")
    for number, authority in enumerate(Authority):
        about, example = _WHO[authority]
        with columns[number % 2]:
            st.text_area(
                authority.value.capitalize(), "\n".join(draft().authority(authority).names), height=110,
                key=key("authority", authority), help=f"{about}.", placeholder=f"{example}\n(one in each line)",
            )  # fmt: skip
    st.button(
        "Change", key="settings.authorities", type="primary", icon=":material/check:", on_click=_change_authorities
    )


def _change_authorities() -> None:
    typed = {each: str(st.session_state.get(key("authority", each)) or "") for each in Authority}
    change(draft().told(*(AuthorityNames(each, tuple(lines(text))) for each, text in typed.items())))
