"""A board narrowed and put in order."""

from dataclasses import replace

from core.coverage.board_view import (
    NO_OWNER,
    BoardView,
    TopicOrder,
    apply_view,
    share_in_words,
    unread_in_words,
    values_of,
)
from core.domain.coverage import Decision, GapKind, ReviewVerdict, Topic
from tests.coverage.boards import NOW, board_of

LEAVE = Topic("Sick leave", id=1, domain="time", owner="Ann", jurisdiction="state:CA")
PAY = Topic("overtime pay", id=2, domain="earnings")
TAX = Topic("Tax deposits", id=3, domain="taxes", owner="Bob")
BOARD = board_of({LEAVE: "ccccc", PAY: "gpgcc", TAX: "cccgc"})
DECIDED = {(2, "regulatory"): Decision(2, "regulatory", None, ReviewVerdict.CONFIRMED, "Ann", NOW, 1, owner="Cid")}


def names(**view: object) -> list[str]:
    return [topic.name for topic in apply_view(BOARD, BoardView(**view), DECIDED).topics]  # type: ignore[arg-type]


def test_without_filters_everything_is_shown_as_added() -> None:
    shown = apply_view(BOARD, BoardView(), {})
    assert shown.topics == BOARD.topics
    assert len(shown.lit) == len(BOARD.cells)


def test_a_topic_is_shown_for_one_cell_that_meets_and_only_that_cell_is_lit() -> None:
    shown = apply_view(BOARD, BoardView(states=("partial",)), {})
    assert [topic.name for topic in shown.topics] == ["overtime pay"]
    assert shown.lit == {(2, "compliance")}


def test_filters_narrow_by_severity_domain_jurisdiction_and_words() -> None:
    assert names(severities=("low",)) == ["Tax deposits"]
    assert names(severities=("high", "low")) == ["overtime pay", "Tax deposits"]
    assert names(domains=("time", "taxes")) == ["Sick leave", "Tax deposits"]
    assert names(jurisdictions=("state:CA",)) == ["Sick leave"]
    assert names(find="PAY") == ["overtime pay"]
    assert names(find="PAY", domains=("time",)) == []


def test_the_owner_of_a_decision_comes_before_the_topics() -> None:
    assert names(owners=("Cid",)) == ["overtime pay"]
    assert apply_view(BOARD, BoardView(owners=("Cid",)), DECIDED).lit == {(2, "regulatory")}
    assert names(owners=(NO_OWNER,)) == ["overtime pay"]
    assert values_of(BOARD, DECIDED)["owners"] == ("Ann", "Bob", "Cid", NO_OWNER)


def test_topics_are_put_in_order() -> None:
    assert names(order=TopicOrder.WORST) == ["overtime pay", "Tax deposits", "Sick leave"]
    assert names(order=TopicOrder.WEAKEST) == ["overtime pay", "Tax deposits", "Sick leave"]
    assert names(order=TopicOrder.NAME) == ["overtime pay", "Sick leave", "Tax deposits"]
    assert names(order=TopicOrder.OWNER) == ["Sick leave", "Tax deposits", "overtime pay"]
    assert names(order=TopicOrder.DOMAIN) == ["overtime pay", "Tax deposits", "Sick leave"]


def test_the_choices_are_those_the_board_has() -> None:
    values = values_of(BOARD, {})
    assert values["states"] == ("covered", "partial", "gap")
    assert values["severities"] == ("high", "medium", "low")
    assert values["domains"] == ("earnings", "taxes", "time")


def test_a_column_whose_every_search_failed_is_an_error() -> None:
    board = board_of({LEAVE: "cneee", PAY: "gnenn"})
    shares = [share_in_words(board, kind) for kind in GapKind if kind is not GapKind.CONFIGURATION]
    assert shares == ["50% covered", "not assessed", "error", "not assessed", "not assessed"]


def test_documents_that_could_not_be_read_are_named_and_counted() -> None:
    names = ("a.pdf", "b.pdf", "c.pdf", "d.pdf", "e.pdf")
    assert unread_in_words(replace(BOARD, unread=names)).endswith("may fill a gap: a.pdf, b.pdf, c.pdf and 2 more.")
    assert unread_in_words(replace(BOARD, unread=names[:1])).endswith("may fill a gap: a.pdf.")
