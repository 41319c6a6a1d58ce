"""The versions of a document: chain, suggestions and what cites older text; and all near-duplicates of the library."""
# Longer than 300 lines: both lists draw and decide the same suggestions.

from collections.abc import Callable, Sequence
from itertools import pairwise

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.documents import Document, DocumentState
from core.domain.errors import FivefoldError
from core.insights.store import Insight
from core.library.duplicates.comparer import DuplicateGroup
from core.library.versions.outdated_citations import CitationUpdate, CitingItem, with_updated_citation
from core.library.versions.service import RelatedDocuments
from core.library.versions.store import VersionDecision, VersionVerdict
from core.library.versions.suggestions import Suggestion, in_order
from core.search.citations.cite import display_quote
from pages.components import cards, notices, rights, session
from pages.components.citation_places import sentence_place
from pages.components.library.related_documents import draw_difference, likeness
from pages.components.pager import draw_pager, pages_of
from pages.components.user_name import who
from pages.components.wording import ago, bytes_in_words, count, day, plain, shorten, shorten_middle

__all__ = ["apply_decision", "draw_duplicates", "draw_suggestion", "draw_versions"]


def draw_versions(document: Document) -> None:
    """Everything about the versions of one document, with the last error on top."""
    if (problem := st.session_state.pop("versions.problem", None)) is not None:
        notices.error(problem)
    service = session.workbench().versions
    chain = service.chain(document.id)
    related = service.related([document]).get(document.id, RelatedDocuments())
    _chain(document, chain)
    for suggestion in related.suggestions:
        draw_suggestion(suggestion)
    _near_duplicates(related)
    _suspect_citations(document)
    _compare(document, chain, related)
    _by_hand(document, chain)


# The chain


def _chain(document: Document, chain: Sequence[Document]) -> None:
    """v1 → v2 → v3, each with its date and an undo button."""
    if len(chain) == 1:
        st.caption("No other version is known. A new one is suggested when its name, title, address or text tells so.")
        return
    links = {newer.id: older for older, newer in pairwise(chain) if newer.version_of == older.id}
    st.markdown("**Versions** " + " → ".join(f"v{number}" for number in range(1, len(chain) + 1)))
    for number, version in reversed(list(enumerate(chain, 1))):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**v{number}**", width="content")
            name = plain(shorten_middle(version.name, 70))
            if version.id == document.id:
                st.markdown(f"{name} :gray[– this one]", width="content")
            else:
                cards.document_link(version.id, name)
            state = "replaced" if version.archived else "current"
            dated = f"dated {day(version.date)}" if version.date else "undated"
            st.caption(f"{state} · {dated} · uploaded {day(version.uploaded_at)}", width="content")
            if version.id in links:
                _undo_buttons(links[version.id], version, alone=len(chain) == 2)
    if not links:
        st.caption("These are versions of a table; *Data* compares them row by row.")


def _undo_buttons(older: Document, newer: Document, *, alone: bool) -> None:
    service = session.workbench().versions
    rights.button(
        "versions.undo",
        "Undo",
        icon=":material/undo:",
        type="tertiary",
        key=f"versions.undo.{newer.id}",
        help=f"'{older.name}' is not an older version of it: both are found again.",
        on_click=apply_decision,
        args=(lambda: service.undo(older.id, newer.id, who()), "Both are found again."),
    )
    if alone:
        rights.button(
            "versions.turn_round",
            "Swap",
            icon=":material/swap_vert:",
            type="tertiary",
            key=f"versions.turn.{newer.id}",
            help="The older one is the newer.",
            on_click=apply_decision,
            args=(lambda: service.turn_round(older.id, newer.id, who()), "Order swapped."),
        )


def apply_decision(act: Callable[[], object], message: str, replaced: int = 0, by: int = 0) -> None:
    """Run a decision and show its message; the page shows any error. If the open document was replaced, its new version
    is opened."""
    try:
        act()
    except FivefoldError as problem:
        st.session_state["versions.problem"] = problem
        return
    session.forget_answers()
    if replaced and st.session_state.get("library.document") == str(replaced):
        st.session_state["library.document"] = str(by)
    st.toast(message, icon=":material/history:")


# What is suggested


# Long: three buttons with what each does.
def draw_suggestion(suggestion: Suggestion) -> None:
    """One suggestion: why, and the three answers to it."""
    service, older, newer = session.workbench().versions, suggestion.older, suggestion.newer
    key = f"{older.id}.{newer.id}"
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("New version?", icon=":material/update:", color="orange")
            cards.document_link(newer.id, f"**{plain(shorten_middle(newer.name, 60))}**")
            st.caption("may replace", width="content")
            cards.document_link(older.id, f"**{plain(shorten_middle(older.name, 60))}**")
        st.caption(_why(suggestion))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            rights.button(
                "versions.accept",
                "Accept",
                icon=":material/check:",
                key=f"versions.accept.{key}",
                help="The older one leaves the search; it is not lost, and this can be undone.",
                on_click=apply_decision,
                args=(lambda: service.accept(older.id, newer.id, who()), _replaced(older, newer), older.id, newer.id),
            )
            rights.button(
                "versions.turn_round",
                "Swap",
                icon=":material/swap_vert:",
                type="tertiary",
                key=f"versions.other.{key}",
                on_click=apply_decision,
                args=(lambda: service.accept(newer.id, older.id, who()), _replaced(newer, older), newer.id, older.id),
            )
            rights.button(
                "versions.reject",
                "Not a version",
                icon=":material/close:",
                type="tertiary",
                key=f"versions.reject.{key}",
                help="It is never suggested again.",
                on_click=apply_decision,
                args=(lambda: service.reject(older.id, newer.id, who()), "It is not suggested again."),
            )
            changed = st.toggle("What changed", key=f"versions.changed.{key}")
        if changed:
            draw_difference(older, newer)


def _why(suggestion: Suggestion) -> str:
    because = suggestion.because[:1].upper() + suggestion.because[1:]
    return plain(f"{because}. The first is taken for the newer: {suggestion.order}.")


def _replaced(older: Document, newer: Document) -> str:
    return f"{plain(newer.name)} replaces {plain(older.name)}."


def _near_duplicates(related: RelatedDocuments) -> None:
    if not related.near:
        return
    st.markdown(f"**{count(len(related.near), 'near-duplicate')}**")
    for other, same in related.near:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.document_link(other.id, plain(shorten_middle(other.name, 70)))
            where = plain(other.project or "no project")
            st.caption(f"{likeness(same)} · {where} · uploaded {day(other.uploaded_at)}", width="content")


# What changed between any two


def _compare(document: Document, chain: Sequence[Document], related: RelatedDocuments) -> None:
    others = {each.id: each for each in (*chain, *(other for other, _ in related.near)) if each.id != document.id}
    if not others:
        return
    position = next(number for number, each in enumerate(chain) if each.id == document.id)
    first = chain[position - 1].id if position else chain[1].id if len(chain) > 1 else next(iter(others))
    both = {**others, document.id: document}
    numbers = {each.id: f"v{number} · " for number, each in enumerate(chain, 1)} if len(chain) > 1 else {}
    st.markdown("**What changed**")
    left, right = st.columns(2)
    options = list(both)
    words = lambda each: f"{numbers.get(each, '')}{shorten(both[each].name, 60)}"  # noqa: E731
    start, end = _older_and_newer(both[first], document, chain)
    with left:
        older = st.selectbox("From", options, options.index(start), words, key=f"versions.from.{document.id}")
    with right:
        newer = st.selectbox("To", options, options.index(end), words, key=f"versions.to.{document.id}")
    if older == newer:
        st.caption("Choose two different documents.")
        return
    draw_difference(both[older], both[newer])


def _older_and_newer(other: Document, document: Document, chain: Sequence[Document]) -> tuple[int, int]:
    """The older and the newer of two documents, by the chain if it has both."""
    positions = {each.id: number for number, each in enumerate(chain)}
    if {other.id, document.id} <= positions.keys():
        older, newer = sorted((other.id, document.id), key=positions.__getitem__)
        return older, newer
    first, second, _ = in_order(other, document)
    return first.id, second.id


# What rests on older text


def _suspect_citations(document: Document) -> None:
    found = session.workbench().versions.suspect_citations(document.id)
    if not found:
        return
    one = len(found) == 1
    st.warning(
        f"{count(len(found), 'citation')} {'rests' if one else 'rest'} on the older text.", icon=":material/gpp_maybe:"
    )
    for number, citing in enumerate(found):
        _suspect_citation(citing, document, f"{document.id}.{number}")


def _suspect_citation(citing: CitingItem, seen: Document, key: str) -> None:
    """seen: the document whose versions are looked at."""
    with st.container(border=True, gap="xsmall"):
        by, proposal = citing.by, citing.suspicion.proposal
        if isinstance(by, Insight):
            st.markdown(f"**Insight {by.id}** – {plain(shorten(by.text, 120))}")
        else:
            st.markdown(f"**Accepted as covered** – {plain(shorten(by.topic, 100))}, {plain(by.kind)}, {plain(by.who)}")
        known = citing.link is not None or citing.document.paged  # without pages, only a link says where it begins
        where = sentence_place(citing.document, citing.page, citing.link.start if citing.link else 0) if known else ""
        if citing.document.id != seen.id:
            where = ", ".join(filter(None, (shorten_middle(citing.document.name, 60), where)))
        quote = plain(shorten(display_quote(citing.quote), 240))
        st.caption(f"cites “{quote}”{f' ({plain(where)})' if where else ''}; {plain(citing.suspicion.why)}")
        if proposal is None:
            st.caption(":material/search_off: No sentence of the current text is like it.")
            return
        _proposal(proposal)
        if isinstance(by, Insight) and citing.link is not None:
            link = citing.link
            st.button(
                "Cite this instead",
                icon=":material/published_with_changes:",
                type="tertiary",
                key=f"versions.cite.{key}",
                on_click=apply_decision,
                args=(
                    lambda: session.workbench().insights.change(with_updated_citation(by, link, proposal)),
                    "The insight rests on the current text.",
                ),
            )


def _proposal(proposal: CitationUpdate) -> None:
    sentence = plain(shorten(proposal.sentence.text, 300))
    location = sentence_place(proposal.document, proposal.sentence.page, proposal.sentence.start)
    where = f"{plain(shorten_middle(proposal.document.name, 60))}, {location}"
    st.markdown(f":material/arrow_forward: “{sentence}” :gray[({where}; {likeness(proposal.likeness)})]")


# By hand


def _by_hand(document: Document, chain: Sequence[Document]) -> None:
    """A form that declares two documents to be versions."""
    box = st.expander("Say by hand that it is a version of another", icon=":material/edit:", key="versions.hand")
    with box:
        known = {each.id for each in chain}
        others = {
            each.id: each
            for each in session.workbench().documents.list()
            if each.state is DocumentState.READY and each.id not in known
        }
        if not others:
            st.caption("There is no other document.")
            return
        name = st.selectbox(
            "The other document",
            list(others),
            index=None,
            key=f"versions.with.{document.id}",
            placeholder="Find by name",
            format_func=lambda each: f"{others[each].name} ({day(others[each].uploaded_at)})",
        )
        which = ("This one", "The other one")
        newer = st.radio("Which is newer", which, horizontal=True, key=f"versions.newer.{document.id}")
        chosen = name or 0
        ends = (chosen, document.id) if newer == which[0] else (document.id, chosen)
        rights.button(
            "versions.accept",
            "Join as versions",
            icon=":material/link:",
            disabled=name is None,
            key=f"versions.join.{document.id}",
            on_click=apply_decision,
            args=(
                lambda: session.workbench().versions.accept(ends[0], ends[1], who()),
                "Joined; this can be undone.",
                *ends,
            ),
        )


_PER_PAGE = 10  # suggestions per page; chosen by hand
_VERSIONS, _DUPLICATES = "New versions?", "Near-duplicates"


def draw_duplicates() -> None:
    """Suggestions to decide, groups to look at."""
    if (problem := st.session_state.pop("versions.problem", None)) is not None:
        notices.error(problem)
    _uncompared()
    _last_decision()
    service = session.workbench().versions
    totals = {_VERSIONS: service.suggestions(1, 1)[1], _DUPLICATES: service.groups(1, 1)[1]}
    view = st.segmented_control(
        "Kind",
        list(totals),
        default=_VERSIONS if totals[_VERSIONS] or not totals[_DUPLICATES] else _DUPLICATES,
        required=True,
        key="duplicates.view",
        label_visibility="collapsed",
        format_func=lambda kind: f"{kind} {totals[kind]:,}",
    )
    if not totals[view]:
        if view == _VERSIONS:
            notices.empty(
                ":material/update:",
                "No new version is suggested",
                "Documents that look like later versions of others appear here. Nothing is replaced automatically.",
            )
        else:
            notices.empty(":material/content_copy:", "No near-duplicates", "No two documents say almost the same.")
        return
    page = draw_pager(pages_of(totals[view], _PER_PAGE), f"duplicates.page.{view}")
    if view == _VERSIONS:
        for suggestion in service.suggestions(page, _PER_PAGE)[0]:
            draw_suggestion(suggestion)
    else:
        for group in service.groups(page, _PER_PAGE)[0]:
            _duplicate_group(group)


def _duplicate_group(group: DuplicateGroup) -> None:
    with st.container(border=True, gap="xsmall"):
        same = likeness(group.most) if group.least == group.most else f"{likeness(group.least)} or more"
        st.markdown(f"**{count(len(group.documents), 'document')}** :gray[– {same}]")
        for document in group.documents:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                cards.document_link(document.id, plain(shorten_middle(document.name, 70)))
                facts = [document.project or "no project", f"uploaded {day(document.uploaded_at)}"]
                facts += [f"dated {day(document.date)}" if document.date else "undated"]
                facts += [bytes_in_words(document.size_bytes)]
                st.caption(" · ".join(plain(fact) for fact in facts), width="content")
        if len(group.documents) == 2 and group.least < 1.0:
            newer, older = group.documents
            if st.toggle("What differs", key=f"duplicates.differs.{older.id}.{newer.id}"):
                draw_difference(older, newer)


def _last_decision() -> None:
    """The last decision, with an undo button."""
    service = session.workbench().versions
    last = next(iter(service.decisions(1)), None)
    if last is None or last.verdict is VersionVerdict.UNDONE:
        return
    names = session.workbench().versions.named(last)
    if names is None:
        return
    older, newer = names
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Last: {_decision_words(last, older, newer)}", width="content")
        rights.button(
            "versions.undo",
            "Undo",
            icon=":material/undo:",
            type="tertiary",
            key=f"duplicates.undo.{last.number}.{last.older_id}.{last.newer_id}",
            on_click=apply_decision,
            args=(lambda: service.undo(last.older_id, last.newer_id, who()), "Undone."),
        )


def _decision_words(last: VersionDecision, older: str, newer: str) -> str:
    did = "replaces" if last.verdict is VersionVerdict.ACCEPTED else "is not a version of"
    by = f"{plain(last.who)}, " if last.who else ""
    first, second = plain(shorten_middle(newer, 50)), plain(shorten_middle(older, 50))
    return f"“{first}” {did} “{second}” ({by}{ago(last.at, utc_now())})"


def _uncompared() -> None:
    """Documents not yet compared with the others, and a button to compare them. Leaving the page stops this; it can be
    resumed."""
    service = session.workbench().versions
    left = service.uncompared()
    if not left:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            f":material/info: {count(len(left), 'document')} were read before documents were compared.", width="content"
        )
        go = rights.button(
            "versions.compare", "Compare them now", icon=":material/difference:", key="duplicates.compare"
        )
    if not go:
        return
    bar = st.progress(0.0)
    st.button("Stop", icon=":material/stop:", key="duplicates.stop")  # any click ends this run, and what it is doing
    for number, document in enumerate(left):
        bar.progress(number / len(left), f"{number:,} of {len(left):,} · now {plain(document.name)}")
        service.compare(document)
    st.rerun()
