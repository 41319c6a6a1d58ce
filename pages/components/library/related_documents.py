"""Relations of a document, one line each, and the comparison of two texts sentence by sentence."""

from collections.abc import Mapping

import streamlit as st

from core.domain.documents import Document
from core.library.duplicates.minhash import percent
from core.library.versions.diff import ChangeKind, SentenceChange, TextDifference, VersionSentence
from core.library.versions.service import RelatedDocuments
from core.search.citations.cite import display_quote
from pages.components import cards, session
from pages.components.citation_places import sentence_place
from pages.components.pager import paged
from pages.components.wording import count, plain, shorten, shorten_middle

__all__ = ["draw_difference", "draw_related", "likeness", "likeness_marks"]


def likeness(same: float) -> str:
    """How much of two documents is the same, in words. same: Jaccard share, in [0, 1].

    >>> likeness(0.942), likeness(1.0)
    ('94% the same', 'the same text')
    """
    return "the same text" if same == 1.0 else f"{percent(same)} the same"


def likeness_marks() -> Mapping[int, str]:
    """Document id → a short note about its near-duplicates and versions; documents without any are absent."""
    return {
        each: " · ".join(filter(None, (f"≈ {percent(same)}" if same else "", "other version?" if suggested else "")))
        for each, (same, suggested) in session.workbench().versions.marks().items()
    }


def draw_related(document: Document, related: RelatedDocuments, most: int = 4) -> None:
    """At most `most` relations, each with a link to the other document."""
    lines = _relations(document, related)
    for what, other, why in lines[:most]:
        _relation_line(what, other, why)
    if more := len(lines[most:]):
        st.caption(f"and {more:,} more like it")


def _relations(document: Document, related: RelatedDocuments) -> list[tuple[str, Document, str]]:
    """What it is, the other document, and why: what replaced it, the same text, suggested versions, near-duplicates."""
    replaced = [(":material/history: Replaced by", related.replaced_by, "")] if related.replaced_by is not None else []
    same = {other.id: share for other, share in related.near}
    suggested = []
    for suggestion in related.suggestions:
        newer = suggestion.newer.id == document.id
        other = suggestion.older if newer else suggestion.newer
        what = "May be a new version of" if newer else "May have a new version:"
        near = f" (near-duplicate, {likeness(same.pop(other.id))})" if other.id in same else ""
        suggested.append((f":material/update: {what}", other, f"{suggestion.because}{near}"))
    alike = []
    for other, share in related.near:
        if other.id in same:
            where = f", project {other.project}" if other.project and other.project != document.project else ""
            alike.append((":material/content_copy: Near-duplicate of", other, f"{likeness(share)}{where}"))
    twins = sum(share == 1.0 for share in same.values())
    return [*replaced, *alike[:twins], *suggested, *alike[twins:]]


def _relation_line(what: str, other: Document, why: str) -> None:
    """What it is, the other document, and why; it wraps where it is narrow."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(what, width="content")
        cards.document_link(other.id, plain(shorten_middle(other.name, 60)))
        if why:
            st.caption(plain(why), width="content")


_PER_PAGE = 15  # changes per page; chosen by hand
_MOST_LETTERS = 1500  # characters of a sentence; chosen by hand
_CHANGE_SIGNS = {
    ChangeKind.ADDED: ("+", "added", "green"),
    ChangeKind.REMOVED: ("−", "removed", "red"),
    ChangeKind.CHANGED: ("≠", "changed", "orange"),
    ChangeKind.MOVED: ("⇅", "moved", "blue"),
}


def draw_difference(before: Document, after: Document) -> None:
    """What changed from one document to another; the sentences between two changes are only counted."""
    found = _cached_difference(before, after)
    key = f"{before.id}.{after.id}"
    _summary(found)
    if not found.changes:
        st.success("Both say the same, sentence by sentence.", icon=":material/task_alt:")
        return
    kinds = [kind for kind in _CHANGE_SIGNS if found.count(kind)]
    view = st.pills(
        "Show",
        kinds,
        selection_mode="multi",
        default=[],
        key=f"differences.kinds.{key}",
        label_visibility="collapsed",
        format_func=lambda kind: f"{_CHANGE_SIGNS[kind][0]} {found.count(kind):,} {_CHANGE_SIGNS[kind][1]}",
    )
    changes = [change for change in found.changes if not view or change.kind in view]
    shown = paged(changes, _PER_PAGE, f"differences.page.{key}.{view}")
    with st.container(border=True, gap="small"):
        for change in shown:
            _change(change, before, after, skipped=not view)
        if shown[-1] is changes[-1] and found.tail and not view:
            st.caption(f"⋯ {count(found.tail, 'sentence')} the same to the end")


def _cached_difference(before: Document, after: Document) -> TextDifference:
    """Compared once per look: paging through it compares nothing again."""
    key = (before.id, before.passages, after.id, after.passages)
    cache: tuple[object, TextDifference] | None = st.session_state.get("differences.kept")
    if cache is None or cache[0] != key:
        cache = (key, session.workbench().versions.difference(before.id, after.id))
        st.session_state["differences.kept"] = cache
    return cache[1]


def _summary(found: TextDifference) -> None:
    share = percent(found.same / found.before) if found.before else "0%"
    st.caption(
        f"**{share}** of the older one's {count(found.before, 'sentence')} are unchanged"
        f" · the newer one has {count(found.after, 'sentence')} · :red[~~struck out~~] is gone, :green[**bold**] is new"
    )


def _change(change: SentenceChange, before: Document, after: Document, *, skipped: bool) -> None:
    sign, word, colour = _CHANGE_SIGNS[change.kind]
    if skipped and change.skipped:
        lead = f" … {plain(shorten(display_quote(change.lead), 90))}" if change.lead else ""
        st.caption(f"⋯ {count(change.skipped, 'sentence')} the same{lead}")
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":{colour}[**{sign} {word}**]", width="content")
            if change.before is not None:
                _location_link(change.before, before, "older")
            if change.after is not None:
                _location_link(change.after, after, "newer")
        st.markdown(_text(change))


def _text(change: SentenceChange) -> str:
    """The sentence as safe markdown; removed words are struck out, added words are bold."""
    if change.kind is ChangeKind.CHANGED:
        joined = "".join(_word_run(part.kind, part.text) for part in change.parts)
        return joined.replace("~~]:green[", "~~] :green[")
    sentence = change.after or change.before
    text = shorten(display_quote(sentence.text), _MOST_LETTERS) if sentence is not None else ""
    return plain(text) if change.kind is ChangeKind.MOVED else _word_run(change.kind, text)


def _word_run(kind: ChangeKind, text: str) -> str:
    """A run of words; blanks stay outside the markdown, which would not work otherwise."""
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


def _location_link(sentence: VersionSentence, document: Document, which: str) -> None:
    """A link to the passage in its page."""
    where = sentence_place(document, sentence.page, sentence.start)
    cards.document_link(document.id, f"{which}, {where}", mark=str(sentence.passage_id))
