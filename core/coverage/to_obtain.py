"""What to obtain for a board, grouped by whom to ask: the owner of a cell, else who is likely to have it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from core.coverage.board_view import NO_OWNER, distinct_names, kind_in_words, owner_of
from core.coverage.review import DecisionsByCell
from core.domain.coverage import Board, Decision, Gap, Topic
from core.formats.csv import csv_text
from core.knowledge.gaps import SEVERITIES

__all__ = ["AskGroup", "WantedEvidence", "group_text", "to_obtain", "to_obtain_csv"]


@dataclass(frozen=True, slots=True)
class WantedEvidence:
    """What is missing for one cell, and the decision in force about it."""

    gap: Gap
    topic: Topic
    decision: Decision | None

    @property
    def due(self) -> date | None:
        """The day until which it is wanted."""
        return self.decision.due if self.decision else None

    @property
    def comment(self) -> str:
        """What the reviewer wrote about it."""
        return self.decision.comment if self.decision else ""


@dataclass(frozen=True, slots=True)
class AskGroup:
    """What to ask one person or office for, worst first. person: whether `whom` is the name of an owner."""

    whom: str
    person: bool
    items: tuple[WantedEvidence, ...]

    @property
    def severities(self) -> str:
        """How many of each severity, as text: "2 high, 1 low"."""
        found = [each.gap.severity for each in self.items]
        return ", ".join(f"{found.count(severity):,} {severity}" for severity in SEVERITIES if severity in found)


def to_obtain(
    board: Board, decisions: DecisionsByCell, lit: Collection[tuple[int, str]] | None = None
) -> tuple[AskGroup, ...]:
    """One group per owner, then one per office likely to have it; the group with the worst gaps first.

    Topics of one name carry their project.
    lit: only these cells, as (topic id, kind); None: all.
    """
    names, found = distinct_names(board), dict[tuple[bool, str], list[WantedEvidence]]()
    for gap in board.gaps:
        topic = board.topic_of(gap)
        about = (topic.id, gap.kind.value)
        if lit is not None and about not in lit:
            continue
        owner = owner_of(board.cell(topic, gap.kind), topic, decisions)
        key = (True, owner) if owner != NO_OWNER else (False, gap.source)
        named = _with_name(gap, names.get(topic.id, gap.topic))
        found.setdefault(key, []).append(WantedEvidence(named, topic, decisions.get(about)))
    groups = [AskGroup(whom, person, tuple(evidence)) for (person, whom), evidence in found.items()]
    return tuple(sorted(groups, key=lambda group: (not group.person, _weight(group))))


def _with_name(gap: Gap, name: str) -> Gap:
    """The gap with another name of its topic, also where it says what to obtain: "on overtime" or "on “overtime”"."""
    end = "”" if gap.to_obtain.endswith("”") else ""
    request = gap.to_obtain.removesuffix(end)
    if not request.endswith(gap.topic):
        return replace(gap, topic=name)
    return replace(gap, topic=name, to_obtain=f"{request.removesuffix(gap.topic)}{name}{end}")


def _weight(group: AskGroup) -> list[int]:
    """Sort key: negated numbers of gaps by severity, highest severity first."""
    found = [each.gap.severity for each in group.items]
    return [-found.count(severity) for severity in SEVERITIES]


def group_text(group: AskGroup, title: str) -> str:
    """A group as plain text, to be sent to whom it names. title: of the board."""
    lines = [f"{title}: needed from {group.whom}", ""]
    for each in group.items:
        due = f", by {each.due}" if each.due else ""
        note = f" – {each.comment}" if each.comment else ""
        lines.append(
            f"- {each.gap.to_obtain} ({kind_in_words(each.gap.kind)}, {each.gap.severity} severity{due}){note}"
        )
    return "\n".join(lines) + "\n"


def to_obtain_csv(groups: Sequence[AskGroup]) -> str:
    """All groups as CSV with a header. Text that a spreadsheet would run as a formula is escaped."""
    heads = ("ask", "what", "topic", "truth", "severity", "due", "decision", "comment", "recommendation")
    return csv_text([heads, *(_row(group.whom, each) for group in groups for each in group.items)])


def _row(whom: str, each: WantedEvidence) -> Sequence[str]:
    verdict, due = each.decision.verdict.value if each.decision else "", str(each.due or "")
    gap = each.gap
    what = (whom, gap.to_obtain, gap.topic, kind_in_words(gap.kind), gap.severity)
    return (*what, due, verdict, each.comment, gap.recommendation)
