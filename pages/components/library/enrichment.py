"""Enrichment of one document (type, summary, keywords, questions, laws, dates), and its progress over the library."""
# Longer than 300 lines: one document and the whole library show the same operations.

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import floor
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.domain.documents import Document
from core.domain.entities import EntityType
from core.domain.errors import FivefoldError, NotFound, Outdated
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.knowledge.enrichment import document_type_title, document_types
from core.library.enrichment.service import EnrichmentEdits, EnrichmentService
from core.library.enrichment.store import OPERATIONS, Enrichment, EnrichmentReport, EnrichmentStatistics
from core.library.enrichment.values import MOST_KEYWORDS, Operation, QuotedSpan
from core.search.citations.cite import display_quote
from pages.components import cards, notices, rights, session
from pages.components.icon_button import icon_button
from pages.components.urls import page_path, params_of
from pages.components.user_name import who
from pages.components.wording import count, day, plain, shorten

__all__ = ["EnrichmentRun", "current_run", "draw_enrichment", "draw_enrichment_state", "start_run", "type_and_keywords"]


_LISTED_OPERATIONS = (Operation.DOCUMENT_TYPE, Operation.KEYWORDS)


def type_and_keywords(documents: Sequence[Document]) -> Mapping[int, tuple[str, str]]:
    """Document → its type and its keywords, "" where none was drawn."""
    known = session.workbench().enrichment.of_many([each.id for each in documents], _LISTED_OPERATIONS)
    return {
        i: (document_type_title(each.document_type.value), ", ".join(each.keywords.words)) for i, each in known.items()
    }


@dataclass(slots=True)
class EnrichmentRun:
    """A batch of this process. `stop` ends it after the document under way; report: how it ended; problem: why it could
    not go on."""

    total: int
    done: int = 0
    stop: bool = False
    running: bool = True
    report: EnrichmentReport | None = None
    problem: FivefoldError | None = None


@dataclass(slots=True)
class _EnrichmentRuns:
    """The last batch of this process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    run: EnrichmentRun | None = None


def _runs() -> _EnrichmentRuns:
    return session.own(_EnrichmentRuns)


def current_run() -> EnrichmentRun | None:
    """The batch under way here, or the last one that was."""
    return _runs().run


def start_run(document_ids: Sequence[int]) -> None:
    """Begin a batch, unless one is under way."""
    runs, service = _runs(), session.workbench().enrichment
    with runs.lock:
        if runs.run is not None and runs.run.running:
            return
        run = runs.run = EnrichmentRun(len(document_ids))
        threading.Thread(target=_enrich, args=(service, run, document_ids), name="enrichment", daemon=True).start()


def _enrich(service: EnrichmentService, run: EnrichmentRun, document_ids: Sequence[int]) -> None:
    def on_document(done: int, total: int) -> None:
        run.done, run.total = done, total

    try:
        run.report = service.enrich_many(document_ids, stop=lambda: run.stop, on_document=on_document)
    except FivefoldError as problem:
        run.problem = problem
    finally:
        run.running = False


_MOST_FAILURES = 20  # failures listed; chosen by hand


def draw_enrichment_state() -> None:
    """Counts, the batch, one row per operation, and the failures."""
    statistics = session.workbench().enrichment.statistics()
    st.markdown(
        f"**{statistics.enriched:,} of {count(statistics.total, 'document')} enriched** – {floor(statistics.rate)}%"
        + (
            f" :small[· {statistics.total - statistics.embedded:,} without text so far]"
            if statistics.total > statistics.embedded
            else ""
        )
    )
    st.caption(
        "A summary, keywords, questions it answers, its type, the laws it cites and its dates are extracted from each"
        " document after it is read. All of it comes from the text, on this computer; what you change by hand stays."
    )
    if not _draw_run():
        _start_buttons(statistics)
    st.dataframe(
        [_operation_row(operation, statistics) for operation in Operation],
        hide_index=True,
        height="content",
        row_height=32,
        column_config=_COLUMNS,
    )
    _failures(statistics)


def _draw_run() -> bool:
    """Draw the batch under way; whether there is one."""
    run = current_run()
    if run is None:
        return False
    if run.running:
        _progress(run)
        return True
    if run.problem is not None:
        notices.error(run.problem)
    elif run.report is not None and run.report.stopped:
        st.info(f"Stopped at {run.report.done:,} of {count(run.report.total, 'document')}. Nothing is lost.")
    return False


@st.fragment(run_every=0.5)
def _progress(run: EnrichmentRun) -> None:
    if not run.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    words = f"{run.done:,} of {count(run.total, 'document')} done{' · stopping' if run.stop else ''}"
    bar.progress(min(1.0, run.done / max(1, run.total)), words)
    if stop.button(
        "Stop", icon=":material/stop:", width="stretch", help="What is done so far is kept.", key="enrich.stop"
    ):
        run.stop = True


def _start_buttons(statistics: EnrichmentStatistics) -> None:
    service = session.workbench().enrichment
    lacking, failed = service.lacking(), service.failed()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        rights.button(
            "enrichment.enrich_many",
            f"Enrich {count(len(lacking), 'document')} that lack it" if lacking else "All documents are enriched",
            type="primary",
            icon=":material/auto_awesome:",
            disabled=not lacking,
            key="enrich.all",
            on_click=start_run,
            args=(lacking,),
        )
        if failed:
            rights.button(
                "enrichment.enrich_many",
                f"Try {count(len(failed), 'failed document')} again",
                icon=":material/refresh:",
                key="enrich.failed",
                on_click=start_run,
                args=(failed,),
            )


def _operation_row(operation: Operation, statistics: EnrichmentStatistics) -> dict[str, object]:
    """One line of the table; its share and its counts are of all documents, as in the line above the table."""
    counts = statistics.operations[operation]
    return {
        "Extract": OPERATIONS[operation].label,
        "Done": counts.done,
        "Share": floor(100 * counts.done / statistics.total) if statistics.total else 0,
        "Missing": statistics.total - counts.done - counts.outdated - counts.failed,
        "Outdated": counts.outdated,
        "Failed": counts.failed,
    }


_COLUMNS = {
    "Extract": st.column_config.TextColumn(width=220),
    "Done": st.column_config.NumberColumn(width=80),
    "Share": st.column_config.ProgressColumn(min_value=0, max_value=100, format="%d %%", width=140),
    "Missing": st.column_config.NumberColumn(width=80, help="Not run yet, or the document has no text"),
    "Outdated": st.column_config.NumberColumn(
        width=80, help="Drawn by an older version of the product; drawn again by the next run"
    ),
    "Failed": st.column_config.NumberColumn(width=80),
}


def _failures(statistics: EnrichmentStatistics) -> None:
    if not statistics.failures:
        return
    shown = statistics.failures[:_MOST_FAILURES]
    failed = session.workbench().document_list.by_id([each.document_id for each in shown])
    names = {each.id: each.name for each in failed}
    st.markdown(f"**{count(len(statistics.failures), 'failure')}**")
    for each in shown:
        where, why = st.columns([3, 6])
        with where:
            st.page_link(
                page_path("library"),
                label=plain(shorten(names.get(each.document_id, ""), 60)),
                icon=":material/error:",
                query_params={"document": str(each.document_id)},
            )
        why.caption(plain(f"{OPERATIONS[each.operation].label}: {each.problem} {each.hint}"))
    if len(statistics.failures) > _MOST_FAILURES:
        st.caption(f"and {count(len(statistics.failures) - _MOST_FAILURES, 'failure')} more")


_MOST_NAMES, _MOST_CITED, _MOST_DATES = 8, 12, 12  # listed of each kind; chosen by hand
_WIDTHS, _QUOTED = (2, 11), (12, 2, 1)


def draw_enrichment(document: Document) -> None:
    """All of it, each with what it rests on, and the means to correct it."""
    service = session.workbench().enrichment
    found = service.of(document.id)
    _show_problem()
    if not document.passages:
        st.caption("Nothing can be extracted from a document without text.")
        return
    if not found.outcomes:
        _nothing_yet(service, document)
        return
    for label, draw in (
        ("Type", partial(_type, found)),
        ("Summary", partial(_summary, found, document)),
        ("Keywords", partial(_keywords, found)),
        ("Answers", partial(_questions, found, document)),
        ("Cites", partial(_citations, found, document)),
        ("Dates", partial(_dates, found, document)),
        ("Names", partial(_names, service, found, document)),
    ):
        left, right = st.columns(_WIDTHS, gap="small")
        left.markdown(f"**{label}**")
        with right:
            draw()
    _foot(service, found)


def _nothing_yet(service: EnrichmentService, document: Document) -> None:
    notices.empty(":material/auto_awesome:", "Not enriched yet", "A worker does so after reading; or do it now.")
    rights.button(
        "enrichment.enrich",
        "Draw it now",
        icon=":material/auto_awesome:",
        on_click=_apply_change,
        args=(partial(service.enrich, document.id),),
        key="enrich.now",
    )


def _type(found: Enrichment) -> None:
    document_type = found.document_type
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if document_type.value is None:
            st.markdown("not clear", width="content")
        else:
            st.badge(document_type_title(document_type.value), icon=":material/description:", color="gray")
        _manual_edit(found, Operation.DOCUMENT_TYPE)
        with st.popover("Correct", icon=":material/edit:", type="tertiary"):
            chosen = st.selectbox(
                "Type",
                list(document_types()),
                index=None if document_type.value is None else list(document_types()).index(document_type.value),
                format_func=document_type_title,
                key=_field_key(found, Operation.DOCUMENT_TYPE),
            )
            _save(_edits().set_type, found, Operation.DOCUMENT_TYPE, disabled=chosen is None)
    if document_type.evidence:
        because = [f"“{shorten(display_quote(each.quote), 70)}” ({each.rule})" for each in document_type.evidence[:2]]
        st.caption(plain(f"because of {' and '.join(because)}"))


def _summary(found: Enrichment, document: Document) -> None:
    summary = found.summary
    if summary.rewritten:
        st.markdown(plain(summary.rewritten))
    for each in summary.sentences if not summary.rewritten else ():
        text, cite, _ = st.columns(_QUOTED, vertical_alignment="center")
        text.markdown(_quote_line(each, document))
        _cite(cite, each, document)
    if not summary.rewritten and not summary.sentences:
        st.caption("It contains no whole sentence to quote.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _manual_edit(found, Operation.SUMMARY)
        with st.popover("Rewrite", icon=":material/edit:", type="tertiary"):
            before = summary.rewritten or " ".join(display_quote(each.text) for each in summary.sentences)
            key = _field_key(found, Operation.SUMMARY)
            written = st.text_area("Summary", before, key=key, height=160, max_chars=2_000)
            _save(_edits().rewrite_summary, found, Operation.SUMMARY, disabled=not written.strip())


def _keywords(found: Enrichment) -> None:
    words = found.keywords.words
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for word in words:
            st.badge(plain(word), color="gray")
        if not words:
            st.caption("none", width="content")
        _manual_edit(found, Operation.KEYWORDS)
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            st.multiselect(
                "Keywords",
                list(words),
                default=list(words),
                accept_new_options=True,
                max_selections=MOST_KEYWORDS,
                key=_field_key(found, Operation.KEYWORDS),
                help="Your additions and removals are kept when the document is reprocessed.",
            )
            _save(_edits().set_keywords, found, Operation.KEYWORDS)


def _questions(found: Enrichment, document: Document) -> None:
    questions = found.questions.questions
    if not questions:
        st.caption("No sentence plainly answers a question.")
    for number, each in enumerate(questions):
        text, cite, away = st.columns(_QUOTED, vertical_alignment="center")
        text.markdown(f"**{plain(each.question)}**  \n{_quote_line(each.answer, document)}")
        _cite(cite, each.answer, document)
        with away:
            remove = partial(_edits().remove_question, found.document_id, each.question, who())
            icon_button(
                ":material/close:",
                "Remove this question",
                f"enrich.question.{found.document_id}.{number}",
                _apply_change,
                (remove,),
            )
    with st.container(horizontal=True):
        _manual_edit(found, Operation.QUESTIONS)


def _citations(found: Enrichment, document: Document) -> None:
    citations = found.citations.citations
    if not citations:
        st.caption("No law or case.")
        return
    with st.container(horizontal=True, gap="small"):
        for each in citations[:_MOST_CITED]:
            times = f" ×{each.times}" if each.times > 1 else ""
            _entity(each.name, f"{each.case}, {each.name}{times}" if each.case else f"{each.name}{times}")
    _more(citations, _MOST_CITED, "citation")


def _dates(found: Enrichment, document: Document) -> None:
    dates = found.dates.dates
    if not dates:
        st.caption("Its sentences contain no date.")
        return
    shown = sorted(dates, key=lambda each: not each.what)[:_MOST_DATES]
    for each in sorted(shown, key=lambda one: one.date):
        if each.what:
            where = f", page {each.said.page}" if document.paged else ""
            st.markdown(f"{plain(each.date)} :small[:gray[{each.what}{where}]]")
    rest = [each.date for each in shown if not each.what]
    if rest:
        st.caption(plain(", ".join(dict.fromkeys(rest))))
    _more(dates, _MOST_DATES, "date")


def _names(service: EnrichmentService, found: Enrichment, document: Document) -> None:
    """What it names beside the laws and dates above."""
    above = {each.name for each in found.citations.citations}
    named = service.entities(document.id)
    other_names = {kind: [name for name in names if name not in above] for kind, names in named.items()}
    grouped = {kind: names for kind, names in other_names.items() if names and kind is not EntityType.DATE}
    if not grouped:
        st.caption("It names nothing we know how to tell.")
    for kind, names in grouped.items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(str(kind), width=90)
            for name in names[:_MOST_NAMES]:
                _entity(name, name)
            if len(names) > _MOST_NAMES:
                st.caption(f"and {len(names) - _MOST_NAMES} more", width="content")


def _foot(service: EnrichmentService, found: Enrichment) -> None:
    for each in found.failures:
        label = OPERATIONS[each.operation].label
        st.markdown(f":red[:material/error: {plain(label)} failed: {plain(each.problem)}] {plain(each.hint)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        latest = max(each.at for each in found.outcomes.values())
        st.caption(f"Drawn {day(latest)} from the text alone, on this computer", width="content")
        rights.button(
            "enrichment.enrich",
            "Draw again",
            icon=":material/refresh:",
            type="tertiary",
            key="enrich.again",
            help="What you changed by hand stays.",
            on_click=_apply_change,
            args=(partial(service.enrich, found.document_id, again=True),),
        )


def _quote_line(quote: QuotedSpan, document: Document) -> str:
    """A quote for readers, with its page."""
    where = f" :small[:gray[page {quote.page}]]" if document.paged else ""
    return f"{plain(display_quote(quote.text))}{where}"


def _cite(cell: DeltaGenerator, quote: QuotedSpan, document: Document) -> None:
    """The citation menu of a quote; empty while the document is being read again."""
    with cell, suppress(NotFound):
        citation = session.workbench().enrichment.citation(document, quote)
        cards.cite_menu(citation)
        cards.document_link(document.id, "Open", mark=citation.citation_id, help="Open the document here")


def _entity(name: str, label: str) -> None:
    """A link to Search among the passages that name it."""
    request = SearchRequest(name, SearchFilters(entities=(name,)))
    st.page_link(page_path("search"), label=plain(shorten(label, 60)), query_params=params_of(request), width="content")


def _more(items: Sequence[object], most: int, noun: str) -> None:
    if len(items) > most:
        st.caption(f"and {count(len(items) - most, noun)} more")


def _manual_edit(found: Enrichment, operation: Operation) -> None:
    """Who changed it by hand, with a button to reset it."""
    edit = found.edits.get(operation)
    if edit is None:
        return
    st.caption(f"changed by {plain(edit.who) or 'hand'}, {day(edit.at)}", width="content")
    rights.button(
        "enrichment.edits.reset",
        "Reset",
        icon=":material/undo:",
        type="tertiary",
        key=f"enrich.reset.{operation}",
        help="Show again what was found in the document",
        on_click=_apply_change,
        args=(partial(_edits().reset, found.document_id, operation),),
    )


def _edits() -> EnrichmentEdits:
    return session.workbench().enrichment.edits


def _field_key(found: Enrichment, operation: Operation) -> str:
    """The widget key of a field; it changes with every edit, so that the field shows what there is now."""
    edit = found.edits.get(operation)
    return f"enrich.{operation}.{found.document_id}" + (f".{edit.at.timestamp()}" if edit else "")


def _save(
    change: Callable[[int, Any, str], None], found: Enrichment, operation: Operation, *, disabled: bool = False
) -> None:
    """The button that saves a field. change: called with document, value and person."""

    def save() -> None:
        now = session.workbench().enrichment.of(found.document_id).edits.get(operation)
        if now != found.edits.get(operation):
            by = f" by {now.who}" if now is not None and now.who else ""
            raise Outdated(f"This was changed{by} meanwhile; yours was not stored.", "Look at it, then change it.")
        change(found.document_id, st.session_state[_field_key(found, operation)], who())

    rights.button(
        "enrichment.edits.set_keywords", "Save", type="primary", key=f"enrich.save.{operation}", disabled=disabled,
        on_click=_apply_change, args=(save,),
    )  # fmt: skip


def _apply_change(change: Callable[[], object]) -> None:
    """Run a change in a callback; the view shows any error above."""
    try:
        change()
    except FivefoldError as problem:
        st.session_state["enrich.problem"] = problem


def _show_problem() -> None:
    problem = st.session_state.pop("enrich.problem", None)
    if problem is not None:
        notices.error(problem)
