"""The topics of a board: listed, edited in place, merged and split, and suggested from the library."""

# Over 300 lines: one table of topics, and everything that is done to its rows.

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

import sample
from core.coverage.topics import (
    as_before,
    edit_topic,
    merge_topics,
    proposed_needs,
    split_topic,
    topics_csv,
    topics_from_lines,
    topics_from_table,
    with_needs,
    with_proposed_needs,
)
from core.domain.coverage import Topic, TopicOrigin
from core.domain.documents import Truth
from core.domain.errors import FivefoldError
from core.search.citations.cite import display_quote
from pages.components import notices, rights, session
from pages.components.citation_places import cited_place
from pages.components.coverage import state
from pages.components.styles import TRUTHS
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten

__all__ = ["draw", "suggested_topics"]

_WORDS = {
    TopicOrigin.REQUIREMENT: (
        "Sentences of intent documents that say what shall, must or should be done, or may not, each with its page.",
        "No requirement sentence was found that is not a topic already. Upload the contract or the requirements, or"
        " check that they are classified as *intent*.",
    ),
    TopicOrigin.CLUSTER: (
        "Themes of the library: passages grouped by meaning, each group named by its distinguishing words.",
        "The library is too small for themes, or every theme is a topic already.",
    ),
}


_FIND = {TopicOrigin.REQUIREMENT: "Find requirements", TopicOrigin.CLUSTER: "Find themes"}


def suggested_topics(
    project: str | None, origin: TopicOrigin, add: Callable[[Callable[[], Sequence[Topic]]], None]
) -> None:
    """Suggested topics of one kind; computed on request, because this reads the whole library."""
    about, nothing = _WORDS[origin]
    key = f"topics.found.{origin.value}"
    st.caption(about)
    looked_for = st.session_state.get(key)
    if looked_for is None or looked_for[0] != project:
        if st.button(_FIND[origin], icon=":material/search:", key=f"{key}.look"):
            with st.spinner("Reading the library …"):
                service = state.coverage_service()
                found = service.found_requirements if origin is TopicOrigin.REQUIREMENT else service.found_clusters
                st.session_state[key] = (project, list(found(project)))
            st.rerun()
        return
    known = {topic.name.casefold() for topic in state.topics(project)}
    proposals = [topic for topic in looked_for[1] if topic.name.casefold() not in known]
    if not proposals:
        st.info(nothing, icon=":material/info:")
        return
    _choose(proposals, key, add)


def _choose(proposals: Sequence[Topic], key: str, add: Callable[[Callable[[], Sequence[Topic]]], None]) -> None:
    st.markdown(f"**{count(len(proposals), 'proposal')}** · select rows, or add them all")
    event: Any = st.dataframe(
        [_proposal_row(topic) for topic in proposals],
        key=f"{key}.table.{len(proposals)}",
        hide_index=True,
        height=min(420, 38 + 35 * len(proposals)),
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "topic": st.column_config.TextColumn("Topic", width=560),
            "says": st.column_config.TextColumn("Modality", width=80),
            "document": st.column_config.TextColumn("Document", width="medium"),
            "domain": st.column_config.TextColumn("Domain", width="small"),
            "keywords": st.column_config.TextColumn("Keywords", width="large"),
        },
    )
    rows = event["selection"]["rows"]
    chosen = [proposals[row] for row in rows] or list(proposals)
    words = f"Add {count(len(chosen), 'topic')}" if rows else f"Add all {len(proposals):,}"
    rights.button(
        "coverage.add_topics",
        words,
        icon=":material/add:",
        type="primary",
        key=f"{key}.add",
        on_click=add,
        args=(lambda: chosen,),
    )


def _proposal_row(topic: Topic) -> dict[str, Any]:
    if topic.source is None:
        return {"topic": topic.name, "keywords": ", ".join(topic.keywords), "domain": topic.domain or ""}
    location = ", ".join(filter(None, (topic.source.document_name, cited_place(topic.source))))
    return {
        "topic": topic.name,
        "says": topic.modality.value if topic.modality else "",
        "document": location,
        "domain": topic.domain or "",
    }


_EXAMPLE = "Overtime pay\nVacation accrual\nRetention of payroll records"

_COLUMNS = ("name", "needs", "owner", "domain", "jurisdiction")


def draw(project: str | None) -> None:
    """The table of topics with its actions, then the ways to add more."""
    if problem := st.session_state.pop("topics.problem", None):
        notices.error(problem)
    if message := st.session_state.pop("topics.said", ""):
        st.toast(message, icon=":material/check:")
    listed = state.topics(project)
    _draw_undo()
    if listed:
        _ask_for_needs(listed)
        _table(listed)
    _add_form(project, first=not listed)


def _ask_for_needs(listed: Sequence[Topic]) -> None:
    """Offers the proposed truths for topics that still need all five: each truth more is a cell that may be a gap."""
    fewer = [topic for topic in listed if topic.needs == tuple(Truth) and len(proposed_needs(topic).needs) < len(Truth)]
    if not fewer:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="topics_ask"):
        words = f"{count(len(fewer), 'topic needs', 'topics need')} all five truths, though fewer are proposed."
        st.caption(f":material/rule: {words} See *Proposed needs*.", width="content")
        label = f"Use {count(len(fewer), 'proposal')}"
        rights.button(
            "coverage.change_topics",
            label,
            key="topics.ask.do",
            on_click=_edit,
            args=(lambda: with_proposed_needs(fewer),),
        )


# One column after the other, each with its width: split up, what the table shows could not be read in one place.
def _table(listed: Sequence[Topic]) -> None:
    line = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    locked = rights.refusal("coverage.change_topics")
    hint = f":gray[:material/lock: {locked}]" if locked else "edit in place, select rows to change several at once"
    line.markdown(f"**{count(len(listed), 'topic')}** · {hint}", width="content")
    line.download_button(
        "CSV", lambda: topics_csv(listed), "topics.csv", "text/csv", icon=":material/download:", type="tertiary"
    )
    round_ = st.session_state.setdefault("topics.round", 0)
    rows, terms = [_row(topic) for topic in listed], session.terms()
    changed: Any = st.data_editor(
        rows,
        key=f"topics.table.{round_}",
        hide_index=True,
        placeholder="",
        height=min(460, 38 + 35 * len(rows)),
        disabled=bool(locked) or ["origin", "source", "proposed"],
        column_config={
            "select": st.column_config.CheckboxColumn("", width=40),
            "name": st.column_config.TextColumn("Topic", width=270, required=True, max_chars=300),
            "proposed": st.column_config.TextColumn("Proposed needs", width=230),
            "needs": st.column_config.MultiselectColumn("Needs", options=[truth.value for truth in Truth], width=390),
            "owner": st.column_config.TextColumn("Owner", width=110, max_chars=80),
            "domain": st.column_config.SelectboxColumn(
                "Domain",
                options=list(terms.domains.keywords),
                format_func=lambda domain: terms.domains.title(str(domain)),
                width=150,
            ),
            "jurisdiction": st.column_config.TextColumn("Jurisdiction", width=110),
            "origin": st.column_config.TextColumn("From", width=70),
            "source": st.column_config.TextColumn("Sentence", width="medium"),
        },
    )
    new = [edit_topic(topic, row, terms) for topic, row in zip(listed, changed, strict=True)]
    touched = [after for before, after in zip(listed, new, strict=True) if before != after]
    chosen = [topic for topic, row in zip(listed, changed, strict=True) if row["select"]]
    if touched:
        rights.button(
            "coverage.change_topics",
            f"Save {count(len(touched), 'change')}",
            type="primary",
            icon=":material/save:",
            on_click=_save,
            args=(touched,),
        )
    if chosen:
        _bulk_actions(chosen)


def _row(topic: Topic) -> dict[str, Any]:
    source = topic.source
    location = ", ".join(filter(None, (source.document_name, cited_place(source)))) if source else ""
    where = f"{location}: {display_quote(source.quote)}" if source else ""
    modality = f" · {topic.modality.value}" if topic.modality else ""
    return {
        "select": False,
        "name": topic.name,
        "needs": [truth.value for truth in topic.needs],
        "proposed": _reason(topic),
        "owner": topic.owner,
        "domain": topic.domain,
        "jurisdiction": topic.jurisdiction or "",
        "origin": f"{topic.origin.value}{modality}",
        "source": where,
    }


def _reason(topic: Topic) -> str:
    """Which truths are proposed for the topic, and why; that they are chosen, where they are."""
    proposal = proposed_needs(topic)
    truths = "as chosen" if proposal.needs == topic.needs else ", ".join(proposal.needs)
    return f"{truths} ({proposal.reason})"


def _bulk_actions(chosen: Sequence[Topic]) -> None:
    """Actions on the selected topics. Typed values are read when the button is pressed: the press may be the first time
    the server hears of them."""
    typed, terms = st.session_state, session.terms()
    with st.container(border=True):
        st.markdown(f"**{count(len(chosen), 'topic')} selected**")
        needs, owner, join, part, away = st.columns(5)
        with needs.popover("Needs", icon=":material/rule:", width="stretch"):
            st.pills(
                "Truths these topics need",
                list(Truth),
                selection_mode="multi",
                default=list(chosen[0].needs),
                format_func=lambda truth: f"{TRUTHS[truth].icon} {truth.value}",
                key="topics.needs",
            )
            _button("Use the proposals", "proposals", lambda: with_proposed_needs(chosen))
            _button("Set", "needs", lambda: with_needs(chosen, typed["topics.needs"] or ()))
        with owner.popover("Owner", icon=":material/person:", width="stretch"):
            st.text_input("Owner of these topics", key="topics.owner")
            _button(
                "Set", "owner", lambda: [edit_topic(topic, {"owner": typed["topics.owner"]}, terms) for topic in chosen]
            )
        with join.popover("Merge", icon=":material/merge:", width="stretch", disabled=len(chosen) < 2):
            st.text_input("Name of the merged topic", value=chosen[0].name, key="topics.merge")
            st.caption(_merge_words(chosen))
            _button("Merge", "merge", lambda: merge_topics(chosen, typed["topics.merge"]))
        with part.popover("Split", icon=":material/call_split:", width="stretch", disabled=len(chosen) != 1):
            st.text_area("One part per line", key="topics.split")
            rights.button("coverage.change_topics", "Split", on_click=_split, args=(chosen[0],), key="topics.split.do")
        with away:
            _button(
                "Archive",
                "retire",
                lambda: [edit_topic(topic, {"retired": True}, terms) for topic in chosen],
                ":material/delete:",
            )


def _merge_words(chosen: Sequence[Topic]) -> str:
    """What a merge does with decisions."""
    first, *others = (plain(shorten(topic.name, 40)) for topic in chosen)
    rest = f"“{others[0]}”" if len(others) == 1 else "the others"
    return (
        f"Decisions on “{first}” stay. In columns where it has none, the latest on {rest} holds; if the new name is "
        "about something else, it must be decided again. The history keeps all."
    )


def _button(label: str, name: str, change: Callable[[], Sequence[Topic]], icon: str | None = None) -> None:
    """A button that keeps changed topics."""
    rights.button(
        "coverage.change_topics",
        label,
        icon=icon,
        key=f"topics.{name}.do",
        on_click=_edit,
        args=(change,),
        width="stretch",
    )


def _split(topic: Topic) -> None:
    def work() -> None:
        service = state.coverage_service()
        before = service.topics(None)
        removed, parts = split_topic(topic, st.session_state["topics.split"].splitlines(), session.terms())
        added = service.add_topics(parts, who())  # first, so that a failure in between loses nothing
        stored = service.change_topics([removed], who())
        st.session_state[_UNDO] = (f"“{topic.name}” was split.", as_before(before, [*stored, *added]))

    _apply_change(work, "")


def _edit(change: Callable[[], Sequence[Topic]]) -> None:
    def work() -> None:
        service = state.coverage_service()
        before = service.topics(None)
        stored = service.change_topics(change(), who())
        st.session_state[_UNDO] = (f"{count(len(stored), 'topic')} changed.", as_before(before, stored))

    _apply_change(work, "")


def _save(changed: Sequence[Topic]) -> None:
    _edit(lambda: changed)


_UNDO = "topics.undo"
"""The session key of the last change of topics: what it was, in words, and the topics as they were before."""


def _draw_undo() -> None:
    """What was changed last in this session, and a button that restores what was before."""
    if _UNDO not in st.session_state:
        return
    words, before = st.session_state[_UNDO]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/check: {plain(words)}", width="content")
        rights.button(
            "coverage.undo_topic_edit",
            "Undo",
            key="topics.undo.do",
            icon=":material/undo:",
            type="tertiary",
            on_click=_undo,
            args=(before,),
        )


def _undo(before: Sequence[Topic]) -> None:
    def work() -> None:
        del st.session_state[_UNDO]
        state.coverage_service().change_topics(before, who())

    _apply_change(work, "Undone.")


def _typed_topics(project: str | None) -> list[Topic]:
    """The topics of the text field, which is emptied when they are sound."""
    names = topics_from_lines(st.session_state["topics.typed"])
    found = [Topic(name, project=project) for name in names]
    st.session_state["topics.typed"] = ""
    return found


def _add(topics: Callable[[], Sequence[Topic]]) -> None:
    def work() -> None:
        before = len(state.topics(st.session_state.get("project")))
        state.coverage_service().add_topics(topics(), who())
        state.clear_cache()
        added = len(state.topics(st.session_state.get("project"))) - before
        st.session_state["topics.said"] = f"{count(added, 'topic')} added."

    _apply_change(work, "")


def _apply_change(work: Callable[[], object], message: str) -> None:
    """Run a change in a callback; the view shows its outcome, with the table read again."""
    try:
        work()
        if message:
            st.session_state["topics.said"] = message
    except FivefoldError as problem:
        st.session_state["topics.problem"] = problem
    st.session_state["topics.round"] = st.session_state.get("topics.round", 0) + 1
    state.clear_cache()


def _add_heading(*, first: bool) -> None:
    """The heading of the ways to add topics; above the first ones also what a topic is."""
    st.markdown("**Add the first topics**" if first else "**Add topics**")
    if first:
        words = "Topics are what the project must answer. Each is searched separately under each of the five truths."
        st.caption(words)


def _add_form(project: str | None, *, first: bool) -> None:
    _add_heading(first=first)
    typed, file, question, themes = st.tabs(
        [":material/edit: Typed", ":material/upload_file: CSV", ":material/flag: Requirements", ":material/hub: Themes"]
    )
    with typed:
        st.text_area("Topics, one per line", key="topics.typed", height=118, placeholder=_EXAMPLE)
        with st.container(horizontal=True):
            rights.button(
                "coverage.add_topics",
                "Add topics",
                type="primary",
                icon=":material/add:",
                on_click=_add,
                args=(lambda: _typed_topics(project),),
            )
            if session.sample_loaded():
                rights.button(
                    "coverage.add_topics",
                    "Add the sample library's topics",
                    icon=":material/auto_stories:",
                    on_click=_add,
                    args=(lambda: [Topic(name, project=project) for name in sample.topics()],),
                )
    with file:
        given = st.file_uploader("CSV with the column topic; needs, owner, domain too", type=["csv", "txt"])
        if given is not None:
            data, name = given.getvalue(), given.name
            rights.button(
                "coverage.add_topics",
                f"Add the topics of {name}",
                icon=":material/add:",
                type="primary",
                on_click=_add,
                args=(lambda: topics_from_table(data, session.terms(), name, project),),
            )
    with question:
        suggested_topics(project, TopicOrigin.REQUIREMENT, _add)
    with themes:
        suggested_topics(project, TopicOrigin.CLUSTER, _add)
