"""The answer by five truths: confidence, sentences of each truth, agreements, conflicts and gaps; a synthesis, exports,
and the check of a text against the sentences it cites."""
# Longer than 300 lines: one view, top to bottom.

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from core.answers.answer import truth_request
from core.answers.brief import brief_data, brief_html, brief_markdown
from core.answers.context import CheckedSentence, ContextBlock, context_of, supported
from core.answers.service import INSTRUCTION, Synthesis
from core.coverage.gaps import score_in_words
from core.domain.coverage import Conflict
from core.domain.errors import FivefoldError
from core.domain.five_truths import Figure, FiveTruthsAnswer, TruthAgreement, TruthAnswer, TruthState
from core.domain.queries import SearchRequest
from core.domain.results import Citation
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.citations.cite import display_quote
from core.search.query.route import question_terms
from core.text.tokenize import keywords, stem
from pages.components import cards, filters, notices, session
from pages.components.statement import draw_statement
from pages.components.styles import TRUTHS
from pages.components.urls import page_path
from pages.components.wording import count, day, highlight, plain, shorten, shorten_middle

__all__ = [
    "ask_again",
    "cached_answer",
    "citation_location",
    "draw_check",
    "draw_exports",
    "draw_five_truths",
    "draw_overview",
    "draw_running_text",
    "draw_sentences",
    "draw_synthesis",
    "draw_truths",
    "draw_verdicts",
    "synthesis_of",
    "write_synthesis",
]


_FRESH_SECONDS = 120.0  # how long an answer is reused: the library may change under it
_Key = tuple[str, SearchRequest]


def cached_answer(request: SearchRequest, *, remember: bool = True) -> FiveTruthsAnswer:
    """The answer to a request, cached for _FRESH_SECONDS. remember: log the question; not beside a search, which has
    logged it with its number of results. Raises what AnswerService.ask raises."""
    cache, key, now = _cached_answers(), _key(request), time.monotonic()
    if key not in cache or now - cache[key][0] > _FRESH_SECONDS:
        with st.spinner("Asking all five truths …"):
            answer = session.workbench().answers.ask(
                request.question, filters=request.filters, profile=request.profile, remember=remember
            )
        cache[key] = (now, answer)
    return cache[key][1]


def ask_again(request: SearchRequest) -> None:
    """Drop the cached answer, so that the next call searches again."""
    _cached_answers().pop(_key(request), None)


def _cached_answers() -> dict[_Key, tuple[float, FiveTruthsAnswer]]:
    """Beside the results `session.answer` keeps: `session.forget_answers` forgets both when the library changes."""
    cache: dict[_Key, tuple[float, FiveTruthsAnswer]] = st.session_state.setdefault("answers", {})
    return cache


def _key(request: SearchRequest) -> _Key:
    """The parts of a request an answer of five reads."""
    return "five truths", replace(request, top_k=None, only_routed=False, removed_chips=())


def write_synthesis(answer: FiveTruthsAnswer) -> Synthesis:
    """Write the synthesis and store it in the session."""
    text: Synthesis = session.workbench().answers.write(answer)
    st.session_state["answer.synthesis"] = text
    return text


def synthesis_of(answer: FiveTruthsAnswer) -> Synthesis | None:
    """The synthesis written last, while the answer still cites the same sentences."""
    text: Synthesis | None = st.session_state.get("answer.synthesis")
    return text if text is not None and text.block == context_of(answer) else None


def draw_running_text(sentences: Sequence[CheckedSentence]) -> None:
    """One paragraph; an unsupported sentence is red, with an icon and its first problem."""
    st.markdown(" ".join(map(_sentence_text, sentences)))


def _sentence_text(sentence: CheckedSentence) -> str:
    ids = "".join(f" :gray[:small[\\[{plain(name)}\\]]]" for name in sentence.cited)
    if sentence.supported:
        return f"{plain(sentence.text)}{ids}"
    doubt = f":red[:small[:material/warning: not supported: {plain(sentence.problems[0])}]]"
    return f":red-background[{plain(sentence.text)}]{ids} {doubt}"


def draw_sentences(sentences: Sequence[CheckedSentence], block: ContextBlock) -> None:
    """One block per sentence; doubtful ones are marked with words, an icon and a colour."""
    for sentence in sentences:
        with st.container(border=True, gap="xxsmall"):
            _verdict_badges(sentence)
            st.markdown(plain(sentence.text))
            for name, support in zip(sentence.cited, sentence.support, strict=True):
                quote = shorten(display_quote(block.quote_of(name) or ""), 220)
                st.caption(f"**{plain(name)}** support {score_in_words(support)}: “{plain(quote)}”")
            for problem in sentence.problems:
                st.markdown(f":red[:small[:material/error: {plain(problem)}]]")


def _verdict_badges(sentence: CheckedSentence) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if sentence.supported:
            st.badge(f"supported {score_in_words(sentence.score)}", icon=":material/check:", color="gray")
        else:
            st.badge("not supported", icon=":material/warning:", color="red")
        for name in sentence.unknown:
            st.badge(f"{name} does not exist", icon=":material/link_off:", color="red")


_MOST_LETTERS = 20_000  # characters of a pasted answer; chosen by hand


def draw_check(answer: FiveTruthsAnswer) -> None:
    """A field for a text, and one verdict per sentence."""
    checked_question, text = st.session_state.get("answer.checked", ("", ""))
    shown = bool(text) and checked_question == answer.question
    with st.expander("Check an answer", icon=":material/fact_check:", key="answer.check", expanded=shown):
        st.caption("Paste a text that cites sentences by their ids, as in: Deposits are due monthly [42.3].")
        st.text_area(
            "Text to check",
            key="answer.text",
            height=140,
            max_chars=_MOST_LETTERS,
            label_visibility="collapsed",
            placeholder="An answer with ids in square brackets",
        )
        st.button(
            "Check", icon=":material/fact_check:", key="answer.do_check", on_click=_check, args=(answer.question,)
        )
        if shown:
            draw_verdicts(text, context_of(answer))


def _check(question: str) -> None:
    st.session_state["answer.checked"] = (question, st.session_state["answer.text"].strip())


def draw_verdicts(text: str, block: ContextBlock) -> None:
    """One verdict per sentence of a text, below their summary."""
    found = supported(text, block)
    if not found:
        st.info("There is no sentence in this text.", icon=":material/info:")
        return
    doubtful = sum(not each.supported for each in found)
    words = f"**{count(len(found), 'sentence')}**, {doubtful or 'none'} not supported by what it cites"
    st.markdown(words)
    unknown = dict.fromkeys(name for each in found for name in each.unknown)
    if unknown:
        st.caption(f":red[:material/link_off: Ids that do not exist here: {plain(', '.join(unknown))}]")
    draw_sentences(found, block)
    st.caption(
        "Support is the share of a sentence's words and amounts that occur in what it cites: it shows what to read"
        " again, and does not prove that two sentences mean the same."
    )


def draw_synthesis(answer: FiveTruthsAnswer) -> None:
    """A button that writes the synthesis, and the synthesis; draws nothing without a language model."""
    writer = session.workbench().answers.writer_name
    if not writer:
        return
    st.markdown("#### Written summary", anchors=False)
    written = synthesis_of(answer)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label = "Write a synthesis" if written is None else "Write it again"
        pressed = st.button(label, icon=":material/edit_note:", key="answer.write", disabled=not answer.answered)
        st.caption(f"The sentences above are sent to {plain(writer)}; each sentence it writes is checked.")
    if pressed:
        with st.spinner(f"{plain(writer)} is writing …"):
            written = write_synthesis(answer)
    if written is None:
        return
    notices.degraded(written.notices)
    with st.container(border=True, gap="small"):
        draw_running_text(written.sentences)
        st.caption(f"Written by {plain(written.written_by)}." if written.written_by else "In the words of the sources.")
    if written.written_by:
        with st.expander("How each sentence was checked", icon=":material/fact_check:", key="answer.how"):
            draw_sentences(written.sentences, written.block)


def draw_exports(answer: FiveTruthsAnswer) -> None:
    """Downloads, then the block to paste elsewhere."""
    st.markdown("#### Export", anchors=False)
    _downloads(answer)
    with st.expander("Context for a language model", icon=":material/smart_toy:", key="answer.context"):
        _context(answer)


def _downloads(answer: FiveTruthsAnswer) -> None:
    """One button per format; a file is made when its button is pressed."""
    written = synthesis_of(answer)
    formats: tuple[tuple[str, str, str, str, Callable[[], str]], ...] = (
        ("Markdown", "to edit", "md", "text/markdown", lambda: brief_markdown(answer, written)),
        ("HTML", "to send", "html", "text/html", lambda: brief_html(answer, written)),
        (
            "JSON",
            "for programs",
            "json",
            "application/json",
            lambda: json.dumps(brief_data(answer, written), ensure_ascii=False, indent=2),
        ),
    )
    with st.container(horizontal=True, gap="small"):
        for label, use, ending, kind, make in formats:
            st.download_button(
                f"{label} :gray[{use}]",
                make,
                f"five-truths-{answer.asked_at:%Y-%m-%d-%H%M}.{ending}",
                kind,
                icon=":material/download:",
                key=f"answer.{ending}",
                on_click="ignore",
            )


def _context(answer: FiveTruthsAnswer) -> None:
    block = context_of(answer)
    if not block.text:
        st.caption("No truth answers, so there is no sentence to give.")
        return
    st.caption(
        "Every cited sentence with its id. Paste it into a language model, then paste its answer into *Check an answer*"
        " below."
    )
    rules = st.toggle("With the question and the rules for citing", value=True, key="answer.rules")
    question = " ".join(answer.question.split())
    st.code(
        f"Question: {question}\n\n{block.text}\n\n{INSTRUCTION}" if rules else block.text,
        language=None,
        wrap_lines=True,
        height=320,
    )


_STATES: Mapping[TruthState, tuple[str, str]] = {
    TruthState.ANSWERED: (":material/check:", "gray"),
    TruthState.SILENT: (":material/volume_off:", "red"),
    TruthState.FAILED: (":material/bolt:", "red"),
    TruthState.NOT_ASKED: (":material/filter_alt:", "gray"),
}
"""State of a truth → its icon and colour."""


def draw_overview(answer: FiveTruthsAnswer) -> None:
    """An overview of all five truths, with the number of agreements and conflicts."""
    with st.container(horizontal=True, gap="xsmall"):
        for part in answer.truths:
            style = TRUTHS[part.truth]
            answered = part.state is TruthState.ANSWERED
            words = (
                f"{style.words.capitalize()} {score_in_words(part.evidence_score) if answered else part.state.value}"
            )
            colour = "red" if part.state is TruthState.FAILED else style.colour if answered else "gray"
            st.badge(words, icon=style.icon, color=colour)  # type: ignore[arg-type]
        if answer.conflicts:
            st.badge(count(len(answer.conflicts), "conflict"), icon=":material/compare_arrows:", color="red")
        if answer.agreements:
            st.badge(count(len(answer.agreements), "agreement"), icon=":material/handshake:", color="gray")


def draw_truths(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """One card per truth, always in the same order; the last one, with its figures, has the full width."""
    stems = {stem(word) for word in (*keywords(answer.question), *question_terms(answer.question))}
    grid = st.grid(2, min_column_width=380, gap="small", border=True)
    for part in answer.truths:
        with grid.cell(column_span="all" if part is answer.truths[-1] else 1):
            _card(part, request, stems)


def _card(part: TruthAnswer, request: SearchRequest, stems: Collection[str]) -> None:
    own = truth_request(request.question, part.truth, request.filters, request.profile)
    _card_head(part)
    for figure in part.figures:
        _figure(figure, request)
    terms = session.terms()
    for citation in part.citations:
        _sentence(citation, own, stems, terms)
    match part.state:
        case TruthState.ANSWERED if part.needed:
            st.caption(f"**Not the whole answer.** {plain(part.needed)}")
        case TruthState.SILENT:
            st.markdown(f"**Probably no {part.truth} source answers this.** {plain(part.silence)}")
            st.markdown(plain(part.needed))
        case TruthState.FAILED:
            _failed(part, request)
        case TruthState.NOT_ASKED:
            st.caption(plain(part.silence))
    if part.state in (TruthState.ANSWERED, TruthState.SILENT):
        words = f"All {part.truth} results" if part.state is TruthState.ANSWERED else "What came nearest"
        st.button(
            words,
            icon=":material/list:",
            type="tertiary",
            key=f"results.{part.truth}",
            on_click=_show_results,
            args=(own,),
        )


def _show_results(own: SearchRequest) -> None:
    """The other side of the page, narrowed to one truth."""
    filters.seed(own.filters)
    st.session_state["search.view"] = "results"


def _card_head(part: TruthAnswer) -> None:
    icon, colour = _STATES[part.state]
    answered = part.state is TruthState.ANSWERED
    icon = ":material/contrast:" if answered and part.needed else icon
    words = f"p = {score_in_words(part.evidence_score)}" if answered else part.state.value
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cards.truth_badge(part.truth)
        st.caption(TRUTHS[part.truth].question, width="content")
        st.space("stretch")
        st.badge(words, icon=icon, color=colour)  # type: ignore[arg-type]


def _sentence(citation: Citation, own: SearchRequest, stems: Collection[str], terms: WorkspaceTerms) -> None:
    """A verbatim sentence with its source."""
    with st.container(gap=None):
        st.markdown(f"“{highlight(shorten(display_quote(citation.quote), 700), stems)}”")
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
            with st.container(gap=None):
                name = plain(shorten_middle(citation.document_name, 44))
                cards.inspect_link(own, citation.passage_id, name, icon=":material/troubleshoot:")
            cards.document_link(citation.document_id, "Open", mark=citation.citation_id, help="Open the document here")
            cards.cite_menu(citation)
        st.caption(_citation_facts(citation, terms))


def citation_location(citation: Citation) -> str:
    """Where a sentence is: "page 5", "rows 12–18", the heading above it, or ""."""
    if citation.rows is not None:
        first, last = citation.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    return (
        f"page {citation.page}" if citation.page is not None else shorten(citation.section.split("›")[-1].strip(), 40)
    )


def _citation_facts(citation: Citation, terms: WorkspaceTerms) -> str:
    where = terms.jurisdictions.title(citation.jurisdiction) if citation.jurisdiction else ""
    known = [
        citation_location(citation),
        (citation.authority or "").capitalize(),
        where,
        day(citation.date) if citation.date else "",
    ]
    return " · ".join(plain(words) for words in known if words)


def _figure(figure: Figure, request: SearchRequest) -> None:
    """A number, how the question was interpreted, its source, and a link to ask further."""
    whose = request.filters.projects if len(request.filters.projects) == 1 else ()
    target = {"view": ["Ask"], "q": [request.question], "project": list(whose)}
    with st.container(gap=None):
        st.metric("Figure", plain(figure.value), label_visibility="collapsed")
        st.markdown(plain(figure.words))
        for note in figure.notes:
            st.caption(plain(note))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(plain(figure.citation), width="content")
            st.page_link(page_path("data"), label="Ask the tables", icon=":material/table_chart:", query_params=target)
        with st.expander("SQL", icon=":material/code:", type="compact"):
            st.code(figure.sql, language="sql", wrap_lines=True)


def _failed(part: TruthAnswer, request: SearchRequest) -> None:
    st.error(f"**Not known.** {plain(part.silence)}", icon=":material/error:")
    st.button("Retry", icon=":material/refresh:", key=f"retry.{part.truth}", on_click=ask_again, args=(request,))


def _nothing_searched(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """Why no truth could be searched, each reason once."""
    for reason in dict.fromkeys(part.silence for part in answer.truths if part.state is TruthState.FAILED):
        st.error(f"**Not known.** {plain(reason)}", icon=":material/error:")
    st.button("Retry", icon=":material/refresh:", key="retry", on_click=ask_again, args=(request,))


def draw_pairs(answer: FiveTruthsAnswer) -> None:
    """Pairs of sentences, conflicts first, because a person must settle them."""
    if answer.conflicts:
        st.markdown("#### Where they disagree", anchors=False)
    for conflict in answer.conflicts:
        _pair(conflict, ":material/compare_arrows:")
    if answer.agreements:
        st.markdown("#### Where they agree", anchors=False)
    for agreement in answer.agreements:
        _pair(agreement, ":material/handshake:")


def _pair(pair: TruthAgreement | Conflict, icon: str) -> None:
    with st.container(border=True):
        st.markdown(f"{icon} **{plain(pair.words)}**")
        first, second = st.columns(2, gap="medium")
        with first:
            draw_statement(pair.first)
        with second:
            draw_statement(pair.second)


def draw_five_truths(request: SearchRequest) -> None:
    """The answer to one question by all five truths."""
    try:
        answer = cached_answer(request)
    except FivefoldError as problem:
        notices.error(problem)
        return
    _head(answer, request)
    if {part.state for part in answer.truths} - {TruthState.NOT_ASKED} == {TruthState.FAILED}:
        _nothing_searched(answer, request)
        return
    draw_truths(answer, request)
    draw_pairs(answer)
    _missing_evidence(answer)
    draw_synthesis(answer)
    draw_exports(answer)
    draw_check(answer)


def _head(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """The confidence with its reason, the filters, and notices."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="medium"):
        st.metric(
            "Confidence",
            score_in_words(answer.confidence),
            width=110,
            help="How complete and undisputed the answer is, from 0 to 1; not how likely it is true.",
        )
        with st.container(gap="xxsmall"):
            st.markdown(plain(answer.confidence_reason))
            draw_overview(answer)
    if answer.filters_in_words:
        st.caption(":material/filter_alt: " + plain("; ".join(answer.filters_in_words)))
    if unknown := session.workbench().documents.count_unknown_truths():
        verb, whose = ("belongs", "its") if unknown == 1 else ("belong", "their")
        left_out = f"{count(unknown, 'document')} of unknown truth {verb} to none of the five"
        st.caption(f":material/help: {left_out}; set {whose} truth on *Library*.")
    is_degraded = notices.degraded(answer.notices)
    failed = any(each.state is TruthState.FAILED for each in answer.truths)
    if is_degraded and not failed:  # a failed truth has its own button
        st.button("Ask again", icon=":material/refresh:", key="answer.again", on_click=ask_again, args=(request,))


def _missing_evidence(answer: FiveTruthsAnswer) -> None:
    """What would make the answer complete."""
    st.markdown("#### Missing for a complete answer", anchors=False)
    if not answer.to_raise:
        st.markdown(":material/task_alt: Nothing more: every truth answers in full, and none disagree.")
    for number, words in enumerate(answer.to_raise, 1):
        st.markdown(f"{number}. {plain(words)}")
