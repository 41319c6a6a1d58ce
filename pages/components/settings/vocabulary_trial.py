"""Trial of the vocabulary before saving: on typed text, or on a document of the library."""

import streamlit as st

from core.domain.documents import DocumentState, Label
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.vocabulary.relabelling import FIELDS, LabelOutcome, VocabularyTrial
from pages.components import notices, session
from pages.components.labels import chip_title, field_title, value_title
from pages.components.settings.vocabulary_state import desk, draft, unsaved
from pages.components.wording import plain, shortened

__all__ = ["draw_trial"]

_TEXT, _DOCUMENT = "A sentence or a page", "A document of the library"
_SHOWN = 3  # reasons of one label


def draw_trial() -> None:
    """What is tried at the top, and what comes out: now, and with the changes nobody has saved yet."""
    what = st.segmented_control("Try it on", [_TEXT, _DOCUMENT], default=_TEXT, required=True, key="settings.try")
    with notices.told():
        tried = _document() if what == _DOCUMENT else _text()
        if tried is not None:
            _outcome(tried)


def _text() -> VocabularyTrial | None:
    text = st.text_area(
        "Text", key="settings.try.text", height=140, persist_state="session",
        placeholder="The controller shall notify the data subject of a personal data breach without undue delay.",
        help="Labelled as if it were a document of its own, and read as if it were a question.",
    )  # fmt: skip
    if not (text or "").strip():
        st.caption("Type or paste something, then click elsewhere.")
        return None
    with st.spinner("Labelling it"):
        return desk().tried(text or "", draft())


def _document() -> VocabularyTrial | None:
    held = [each for each in session.workbench().documents.list() if each.state is DocumentState.READY]
    names = {each.id: each.name for each in held}
    if not names:
        notices.empty(":material/library_books:", "No document has been read yet", "Drop files on *Upload*.")
        return None
    chosen = st.selectbox("Document", list(names), index=None, format_func=names.__getitem__, key="settings.try.id",
                          placeholder="Choose one")  # fmt: skip
    if chosen is None:
        return None
    with st.spinner("Labelling it"):
        return desk().tried_on(chosen, draft())


def _outcome(tried: VocabularyTrial) -> None:
    changed = bool(unsaved())
    sides: list[tuple[str, LabelOutcome, WorkspaceTerms]] = [("As it is", tried.now, desk().terms())]
    if changed:
        sides.append(("With your changes", tried.then, WorkspaceTerms(draft())))
    for column, (head, outcome, terms) in zip(st.columns(len(sides), gap="large"), sides, strict=True):
        with column, st.container(border=True, gap="small"):
            st.markdown(f"**{head}**")
            for field in FIELDS:
                _label(field, outcome.labels[field], terms, moved=changed and field in tried.moved)
            if outcome.chips:
                told = ", ".join(f"{chip_title(chip, terms)} (“{chip.words}”)" for chip in outcome.chips)
                st.caption(f":material/search: As a question: {plain(told)}")
    if changed and not tried.moved:
        st.caption("Your changes make no difference to it.")


def _label(field: str, label: Label, terms: WorkspaceTerms, *, moved: bool) -> None:
    value = value_title(field, label.value, terms) if label.value else "unknown"
    sure = "confirmed by hand" if label.confirmed else f"{label.probability:.2f}" if label.value else ""
    shown = f":primary-background[**{plain(value)}**]" if moved else f"**{plain(value)}**"
    reasons = [label.reason] if label.reason else []
    reasons += [f"“{shortened(each.quote, 110)}” {each.rule}" for each in label.evidence[:_SHOWN] if each.quote]
    with st.container(gap="xxsmall"):
        st.markdown(f"{field_title(field)} {shown} :gray[{plain(sure)}]")
        if reasons:
            st.caption("  \n".join(plain(each) for each in reasons))
