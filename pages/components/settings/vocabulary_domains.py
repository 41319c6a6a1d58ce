"""Domains: the list with usage, and the words that identify the opened domain."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.domain.errors import BadRequest
from core.domain.vocabulary import DomainWords
from core.knowledge.domains import GENERAL, built_in_domains
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.vocabulary.edits import domain_keywords, edit_domain, new_domain_name
from core.library.vocabulary.service import VocabularyUsage
from pages.components.settings.vocabulary_state import change, desk, draft, key, lines, refuse
from pages.components.wording import count, plain

__all__ = ["draw_domains"]

_NEW = "new"
_HELP = (
    "One in each line. Matched by stems on word borders: “tax” finds “taxes”, not “syntax”. A word after “=” counts"
    " only as it is written."
)


def draw_domains() -> None:
    """The list at the left, the opened one at the right."""
    titles = WorkspaceTerms(draft()).domains.titles
    used = desk().in_use()
    listed, shown = st.columns([5, 4], gap="large")
    with listed:
        opened = _list(titles, used)
        st.button("New domain", key="settings.domain.new", icon=":material/add:", on_click=_open, args=(_NEW,))
    with shown:
        if opened == _NEW:
            _new(titles)
        elif opened in titles:
            _editor(opened, titles[opened], used.get(opened, VocabularyUsage()))
        else:
            st.caption(":material/touch_app: Select a domain to see and change the words that name it.")


def _open(name: str) -> None:
    st.query_params["domain"] = name


def _list(titles: Mapping[str, str], used: Mapping[str, VocabularyUsage]) -> str:
    names, asked = list(titles), st.query_params.get("domain", "")
    table = st.dataframe(
        [_row(name, titles[name], used.get(name, VocabularyUsage())) for name in names],
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(asked)]}} if asked in titles else None,
        key=key("domains", asked),
        height="content",
        row_height=32,
        column_config=_COLUMNS,
    )
    rows: list[int] = table["selection"]["rows"]
    chosen = names[rows[0]] if rows else (_NEW if asked == _NEW else "")
    if chosen != asked and (rows or asked in titles):
        if chosen:
            st.query_params["domain"] = chosen
        else:
            st.query_params.pop("domain", None)
    return chosen


def _row(name: str, title: str, used: VocabularyUsage) -> dict[str, Any]:
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


def _editor(name: str, title: str, used: VocabularyUsage) -> None:
    own, product = draft().domain(name), name in built_in_domains()
    whose = "comes with the product" if product else f"yours, carried as “{name}”"
    carried = f"{count(used.documents, 'document')} and {count(used.passages, 'passage')} carry it"
    st.markdown(f"**{plain(title)}** :gray[· {plain(whose)} · {carried}]")
    st.text_input("Title", title, key=key("title", name), max_chars=120)
    if name == GENERAL:
        st.caption("What no other domain's words name. It has no words of its own.")
    else:
        _words(name, domain_keywords(draft(), name), own.name_words)
        st.toggle(
            "In use",
            not own.off,
            key=key("on", name),
            help="Switched off, it is given to no document and read in no question; those that carry it keep it.",
        )
    with st.container(horizontal=True, gap="small"):
        st.button("Change", key=key("change", name), type="primary", icon=":material/check:", on_click=_change,
                  args=(name,))  # fmt: skip
        if not product:
            st.button(
                "Remove", key=key("remove", name), icon=":material/delete:", disabled=used.documents > 0,
                help="Documents carry it: switch it off instead." if used.documents else "Nothing carries it.",
                on_click=_remove, args=(name,),
            )  # fmt: skip
        elif not own.silent:
            st.button("As the product has it", key=key("reset", name), icon=":material/undo:", type="tertiary",
                      on_click=_remove, args=(name,))  # fmt: skip


def _words(name: str, keywords: Sequence[str], name_words: Sequence[str]) -> None:
    st.text_area("Words that name it", "\n".join(keywords), key=key("keywords", name), height=260, help=_HELP)
    st.text_area(
        "Words that count in file names only", "\n".join(name_words), key=key("names", name), height=80,
        placeholder="One in each line",
    )  # fmt: skip


def _typed(what: str, name: str) -> str:
    return str(st.session_state.get(key(what, name)) or "")


def _change(name: str) -> None:
    change(
        edit_domain(
            draft(),
            name,
            title=_typed("title", name),
            keywords=lines(_typed("keywords", name)),
            name_words=lines(_typed("names", name)),
            off=not st.session_state.get(key("on", name), True),
        )
    )


def _remove(name: str) -> None:
    change(draft().told(DomainWords(name)))
    if name not in built_in_domains():
        st.query_params.pop("domain", None)


# A new one


def _new(titles: Mapping[str, str]) -> None:
    st.markdown("**A new domain**")
    st.text_input("Title", key=key("title", _NEW), max_chars=120, placeholder="Privacy")
    _words(_NEW, (), ())
    st.button("Add", key=key("add"), type="primary", icon=":material/add:", on_click=_add, args=(list(titles),))


def _add(taken: Sequence[str]) -> None:
    title = _typed("title", _NEW).strip()
    if not title:
        refuse(BadRequest("The new domain has no title.", "Give it the name people use."))
        return
    name = new_domain_name(title, taken)
    keywords, named = lines(_typed("keywords", _NEW)), lines(_typed("names", _NEW))
    change(draft().told(DomainWords(name, title, tuple(keywords), (), tuple(named))))
    _open(name)
