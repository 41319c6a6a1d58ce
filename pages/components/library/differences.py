"""Comparison of two texts: sentences added, removed, reworded and moved, page by page."""

import streamlit as st

from core.domain.documents import Document
from core.library.duplicates.minhash import percent
from core.library.versions.diff import ChangeKind, SentenceChange, TextDifference, VersionSentence
from core.search.citations.cite import display_quote
from pages.components import session
from pages.components.pager import paged
from pages.components.urls import page_path
from pages.components.wording import count, plain, shortened

__all__ = ["draw_difference"]

_PER_PAGE = 15
_MOST_LETTERS = 1500
_LOOKS = {
    ChangeKind.ADDED: ("+", "added", "green"),
    ChangeKind.REMOVED: ("−", "removed", "red"),
    ChangeKind.CHANGED: ("≠", "changed", "orange"),
    ChangeKind.MOVED: ("⇅", "moved", "blue"),
}


def draw_difference(before: Document, after: Document) -> None:
    """What changed from one document to another; the sentences between two changes are only counted."""
    found = _found(before, after)
    key = f"{before.id}.{after.id}"
    _told(found)
    if not found.changes:
        st.success("Both say the same, sentence by sentence.", icon=":material/task_alt:")
        return
    kinds = [kind for kind in _LOOKS if found.count(kind)]
    wanted = st.pills(
        "Show",
        kinds,
        selection_mode="multi",
        default=[],
        key=f"differences.kinds.{key}",
        label_visibility="collapsed",
        format_func=lambda kind: f"{_LOOKS[kind][0]} {found.count(kind):,} {_LOOKS[kind][1]}",
    )
    changes = [change for change in found.changes if not wanted or change.kind in wanted]
    shown = paged(changes, _PER_PAGE, f"differences.page.{key}.{wanted}")
    with st.container(border=True, gap="small"):
        for change in shown:
            _change(change, before, after, skipped=not wanted)
        if shown[-1] is changes[-1] and found.tail and not wanted:
            st.caption(f"⋯ {count(found.tail, 'sentence')} the same to the end")


def _found(before: Document, after: Document) -> TextDifference:
    """Compared once per look: paging through it compares nothing again."""
    key = (before.id, before.passages, after.id, after.passages)
    kept: tuple[object, TextDifference] | None = st.session_state.get("differences.kept")
    if kept is None or kept[0] != key:
        kept = (key, session.workbench().versions.difference(before.id, after.id))
        st.session_state["differences.kept"] = kept
    return kept[1]


def _told(found: TextDifference) -> None:
    share = percent(found.same / found.before) if found.before else "0 %"
    st.caption(
        f"**{share}** of the older one's {count(found.before, 'sentence')} stand unchanged"
        f" · the newer one has {count(found.after, 'sentence')} · :red[~~struck out~~] is gone, :green[**bold**] is new"
    )


def _change(change: SentenceChange, before: Document, after: Document, *, skipped: bool) -> None:
    sign, word, colour = _LOOKS[change.kind]
    if skipped and change.skipped:
        lead = f" … {plain(shortened(display_quote(change.lead), 90))}" if change.lead else ""
        st.caption(f"⋯ {count(change.skipped, 'sentence')} the same{lead}")
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":{colour}[**{sign} {word}**]", width="content")
            if change.before is not None:
                _place(change.before, before, "older")
            if change.after is not None:
                _place(change.after, after, "newer")
        st.markdown(_text(change))


def _text(change: SentenceChange) -> str:
    """The sentence as safe markdown, what is gone struck out and what is new in bold."""
    if change.kind is ChangeKind.CHANGED:
        joined = "".join(_part(part.kind, part.text) for part in change.parts)
        return joined.replace("~~]:green[", "~~] :green[")
    sentence = change.after or change.before
    text = shortened(display_quote(sentence.text), _MOST_LETTERS) if sentence is not None else ""
    return plain(text) if change.kind is ChangeKind.MOVED else _part(change.kind, text)


def _part(kind: ChangeKind, text: str) -> str:
    """A run of words, with the blanks around it outside the marks, which would not be marks otherwise."""
    inner = plain(text)
    lead, tail = (" " if text[:1].isspace() else ""), (" " if text[-1:].isspace() and text.strip() else "")
    if not inner:
        return lead
    match kind:
        case ChangeKind.REMOVED:
            return f"{lead}:red[~~{inner}~~]{tail}"
        case ChangeKind.ADDED:
            return f"{lead}:green[**{inner}**]{tail}"
        case _:
            return lead + inner + tail


def _place(sentence: VersionSentence, document: Document, which: str) -> None:
    """A link to the passage in its page."""
    params = {"q": shortened(sentence.text, 200), "documents": str(document.id), "passage": str(sentence.passage_id)}
    if document.archived:
        params["archived"] = "too"
    st.page_link(
        page_path("inspection"), label=f"{which}, page {sentence.page}", icon=":material/article:", query_params=params
    )
