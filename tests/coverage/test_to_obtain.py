"""What to obtain is grouped by whom to ask, and leaves as text and CSV without anything that runs."""

import csv
import io
from dataclasses import replace
from datetime import date

from core.coverage.gaps import gaps_of
from core.coverage.to_obtain import group_text, to_obtain, to_obtain_csv
from core.domain.coverage import Board, Decision, ReviewVerdict, Topic
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.coverage.boards import NOW, board_of

ONE, TWO = Topic("fire drills", id=1), Topic("=key handover", id=2, owner="Zoe")
DECIDED = {
    (1, "compliance"): Decision(
        1, "compliance", None, ReviewVerdict.CONFIRMED, "Ada", NOW, 1, owner="Cid", due=date(2026, 2, 1), comment="Ask"
    )
}


def board() -> Board:
    plain = board_of({ONE: "ggccp", TWO: "cgccc"})
    return replace(plain, gaps=gaps_of(plain.cells, BUILT_IN_TERMS))


def test_owners_come_first_then_those_who_are_likely_to_have_it_each_gap_once() -> None:
    groups = to_obtain(board(), DECIDED)
    assert [(group.whom, group.person, group.severities) for group in groups] == [
        ("Cid", True, "1 high"),
        ("Zoe", True, "1 high"),
        ("the issuing agency or the legal department", False, "1 high"),
        ("the system's administrator", False, "1 medium"),
    ]
    listed = [each.gap for group in groups for each in group.items]
    assert set(listed) == set(board().gaps) and len(listed) == len(board().gaps)


def test_only_the_cells_asked_for_are_listed() -> None:
    (group,) = to_obtain(board(), {}, {(2, "compliance")})
    assert (group.whom, [each.gap.topic for each in group.items]) == ("Zoe", ["=key handover"])


def test_the_text_says_what_by_when_and_why() -> None:
    group = to_obtain(board(), DECIDED)[0]
    assert group_text(group, "Payroll") == (
        "Payroll: needed from Cid\n\n- an internal policy, procedure or audit control on fire drills"
        " (compliance, high severity, by 2026-02-01) – Ask\n"
    )


def test_the_csv_has_every_line_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(to_obtain_csv(to_obtain(board(), DECIDED)))))
    assert [(row["ask"], row["due"], row["decision"]) for row in rows][:2] == [
        ("Cid", "2026-02-01", "gap confirmed"),
        ("Zoe", "", ""),
    ]
    assert len(rows) == len(board().gaps) and not any(value.startswith("=") for row in rows for value in row.values())
