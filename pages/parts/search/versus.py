"""Two results side by side: what each says, what puts one ahead, and every part of both scores."""

import streamlit as st

from core.errors import NotFound
from core.matching import stem
from core.queries import SearchRequest
from core.results import Hit, SearchResult
from core.search.quotable import shown_quote
from core.search.syntax import read_query
from core.search.versus import Side, Versus, VersusPart, compare, decided, shown_differences
from pages.parts import cards, notices
from pages.parts.search.versus_chart import versus_bars
from pages.parts.urls import number_in, page_path, params_of
from pages.parts.wording import marked, plain, shortened, squeezed

__all__ = [
    "VIEW",
    "choose_other",
    "compare_button",
    "compare_link",
    "draw_versus",
    "kept_params",
    "versus_params",
]

VIEW = "Compare"
"""The view of Inspect that shows it."""
_FIRST = "versus.first"
_OTHER = "versus.other"
_HEAD, _LINK = 24, 40
"""Characters of a name at the head of a column, and of a link beside another."""


def versus_params(request: SearchRequest, left_id: int, right_id: int) -> dict[str, list[str]]:
    """The query parameters of Inspect that open a comparison."""
    return params_of(request) | {"passage": [str(left_id)], "view": [VIEW], "with": [str(right_id)]}


def compare_link(request: SearchRequest, left_id: int, right_id: int, label: str) -> None:
    """A link that opens a comparison for anyone."""
    target = versus_params(request, left_id, right_id)
    st.page_link(page_path("inspection"), label=label, icon=":material/compare_arrows:", query_params=target)


def compare_button(hit: Hit, result: SearchResult) -> None:
    """On a card: take this result as one of the two; once one is taken, the others link to the comparison."""
    passage_id, state = hit.candidate.passage.id, st.session_state
    ranks = {each.candidate.passage.id: each.rank for each in result.hits}
    first = state.get(_FIRST)
    if first in ranks and first != passage_id:
        compare_link(result.request, first, passage_id, f"Compare with {ranks[first]}")
        return
    taken = first == passage_id
    st.button(
        "Comparing …" if taken else "Compare",
        key=f"versus.take.{passage_id}",
        icon=":material/compare_arrows:",
        type="tertiary",
        help="Click to let go of it." if taken else "Take this result, then choose another one.",
        on_click=_take,
        args=(None if taken else passage_id,),
    )


def _take(passage_id: int | None) -> None:
    st.session_state[_FIRST] = passage_id


def kept_params() -> dict[str, list[str]]:
    """What the page's URL keeps of the comparison while it is looked at: the other one of the two, if one is named."""
    other = str(st.session_state.get(_OTHER) or st.query_params.get("with", ""))
    return {"with": [other]} if number_in(other) is not None else {}


def choose_other(result: SearchResult, left_id: int) -> int | None:
    """The other one of the two: chosen here, or named by the URL ("with"); at first the best that is not the left one.
    None where there is no other. The page keeps `kept_params` in its URL, which it reads before it is drawn."""
    known = [hit.candidate.passage.id for hit in result.hits]
    known += [each.candidate.passage.id for each in result.dropped if each.score is not None]
    offered = [each for each in dict.fromkeys(known) if each != left_id]
    if not offered:
        return None
    state, named = st.session_state, st.query_params.get("with", "")
    if state.get(_OTHER) not in offered:
        state[_OTHER] = number if (number := number_in(named)) in offered else offered[0]
    labels = {each: _label(result, each) for each in offered}
    chosen: int = st.selectbox("Compare with", offered, key=_OTHER, format_func=labels.__getitem__)
    return chosen


def _label(result: SearchResult, passage_id: int) -> str:
    ranks = {hit.candidate.passage.id: hit.rank for hit in result.hits}
    name = _name(result, passage_id)
    return f"{ranks[passage_id]} · {name}" if passage_id in ranks else f"not shown · {name}"


def _name(result: SearchResult, passage_id: int) -> str:
    """Document and place of a candidate."""
    for candidate in (*result.candidates, *(each.candidate for each in result.dropped)):
        if candidate.passage.id == passage_id:
            where = cards.place(candidate.passage, result.documents.get(candidate.passage.document_id))
            name = squeezed(candidate.passage.document_name, 48)
            return f"{name}, {where}" if where else name
    return f"passage {passage_id}"


def draw_versus(result: SearchResult, left_id: int, right_id: int) -> None:
    """Both sentences, the one that decides, the differences as bars, and the table of all parts."""
    try:
        versus = compare(result, left_id, right_id)
    except NotFound as problem:
        notices.error(problem)
        return
    names = _apart(_name(result, left_id), _name(result, right_id), versus)
    sides = st.grid(2, min_column_width=320, gap="medium")
    for side, name in zip((versus.left, versus.right), names, strict=True):
        with sides.cell():
            _side(side, name, result)
    told = decided(versus, names)
    heads = _apart(squeezed(names[0], _HEAD), squeezed(names[1], _HEAD), versus)
    st.markdown(f"**{plain(told)}**")
    shown = shown_differences(versus)
    if any(shown):
        st.plotly_chart(
            versus_bars(versus, heads, dark=st.context.theme.type == "dark"),
            key="versus",
            config={"displayModeBar": False},
            alt=told,
        )
    rows = [_row(part, heads, number) for part, number in zip(versus.parts, shown, strict=True)]
    st.table(rows, border="horizontal", hide_index=True)
    st.caption("The differences add up to the difference of the scores, those of multipliers included.")


def _apart(left: str, right: str, versus: Versus) -> tuple[str, str]:
    """Two names that differ: passages of one place are told apart by their ranks or their numbers."""
    if left != right:
        return left, right
    ranks = [f"rank {side.rank}" if side.rank else f"no. {side.candidate.passage.id}" for side in _both(versus)]
    return f"{left} ({ranks[0]})", f"{right} ({ranks[1]})"


def _both(versus: Versus) -> tuple[Side, Side]:
    return versus.left, versus.right


def _side(side: Side, name: str, result: SearchResult) -> None:
    """One of the two: where it stands, its score, and the sentence that answers best."""
    passage = side.candidate.passage
    stems = {stem(word) for word in result.route.keywords}
    hit = next((each for each in result.hits if each.candidate.passage.id == passage.id), None)
    sentence = hit.citations[0].quote if hit and hit.citations else shortened(passage.text, 400)
    with st.container(border=True, gap="xsmall", height="stretch"):
        label = f"**{plain(squeezed(name, _LINK))}**"
        cards.inspect_link(result.request, passage.id, label, icon=":material/troubleshoot:")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.badges(passage)
        st.markdown(marked(shortened(shown_quote(sentence), 500), stems, read_query(result.request.question).phrases))
        rank = f"rank {side.rank}" if side.rank else f"not shown, {side.why}"
        st.caption(f"score **{side.score.total:.3f}** · {plain(rank)}")


def _row(part: VersusPart, names: tuple[str, str], difference: float) -> dict[str, str]:
    """One part of both scores; the columns of the two are named as they are above."""
    left, right = map(plain, names)
    return {
        "Part": part.label,
        left: _valued(part.left, part),
        right: _valued(part.right, part),
        "Difference": f"{difference:+.3f}".replace("-", "−") if difference else "0.000",
        "Why": _why(part),
    }


def _valued(value: float | None, part: VersusPart) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if part.weight is None else f"{value:.3f} × {part.weight:.2f} = {value * part.weight:.3f}"


def _why(part: VersusPart) -> str:
    if part.left_reason == part.right_reason:
        return plain(part.left_reason)
    return " · ".join(plain(reason or "–") for reason in (part.left_reason, part.right_reason))
