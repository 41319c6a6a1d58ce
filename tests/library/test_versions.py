"""Versions of documents, as an analyst lives with them: suggested, accepted, taken back, and what rests on them."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from core.domain.coverage import Cell, CellState, Decision, GapKind, ReviewVerdict, Topic
from core.domain.documents import Document, SourceType, Truth
from core.domain.errors import BadRequest, NotFound
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Citation
from core.insights.store import EvidenceLink
from core.library.documents import Follower
from core.library.versions.diff import ChangeKind
from core.library.versions.outdated_citations import with_updated_citation
from core.library.versions.service import RelatedDocuments
from core.workbench import Workbench
from tests.label_edits import store_labels
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULES = [
    "Employees travel by train wherever a train gets them there within five hours.",
    "A flight needs the written approval of the head of department before it is booked.",
    "Hotels are booked by the travel office and cost at most one hundred and twenty euros a night.",
    "Receipts are handed in within fourteen days after the journey has ended.",
    "Private cars are used only when nothing else gets there on the same day.",
    "Meals are paid by the flat rate of the country in which most of the day is spent.",
    "Who extends a journey for private reasons pays what that costs in addition.",
    "The travel office publishes every quarter what journeys have cost.",
]
V1 = "# Travel rules\n" + "\n".join(RULES)
V2 = V1.replace("fourteen days", "seven days")
V3 = (
    V2.replace("one hundred and twenty euros", "one hundred and forty euros")
    + "\nTrips abroad are insured by the office."
)
OTHER = "# Canteen\nSoup is served at noon. Bread is free of charge for everybody who works on Saturdays.\n"


class Shelf:
    """A library in memory whose jobs run at once."""

    def __init__(self, folder: Path) -> None:
        self.stores = Stores(WordEmbedder())
        self.workbench: Workbench = built(self.stores, folder, lambda: NOW)
        self.versions = self.workbench.versions

    def add(self, name: str, text: str, **where: object) -> int:
        """Upload a text; gives its document id."""
        return self.workbench.documents.upload(name, text.encode(), **where).document_id  # type: ignore[arg-type]

    def related(self, document_id: int) -> RelatedDocuments:
        """What a document has to do with others."""
        document = self.workbench.documents.get(document_id)
        return self.versions.related([document]).get(document_id, RelatedDocuments())

    def chain(self, document_id: int) -> list[int]:
        """The ids of a chain, oldest first."""
        return [each.id for each in self.versions.chain(document_id)]

    def living(self) -> set[str]:
        """The names of the documents that are searched."""
        return {each.name for each in self.workbench.documents.list()}

    def found(self, question: str, **filters: object) -> set[str]:
        """The names of the documents a search finds."""
        request = SearchRequest(question, SearchFilters().replace(**filters))
        return {hit.candidate.passage.document_name for hit in self.workbench.search.run(request).hits}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """An empty library."""
    return Shelf(tmp_path)


@pytest.fixture
def three(shelf: Shelf) -> tuple[int, int, int]:
    """Three versions and another document."""
    shelf.add("canteen.md", OTHER)
    one, two, three = (shelf.add(f"travel rules v{number}.md", text) for number, text in ((1, V1), (2, V2), (3, V3)))
    return one, two, three


# What is found


def test_the_desk_follows_what_is_read(shelf: Shelf) -> None:
    follower: Follower = shelf.versions
    assert follower in shelf.workbench.trash._followers


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_near_duplicates_and_suggestions_do_not_depend_on_the_order_of_upload(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    names = [f"travel rules v{number}.md" for number in (1, 2, 3)]
    shelf = Shelf(tmp_path)
    ids = {names[place]: shelf.add(names[place], (V1, V2, V3)[place]) for place in order}
    near = {(name, each.name): round(same, 6) for name in names for each, same in shelf.related(ids[name]).near}
    assert {(other, name): same for (name, other), same in near.items()} == near and len(near) == 6
    suggested, total = shelf.versions.suggestions()
    assert total == 3
    pairs = {(each.older.name, each.newer.name): (each.because, round(each.pair.same, 6)) for each in suggested}
    assert set(pairs) == {(names[0], names[1]), (names[1], names[2]), (names[0], names[2])}
    assert TOLD.setdefault("in any order", (near, pairs)) == (near, pairs)


TOLD: dict[str, object] = {}


def test_a_suggestion_says_why_and_nothing_is_replaced_by_itself(shelf: Shelf, three: tuple[int, int, int]) -> None:
    suggestion = next(each for each in shelf.versions.suggestions()[0] if (each.older.id, each.newer.id) == three[:2])
    assert suggestion.because.startswith("same name but for “v2” in place of “v1”")
    assert suggestion.because.endswith("% of the older one's sentences the same")
    assert suggestion.order == "its name holds the higher version"
    assert len(shelf.living()) == 4


def test_the_same_text_under_another_name_is_a_duplicate_and_no_version(shelf: Shelf) -> None:
    first = shelf.add("a.md", V1)
    second = shelf.add("b.md", V1 + "\n\n")
    assert [(each.id, same) for each, same in shelf.related(first).near] == [(second, 1.0)]
    assert shelf.versions.suggestions() == ([], 0)
    (group,), total = shelf.versions.groups()
    assert ([each.id for each in group.documents], group.least, group.most, total) == ([second, first], 1.0, 1.0, 1)
    assert shelf.versions.marks() == {first: (1.0, False), second: (1.0, False)}


def test_the_same_file_in_two_projects_is_a_duplicate(shelf: Shelf) -> None:
    first, second = shelf.add("a.md", V1, project="north"), shelf.add("b.md", V1, project="south")
    assert [(each.id, same) for each, same in shelf.related(first).near] == [(second, 1.0)]
    with pytest.raises(BadRequest, match="the same file"):
        shelf.versions.accept(first, second)


def test_entries_of_a_feed_with_one_address_are_suggested(shelf: Shelf) -> None:
    values = {"source_type": SourceType.FEED, "url": "https://example.org/news/7"}
    first = shelf.add("notice.md", V1, **values)
    second = shelf.add("correction.md", OTHER, **values)
    (suggestion,), _ = shelf.versions.suggestions()
    assert {suggestion.older.id, suggestion.newer.id} == {first, second} and "same address" in suggestion.because


def test_reading_again_changes_nothing(shelf: Shelf, three: tuple[int, int, int]) -> None:
    before = shelf.versions.marks(), shelf.versions.suggestions()
    shelf.workbench.documents.read_all_again()
    assert (shelf.versions.marks(), shelf.versions.suggestions()) == before


def test_a_job_killed_after_the_signature_is_made_good_by_its_repetition(shelf: Shelf) -> None:
    store = shelf.versions._store
    first = shelf.add("a v1.md", V1)
    stored = store.pair
    store.pair = lambda pairs: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        shelf.add("a v2.md", V2)
    store.pair = stored  # type: ignore[method-assign]
    second = next(each.id for each in shelf.workbench.documents.list() if each.name == "a v2.md")
    assert shelf.related(first).near == ()
    shelf.workbench.ingestion.ingest(second)
    assert [each.id for each, _ in shelf.related(first).near] == [second] and len(shelf.versions.suggestions()[0]) == 1


def test_a_deleted_document_is_no_duplicate(shelf: Shelf, three: tuple[int, int, int]) -> None:
    shelf.workbench.documents.delete(three[1])
    assert all(each.id != three[1] for each, _ in shelf.related(three[0]).near)
    assert shelf.versions.suggestions()[1] == 1


def test_documents_read_before_can_be_compared_without_their_files(shelf: Shelf, three: tuple[int, int, int]) -> None:
    before = shelf.versions.marks()
    shelf.versions._store.forget(three)
    assert {each.id for each in shelf.versions.uncompared()} == set(three) and shelf.versions.marks() == {}
    for document in shelf.versions.uncompared():
        shelf.versions.compare(document)
    assert shelf.versions.uncompared() == [] and shelf.versions.marks() == before


# What is decided


def test_accepting_archives_the_older_and_undoing_brings_it_back(shelf: Shelf, three: tuple[int, int, int]) -> None:
    one, two, _ = three
    shelf.versions.accept(one, two, "Ann")
    assert shelf.workbench.documents.get(one).archived and shelf.workbench.documents.get(two).version_of == one
    assert "travel rules v1.md" not in shelf.found("receipts handed in days")
    assert "travel rules v1.md" in shelf.found("receipts handed in days", archived=None)
    replaced = shelf.related(one).replaced_by
    assert replaced is not None and replaced.id == two
    assert shelf.versions.suggestions()[1] == 1  # only the third is left beside the second
    shelf.versions.undo(one, two, "Ann")
    assert not shelf.workbench.documents.get(one).archived and shelf.workbench.documents.get(two).version_of is None
    assert "travel rules v1.md" in shelf.found("receipts handed in days")
    assert shelf.versions.suggestions()[1] == 3
    assert [each.verdict.value for each in shelf.versions.decisions()] == ["undone", "accepted"]


def test_what_was_archived_before_it_was_replaced_stays_so_when_that_is_undone(
    shelf: Shelf, three: tuple[int, int, int]
) -> None:
    one, two, three_ = three
    shelf.workbench.documents.archive(one, archived=True)
    shelf.versions.accept(one, two)
    shelf.versions.accept(one, three_)  # which takes its place before the second
    shelf.versions.undo(one, three_)
    shelf.versions.undo(one, two)
    assert shelf.living() == {"canteen.md", "travel rules v2.md", "travel rules v3.md"}
    shelf.versions.accept(one, two)
    shelf.versions.turn_round(one, two)
    assert shelf.living() == {"canteen.md", "travel rules v1.md", "travel rules v3.md"}
    shelf.versions.undo(two, one)
    assert "travel rules v2.md" in shelf.living()


@pytest.mark.parametrize("pairs", list(permutations([(0, 1), (1, 2)])))
def test_a_chain_is_the_same_in_whatever_order_it_was_accepted(
    shelf: Shelf, three: tuple[int, int, int], pairs: tuple[tuple[int, int], ...]
) -> None:
    for older, newer in pairs:
        shelf.versions.accept(three[older], three[newer])
    assert {tuple(shelf.chain(each)) for each in three} == {three}
    assert shelf.living() == {"canteen.md", "travel rules v3.md"}
    assert shelf.versions.suggestions() == ([], 0)


@pytest.mark.parametrize("late", [(0, 1), (1, 2)])
def test_a_version_found_late_takes_its_place_between_two(
    shelf: Shelf, three: tuple[int, int, int], late: tuple[int, int]
) -> None:
    shelf.versions.accept(three[0], three[2])
    shelf.versions.accept(three[late[0]], three[late[1]])
    assert shelf.chain(three[1]) == list(three) and shelf.living() == {"canteen.md", "travel rules v3.md"}
    with pytest.raises(BadRequest, match="not a version of"):
        shelf.versions.undo(three[0], three[2])
    shelf.versions.undo(three[late[0]], three[late[1]])
    assert shelf.chain(three[0]) == [three[0], three[2]] and shelf.chain(three[1]) == [three[1]]
    assert shelf.living() == {"canteen.md", "travel rules v2.md", "travel rules v3.md"}


def test_what_is_decided_while_a_document_is_read_again_holds(shelf: Shelf, three: tuple[int, int, int]) -> None:
    one, two, _ = three
    run = shelf.workbench.ingestion._pipeline.run

    def slow(*given: Any, **named: Any) -> Any:
        read = run(*given, **named)
        shelf.versions.accept(one, two)
        return read

    shelf.workbench.ingestion._pipeline.run = slow  # type: ignore[method-assign]
    shelf.workbench.documents.retry(one)
    shelf.workbench.documents.retry(two)
    assert shelf.chain(one) == [one, two] and "travel rules v1.md" not in shelf.living()
    assert "travel rules v1.md" not in shelf.found("receipts handed in days")


def test_a_long_chain_is_told_whole_from_any_place(shelf: Shelf) -> None:
    ids = [shelf.add(f"plan v{number}.md", f"{V1}\nEdition {number} of these rules.") for number in range(1, 7)]
    for older, newer in pairwise(ids):
        shelf.versions.accept(older, newer)
    assert all(shelf.chain(each) == ids for each in ids)
    assert {each: newest.id for each, newest in shelf.versions.newest(ids).items()} == dict.fromkeys(ids[:-1], ids[-1])
    shelf.versions.undo(ids[2], ids[3])
    assert shelf.chain(ids[0]) == ids[:3] and shelf.chain(ids[5]) == ids[3:]
    assert shelf.living() == {"plan v3.md", "plan v6.md"}


def test_accepting_twice_or_after_being_killed_half_way_changes_nothing(
    shelf: Shelf, three: tuple[int, int, int]
) -> None:
    one, two, _ = three
    document = shelf.workbench.documents.get(two)
    store_labels(shelf.stores.catalogue, replace(document, version_of=one), [])  # killed before the older was archived
    for _ in range(2):
        shelf.versions.accept(one, two)
    assert shelf.chain(one) == [one, two] and shelf.workbench.documents.get(one).archived
    assert len(shelf.versions.decisions()) == 1
    shelf.versions.undo(one, two)
    assert shelf.chain(one) == [one] and not shelf.workbench.documents.get(one).archived


def test_what_would_branch_or_go_round_is_refused(shelf: Shelf, three: tuple[int, int, int]) -> None:
    one, two, three_ = three
    other = shelf.add("travel rules v9.md", V3 + "\nNine.")
    shelf.versions.accept(one, two)
    shelf.versions.accept(three_, other)
    with pytest.raises(BadRequest, match="versions of one document already"):
        shelf.versions.accept(two, one)
    with pytest.raises(BadRequest, match="branch"):
        shelf.versions.accept(one, other)
    with pytest.raises(BadRequest, match="is a version of"):
        shelf.versions.reject(one, two)
    with pytest.raises(BadRequest, match="not a version of"):
        shelf.versions.undo(one, other)
    with pytest.raises(NotFound):
        shelf.versions.accept(one, 99999)


def test_a_rejection_is_remembered_and_can_be_taken_back(shelf: Shelf, three: tuple[int, int, int]) -> None:
    one, two, _ = three
    shelf.versions.reject(one, two, "Ann")
    shelf.workbench.documents.read_all_again()
    assert shelf.versions.suggestions()[1] == 2 and len(shelf.related(one).suggestions) == 1
    shelf.workbench.documents.delete(two)
    again = shelf.add("travel rules v2.md", V2)
    assert {(each.older.id, each.newer.id) for each in shelf.versions.suggestions()[0]}.isdisjoint({(one, again)})
    shelf.versions.undo(one, again)
    assert shelf.versions.suggestions()[1] == 3


def test_any_two_documents_can_be_joined_by_hand_and_turned_round(shelf: Shelf) -> None:
    rules, canteen = shelf.add("rules.md", V1), shelf.add("canteen.md", OTHER)
    shelf.versions.accept(rules, canteen)
    assert shelf.living() == {"canteen.md"}
    shelf.versions.turn_round(rules, canteen)
    assert shelf.chain(rules) == [canteen, rules] and shelf.living() == {"rules.md"}
    shelf.versions.undo(canteen, rules)
    assert shelf.living() == {"rules.md", "canteen.md"}


def test_only_a_chain_of_two_is_turned_round(shelf: Shelf, three: tuple[int, int, int]) -> None:
    shelf.versions.accept(three[0], three[1])
    shelf.versions.accept(three[1], three[2])
    with pytest.raises(BadRequest, match="turned round"):
        shelf.versions.turn_round(three[1], three[2])
    assert shelf.chain(three[0]) == list(three)


@pytest.mark.parametrize(("removed", "left"), [(0, (1, 2)), (1, (0, 2)), (2, (0, 1))])
def test_a_chain_closes_when_one_of_it_is_deleted(
    shelf: Shelf, three: tuple[int, int, int], removed: int, left: tuple[int, int]
) -> None:
    shelf.versions.accept(three[0], three[1])
    shelf.versions.accept(three[1], three[2])
    shelf.workbench.documents.delete(three[removed])
    assert shelf.chain(three[left[0]]) == [three[each] for each in left]
    assert shelf.living() == {"canteen.md", f"travel rules v{left[1] + 1}.md"}


def test_what_cannot_come_back_says_so_and_nothing_is_changed(shelf: Shelf, three: tuple[int, int, int]) -> None:
    shelf.versions.accept(three[0], three[1])
    shelf.add("once more.md", V1)
    with pytest.raises(BadRequest, match="cannot come back"):
        shelf.versions.undo(three[0], three[1])
    assert shelf.chain(three[0]) == list(three[:2])


def test_versions_of_a_table_are_told_as_a_chain(shelf: Shelf) -> None:
    rows = "code,name,rate\n" + "\n".join(f"{number:03},Code {number},{number}.5" for number in range(30))
    first = shelf.add("codes.csv", rows)
    second = shelf.add("codes.csv", rows.replace("Code 7,", "Code seven,"))
    assert shelf.chain(first) == shelf.chain(second) == [first, second]


# What changed, and what rests on it


def test_two_versions_are_compared_sentence_by_sentence(shelf: Shelf, three: tuple[int, int, int]) -> None:
    found = shelf.versions.difference(three[0], three[2])
    assert [change.kind for change in found.changes] == [ChangeKind.CHANGED, ChangeKind.CHANGED, ChangeKind.ADDED]
    assert found.changes[1].before is not None and "fourteen days" in found.changes[1].before.text
    assert shelf.versions.difference(three[1], three[1]).changes == ()


def noted(shelf: Shelf, document_id: int, part: str) -> EvidenceLink:
    """An insight that rests on the sentence that holds `part`; gives its link."""
    passage = next(each for each in shelf.workbench.documents.passages(document_id) if part in each.text)
    span = next(span for span in passage.sentences if part in span.of(passage.text))
    start = passage.start + span.start
    quote = span.of(passage.text)
    document = shelf.workbench.documents.get(document_id)
    link = EvidenceLink(passage.id, document_id, document.name, passage.page, start, start + len(quote), quote)
    shelf.workbench.insights.save("This matters.", links=[link])
    return link


def test_a_note_on_replaced_text_is_suspect_with_the_new_wording_beside_it(
    shelf: Shelf, three: tuple[int, int, int]
) -> None:
    changed, insight = noted(shelf, three[0], "Receipts"), noted(shelf, three[0], "Private cars")
    assert [] == shelf.versions.suspect_citations(three[0]) == list(shelf.versions.suspect_links([changed, insight]))
    shelf.versions.accept(three[0], three[1])
    shelf.versions.accept(three[1], three[2])
    doubts = shelf.versions.suspect_links([changed, insight])
    assert "replaced by 'travel rules v3.md', which does not say this word for word" in doubts[changed].why
    assert "which says the same" in doubts[insight].why
    proposal = doubts[changed].proposal
    assert proposal is not None and "within seven days" in proposal.sentence.text and 0.6 < proposal.likeness < 1
    for document_id in three:  # also the newer ones tell what rests on what they replaced
        reported = shelf.versions.suspect_citations(document_id)
        assert {(each.document.id, each.quote) for each in reported} == {
            (three[0], each.quote) for each in (changed, insight)
        }


def test_an_older_version_does_not_tell_what_rests_on_a_newer_one(shelf: Shelf, three: tuple[int, int, int]) -> None:
    link = noted(shelf, three[1], "Receipts")
    shelf.versions.accept(three[0], three[1])
    shelf.versions.accept(three[1], three[2])
    reported = [[each.quote for each in shelf.versions.suspect_citations(document_id)] for document_id in three]
    assert reported == [[], [link.quote], [link.quote]]


def test_a_note_takes_over_the_new_wording(shelf: Shelf, three: tuple[int, int, int]) -> None:
    link = noted(shelf, three[0], "Receipts")
    shelf.versions.accept(three[0], three[1])
    (citing,) = shelf.versions.suspect_citations(three[0])
    assert citing.suspicion.proposal is not None and citing.link == link
    shelf.workbench.insights.change(with_updated_citation(citing.by, link, citing.suspicion.proposal))  # type: ignore[arg-type]
    assert shelf.versions.suspect_citations(three[0]) == []
    (note,) = shelf.workbench.insights.about([three[1]])
    text = shelf.workbench.documents.page(three[1], note.links[0].page).text
    assert text[note.links[0].start : note.links[0].end] == note.links[0].quote
    assert shelf.versions.suspect_links(note.links) == {}


def test_a_sentence_that_a_document_no_longer_says_after_it_was_read_again_is_suspect(shelf: Shelf) -> None:
    document_id = shelf.add("rules.md", V1)
    link = noted(shelf, document_id, "Receipts")
    removed = replace(link, quote="Receipts are handed in within fifteen days after the journey has ended.")
    shelf.workbench.documents.retry(document_id)
    doubts = shelf.versions.suspect_links([link, removed])
    assert list(doubts) == [removed] and "read again" in doubts[removed].why
    assert doubts[removed].proposal is not None and doubts[removed].proposal.sentence.text == link.quote


def test_of_a_deleted_document_nothing_is_said(shelf: Shelf) -> None:
    document_id = shelf.add("rules.md", V1)
    link = noted(shelf, document_id, "Receipts")
    shelf.workbench.documents.delete(document_id)
    assert shelf.versions.suspect_links([link]) == {}


def test_an_accepted_cell_that_rests_on_replaced_text_is_listed(shelf: Shelf, three: tuple[int, int, int]) -> None:
    link = noted(shelf, three[0], "Receipts")
    for each in shelf.workbench.insights.about([three[0]]):
        shelf.workbench.insights.delete(each)
    document: Document = shelf.workbench.documents.get(three[0])
    (topic,) = shelf.stores.boards.add_topics([Topic("Receipts")])
    citation = Citation(
        *("1.0", link.passage_id, 0, three[0], document.name, document.sha256, None, link.page, "", link.start),
        *(link.end, link.quote, Truth.COMPLIANCE, None, None, None, 0.9),
    )
    cell = Cell("Receipts", Truth.COMPLIANCE, CellState.COVERED, 0.9, 0.5, topic_id=topic.id)
    decision = Decision(
        *(topic.id, GapKind.COMPLIANCE.value, None, ReviewVerdict.ACCEPTED, "Ann", NOW, 1),
        topic=cell.topic,
        pinned=(citation,),
    )
    shelf.stores.boards.decide([decision])
    assert shelf.versions.suspect_citations(three[0]) == []
    shelf.versions.accept(three[0], three[1])
    (citing,) = shelf.versions.suspect_citations(three[0])
    assert isinstance(citing.by, Decision) and citing.by.topic == "Receipts" and citing.link is None
    assert citing.suspicion.proposal is not None and "seven days" in citing.suspicion.proposal.sentence.text
