"""Authorities: names and phrases by which a text tells who speaks, beside the product's own signs."""

import streamlit as st

from core.documents import Authority
from core.vocabulary import AuthorityNames
from pages.parts.settings.vocabulary_state import change, draft, key, lines

__all__ = ["draw_authorities"]

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
    st.button("Change", key="settings.authorities", type="primary", icon=":material/check:", on_click=_change)


def _change() -> None:
    typed = {each: str(st.session_state.get(key("authority", each)) or "") for each in Authority}
    change(draft().told(*(AuthorityNames(each, tuple(lines(text))) for each, text in typed.items())))
