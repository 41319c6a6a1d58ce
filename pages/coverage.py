"""Coverage: topics against the five truths – where the library can answer, where it cannot, and what to obtain."""

import json

import streamlit as st

import sample
from core.boards import Board, Cell, CellState, Gap
from core.coverage.report import board_csv, board_data
from core.coverage.topics import topics_from_csv, topics_from_lines
from core.documents import Truth
from core.errors import FivefoldError
from pages.parts import cards, charts, notices, session
from pages.parts.drawer import SEVERITIES, drawer
from pages.parts.looks import CELLS
from pages.parts.wording import count, plain, shortened

_MOST_IN_URL = 40
_PER_PAGE = 12
_EXAMPLE = "Overtime pay\nVacation accrual\nRetention of payroll records"


def _adopt() -> None:
    """Take over topics and project from the URL, when it was not this page that wrote it."""
    state, params = st.session_state, {name: st.query_params.get_all(name) for name in st.query_params}
    if "coverage.topics" in state and params == state.get("coverage.url"):
        return
    before = state.get("coverage.asked", ((), None))
    topics = tuple(params.get("topic", before[0]))
    state["coverage.topics"] = "\n".join(topics)
    state["coverage.project"] = params.get("project", [before[1]])[0]
    state["coverage.asked"] = (topics, state["coverage.project"])
    state["coverage.open"] = params.get("cell", [""])[0]


def _remember() -> None:
    topics, project = st.session_state["coverage.asked"]
    params = {"topic": list(topics) if len(topics) <= _MOST_IN_URL else [], "project": [project] if project else []}
    params |= {"cell": [st.session_state["coverage.open"]] if st.session_state["coverage.open"] else []}
    params = {name: values for name, values in params.items() if values}
    if params != st.session_state.get("coverage.url"):
        st.query_params.from_dict(params)
    st.session_state["coverage.url"] = params


def _ask() -> None:
    """Topics typed or from a CSV file, the project they are judged for, and the button that runs it."""
    state = st.session_state
    typed, aside = st.columns([5, 3])
    with typed:
        st.text_area("Topics, one per line", key="coverage.topics", height=118, placeholder=_EXAMPLE)
    with aside:
        projects = sorted({each.project for each in session.workbench().documents() if each.project})
        if state["coverage.project"] not in projects:
            state["coverage.project"] = None
        st.selectbox("Project", projects, index=None, key="coverage.project", placeholder="The whole library")
        upload, run = st.columns([1, 1], vertical_alignment="bottom")
        with upload.popover("From CSV", icon=":material/upload_file:", width="stretch"):
            st.file_uploader("Topics as CSV", type=["csv", "txt"], key="coverage.csv", on_change=_from_csv)
        run.button("Assess", type="primary", icon=":material/grid_on:", width="stretch", on_click=_start)


def _from_csv() -> None:
    file = st.session_state["coverage.csv"]
    if file is None:
        return
    try:
        st.session_state["coverage.topics"] = "\n".join(topics_from_csv(file.getvalue(), file.name))
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem


def _sample_topics() -> None:
    st.session_state["coverage.topics"] = "\n".join(sample.topics())
    _start()


def _start() -> None:
    state = st.session_state
    try:
        topics = tuple(topics_from_lines(state["coverage.topics"]))
        state["coverage.asked"], state["coverage.open"] = (topics, state["coverage.project"]), ""
        session.board_run(topics, state["coverage.project"], start=True)
    except FivefoldError as problem:
        state["coverage.problem"] = problem


@st.fragment(run_every=0.5)
def _running(run: session.BoardRun) -> None:
    if not run.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    waits = "Loading the models …" if not session.ready() else "Reading the topics …"
    words = f"{run.done} of {count(run.total, 'cell')} assessed" if run.total else waits
    bar.progress(run.done / max(1, run.total), words)
    if stop.button("Stop", icon=":material/stop:", width="stretch"):
        run.stop = True


def _board(board: Board) -> None:
    """The map, what it adds up to, and the way out of the product."""
    share = "Nothing could be assessed" if board.coverage is None else f"{board.coverage:.0%} covered"
    assessed = [cell for cell in board.cells if cell.state not in (CellState.NOT_ASSESSED, CellState.ERROR)]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(f"#### {share}", anchors=False, width="content")
        st.caption(
            f"{count(len(assessed), 'cell')} assessed of {len(board.cells)} · {count(len(board.gaps), 'gap')}"
            f" · {board.taken_at:%Y-%m-%d %H:%M} UTC · {board.milliseconds / 1000:.1f} s",
            width="content",
        )
        _downloads(board)
    _legend(board)
    for problem in dict.fromkeys(cell.error for cell in board.cells if cell.error):
        st.error(f"Some cells could not be assessed; they are no gaps. {plain(problem)}", icon=":material/bolt:")
    event = st.plotly_chart(
        charts.board_map(board, dark=st.context.theme.type == "dark"),
        key=f"coverage.map.{st.session_state.setdefault('coverage.round', 0)}",
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        alt=f"{share}; {count(len(board.gaps), 'gap')}",
    )
    points = event["selection"]["points"]
    if points:
        topic, truth = points[0]["customdata"]
        st.session_state["coverage.open"] = f"{truth}:{topic}"
    _picker(board)


def _downloads(board: Board) -> None:
    """The board, for what leaves the product."""
    st.download_button(
        "CSV",
        board_csv(board),
        "coverage.csv",
        "text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )
    data = json.dumps(board_data(board), indent=2, ensure_ascii=False)
    st.download_button(
        "JSON",
        data,
        "coverage.json",
        "application/json",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )


def _legend(board: Board) -> None:
    held = {cell.state for cell in board.cells}
    with st.container(horizontal=True, gap="small"):
        for state, look in CELLS.items():
            if state in held:
                number = sum(1 for cell in board.cells if cell.state is state)
                st.badge(f"{look.symbol} {look.words} {number}", color=look.colour)  # type: ignore[arg-type]


def _picker(board: Board) -> None:
    """The same choice without a mouse: any cell by name."""
    keys = [_key(cell) for cell in board.cells]
    opened = st.session_state["coverage.open"]
    st.session_state["coverage.cell"] = opened if opened in keys else None
    st.selectbox(
        "Open a cell",
        keys,
        index=None,
        key="coverage.cell",
        placeholder="Click a tile, or choose one here",
        format_func=lambda key: " · ".join(reversed(key.split(":", 1))),
        on_change=_picked,
        label_visibility="collapsed",
    )


def _picked() -> None:
    st.session_state["coverage.open"] = st.session_state["coverage.cell"] or ""


def _key(cell: Cell) -> str:
    return f"{cell.truth.value}:{cell.topic}"


def _gaps(board: Board) -> None:
    """The holes, worst first, each with what to obtain."""
    st.markdown("**What to obtain**")
    if not board.gaps:
        known = board.coverage is not None
        st.caption(
            ":material/check: No gaps among the assessed cells." if known else "No cell was assessed: no gap is known."
        )
        return
    order = list(SEVERITIES)
    worst_first = sorted(board.gaps, key=lambda gap: order.index(gap.severity) if gap.severity in order else len(order))
    pages = max(1, -(-len(worst_first) // _PER_PAGE))
    page = st.pagination(pages, key="coverage.page") if pages > 1 else 1
    for gap in worst_first[(page - 1) * _PER_PAGE : page * _PER_PAGE]:
        _gap_row(gap)


def _gap_row(gap: Gap) -> None:
    severity, truth, words = st.columns([1, 2, 11], wrap=False, gap="small")
    severity.badge(gap.severity, color=SEVERITIES.get(gap.severity, "gray"))  # type: ignore[arg-type]
    with truth:
        cards.truth_badge(gap.truth)
    words.markdown(f"**{plain(shortened(gap.topic, 80))}** – {plain(gap.recommendation)}")


def _open_cell(board: Board) -> None:
    truth, _, topic = st.session_state["coverage.open"].partition(":")
    if truth not in set(Truth) or topic not in {each.name for each in board.topics}:
        return
    gap = next((each for each in board.gaps if each.topic == topic and each.truth == truth), None)
    drawer(board.cell(topic, Truth(truth)), gap)


def draw() -> None:
    if not session.workbench().statistics().passages:
        notices.empty(
            ":material/grid_off:",
            "Nothing to cover yet",
            "Load the sample library on *Home*, or drop files on *Upload*.",
        )
        return
    _adopt()
    _ask()
    if problem := st.session_state.pop("coverage.problem", None):
        notices.error(problem)
    topics, project = st.session_state["coverage.asked"]
    run = session.board_run(topics, project, start=False) if topics else None
    if topics and run is None:
        run = session.board_run(topics, project, start=True)
    if run is None:
        _remember()
        st.caption(
            "Write the topics a project must answer, one per line, and press *Assess*. Each is searched under each"
            " truth by itself. A truth that was not searched is *not assessed*, a failed search is an *error*; neither"
            " is a gap."
        )
        if session.sample_loaded():
            st.button("Assess the sample library's topics", icon=":material/auto_stories:", on_click=_sample_topics)
    elif run.running:
        _remember()
        _running(run)
    elif run.problem is not None:
        notices.error(run.problem)
    elif run.board is None:
        stopped = "The run was stopped." if run.stop else "The run ended unexpectedly; nothing was assessed."
        st.warning(f"{stopped} Press *Assess* to run it again.", icon=":material/stop_circle:")
    else:
        _board(run.board)
        _remember()
        _gaps(run.board)
        _open_cell(run.board)


draw()
