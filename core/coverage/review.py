"""Review: applies decisions to detected cells, checks that their evidence is unchanged, and builds the queue."""
# Longer than 300 lines: decisions, what they do to a board, and whether their evidence is unchanged, read each other.

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from difflib import SequenceMatcher

from core.coverage.gaps import coverage_of, gaps_of
from core.coverage.statements import adds_words
from core.domain.coverage import (
    Board,
    Cell,
    CellState,
    Decision,
    Gap,
    GapKind,
    ReviewedCell,
    ReviewerOpinion,
    ReviewVerdict,
    Topic,
    topics_by_id,
)
from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import BadRequest
from core.domain.results import Citation
from core.knowledge.gaps import SEVERITIES
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.search.citations.cite import display_quote

__all__ = [
    "DecisionsByCell",
    "apply_decisions",
    "broken_pins",
    "check_decision",
    "check_decisions",
    "current_decisions",
    "decision_on",
    "decisions_about",
    "is_open_again",
    "known_people",
    "queue",
    "undoing",
]

DecisionsByCell = Mapping[tuple[int, str], Decision]
"""(topic id, kind) → the current decision."""

_OF_A_SUBJECT = (ReviewVerdict.ACCEPTED, ReviewVerdict.WAIVED)
"""Verdicts that settle a cell, and so only the topic they were taken on."""

_UNJUDGED = (CellState.NOT_ASSESSED, CellState.ERROR)


def current_decisions(decisions: Sequence[Decision], topics: Iterable[Topic] = ()) -> DecisionsByCell:
    """The current decision per topic and kind. decisions: oldest first; `undone` cancels the one before it.

    topics: of the board. A column on which one was never decided itself has the latest decision on a topic merged into
    it; where the merged topic is about something else, `apply_decisions` doubts it as after a change of its name.
    """
    stacks: dict[tuple[int, str], list[Decision]] = {}
    for decision in decisions:
        stack = stacks.setdefault((decision.topic_id, decision.kind), [])
        if decision.verdict is not ReviewVerdict.UNDONE:
            stack.append(decision)
        elif stack:
            stack.pop()
    current = {about: stack[-1] for about, stack in stacks.items() if stack}
    heirs: defaultdict[int, list[int]] = defaultdict(list)
    for topic in topics:
        for each in topic.merged:
            heirs[each].append(topic.id)
    inherited: dict[tuple[int, str], Decision] = {}
    for decision in sorted(current.values(), key=lambda each: each.id):
        inherited |= {(heir, decision.kind): decision for heir in heirs[decision.topic_id]}
    return {about: each for about, each in inherited.items() if about not in stacks} | current


def decisions_about(cell: Cell, topic: Topic, log: Iterable[Decision]) -> list[Decision]:
    """The entries of the log about a cell of this topic, and about the same column of topics merged into it."""
    ids = {cell.topic_id, *topic.merged}
    return [each for each in log if each.topic_id in ids and each.kind == cell.kind.value]


def apply_decisions(
    board: Board, decisions: DecisionsByCell, broken: Mapping[int, str], today: date, terms: WorkspaceTerms
) -> Board:
    """The board with decisions applied. broken: decision id → which cited sentence has changed, in words.

    Decisions never change cells that are in error or not assessed. Gaps of cells that are no longer open are removed.
    """
    cells = tuple(
        _apply_decision(cell, decisions.get((cell.topic_id, cell.kind.value)), broken, today) for cell in board.cells
    )
    gaps = gaps_of(cells, terms, topics_by_id(board.topics))
    return replace(board, cells=cells, gaps=gaps, coverage=coverage_of(cells))


def _apply_decision(cell: Cell, decision: Decision | None, broken: Mapping[int, str], today: date) -> Cell:
    if decision is None or cell.state in _UNJUDGED:
        return cell
    signature = f"{decision.who}, {decision.at:%Y-%m-%d}"
    expired = decision.expires is not None and today > decision.expires
    if decision.verdict in _OF_A_SUBJECT and not expired and adds_words(cell.topic, decision.topic or cell.topic):
        since = "renamed" if decision.topic_id == cell.topic_id else "merged"
        words = f"{decision.verdict.value.capitalize()} by {signature}, for “{decision.topic}”; {since} since."
        return _with_state(cell, CellState.SUSPECT, f"{words} {cell.reason}".strip())
    match decision.verdict:
        case ReviewVerdict.ACCEPTED if decision.id in broken:
            return _with_state(cell, CellState.SUSPECT, f"Accepted by {signature}; since then {broken[decision.id]}")
        case ReviewVerdict.ACCEPTED:
            return _with_state(cell, CellState.COVERED, f"Accepted as covered by {signature}. {cell.reason}".strip())
        case ReviewVerdict.WAIVED if not expired:
            return _with_state(
                cell, CellState.WAIVED, f"Waived by {signature} until {decision.expires}: {decision.reason}"
            )
        case ReviewVerdict.WAIVED:
            return replace(
                cell, reason=f"The waiver of {signature} expired on {decision.expires}. {cell.reason}".strip()
            )
        case ReviewVerdict.CONFIRMED if cell.state is CellState.COVERED:
            if decision.state is CellState.COVERED:
                return _with_state(
                    cell, CellState.GAP, f"Confirmed as a gap by {signature}, over what is found: {cell.reason}"
                )
            found = cell.evidence[0]
            words = f"“{display_quote(found.quote)}” ({found.document_name}) was found"
            return _with_state(cell, CellState.SUSPECT, f"A gap was confirmed by {signature}; since then {words}.")
        case _:
            return cell


def _with_state(cell: Cell, state: CellState, reason: str) -> Cell:
    return replace(cell, state=state, detected=cell.state, reason=reason)


def queue(board: Board, decisions: DecisionsByCell) -> tuple[ReviewedCell, ...]:
    """The cells to review, worst first: suspect cells, then gaps by severity, partial before low, then covered cells
    with risks, failed searches last. A cell with a valid decision carries it.
    """
    items = []
    for cell in board.cells:
        gap, decision = board.gap_of(cell), decisions.get((cell.topic_id, cell.kind.value))
        if decision is not None and is_open_again(cell, decision):
            decision = None
        doubtful = cell.state is CellState.COVERED and cell.risks
        if gap or decision or doubtful or cell.state in (CellState.SUSPECT, CellState.ERROR):
            items.append(ReviewedCell(cell, board.topic_of(cell), gap, decision))
    return tuple(sorted(items, key=lambda item: (_urgency(item.cell, item.gap), -_shortfall(item.cell))))


def is_open_again(cell: Cell, decision: Decision) -> bool:
    """Whether a decision no longer settles its cell: its evidence changed, or it has expired."""
    expired = decision.verdict is ReviewVerdict.WAIVED and cell.state is not CellState.WAIVED
    return cell.state is CellState.SUSPECT or (expired and cell.state is not CellState.ERROR)


def _urgency(cell: Cell, gap: Gap | None) -> int:
    if cell.state is CellState.SUSPECT:
        return 0
    if gap is not None:
        return 1 + SEVERITIES.index(gap.severity)
    return 9 if cell.state is CellState.ERROR else 8


def _shortfall(cell: Cell) -> float:
    """Sort key: distance to the threshold, largest first."""
    return cell.threshold - cell.evidence_score


def decision_on(board: Board, cell: Cell, opinion: ReviewerOpinion, at: datetime) -> Decision:
    """The opinion as the next log entry. An acceptance pins the cell's evidence, or else its near misses."""
    return Decision(
        topic_id=cell.topic_id,
        kind=cell.kind.value,
        project=board.project,
        verdict=opinion.verdict,
        who=opinion.who.strip(),
        at=at,
        number=opinion.after + 1,
        topic=cell.topic,
        reason=opinion.reason.strip(),
        comment=opinion.comment.strip(),
        owner=opinion.owner.strip(),
        due=opinion.due,
        expires=opinion.expires,
        pinned=(cell.evidence or cell.near_misses) if opinion.verdict is ReviewVerdict.ACCEPTED else (),
        state=cell.detected or cell.state,
        score=cell.evidence_score,
        run_id=board.run_id,
        meeting_id=opinion.meeting_id,
        present=opinion.present,
    )


def check_decision(
    verdict: ReviewVerdict,
    who: str,
    reason: str,
    expires: date | None,
    due: date | None,
    cell: Cell,
    today: date,
) -> None:
    """Validate a reviewer's decision on a cell. Raises BadRequest naming everything that is missing."""
    problems = []
    if not who.strip():
        problems.append("A decision needs the name of who takes it.")
    if verdict is ReviewVerdict.WAIVED and not reason.strip():
        problems.append("A waiver needs a reason.")
    if verdict is ReviewVerdict.WAIVED and (expires is None or expires <= today):
        problems.append("A waiver needs a day after today on which it ends.")
    if due is not None and due < today:
        problems.append(f"The due date {due} has passed.")
    if verdict is ReviewVerdict.ACCEPTED and not (cell.evidence or cell.near_misses):
        problems.append("There is no sentence an acceptance could rest on.")
    if verdict in (ReviewVerdict.ACCEPTED, ReviewVerdict.CONFIRMED) and cell.state in _UNJUDGED:
        problems.append(f"The cell is in state '{cell.state.value}': there is nothing to judge yet.")
    if problems:
        raise BadRequest(" ".join(problems), "Complete it, then decide again.")


def check_decisions(opinions: Sequence[tuple[Cell, ReviewerOpinion]], today: date) -> None:
    """Validate decisions taken together. Raises BadRequest with every problem, and the topics it is about unless it is
    about all of them."""
    problems: dict[str, list[str]] = {}
    hint = ""
    for cell, opinion in opinions:
        try:
            check_decision(opinion.verdict, opinion.who, opinion.reason, opinion.expires, opinion.due, cell, today)
        except BadRequest as problem:
            problems.setdefault(problem.message, []).append(cell.topic)
            hint = problem.hint
    if problems:
        raise BadRequest(" ".join(_about(words, topics, len(opinions)) for words, topics in problems.items()), hint)


_MOST_NAMED = 3  # topics named in one problem; more would bury the problem


def _about(problem: str, topics: Sequence[str], total: int) -> str:
    if len(topics) == total:
        return problem
    more = f" and {len(topics) - _MOST_NAMED} more" if len(topics) > _MOST_NAMED else ""
    return f"{', '.join(topics[:_MOST_NAMED])}{more}: {problem}"


def undoing(decision: Decision, who: str, at: datetime, number: int) -> Decision:
    """The log entry that undoes a decision; number: the next one of its cell."""
    return replace(
        decision, id=0, verdict=ReviewVerdict.UNDONE, who=who.strip(), at=at, number=number, reason="", comment="",
        owner="", due=None, expires=None, pinned=(), meeting_id=0, present=(),
    )  # fmt: skip


def known_people(decisions: Sequence[Decision], topics: Sequence[Topic]) -> tuple[str, ...]:
    """Everyone who decided or owns something, each once, latest first. decisions: oldest first."""
    names = [name for each in reversed(decisions) for name in (each.owner, each.who)]
    names += [topic.owner for topic in topics]
    found: dict[str, str] = {}
    for name in filter(None, names):
        found.setdefault(name.casefold(), name)
    return tuple(found.values())


_ALIKE = 0.6
"""SequenceMatcher.ratio above which a sentence counts as the new wording of another. Chosen by hand, not fitted."""


@dataclass(frozen=True, slots=True)
class _EvidenceLibrary:
    """Current library data for checking evidence. by_hash: SHA-256 → documents in scope; by_name: the newest document
    of each name; texts: (document id, page) → page text; passages: by document id."""

    by_hash: Mapping[str, Sequence[Document]]
    by_name: Mapping[str, Document]
    texts: Mapping[tuple[int, int], str]
    passages: Mapping[int, Sequence[Passage]]


def broken_pins(decisions: Sequence[Decision], catalogue: Catalogue, project: str | None) -> Mapping[int, str]:
    """Decision id → which pinned sentence changed, in words, for acceptances that are no longer valid.

    A pinned sentence is valid when a document with the same bytes is in scope, its page still contains the sentence at
    the same offsets, and its passage still has the truth it was accepted for. Raises StoreFailed.
    """
    accepted = [decision for decision in decisions if decision.verdict is ReviewVerdict.ACCEPTED and decision.pinned]
    if not accepted:
        return {}
    library = _look_up([citation for decision in accepted for citation in decision.pinned], catalogue, project)
    reasons = {}
    for decision in accepted:
        broken = [words for citation in decision.pinned if (words := _broken(citation, decision.kind, library))]
        if broken:
            reasons[decision.id] = broken[0] if len(broken) == 1 else f"{broken[0]} ({len(broken)} sentences changed)"
    return reasons


def _look_up(citations: Sequence[Citation], catalogue: Catalogue, project: str | None) -> _EvidenceLibrary:
    cited = {citation.sha256 for citation in citations}, {citation.document_name for citation in citations}
    scoped = [
        document
        for document in catalogue.documents_of(*cited)
        if (document.state is DocumentState.READY or document.passages)  # one being read again counts
        and (project is None or document.project in (None, project))
    ]
    by_hash: dict[str, list[Document]] = {}
    for document in scoped:
        by_hash.setdefault(document.sha256, []).append(document)
    by_name = {document.name: document for document in reversed(scoped)}  # the newest document of each name
    keys = {
        (document.id, citation.page_number)
        for citation in citations
        for document in (*by_hash.get(citation.sha256, ()), *filter(None, [by_name.get(citation.document_name)]))
    }
    same = {document.id for citation in citations for document in by_hash.get(citation.sha256, ())}
    passages = {document_id: catalogue.passages_of(document_id) for document_id in sorted(same)}
    return _EvidenceLibrary(by_hash, by_name, catalogue.page_texts(sorted(keys)), passages)


def _broken(citation: Citation, kind: str, library: _EvidenceLibrary) -> str:
    """What happened to a pinned sentence, "" when it is unchanged."""
    location = citation.document_name + (f", p. {citation.page}" if citation.page else "")
    quote = f"“{display_quote(citation.quote)}” ({location})"
    same = library.by_hash.get(citation.sha256, ())
    if not same:
        newer = library.by_name.get(citation.document_name)
        if newer is None:
            return f"{quote} is no longer in the library."
        now = _new_wording(citation, library.texts.get((newer.id, citation.page_number), ""))
        return f"{quote} was replaced by a new version of the document" + (f", which says “{now}”." if now else ".")
    if not any(_stands(citation, library.texts.get((each.id, citation.page_number), "")) for each in same):
        return f"{quote} is no longer read like that on its page."
    truths = {passage.truth for each in same for passage in library.passages[each.id] if _holds(passage, citation)}
    if truths and kind in set(GapKind) and GapKind(kind).truth not in truths:
        return f"{quote} is now classified as {' or '.join(sorted(truth or 'unknown' for truth in truths))}."
    return ""


def _holds(passage: Passage, citation: Citation) -> bool:
    """Whether the passage contains the sentence; by offset, because reading a document again gives new passage ids."""
    return passage.page == citation.page_number and passage.start <= citation.start < passage.end


def _stands(citation: Citation, text: str) -> bool:
    return text[citation.start : citation.end] == citation.quote


def _new_wording(citation: Citation, text: str) -> str:
    """The most similar line or sentence within 400 characters of the old place, "" when none is similar enough."""
    around = text[max(0, citation.start - 400) : citation.end + 400]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(citation.quote)
    best, found = _ALIKE, ""
    for part in around.replace("\n", ". ").split(". "):
        matcher.set_seq1(part)
        if part.strip() and matcher.ratio() > best:
            best, found = matcher.ratio(), part.strip()
    return found
