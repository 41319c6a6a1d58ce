"""The words of the vocabulary: domains, jurisdictions with their public bodies, and authorities."""
# Longer than 300 lines: one editor per kind of word.

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.domain.documents import Authority
from core.domain.errors import BadRequest
from core.domain.vocabulary import AuthorityNames, DomainWords, JurisdictionNames
from core.knowledge.domains import GENERAL, built_in_domains
from core.knowledge.jurisdictions import built_in_jurisdictions
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.vocabulary.edits import domain_keywords, edit_domain, new_domain_name
from core.library.vocabulary.service import VocabularyUsage
from pages.components.settings.vocabulary_state import (
    draft,
    field_key,
    lines_of,
    set_draft,
    store_problem,
    vocabulary_service,
    widget_key,
)
from pages.components.wording import count, plain

__all__ = ["draw_authorities", "draw_domains", "draw_places"]


_NEW = "new"
_WORDS_HELP = (
    "One in each line. Matched by stems on word borders: “tax” finds “taxes”, not “syntax”. A word after “=” counts"
    " only as it is written."
)


def draw_domains() -> None:
    """The list at the left, the opened one at the right."""
    titles = WorkspaceTerms(draft()).domains.titles
    used = vocabulary_service().in_use()
    listed, shown = st.columns([5, 4], gap="large")
    with listed:
        opened = _domain_list(titles, used)
        st.button("New domain", key="settings.domain.new", icon=":material/add:", on_click=_open_domain, args=(_NEW,))
    with shown:
        if opened == _NEW:
            _domain_form(titles)
        elif opened in titles:
            _domain_editor(opened, titles[opened], used.get(opened, VocabularyUsage()))
        else:
            st.caption(":material/touch_app: Select a domain to see and change the words that name it.")


def _open_domain(name: str) -> None:
    st.query_params["domain"] = name


def _domain_list(titles: Mapping[str, str], used: Mapping[str, VocabularyUsage]) -> str:
    names, requested = list(titles), st.query_params.get("domain", "")
    table = st.dataframe(
        [_domain_row(name, titles[name], used.get(name, VocabularyUsage())) for name in names],
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(requested)]}} if requested in titles else None,
        key=widget_key("domains", requested),
        height="content",
        row_height=32,
        column_config=_COLUMNS,
    )
    rows: list[int] = table["selection"]["rows"]
    chosen = names[rows[0]] if rows else (_NEW if requested == _NEW else "")
    if chosen != requested and (rows or requested in titles):
        if chosen:
            st.query_params["domain"] = chosen
        else:
            st.query_params.pop("domain", None)
    return chosen


def _domain_row(name: str, title: str, used: VocabularyUsage) -> dict[str, Any]:
    own = draft().domain(name)
    state = "yours" if name not in built_in_domains() else "" if own.silent else "changed"
    return {
        "Domain": title,
        "Words": len(domain_keywords(draft(), name)),
        "Documents": used.documents,
        "State": "switched off" if own.off else state,
    }


_COLUMNS = {
    "Domain": st.column_config.TextColumn(width=150),
    "Words": st.column_config.NumberColumn(width=54),
    "Documents": st.column_config.NumberColumn(width=80),
    "State": st.column_config.TextColumn(width=78),
}


# One that is there


def _domain_editor(name: str, title: str, used: VocabularyUsage) -> None:
    own, product = draft().domain(name), name in built_in_domains()
    whose = "comes with the product" if product else f"yours, carried as “{name}”"
    carried = f"{count(used.documents, 'document')} and {count(used.passages, 'passage')} carry it"
    st.markdown(f"**{plain(title)}** :gray[· {plain(whose)} · {carried}]")
    st.text_input("Title", title, key=field_key(title, "title", name), max_chars=120)
    if name == GENERAL:
        st.caption("What no other domain's words name. It has no words of its own.")
    else:
        _word_fields(name, domain_keywords(draft(), name), own.name_words)
        st.toggle(
            "In use",
            not own.off,
            key=field_key(not own.off, "on", name),
            help="Switched off, it is given to no document and read in no question; those that carry it keep it.",
        )
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Change",
            key=widget_key("change", name),
            type="primary",
            icon=":material/check:",
            on_click=_change_domain,
            args=(name,),
        )
        if not product:
            st.button(
                "Remove", key=widget_key("remove", name), icon=":material/delete:", disabled=used != VocabularyUsage(),
                help="Nothing carries it." if used == VocabularyUsage() else f"{carried}: switch it off instead.",
                on_click=_remove_domain, args=(name,),
            )  # fmt: skip
        elif not own.silent:
            st.button("Reset to built-in", key=widget_key("reset", name), icon=":material/undo:", type="tertiary",
                      on_click=_remove_domain, args=(name,))  # fmt: skip


def _word_fields(name: str, keywords: Sequence[str], name_words: Sequence[str]) -> None:
    words, names = "\n".join(keywords), "\n".join(name_words)
    key = field_key(words, "keywords", name)
    st.text_area("Words that name it", words, key=key, height=260, help=_WORDS_HELP)
    st.text_area(
        "Words that count in file names only", names, key=field_key(names, "names", name), height=80,
        placeholder="One in each line",
    )  # fmt: skip


def _field_text(what: str, name: str) -> str:
    return str(st.session_state.get(widget_key(what, name)) or "")


def _change_domain(name: str) -> None:
    set_draft(
        edit_domain(
            draft(),
            name,
            title=_field_text("title", name),
            keywords=lines_of(_field_text("keywords", name)),
            name_words=lines_of(_field_text("names", name)),
            off=not st.session_state.get(widget_key("on", name), True),
        )
    )


def _remove_domain(name: str) -> None:
    set_draft(draft().with_changes(DomainWords(name)))
    if name not in built_in_domains():
        st.query_params.pop("domain", None)


# A new one


def _domain_form(titles: Mapping[str, str]) -> None:
    st.markdown("**A new domain**")
    st.text_input("Title", key=field_key("", "title", _NEW), max_chars=120, placeholder="Privacy")
    _word_fields(_NEW, (), ())
    st.button(
        "Add", key=widget_key("add"), type="primary", icon=":material/add:", on_click=_add_domain, args=(list(titles),)
    )


def _add_domain(taken: Sequence[str]) -> None:
    title = _field_text("title", _NEW).strip()
    if not title:
        store_problem(BadRequest("The new domain has no title.", "Give it the name people use."))
        return
    name = new_domain_name(title, taken)
    keywords, named = lines_of(_field_text("keywords", _NEW)), lines_of(_field_text("names", _NEW))
    set_draft(draft().with_changes(DomainWords(name, title, tuple(keywords), (), tuple(named))))
    _open_domain(name)


def draw_places() -> None:
    """Those with names of yours at the left, the opened one at the right."""
    titles = WorkspaceTerms(draft()).jurisdictions.titles
    listed, shown = st.columns([5, 4], gap="large")
    with listed:
        _place_list(titles)
        chosen = _choose_place(titles)
        _place_form()
    with shown:
        if chosen:
            _place_editor(chosen, titles[chosen])
        else:
            st.caption(":material/touch_app: Open a place to give it more names, or the names of its agencies.")


def _place_list(titles: Mapping[str, str]) -> None:
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
    st.dataframe(rows, hide_index=True, height="content", row_height=32, key=widget_key("places"))


def _choose_place(titles: Mapping[str, str]) -> str | None:
    """The open place, from the URL or the select box."""
    state, requested = st.session_state, st.query_params.get("place")
    if requested != state.get("settings.place.seen") or state.get("settings.place") not in titles:
        state["settings.place"] = requested if requested in titles else None
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


def _place_form() -> None:
    with st.expander("A place that is not in the list", icon=":material/add_location:"):
        code, title = st.columns([2, 3])
        code.text_input("Code", key=field_key("", "code"), placeholder="country:XK", max_chars=12)
        title.text_input("Name", key=field_key("", "place title"), placeholder="Kosovo", max_chars=120)
        st.button("Add", key=widget_key("add place"), icon=":material/add:", on_click=_add_place)


def _add_place() -> None:
    kind, _, code = str(st.session_state.get(widget_key("code")) or "").strip().partition(":")
    value = f"{kind.lower()}:{code.strip().upper()}" if code else kind.lower()
    if not value or value in built_in_jurisdictions():
        message = f"'{value}' is in the list already." if value else "The code is empty."
        store_problem(BadRequest(message, "Open it above." if value else "Write country:XX, as in country:XK."))
        return
    title = str(st.session_state.get(widget_key("place title")) or "").strip()
    known = draft().jurisdiction(value)
    set_draft(draft().with_changes(JurisdictionNames(value, title or value, known.names, known.agencies)))
    st.query_params["place"] = value


def _place_editor(value: str, title: str) -> None:
    own = draft().jurisdiction(value)
    st.markdown(f"**{plain(title)}** :gray[· {plain(value)}]")
    st.text_input("Name on pages", title, key=field_key(title, "place title", value), max_chars=120)
    names, agencies = "\n".join(own.names), "\n".join(own.agencies)
    st.text_area(
        "More names", names, key=field_key(names, "names", value), height=110, placeholder="One in each line",
        help="Matched as written or in capitals; those of several words in small letters too.",
    )  # fmt: skip
    st.text_area(
        "Its agencies and public bodies", agencies, key=field_key(agencies, "agencies", value), height=110,
        placeholder="Ministry of Labour\n(one in each line)",
    )  # fmt: skip
    st.button(
        "Change",
        key=widget_key("change", value),
        type="primary",
        icon=":material/check:",
        on_click=_change_place,
        args=(value,),
    )
    if not own.silent:
        product = value in built_in_jurisdictions()
        st.button(
            "Reset to built-in" if product else "Remove", key=widget_key("reset", value), type="tertiary",
            icon=":material/undo:" if product else ":material/delete:", on_click=_reset_place, args=(value,),
        )  # fmt: skip


def _change_place(value: str) -> None:
    typed = {
        what: str(st.session_state.get(widget_key(what, value)) or "") for what in ("place title", "names", "agencies")
    }
    title = typed["place title"].strip()
    same = title == built_in_jurisdictions().get(value)
    names, agencies = tuple(lines_of(typed["names"])), tuple(lines_of(typed["agencies"]))
    set_draft(draft().with_changes(JurisdictionNames(value, "" if same else title, names, agencies)))


def _reset_place(value: str) -> None:
    set_draft(draft().with_changes(JurisdictionNames(value)))
    if value not in built_in_jurisdictions():
        st.query_params.pop("place", None)


_AUTHORITY_HELP = {
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
        about, example = _AUTHORITY_HELP[authority]
        with columns[number % 2]:
            names = "\n".join(draft().authority(authority).names)
            st.text_area(
                authority.value.capitalize(), names, key=field_key(names, "authority", authority), height=110,
                help=f"{about}.", placeholder=f"{example}\n(one in each line)",
            )  # fmt: skip
    st.button(
        "Change", key="settings.authorities", type="primary", icon=":material/check:", on_click=_change_authorities
    )


def _change_authorities() -> None:
    typed = {each: str(st.session_state.get(widget_key("authority", each)) or "") for each in Authority}
    set_draft(draft().with_changes(*(AuthorityNames(each, tuple(lines_of(text))) for each, text in typed.items())))
