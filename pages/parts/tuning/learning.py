"""What corrections taught the classifier: its worth, what it would change and did change, and how it went over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.documents import Document
from core.library.lessons import LessonDesk
from core.library.lessons_accuracy import ENOUGH, Period
from core.library.lessons_store import Act, ActKind, LessonVersion, Verdict
from core.tuning.classifier_report import Rate
from pages.parts import notices, session
from pages.parts.labels import field_title, value_title
from pages.parts.person import who
from pages.parts.tuning.learning_charts import accuracy_chart
from pages.parts.tuning.learning_flips import draw_flips, forget_preview
from pages.parts.urls import page_path
from pages.parts.wording import count, plain, squeezed

__all__ = ["draw_learning"]

_SAID, _ACTS, _NAMED = 8, 6, 3
_FIELDS = ("all", "truth", "domain", "authority", "jurisdiction", "temporal_class")


def draw_learning() -> None:
    """Everything about learning; nothing while nobody has confirmed a label."""
    lessons = session.workbench().lessons
    newest = lessons.newest()
    if newest is None:
        return
    with notices.told():
        st.divider()
        st.markdown("#### What corrections taught", anchors=False)
        _lessons(newest)
        _choice(lessons)
        draw_flips(lessons, newest.number)
        _acts(lessons)
        _over_time(lessons)
        _said(lessons)


def _lessons(newest: LessonVersion) -> None:
    """Which lessons hold, and per label what they are worth."""
    told = f"Lessons {newest.number}, learned {newest.at:%Y-%m-%d %H:%M} UTC from "
    told += count(len(newest.confirmed), "confirmed document")
    st.caption(
        f"{told}. A document that reads like confirmed ones, and of"
        " which the classifier thinks alike, takes their label; the label says whose. Each confirmed document is left"
        " out in turn to see what the others would have made of it."
    )
    if not newest.outcomes:
        return
    names = {each.document_id: each.name for each in newest.confirmed}
    rows = [
        {
            "Label": field_title(each.field),
            "Confirmed": each.documents,
            "Right by itself": 100 * each.right_alone / each.documents,
            "Right when taught": 100 * each.right_taught / each.documents,
            "Used": "yes" if each.strength else "no: it would be worse",
            "Left out": _named([names[number] for number in each.unused if number in names]),
        }
        for each in newest.outcomes
    ]
    bar = st.column_config.ProgressColumn(min_value=0, max_value=100, format="%.0f%%")
    told_of = st.column_config.TextColumn(help="Confirmed documents whose lesson would make others wrong.")
    columns: Mapping[str, Any] = {"Right by itself": bar, "Right when taught": bar, "Left out": told_of}
    if not any(row["Left out"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "Left out"} for row in rows]
    st.dataframe(rows, hide_index=True, placeholder="–", row_height=32, column_config=columns)


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _choice(lessons: LessonDesk) -> None:
    choice = lessons.choice()
    st.toggle(
        "New documents take new lessons at once",
        value=choice.at_once,
        key=f"learning.at_once.{choice.at_once}",
        help="Off: they are labelled by the lessons applied last. Documents read before change only when you apply.",
        on_change=_choose,
        args=(lessons, not choice.at_once),
    )


def _choose(lessons: LessonDesk, at_once: bool) -> None:
    lessons.choose(at_once=at_once, who=who() or "analyst")


def _acts(lessons: LessonDesk) -> None:
    """What was applied, each to be undone."""
    acts = lessons.acts()
    undone = {each.number: each for each in acts if each.kind is ActKind.UNDONE}
    applied: dict[int, list[Act]] = {}
    for each in acts:
        if each.kind is ActKind.APPLIED:
            applied.setdefault(each.number, []).append(each)
    if not applied:
        return
    st.markdown("**Applied**")
    for number, parts in list(applied.items())[:_ACTS]:
        words, undo = st.columns([6, 1], vertical_alignment="center")
        labels = sum(each.labels for each in parts)
        first = parts[-1]
        line = f"{first.at:%Y-%m-%d %H:%M} · {plain(first.who)} · {count(labels, 'label')} by lessons {first.version}"
        if number in undone:
            back = undone[number]
            words.caption(f":gray[~~{line}~~] undone {back.at:%Y-%m-%d %H:%M} by {plain(back.who)}")
            continue
        words.caption(line)
        undo.button(
            "Undo",
            key=f"learning.undo.{number}",
            icon=":material/undo:",
            width="stretch",
            help="Every label that is still as this made it becomes what it was, and its passages with it.",
            on_click=_undo,
            args=(lessons, number),
        )


def _undo(lessons: LessonDesk, number: int) -> None:
    with notices.told():
        done = lessons.flips.undo(number, who() or "analyst")
        forget_preview()
        session.forget_answers()
        left = f" {count(len(done.left), 'label')} changed since and stayed." if done.left else ""
        st.toast(f"{count(done.labels, 'label')} as before.{left}", icon=":material/undo:")


def _over_time(lessons: LessonDesk) -> None:
    """How often people found automatic labels right, with what the numbers are worth."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Found right, over time**", width="content")
        field = st.selectbox(
            "Label",
            _FIELDS,
            key="learned",
            bind="query-params",
            label_visibility="collapsed",
            format_func=lambda name: "All labels" if name == "all" else field_title(name),
            width=170,
        )
        per = st.segmented_control(
            "Per", ("week", "month"), default="week", required=True, key="per", bind="query-params",
            label_visibility="collapsed", format_func=lambda each: f"By {each}",
        )  # fmt: skip
    periods = lessons.accuracy(None if field in (None, "all") else field, by_month=per == "month")
    whole = Rate(sum(each.right.right for each in periods), sum(each.right.n for each in periods))
    if whole.n < ENOUGH:
        st.caption(_too_few(whole, str(per)))
        return
    st.caption(_worth(periods, whole, str(per)))
    figure = accuracy_chart(periods, by_month=per == "month", dark=st.context.theme.type == "dark")
    alt = f"{whole.right:,} of {count(whole.n, 'label')} found right over {count(len(periods), str(per))}"
    st.plotly_chart(figure, key="learning.over_time", config={"displayModeBar": False}, alt=alt)


def _too_few(whole: Rate, per: str) -> str:
    if not whole.n:
        return f"Nobody has judged such a label yet. Once {ENOUGH} are, the share found right stands here by {per}."
    return (
        f"Too few to say: {whole.right} of {whole.n} automatic labels people judged were right. From {ENOUGH} on they"
        f" stand here by {per}."
    )


def _worth(periods: Sequence[Period], whole: Rate, per: str) -> str:
    few = sum(each.right.n < ENOUGH for each in periods)
    told = f"{whole.right:,} of {whole.n:,} automatic labels were right when a person first judged them"
    told += (
        f" ({whole.share:.0%}, plausibly {whole.low:.0%} to {whole.high:.0%}). Doubtful ones are judged first, so the"
    )
    told += " whole library is likely better."
    return told + (f" Hollow: fewer than {ENOUGH} judged in that {per}, a hint at most." if few else "")


def _said(lessons: LessonDesk) -> None:
    """The latest corrections, each to be taken back."""
    said = lessons.said(_SAID)
    if not said:
        return
    st.markdown("**Said last**")
    with st.container(gap=None):
        for verdict, document in said:
            _said_line(verdict, document)


def _said_line(verdict: Verdict, document: Document) -> None:
    words, link, back = st.columns([5, 6, 2], vertical_alignment="center", gap="small")
    given = value_title(verdict.field, verdict.given) if verdict.given else "unknown"
    change = "as it said" if verdict.given == verdict.said else f"instead of {plain(given)}"
    value = plain(value_title(verdict.field, verdict.said))
    words.markdown(f"{field_title(verdict.field)} **{value}** :gray[{change} · {plain(verdict.who)}]")
    link.page_link(
        page_path("library"),
        label=plain(squeezed(document.name, 48)),
        icon=":material/library_books:",
        query_params={"document": str(document.id)},
    )
    back.button(
        "Take back",
        key=f"learning.back.{document.id}.{verdict.field}",
        icon=":material/undo:",
        type="tertiary",
        help="The label is the classifier's again, as it was; what this taught is forgotten.",
        on_click=_take_back,
        args=(document.id, verdict.field),
    )


def _take_back(document_id: int, field: str) -> None:
    with notices.told():
        session.workbench().uncorrect(document_id, field, who=who() or "analyst")
        session.forget_answers()
        st.toast(f"{field_title(field)} is the classifier's again.", icon=":material/undo:")
