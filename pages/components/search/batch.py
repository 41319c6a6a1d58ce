"""Batch search: a CSV of questions with its errors, how far its run is, and its outcomes as a table."""
# Longer than 300 lines: the file, the run and its table are one view, top to bottom.

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.documents import Truth
from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.search.batch.files import MOST_BYTES, TEMPLATE, batch_csv, batch_xlsx, read_batch
from core.search.batch.questions import Ask, Batch, BatchOutcome, BatchQuestion, BatchState, RowProblem, totals
from core.search.citations.cite import CitationStyle, display_quote, written
from pages.components import notices, session
from pages.components.search.batch_run import BatchRun, batch_runs, forget_batch, resume_batch, start_batch
from pages.components.styles import truth_style
from pages.components.urls import params_of
from pages.components.wording import ago, count, plain

__all__ = ["draw_batch"]

_PROBLEMS = 200  # refused rows listed; chosen by hand
_WHOLE, _PIXELS = 15, 460  # rows shown in full; pixels of a longer table
_REASONS = 3  # of failed searches, above the table; chosen by hand
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_EVERY = "All"
_SHOWN = {
    _EVERY: None,
    "Probably not answered": BatchState.UNANSWERED,
    "Answered": BatchState.ANSWERED,
    "Failed": BatchState.FAILED,
}

_STATE_WORDS = {
    BatchState.ANSWERED: "✓ answered",
    BatchState.UNANSWERED: "○ probably not answered",
    BatchState.FAILED: "⚡ failed",
}

_QUESTION = "Question"

_FILES: tuple[tuple[str, str, str, Callable[[Batch, Sequence[BatchOutcome]], bytes]], ...] = (
    ("CSV", ".csv", "text/csv", batch_csv),
    ("Excel", ".xlsx", _XLSX, batch_xlsx),
)


def _draw_run(run: BatchRun, ask: Ask) -> None:
    """A batch under way or ended, with all that became of it so far."""
    if run.running:
        _progress(run, len(run.outcome_by_row))
    else:
        _resume_offer(run, ask)
        _draw_totals(run)
    if run.outcome_by_row or not run.running:
        _draw_outcomes(run)


@st.fragment(run_every=0.5)
def _progress(run: BatchRun, listed: int) -> None:
    """How far it is, and its totals. listed: outcomes in the table below, which is drawn with the page only."""
    if not run.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    waits = "reading the library …" if session.ready() else "loading the models …"
    words = f"{run.done:,} of {count(run.asking, 'question')} asked" if run.done else waits
    now = f" · {plain(run.current[:90])}" if run.current else ""
    bar.progress(min(1.0, run.done / max(1, run.asking)), f"{words}{' · stopping' if run.stop else now}")
    if stop.button("Stop", key=f"batch.stop.{run.number}", icon=":material/stop:", width="stretch", disabled=run.stop):
        run.stop = True
    _draw_totals(run)
    fresh = len(run.outcome_by_row) - listed
    if fresh > 0 and st.button(f"List {count(fresh, 'more outcome')}", key="batch.list", icon=":material/refresh:"):
        st.rerun()


def _resume_offer(run: BatchRun, ask: Ask) -> None:
    """Why a batch that ended has questions left, and a button to ask them."""
    rest, outcomes, total = run.rest, len(run.outcome_by_row), len(run.batch.questions)
    if not rest:
        return
    message, again = st.columns([5, 2], vertical_alignment="center")
    failures, label = _failures_in_words(run), f"Ask {'it' if len(rest) == 1 else 'them'} again"
    if outcomes == total:
        message.error(failures, icon=":material/error:")
    else:
        why = f" {plain(str(run.problem))}" if run.problem else ""
        words = f"Stopped after {outcomes:,} of {count(total, 'question')}. Nothing is lost.{why}"
        message.warning("\n\n".join(filter(None, (words, failures))), icon=":material/stop_circle:")
        label = f"Ask the other {len(rest):,}"
    again.button(
        label,
        key=f"batch.again.{run.number}",
        icon=":material/play_arrow:",
        type="primary",
        width="stretch",
        on_click=resume_batch,
        args=(run, ask),
    )


def _failures_in_words(run: BatchRun) -> str:
    """How many searches failed, and why, the most frequent reason first; "" without one."""
    reasons = Counter(each.why for each in run.outcomes if each.state is BatchState.FAILED)
    if not reasons:
        return ""
    failed, one = count(reasons.total(), "search", "searches"), reasons.total() == 1
    words = f"{failed} failed, so {'its result is' if one else 'their results are'} not known."
    if len(reasons) == 1:
        return f"{words} {plain(next(iter(reasons)))}"
    listed = [f"- {count(number, 'question')}: {plain(why)}" for why, number in reasons.most_common(_REASONS)]
    if len(reasons) > _REASONS:
        listed.append(f"- {count(len(reasons) - _REASONS, 'more reason')} in the table below")
    return "\n".join([words, "", *listed])


def _draw_totals(run: BatchRun) -> None:
    counts = totals(run.batch, run.outcomes)
    parts = [f"**{count(counts.answered, 'question')} answered**", f"**{counts.unanswered:,}** probably not answered"]
    parts += [f":red[**{counts.failed:,}** failed]"] if counts.failed else []
    parts += [f"{counts.refused:,} refused"] if counts.refused else []
    parts += [f"{counts.to_ask:,} not asked"] if counts.to_ask else []
    st.markdown(f"{plain(run.batch.name)}: {' · '.join(parts)}")
    if counts.by_truth:
        st.caption(f"Hits of all questions: {plain(_by_truth(counts.by_truth, words=True))}")


def _draw_outcomes(run: BatchRun) -> None:
    """Which rows to see, the rows, and the files."""
    outcomes = run.outcomes
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        shown = st.segmented_control(
            "Questions",
            list(_SHOWN),
            default=_EVERY,
            required=True,
            key="batch.shown",
            label_visibility="collapsed",
        )
        _files(run)
    state = _SHOWN[shown or _EVERY]
    listed = [each for each in outcomes if state in (None, each.state)]
    if listed:
        _rows(listed, key=f"batch.rows.{run.number}.{shown}")
        st.caption("Click a question to open it in Search.")
    elif outcomes:
        st.caption(":material/check: None of them.")
    if not run.running:
        _draw_refused(run.batch.problems)


def _files(run: BatchRun) -> None:
    name = run.batch.name.rsplit(".", 1)[0]
    for label, ending, media_type, written_as in _FILES:
        st.download_button(
            label,
            partial(_file_bytes, run, written_as),
            f"{name}-outcome{ending}",
            media_type,
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key=f"batch.out.{label}",
        )
    if not run.running:
        st.button(
            "Remove batch",
            key="batch.forget",
            icon=":material/delete:",
            type="tertiary",
            help="Take this batch off the list; nothing in the library changes.",
            on_click=forget_batch,
            args=(run.number,),
        )


def _file_bytes(run: BatchRun, written_as: Callable[[Batch, Sequence[BatchOutcome]], bytes]) -> bytes:
    return written_as(run.batch, run.outcomes)


def _rows(listed: Sequence[BatchOutcome], *, key: str) -> None:
    """The outcomes as a table; a click on a question opens it: Search takes over what its URL asks."""
    event = _question_table([_row(each) for each in listed], key=key, on_select="rerun", selection_mode="single-cell")
    for row, column in event.selection.cells:
        if column == _QUESTION and row < len(listed):
            st.query_params.from_dict(params_of(listed[row].question.request))
            st.rerun()


def _row(outcome: BatchOutcome) -> dict[str, Any]:
    best = outcome.best
    return {
        "Row": outcome.question.row,
        _QUESTION: outcome.question.question,
        "Outcome": _STATE_WORDS[outcome.state],
        "Best sentence, or why not": display_quote(best.quote) if best and not outcome.why else outcome.why,
        "Hits": None if outcome.state is BatchState.FAILED else outcome.hits,
        "By truth": _by_truth(outcome.by_truth),
        "Score": outcome.score,
        "Citation": written(best, CitationStyle.BRIEF) if best and not outcome.why else "",
        "Id": outcome.question.key,
    }


def _by_truth(counts: Mapping[str, int], *, words: bool = False) -> str:
    """
    >>> _by_truth({"regulatory": 3, "unknown": 1}), _by_truth({"intent": 2}, words=True)
    ('§ 3  ? 1', '⚑ intent 2')
    """
    styles = {name: truth_style(name if name in set(Truth) else None) for name in counts}
    return ("  " if not words else " · ").join(
        f"{styles[name].symbol} {f'{styles[name].words} ' if words else ''}{number:,}"
        for name, number in counts.items()
    )


def _draw_refused(problems: Sequence[RowProblem]) -> None:
    """The rows of a file that cannot be asked, with the reason."""
    if problems:
        st.markdown("**Refused** :gray[· correct these rows, or run the others without them]")
        rows = [
            {"Row": each.row, "Column": each.field, "Problem": each.problem, "Row content": each.text}
            for each in problems[:_PROBLEMS]
        ]
        _question_table(rows, key="batch.refused")


def _question_table(rows: list[dict[str, Any]], *, key: str, **given: Any) -> Any:
    """Rows of questions with fitting widths; returns what `st.dataframe` returns."""
    config = {
        "Row": st.column_config.NumberColumn(width=56),
        "Hits": st.column_config.NumberColumn(width=56),
        "Top": st.column_config.NumberColumn(width=56),
        "Score": st.column_config.NumberColumn(width=70, format="%.3f"),
        _QUESTION: st.column_config.TextColumn(width=256),
        "By truth": st.column_config.TextColumn(width=150),
        "Outcome": st.column_config.TextColumn(width=150),
        "Best sentence, or why not": st.column_config.TextColumn(width=320),
    }
    height: Any = "content" if len(rows) <= _WHOLE else _PIXELS
    return st.dataframe(
        rows,
        key=key,
        hide_index=True,
        height=height,
        placeholder="–",
        column_config={name: each for name, each in config.items() if rows and name in rows[0]},
        **given,
    )


_FIRST_ROWS = 8  # rows of the preview; chosen by hand


def draw_batch(filters: SearchFilters, profile: str, ask: Ask, *, only_routed: bool = False, rerank: str = "") -> None:
    """Upload, preview, run and outcome. filters, profile, only_routed, rerank: of the page; they hold for every row.
    ask: answers requests, in their order."""
    taken = _upload_form(SearchRequest("", filters, profile, only_routed=only_routed, rerank=rerank), ask)
    runs = batch_runs()
    if taken and not runs:
        return
    if not runs:
        notices.empty(
            ":material/playlist_add_check:",
            "No batch has been run yet",
            "Upload a CSV above. You get hits per truth, the best sentence with its citation, and the list of questions"
            " nothing answers.",
        )
        return
    st.divider()
    run = _choose_run(runs)
    _draw_run(run, ask)


def _upload_form(page: SearchRequest, ask: Ask) -> bool:
    """A file, how it was read, and the button that asks its questions. Whether there is a file."""
    text_column, right = st.columns([4, 1], vertical_alignment="center")
    template = right.container(horizontal=True, horizontal_alignment="right")
    text_column.caption(
        "A CSV with the column *question*, and if you like *id*, *profile*, *top* and any filter (*truths*, *domains*,"
        " *tags*, *exclude_documents*, *date_from* …); separate several values with |. The filters of this page apply."
    )
    template.download_button(
        "Template",
        TEMPLATE,
        "questions.csv",
        "text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key="batch.template",
    )
    state = st.session_state
    file = st.file_uploader(
        "Questions",
        type=["csv", "tsv", "txt"],
        key=f"batch.file.{state.setdefault('batch.round', 0)}",
        label_visibility="collapsed",
        max_upload_size=MOST_BYTES // 1_000_000,
    )
    if file is None:
        return False
    seen = (file.file_id, page.filters, page.profile, page.only_routed, page.rerank)
    if state.get("batch.seen", (None, None))[0] != seen:
        try:
            state["batch.seen"] = (seen, _read(file.getvalue(), file.name, page))
        except BadRequest as problem:
            notices.error(problem)
            return True
    _preview(state["batch.seen"][1], page, ask)
    return True


def _read(data: bytes, name: str, page: SearchRequest) -> Batch:
    library = session.workbench()
    documents: dict[str, list[int]] = {}
    for each in library.documents.list():
        documents.setdefault(each.name, []).append(each.id)
    known = {name for ref in library.evaluation.profiles.every() for name in (ref, ref.partition("@")[0])}
    batch = read_batch(
        data,
        name,
        terms=session.terms(),
        filters=page.filters,
        profile=page.profile,
        profiles=known,
        documents=documents,
    )
    questions = [replace(each, only_routed=page.only_routed, rerank=page.rerank) for each in batch.questions]
    return replace(batch, questions=tuple(questions))


def _preview(batch: Batch, page: SearchRequest, ask: Ask) -> None:
    """What was read: how many, the first rows, and every row that cannot be asked."""
    parts = [f"**{count(len(batch.questions), 'question')}**"]
    parts += [f":red[**{count(len(batch.problems), 'row')}** refused]"] if batch.problems else []
    parts += [f"not read: {plain(', '.join(batch.ignored))}"] if batch.ignored else []
    st.markdown(f"{plain(batch.name)}: {' · '.join(parts)}")
    narrowed = [*session.filters_in_words(page.filters), *(["only routed truths"] if page.only_routed else [])]
    if narrowed:
        st.caption(f":material/filter_alt: Every row: {plain('; '.join(narrowed))}")
    for notice in batch.notices:
        st.warning(plain(notice), icon=":material/help:")
    if batch.questions:
        _question_table([_first_row(each) for each in batch.questions[:_FIRST_ROWS]], key="batch.first")
        more = len(batch.questions) - _FIRST_ROWS
        st.caption(f"and {count(more, 'more question')}" if more > 0 else "")
    _draw_refused(batch.problems)
    st.button(
        f"Ask {count(len(batch.questions), 'question')}",
        key="batch.run",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not batch.questions,
        on_click=_start,
        args=(batch, ask),
    )


def _first_row(question: BatchQuestion) -> dict[str, Any]:
    return {
        "Row": question.row,
        "Id": question.key,
        "Question": question.question,
        "Narrowed to": "; ".join(session.filters_in_words(question.filters)),
        "Profile": question.profile or "default",
        "Top": question.top_k,
    }


def _start(batch: Batch, ask: Ask) -> None:
    state = st.session_state
    state["batch.chosen"] = start_batch(batch, ask).number
    state["batch.round"] += 1
    state.pop("batch.seen", None)


def _choose_run(runs: Sequence[BatchRun]) -> BatchRun:
    """The chosen run; the newest by default."""
    listed = {run.number: run for run in runs}
    state = st.session_state
    if state.get("batch.chosen") not in listed:
        state["batch.chosen"] = runs[0].number
    if len(runs) > 1:
        st.selectbox("Batch", list(listed), key="batch.chosen", format_func=lambda number: _run_title(listed[number]))
    return listed[state["batch.chosen"]]


def _run_title(run: BatchRun) -> str:
    return f"{run.batch.name}, {count(len(run.batch.questions), 'question')}, {ago(run.started, utc_now())}"
