"""Labels checked beside the text of their document, one document after the other."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.domain.documents import Document, Label, Truth
from core.domain.errors import NotFound
from core.knowledge.glossary import explanation, meaning
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.bulk_edit.store import ChangeSet
from pages.components import browser_scripts, cards, labels, notices, session
from pages.components.icon_button import KEY as ICON_ALONE
from pages.components.icon_button import icon_button
from pages.components.library.related_documents import draw_related
from pages.components.styles import TRUTHS
from pages.components.upload import state
from pages.components.upload.evidence import CHECKED_FIELDS, draw_quotes, draw_text, quotes_of
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten_middle

__all__ = ["draw_check", "draw_form", "is_checking"]

_NAME = 56  # letters of the heading: one line with the buttons at 1280 pixels
_KEYS = """| key | does |
|---|---|
| `j` `k` | next, previous document |
| `1` … `5` | choose the truth |
| `a` | confirm the truth as proposed |
| `s` | save the correction |
| `u` | undo what was saved last |"""


def is_checking() -> bool:
    """Whether labels are checked now: a document is open that has some, or all of the queue are done."""
    document_id = state.opened()
    if document_id is None:
        return False
    if document_id == state.FINISHED:
        return True
    try:
        return state.checkable(session.workbench().documents.get(document_id))
    except NotFound:
        return False


def draw_check() -> None:
    """The open document: its text at the left, its labels at the right."""
    state.write_url()
    document_id = state.opened()
    if document_id is None or document_id == state.FINISHED:
        _finished()
        return
    document = session.workbench().documents.get(document_id)
    queue = state.queue_with(document)
    _head(document, queue)
    state.draw_saved(shortcut=True)
    texts = session.workbench().documents.texts(document)
    quotes = quotes_of(document, texts)
    text, form = st.columns([1, 1], gap="medium")
    with text:
        if any(words.strip() for words in texts.values()):
            draw_text(document, texts, quotes)
        else:
            what, step = "No text was found in this file", "Open the document to look at it, then choose its truth."
            notices.empty(":material/article:", what, step)
        _notes(document)
    with form:
        draw_form(document, _next)
        draw_quotes(document, quotes, session.terms())
    browser_scripts.leave_fields(document.id)  # its keys act at once, and a held one only once


def _next(document: Document) -> None:
    """The document after this one comes."""
    state.go_to(state.queue_with(document).after(document.id))


def _head(document: Document, queue: state.CheckQueue) -> None:
    """The name of the document, its place in the queue, and the ways to the others and back."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _back_button()
        st.markdown(f"**{plain(shorten_middle(document.name, _NAME))}**", width="content")
        cards.document_link(document.id, "Open document")
        st.space("stretch")
        with st.container(horizontal=True, width="content", vertical_alignment="center", gap="small"):
            _steps(document, queue)


def _steps(document: Document, queue: state.CheckQueue) -> None:
    """The place in the queue, the ways to its neighbours, and the keys."""
    number, total = queue.document_ids.index(document.id) + 1, len(queue.document_ids)
    st.caption(f"{number:,} of {total:,} {queue.what}", width="content")
    for label, icon, key, target in (
        ("Previous", "arrow_back", "K", queue.before(document.id)),
        ("Next", "arrow_forward", "J", queue.after(document.id)),
    ):
        st.button(
            label,
            key=f"check.{icon}",
            icon=f":material/{icon}:",
            shortcut=key,
            disabled=target is None,
            on_click=state.go_to,
            args=(target,),
        )
    with st.popover("Keys", icon=":material/keyboard:", type="tertiary", help="Keys", key=f"{ICON_ALONE}check.keys"):
        st.markdown(_KEYS)


def _back_button() -> None:
    st.button(
        "All files", key="check.close", icon=":material/arrow_back_ios_new:", type="tertiary", on_click=state.close
    )


def _notes(document: Document) -> None:
    """Warnings of the document, and those it resembles."""
    for warning in document.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")
    for related in session.workbench().versions.related([document]).values():
        draw_related(document, related)


def _finished() -> None:
    """All documents of the queue were gone through."""
    state.draw_saved(shortcut=True)
    left = session.workbench().upload_queue.counts(cards.SURE).doubtful
    words = f"{count(left, 'label is', 'labels are')} still uncertain." if left else "No label is uncertain any more."
    notices.empty(":material/task_alt:", "You went through all of them", words)
    with st.container(horizontal=True, horizontal_alignment="center"):
        _back_button()


_FIELD_WIDTH = 190  # pixels: a jurisdiction and the button behind it fit
_Then = Callable[[Document], None]


def draw_form(document: Document, then: _Then) -> None:
    """The form. Every widget belongs to this document and to the labels it has now. then: called with the document
    once its labels were confirmed or saved."""
    terms = session.terms()
    with st.container(key=f"label_form.{document.id}", gap="small"):
        _truths(document, terms)
        actions = st.container(horizontal=True, gap="small")
        with st.grid(2, min_column_width=_FIELD_WIDTH, gap="small"):
            for field in CHECKED_FIELDS[1:]:
                with st.container(gap="xxsmall"):
                    _field(document, field, terms)
        with actions:
            _actions(document, terms, then)


def _key(document: Document, field: str) -> str:
    """The session key of a field: another one as soon as the label has another value."""
    label: Label = getattr(document.labels, field)
    return f"label.{document.id}.{field}.{label.value}.{label.confirmed}"


def _truths(document: Document, terms: WorkspaceTerms) -> None:
    """The five truths, each with a key; the one chosen stands out."""
    label = document.labels.truth
    sure = labels.certainty("truth", label, terms)
    with st.container(gap="xxsmall"):
        st.markdown(f":small[Truth :gray[({plain(sure or 'unknown')})]]", help=meaning("truth"))
        with st.container(horizontal=True, gap="xsmall"):
            chosen = state.chosen_truth(_key(document, "truth"), label.value)
            for number, truth in enumerate(Truth, start=1):
                st.button(
                    truth.value.capitalize(),
                    key=f"truth.{document.id}.{truth.value}",
                    icon=TRUTHS[truth].icon,
                    type="primary" if chosen == truth.value else "secondary",
                    shortcut=str(number),
                    help=meaning(truth.value),
                    on_click=state.choose_truth,
                    args=(_key(document, "truth"), truth.value),
                )


def _field(document: Document, field: str, terms: WorkspaceTerms) -> None:
    label: Label = getattr(document.labels, field)
    sure = labels.certainty(field, label, terms)
    title = f"{labels.field_title(field)}{f' :gray[({plain(sure)})]' if sure else ''}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xxsmall"):
        options = labels.field_options(field, terms)
        if options:
            listed = [*options, *([label.value] if label.value and label.value not in options else [])]
            st.selectbox(
                title,
                listed,
                index=listed.index(label.value) if label.value else None,
                key=_key(document, field),
                placeholder="Unknown",
                help=explanation(field),
                format_func=lambda value: labels.value_title(field, value, terms),
            )
        else:
            shape = "2026, 2026-06 or 2026-06-30"
            st.text_input(title, label.value or "", key=_key(document, field), placeholder=shape)
        if label.confirmed:
            name = f"undo.{document.id}.{field}"
            icon_button(":material/undo:", "Use the classifier’s label again", name, _withdraw, (document, field))
        elif label.value:
            words = f"Confirm {_in_words({field: label.value}, terms)}"
            name = f"check.{document.id}.{field}"
            icon_button(":material/check:", words, name, _confirm_field, (document, field))


def _corrections(document: Document) -> dict[str, str]:
    """Field → the value chosen for it, of those that differ from the labels."""
    found = {}
    for field in CHECKED_FIELDS:
        label: Label = getattr(document.labels, field)
        key = _key(document, field)
        own = field == "truth"
        chosen = state.chosen_truth(key, label.value) if own else st.session_state.get(key, label.value)
        if chosen and chosen.strip() and chosen.strip() != label.value:
            found[field] = chosen.strip()
    return found


def _actions(document: Document, terms: WorkspaceTerms, then: _Then) -> None:
    label, corrections = document.labels.truth, _corrections(document)
    value = labels.value_title("truth", label.value, terms) if label.value else ""
    st.button(
        f"Confirm {value}" if value else "Confirm",
        key=f"confirm.{document.id}",
        icon=":material/check:",
        type="secondary" if corrections else "primary",
        shortcut="A",
        disabled=not value or label.confirmed or bool(corrections),
        help="Its truth is right. Confirmed labels override the classifier and train it.",
        on_click=_save,
        args=(document, {"truth": label.value}, then),
    )
    st.button(
        "Save correction",
        key=f"save.{document.id}",
        icon=":material/save:",
        type="primary" if corrections else "secondary",
        shortcut="S",
        help=f"Saves {_in_words(corrections, terms)}" if corrections else "Choose another value first.",
        on_click=_save_corrections,  # never disabled: its key is often pressed before the choice is drawn
        args=(document, then),
    )


def _in_words(values: Mapping[str, str], terms: WorkspaceTerms) -> str:
    """What is set, in words: "truth Intent, authority Customer"."""
    titles = {field: labels.value_title(field, value, terms) for field, value in values.items()}
    return ", ".join(f"{labels.field_title(field).lower()} {title}" for field, title in titles.items())


def _save_corrections(document: Document, then: _Then) -> None:
    if corrections := _corrections(document):
        _save(document, corrections, then)
    else:
        st.toast("Nothing was changed: choose another value, or confirm.", icon=":material/info:")


def _save(document: Document, values: Mapping[str, str], then: _Then) -> None:
    """Set labels of the document that was drawn, whatever is open now."""
    edits = [(document.id, field, value) for field, value in values.items()]
    words = f"Saved **{_name(document)}**: {plain(_in_words(values, session.terms()))}."
    if _apply(document, lambda: session.workbench().bulk_edit.set_labels(edits, who() or "analyst"), words):
        then(document)


def _confirm_field(document: Document, field: str) -> None:
    value = getattr(document.labels, field).value
    words = f"Confirmed **{_name(document)}**: {plain(_in_words({field: value}, session.terms()))}."
    work = session.workbench().bulk_edit.set_labels
    _apply(document, lambda: work([(document.id, field, value)], who() or "analyst"), words)


def _withdraw(document: Document, field: str) -> None:
    words = f"**{_name(document)}**: {labels.field_title(field).lower()} given back to the classifier."
    work = session.workbench().bulk_edit.withdraw_label
    _apply(document, lambda: work(document.id, field, who() or "analyst"), words)


def _apply(document: Document, change: Callable[[], ChangeSet], words: str) -> bool:
    return notices.apply_change("upload", lambda: state.note_saved(change(), words, document.id))


def _name(document: Document) -> str:
    return plain(shorten_middle(document.name, 60))
