"""A topic's needed truths are proposed from its words; a truth not needed is quiet, but shows its evidence."""

from dataclasses import replace

import pytest

from core.coverage.gaps import as_needed, coverage_of, gaps_of
from core.coverage.topics import merge_topics, proposed_needs, rename_topic, topics_from_table, with_proposed_needs
from core.domain.coverage import CellState, Topic, TopicOrigin
from core.domain.documents import Truth
from core.domain.errors import BadTable
from core.knowledge.topic_needs import read_need_rules
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.coverage.boards import board_of


@pytest.mark.parametrize("name", ["Zebra husbandry", "残業", "<b>$5</b> :red[x]", "42"])
def test_all_five_are_proposed_when_no_word_is_known(name: str) -> None:
    proposal = proposed_needs(Topic(name))
    assert proposal.needs == tuple(Truth) and proposal.reason == "no known word: all five"


def test_words_in_any_form_propose_needs_and_say_why() -> None:
    proposal = proposed_needs(Topic("approving expenses"))
    assert (proposal.needs, "own rule or control" in proposal.reason) == ((Truth.COMPLIANCE,), True)
    assert Truth.INTENT in proposed_needs(Topic("approving expenses", origin=TopicOrigin.REQUIREMENT)).needs


def test_a_new_topic_needs_all_five_until_a_person_chooses_the_proposal() -> None:
    data = b"topic,needs\napproval of leave,intent\nexpense approval,\n"
    one, two = topics_from_table(data, BUILT_IN_TERMS)
    assert (one.needs, two.needs) == ((Truth.INTENT,), tuple(Truth))
    assert [each.needs for each in with_proposed_needs([two])] == [(Truth.COMPLIANCE,)]


def test_a_choice_survives_rename_and_merge() -> None:
    [chosen] = with_proposed_needs([Topic("expense approval", id=1)])
    assert rename_topic(chosen, "overtime").needs == (Truth.COMPLIANCE,)
    merged, _ = merge_topics([chosen, replace(chosen, id=2, needs=(Truth.INTENT,))], "both")
    assert set(merged.needs) == {Truth.COMPLIANCE, Truth.INTENT}


def test_a_truth_not_needed_is_no_gap_and_keeps_its_evidence() -> None:
    then = Topic("expense approval", id=1)
    now = replace(then, needs=(Truth.COMPLIANCE,))
    board = board_of({then: "gcegp"})
    cells = [as_needed(cell, now, then) for cell in board.cells]
    other = [cell for cell in cells if cell.truth is not Truth.COMPLIANCE]
    assert {cell.state_in_words for cell in other} == {"not needed"} and len(other) == 4
    assert all(cell.state is CellState.NOT_ASSESSED and not cell.error for cell in other)
    assert [bool(cell.evidence) for cell in cells] == [bool(cell.evidence) for cell in board.cells]
    assert {gap.truth for gap in gaps_of(cells, BUILT_IN_TERMS)} <= {Truth.COMPLIANCE}
    assert coverage_of(cells) is not None


def test_a_rule_with_an_unknown_truth_is_refused() -> None:
    with pytest.raises(BadTable, match="gossip"):
        read_need_rules({"rule": [{"name": "x", "cues": ["y"], "needs": ["gossip"]}]})
