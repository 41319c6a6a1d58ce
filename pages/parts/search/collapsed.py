"""What was collapsed into a result because it says nearly the same: which documents, where, and how it differs."""

from difflib import SequenceMatcher

import streamlit as st

from core.results import Candidate, Hit, SearchResult
from pages.parts import cards
from pages.parts.wording import count, plain, squeezed

__all__ = ["collapsed", "difference_in_words"]

_NAMED = 4
_MOST_WORDS = 800
_HEIGHT = 260
"""Pixels kept for the list before it is there: a box finds its place by what it holds when it opens."""


def collapsed(hit: Hit, result: SearchResult) -> None:
    """A box "3 similar" that names the passages behind a result; nothing where none were collapsed into it."""
    if hit.similar:
        with st.container(width="content"):
            _box(hit, result)


@st.fragment
def _box(hit: Hit, result: SearchResult) -> None:
    passage = hit.candidate.passage
    label = f"{len(hit.similar)} similar"
    box = st.popover(
        label, icon=":material/content_copy:", type="tertiary", key=f"collapsed.{passage.id}", on_change="rerun"
    )
    known = {candidate.passage.id: candidate for candidate in result.candidates}
    with box, st.container(width=480, height=_HEIGHT, border=False):
        if not box.open:
            return
        st.caption("They say nearly the same, so the best of them stands for all.")
        for passage_id in hit.similar:
            if passage_id in known:
                _line(known[passage_id], hit, result)


def _line(candidate: Candidate, hit: Hit, result: SearchResult) -> None:
    passage = candidate.passage
    where, name = cards.place(passage, result.documents.get(passage.document_id)), squeezed(passage.document_name, 48)
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.origin_badge(passage)
            label = f"{plain(name)}, {plain(where)}" if where else plain(name)
            cards.inspect_link(result.request, passage.id, label, icon=":material/troubleshoot:")
        st.caption(f"{cards.facts(passage)} · {plain(difference_in_words(hit.candidate.passage.text, passage.text))}")


def difference_in_words(shown: str, other: str) -> str:
    """What another text says otherwise than the one shown, in a few words.

    >>> difference_in_words("Due on the 15th of May.", "Due on the 20th of May.")
    '1 word differs: 20th'
    >>> difference_in_words("Due in May.", "Due in  May.")
    'word for word the same'
    """
    before, after = shown.split()[:_MOST_WORDS], other.split()[:_MOST_WORDS]
    changes = [
        each for each in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if each[0] != "equal"
    ]
    if not changes:
        return "word for word the same"
    number = sum(max(end - start, last - first) for _, start, end, first, last in changes)
    said = [word for _, _, _, first, last in changes for word in after[first:last]]
    named = f": {' '.join(said[:_NAMED])}{' …' if len(said) > _NAMED else ''}" if said else ""
    return f"{count(number, 'word differs', 'words differ')}{named}"
