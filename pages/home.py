"""Home: ask, upload, go on with the last searches, see what needs attention and what is in the library."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import streamlit as st

import sample
from core.domain.documents import Document, Truth
from core.domain.errors import FivefoldError
from core.domain.results import Statistics
from core.library.upload_queue import UploadCounts, UploadQueueView
from pages.components import cards, notices, rights, session
from pages.components.data import state
from pages.components.for_you import draw_for_you
from pages.components.labels import contested
from pages.components.search.query_form import new_request
from pages.components.styles import TRUTHS
from pages.components.upload.dropping import draw_drop_zone
from pages.components.urls import page_path, params_of
from pages.components.wording import ago, certainty_words, count, plain, shorten, shorten_middle

_SHOWN = 4  # searches, and documents, listed; chosen by hand
_SHOWN_FILES = 3  # files shown under Needs attention, so that everything stays in sight; chosen by hand
_LIST_WIDTH = 540  # pixels: links do not wrap, and so much holds the longest of them
_MEANINGS = {
    Truth.REGULATORY: "Statutes, regulations, agency publications.",
    Truth.COMPLIANCE: "Policies, procedures, controls and how they are audited.",
    Truth.INTENT: "Statements of work, requirements, contracts, meeting notes.",
    Truth.REFERENCE: "Vendor guides, manuals, best practice, standards.",
    Truth.REALITY: "Exports and set-up tables: what happens and what is configured.",
}


def _start() -> None:
    """The question box, whose Enter opens Search, and the drop zone, whose files are shown on Upload."""
    with st.grid(2, min_column_width=_LIST_WIDTH, gap="medium"):
        with st.container(key="question"):  # "/" moves to the field in it
            question = st.text_input(
                "Ask a question", key="home.question", placeholder="In your own words (press /)", type="search"
            )
        with st.container():
            dropped = draw_drop_zone()
    if question.strip():
        st.switch_page(page_path("search"), query_params=params_of(new_request(question.strip())))
    if dropped:
        st.switch_page(page_path("upload"))


def _truths_explained() -> None:
    """One tile per truth: the question it answers, and where it is found."""
    with st.container(key="truth_tiles"), st.grid(5, min_column_width=135, gap="small"):
        for truth, style in TRUTHS.items():
            with st.container(border=True, gap="xsmall", height="stretch"):
                cards.truth_badge(truth)
                st.markdown(f"**{style.question}**")
                st.caption(_MEANINGS[truth])


def _contents(counts: Statistics) -> None:
    """The size of the library, and its documents by truth."""
    parts = [count(counts.documents, "document"), count(counts.passages, "passage")]
    unknown = counts.by_truth.get(None, 0)
    parts += [f"{unknown:,} unclassified"] if unknown else []
    st.markdown(f"**In the library** :gray[{' · '.join(parts)}]")
    with st.container(key="truth_tiles"), st.grid(5, min_column_width=135, gap="small"):
        for truth, style in TRUTHS.items():
            number = counts.by_truth.get(truth, 0)
            with st.container(border=True, gap="xsmall", height="stretch"):
                cards.truth_badge(truth)
                st.caption(style.question)
                if number:
                    link = {"truths": truth.value}
                    st.page_link(page_path("library"), label=count(number, "document"), query_params=link)
                else:
                    st.caption("No documents yet")


def _queue(before: UploadCounts) -> None:
    """The upload queue in one line, while files are read."""

    @st.fragment(run_every=1.0)
    def drawn() -> None:
        queue = session.workbench().upload_queue
        counts = queue.counts(cards.SURE)
        if not counts.running:
            st.rerun()
        read = queue.read_since()
        total = read + counts.running
        now = [plain(shorten_middle(each.name, 48)) for each in queue.reading(1)]
        failed = [f"{counts.failed:,} failed"] if counts.failed else []
        words = " · ".join([f"Processing: {read:,} of {count(total, 'file')}", *now, *failed])
        st.progress(read / total, words)

    if before.running:
        drawn()


def _attention(counts: UploadCounts) -> None:
    """Failed files, uncertain labels, suspect coverage and problems of tables, each with a link to its list."""
    st.markdown("**Needs attention**")
    shaken = _suspect_acceptances()
    tables: Sequence[tuple[str, Mapping[str, str]]] | None = None
    with notices.show_errors():
        tables = _tables()
    if tables == [] and not counts.failed and not counts.doubtful and not shaken:
        st.caption(_in_order(counts))
    for project, number in shaken.items():
        rests = "rests" if number == 1 else "rest"
        where = f"the board of {plain(shorten(project, 40))}" if project else "the coverage board"
        st.page_link(
            page_path("coverage"),
            label=f"{count(number, 'accepted cell')} of {where} {rests} on sentences that have changed",
            icon=":material/warning:",
            query_params={"view": "Review"} | ({"project": project} if project else {}),
        )
    for label, params in tables or ():
        st.page_link(page_path("data"), label=label, icon=":material/warning:", query_params=params)
    for number, what, icon, shown in (
        (counts.failed, "failed file", ":material/error:", UploadQueueView.FAILED),
        (counts.doubtful, "uncertain label", ":material/help:", UploadQueueView.DOUBTFUL),
    ):
        if number:
            st.page_link(page_path("upload"), label=count(number, what), icon=icon, query_params={"show": shown.value})
    for each in _first_files(counts):
        words = f"{cards.failure_words(each)} {each.remedy}" if each.failure else _doubt(each)
        st.caption(plain(f"{shorten_middle(each.name, 60)}: {words}"))


def _first_files(counts: UploadCounts) -> list[Document]:
    """The failed files and those whose label is uncertain that are named: as many as are shown."""
    queue, found = session.workbench().upload_queue, list[Document]()
    for number, view in ((counts.failed, UploadQueueView.FAILED), (counts.doubtful, UploadQueueView.DOUBTFUL)):
        if number and len(found) < _SHOWN_FILES:
            found += queue.page(view, "", cards.SURE, _SHOWN_FILES - len(found), 0)
    return found


def _in_order(counts: UploadCounts) -> str:
    """The message when nothing needs attention, so far as files are read."""
    if counts.running:
        return f":material/hourglass_top: Nothing so far; {count(counts.running, 'file')} still to be read."
    return ":material/check: All files are read, and all labels are certain."


def _suspect_acceptances() -> Mapping[str | None, int]:
    """Project of a board, None for the whole library's → number of its acceptances that no longer hold, above 0."""
    library = session.workbench()
    projects = {*library.upload_queue.projects(), *(topic.project for topic in library.coverage.topics(None))}
    boards = (None, *sorted(filter(None, projects)))
    return {project: number for project in boards if (number := len(library.coverage.shaken(project)))}


def _tables() -> Sequence[tuple[str, Mapping[str, str]]]:
    """Problems of tables, each with the URL parameters of Data that show it."""
    seen = state.tables_view(None)
    torn = [table for table in seen.in_use if table.rejected]
    unknown = [each for each in state.comparisons(seen) if each.count("used, not configured")]
    found: list[tuple[str, Mapping[str, str]]] = []
    if torn:
        lost = count(sum(table.rejected for table in torn), "row")
        of = plain(torn[0].name) if len(torn) == 1 else count(len(torn), "table")
        params = {"table": torn[0].name, "part": "Left out"} if len(torn) == 1 else {}
        found.append((f"{lost} of {of} could not be read", {"view": "Tables"} | params))
    if unknown:
        codes = sum(each.count("used, not configured") for each in unknown)
        of = f"{plain(unknown[0].records)}.{plain(unknown[0].column)}" if len(unknown) == 1 else "records"
        verb = "is" if codes == 1 else "are"
        found.append((f"{count(codes, 'code')} of {of} {verb} used but not configured", {"view": "In use"}))
    return found


def _doubt(document: Document) -> str:
    label = document.labels.truth
    if label.value is None:
        return label.reason or "No truth could be decided; choose one."
    runner_up = f", {label.runner_up} {label.runner_up_probability:.0%}" if contested(label) else ""
    return f"Uncertain: {label.value} {certainty_words(label.probability)}{runner_up}."


def _recent() -> None:
    """The last searches, then the documents used last."""
    searches = session.workbench().search.recent(_SHOWN)
    st.markdown("**Your last searches**")
    if not searches:
        st.caption("No searches yet. Ask a question above.")
    now = datetime.now(UTC)
    for question, hits, when in searches:
        st.page_link(
            page_path("search"),
            label=f"{plain(shorten(question, 74))} :gray[{count(hits, 'result')}]",
            help=plain(f"{question} – {ago(when, now)}"),
            icon=":material/history:",
            query_params={"q": question},
        )
    if searches:
        st.button(
            "Clear searches",
            key="home.clear_searches",
            type="tertiary",
            icon=":material/delete_sweep:",
            help="Delete the list of your searches; documents used stay listed",
            on_click=_forget_searches,
        )
    library = session.workbench()
    used = dict(library.usage.last_used(_SHOWN))
    documents = [each for each in library.document_list.by_id(list(used)) if not each.archived]
    if documents:
        st.markdown("**Documents used last**")
    for each in documents:
        label = f"{plain(shorten_middle(each.name, 60))} :gray[{ago(used[each.id], now)}]"
        cards.document_link(each.id, label, icon=":material/article:", help=plain(each.name))


def _forget_searches() -> None:
    with notices.show_errors():
        session.workbench().search.forget_recent()


def _first_run() -> None:
    """The empty library: one click to something worth looking at."""
    with st.container(border=True, gap="small"):
        st.markdown("#### Start with the sample library, or with your own files", anchors=False)
        st.markdown(
            "Fivefold reads documents, says which of five kinds of truth each passage states, and answers questions"
            " with cited sentences. It shows where each answer comes from, and what the library lacks."
        )
        if rights.may_share() and st.button("Load the sample library", type="primary", icon=":material/auto_stories:"):
            _load_sample()
        if draw_drop_zone():
            st.switch_page(page_path("upload"))


def _load_sample() -> None:
    """Upload every file of the sample library; one that fails stops no other."""
    files = sample.files()
    problems: list[FivefoldError] = []
    bar = st.progress(0.0, "Storing the sample files …")
    for done, path in enumerate(files, start=1):
        try:
            session.workbench().documents.upload(path.name, path.read_bytes())
        except FivefoldError as problem:
            problems.append(problem)
        bar.progress(done / len(files), f"Stored {done} of {count(len(files), 'file')}: {plain(path.name)}")
    for each in problems:
        notices.error(each)
    if not problems:
        st.rerun()


def draw() -> None:
    library = session.workbench()
    counts = library.upload_queue.counts(cards.SURE)
    if not counts.all:
        _first_run()
        st.markdown("**The five truths**")
        _truths_explained()
        return
    _start()
    draw_for_you()
    _queue(counts)
    with st.grid(2, min_column_width=_LIST_WIDTH, gap="medium"):
        with st.container(gap="xsmall"):
            _recent()
        with st.container(gap="xsmall"):
            _attention(counts)
    _contents(library.documents.statistics())


draw()
