"""A decision on a pair of sentences holds under whatever topic the pair is listed."""

from core.domain.coverage import ReviewerOpinion, ReviewVerdict, Topic
from core.domain.documents import Truth
from tests.coverage.test_service import Office
from tests.search.library import Library

RULE = "Travel expense reports must be filed within {} days of the trip abroad."


def test_a_dismissed_pair_stays_dismissed_when_another_topic_fits_it_better() -> None:
    library = Library()
    library.add("law.md", RULE.format(30), truth=Truth.REGULATORY)
    library.add("policy.md", RULE.format(60), truth=Truth.COMPLIANCE)
    office = Office(library)
    office.desk.add_topics([Topic("travel expense")])
    [pair] = office.desk.conflicts(office.assess())
    office.desk.settle(office.board(), pair, ReviewerOpinion(ReviewVerdict.NO_CONFLICT, "Ann", comment="Two trips."))

    office.desk.add_topics([Topic("travel expense reports filed after a trip abroad")])
    [moved] = office.desk.conflicts(office.assess())
    assert (moved.key, moved.topic.name) == (pair.key, "travel expense reports filed after a trip abroad")
    assert moved.decision is not None and moved.decision.verdict is ReviewVerdict.NO_CONFLICT

    office.desk.settle(office.board(), moved, ReviewerOpinion(ReviewVerdict.UNDONE, "Bob", 1))
    office.desk.settle(office.board(), moved, ReviewerOpinion(ReviewVerdict.CONFLICT, "Bob", 2))
    [again] = office.desk.conflicts(office.board())
    assert again.decision is not None and again.decision.verdict is ReviewVerdict.CONFLICT
