"""The desk of memories over a real library in memory: kept, changed, deleted, brought back, and always found or not."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState, Origin, Sector, SourceType
from core.domain.errors import BadRequest, ModelUnavailable, NotFound, Outdated
from core.insights.service import MOST_LETTERS, MOST_TAGS, links_to
from core.insights.store import Insight, InsightOrEpisode, InsightQuery
from core.search.store import DocumentUsage
from tests.insights.office import Office
from tests.search.library import Library, WordEmbedder, payroll_library

NOTE = "Zebras deposit their stripes quarterly. The herd keeps a ledger of every stripe."
QUESTION = "How often do zebras deposit stripes?"


def test_a_note_is_kept_with_all_that_was_said_of_it() -> None:
    office = Office()
    _, link = office.cited("When must employers deposit withheld income taxes?")
    insight = office.desk.save(
        f"  {NOTE}\r\n", tags=[" herd ", "Herd", "", "ledger"], sector=Sector.EMOTIONAL, links=[link, link],
        question="Why?", project=" north ", who=" Ann ",
    )  # fmt: skip
    assert insight == office.desk.insight(insight.id)
    assert (insight.text, insight.tags, insight.sector, insight.sector_reason) == (
        NOTE,
        ("herd", "ledger"),
        Sector.EMOTIONAL,
        "",
    )
    assert (insight.links, insight.question, insight.project, insight.who) == ((link,), "Why?", "north", "Ann")
    assert (insight.at, insight.deleted_at, insight.version) == (office.now, None, 1)
    assert office.desk.about([link.document_id]) == [insight]


def test_a_note_without_a_sector_gets_one_with_its_reason() -> None:
    insight = Office().desk.save("We were worried.")
    assert (insight.sector, insight.sector_reason) == (Sector.EMOTIONAL, "it says “worried”")


def test_its_searchable_side_is_a_document_of_its_own_origin() -> None:
    office = Office()
    insight = office.desk.save(f"{NOTE}\n\n" + "The rest of the story. " * 200, tags=["herd"], project="north")
    document = office.library.catalogue.document(insight.document_id)
    assert (document.origin, document.state, document.project) == (Origin.INSIGHT, DocumentState.READY, "north")
    assert document.name.startswith(f"Insight {insight.id}: Zebras deposit")
    page = office.library.catalogue.page(insight.document_id, 1)
    passages = office.library.catalogue.passages_of(insight.document_id)
    assert len(passages) > 1
    assert page.text.startswith(NOTE)
    for passage in passages:
        assert passage.text == page.text[passage.start : passage.end]
        assert (passage.origin, passage.sector, passage.tags) == (Origin.INSIGHT, insight.sector, ("herd",))
        assert (passage.project, passage.date, passage.truth) == ("north", insight.at, None)
        assert (passage.authority, passage.source_type) == (None, SourceType.MANUAL)
        assert passage.sentences


def test_an_episode_quotes_what_was_learnt_and_never_its_own_question() -> None:
    office = Office()
    insight = office.desk.finish_episode(
        QUESTION, opened=[1, 2, 3, 1], reward=0.75, reflection="The herd's ledger says quarterly.", who="Ann"
    )
    assert (insight.sector, insight.reward, insight.sector_reason) == (Sector.EPISODIC, 0.75, "")
    assert [link.passage_id for link in insight.links] == [1, 2, 3]
    (passage,) = office.library.catalogue.passages_of(insight.document_id)
    assert passage.context == QUESTION
    assert passage.text.startswith("The herd's ledger says quarterly.")
    assert passage.text.endswith("It helped (outcome +0.75).")
    page = office.library.catalogue.page(insight.document_id, 1)
    assert page.text.endswith("It helped (outcome +0.75).\n\nOpened: pub.pdf, handbook.md.")
    assert QUESTION not in passage.text
    assert insight.document_id in office.found(QUESTION)


def test_an_episode_of_which_nothing_was_written_still_says_what_came_of_it() -> None:
    office = Office()
    insight = office.desk.finish_episode(QUESTION, reward=-1)
    (passage,) = office.library.catalogue.passages_of(insight.document_id)
    assert passage.text == "It did not help (outcome -1)."
    suggested = office.desk.finish_episode(QUESTION, reflection="We were worried.", sector=None)
    assert suggested.sector is Sector.EMOTIONAL


@pytest.mark.parametrize("reward", [-1.01, 2, float("nan"), float("inf")])
def test_an_outcome_out_of_range_is_refused(reward: float) -> None:
    with pytest.raises(BadRequest, match="out of range"):
        Office().desk.finish_episode(QUESTION, reward=reward)


@pytest.mark.parametrize("text", ["", "   \n", "---", "…", "\0", "\u200b"])
def test_a_text_that_says_nothing_is_refused_and_leaves_nothing(text: str) -> None:
    office = Office()
    with pytest.raises(BadRequest, match="is empty"):
        office.desk.save(text)
    with pytest.raises(BadRequest, match="is empty"):
        office.desk.finish_episode(text)
    assert office.desk.insights().total == office.desk.episodes().total == 0
    assert len(office.library.catalogue.documents(origin=None)) == 5


def test_what_is_too_much_is_refused_with_the_limit() -> None:
    office = Office()
    with pytest.raises(BadRequest, match="20,001 characters") as refused:
        office.desk.save("a" * (MOST_LETTERS + 1))
    assert "20,000" in refused.value.hint
    with pytest.raises(BadRequest, match="tags are too many"):
        office.desk.save(NOTE, tags=[str(number) for number in range(MOST_TAGS + 1)])
    with pytest.raises(BadRequest, match="too long"):
        office.desk.save(NOTE, tags=["a" * 61])
    assert office.desk.save("a" * MOST_LETTERS).document_id


def test_the_same_words_twice_are_two_notes() -> None:
    office = Office()
    first, second = office.desk.save(NOTE), office.desk.save(NOTE)
    assert first.document_id != second.document_id
    office.desk.delete(first)
    assert office.found(QUESTION) & {first.document_id, second.document_id} == {second.document_id}


def test_without_a_model_nothing_half_is_kept() -> None:
    embedder = WordEmbedder(broken=True)
    office = Office(Library(embedder))
    with pytest.raises(ModelUnavailable):
        office.desk.save(NOTE)
    assert office.desk.insights().total == 0
    embedder.broken = False
    insight = office.desk.save(NOTE)
    embedder.broken = True
    with pytest.raises(ModelUnavailable):
        office.desk.change(replace(insight, text="Other words."))
    assert office.desk.insight(insight.id) == insight


# Changing


def test_a_rewritten_note_is_found_by_its_new_words_alone() -> None:
    office = Office()
    insight = office.desk.save(NOTE)
    before = [passage.id for passage in office.library.catalogue.passages_of(insight.document_id)]
    changed = office.desk.change(replace(insight, text="Walruses whistle at noon."))
    assert (changed.document_id, changed.version, changed.changed_at) == (insight.document_id, 2, office.now)
    assert insight.document_id in office.found("walruses whistle")
    assert "stripes" not in " ".join(p.text for p in office.library.catalogue.passages_of(insight.document_id))
    assert office.library.catalogue.passages(before) == {}
    assert len(office.library.vectors.similarities(WordEmbedder().embed(["x"])[0], before)) == 0


def test_new_tags_leave_the_passages_their_ids_and_reach_every_filter() -> None:
    office = Office()
    insight = office.desk.save(NOTE, tags=["old"])
    before = [passage.id for passage in office.library.catalogue.passages_of(insight.document_id)]
    tagged = office.desk.tag(insight, ["new", "NEW"])
    moved = office.desk.change(replace(tagged, sector=Sector.PROCEDURAL, project="north"))
    assert moved.tags == ("new",)
    assert [passage.id for passage in office.library.catalogue.passages_of(insight.document_id)] == before
    assert insight.document_id in office.found(QUESTION, tags=("new",), sectors=("procedural",), projects=("north",))
    for narrowed in ({"tags": ("old",)}, {"sectors": ("semantic",)}, {"projects": ("south",)}):
        assert insight.document_id not in office.found(QUESTION, **narrowed)
    assert office.library.catalogue.document(insight.document_id).project == "north"


@pytest.mark.parametrize("deleted", [False, True])
def test_a_note_is_found_where_what_it_cites_is_also_when_that_is_deleted(deleted: bool) -> None:
    office = Office(Library())
    passage, *_ = office.library.add("rules.md", "Overtime is paid twice.")
    catalogue = office.library.catalogue
    catalogue.put(replace(catalogue.document(passage.document_id), project="north"))
    links = links_to(catalogue, [passage.id])
    insight = office.desk.save(NOTE, links=links)
    unknown = office.desk.save(NOTE, links=[replace(links[0], document_id=10**9)])
    if deleted:
        catalogue.delete(passage.document_id)
        office.desk.documents_moved([passage.document_id])
    assert catalogue.document(insight.document_id).project == "north"
    assert insight.document_id in office.found(QUESTION, projects=("north",))
    both = {insight.document_id, unknown.document_id}
    assert office.found(QUESTION) >= both and not office.found(QUESTION, projects=("south",)) & both


def test_the_second_of_two_who_change_a_note_is_told_and_nothing_of_theirs_is_found() -> None:
    office = Office()
    read = office.desk.save(NOTE)
    office.desk.change(replace(read, text="Ann writes of walruses."))
    for late in (
        lambda: office.desk.change(replace(read, text="Bob writes of gnus.")),
        lambda: office.desk.delete(read),
    ):
        with pytest.raises(Outdated):
            late()
    assert read.document_id in office.found("walruses")
    assert "gnus" not in office.desk.insight(read.id).text


# Deleting


@pytest.mark.parametrize("kind", ["insight", "episode"])
def test_what_is_deleted_is_gone_from_every_leg_at_once_and_its_row_stays(kind: str) -> None:
    office = Office()
    stored: InsightOrEpisode = (
        office.desk.save(NOTE) if kind == "insight" else office.desk.finish_episode(NOTE, reflection=NOTE)
    )
    passages = [passage.id for passage in office.library.catalogue.passages_of(stored.document_id)]
    deleted = office.desk.delete(stored)
    assert deleted.deleted_at == office.now
    assert office.store.find(type(stored), stored.id) == deleted
    assert stored.document_id not in office.found(QUESTION)
    assert stored.document_id not in office.found(QUESTION, origins=(kind,), archived=None)
    assert office.library.vectors.vectors(passages) == {}
    assert office.library.sparse.search(["zebras"], None, 10).hits == ()
    assert office.library.catalogue.documents_by_id([stored.document_id]) == {}
    assert office.desk.behind(stored.document_id) is None


def test_a_deleted_one_does_not_come_back_by_indexing_again_or_by_an_edit_under_way() -> None:
    office = Office()
    lived, insight = office.desk.save(NOTE), office.desk.save(f"{NOTE} Gone.")
    office.desk.delete(insight)
    assert office.desk.reindex() == 1
    assert office.found(QUESTION) & {lived.document_id, insight.document_id} == {lived.document_id}
    with pytest.raises(Outdated):
        office.desk.change(replace(insight, text="Zebras again."))
    assert office.desk.insights().items == (office.desk.insight(lived.id),)


class Interrupted(Exception):
    """The program was killed here."""


def test_what_was_deleted_by_a_program_that_died_then_is_cleared_by_indexing_again() -> None:
    office = Office()
    insight = office.desk.save(NOTE)
    office.store.change(replace(insight, deleted_at=office.now))
    assert insight.document_id in office.found(QUESTION)
    office.desk.reindex()
    assert insight.document_id not in office.found(QUESTION)


def test_what_was_saved_by_a_program_that_died_then_is_found_after_indexing_again(monkeypatch) -> None:
    office = Office()

    def killed(*args: object) -> None:
        raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr(office.store, "assign_document", killed)
        with pytest.raises(Interrupted):
            office.desk.save(NOTE)
    assert office.desk.reindex() == 1
    (stored,) = office.desk.insights().items
    documents = [each.id for each in office.library.catalogue.documents(origin=Origin.INSIGHT)]
    assert documents == [stored.document_id]
    assert stored.document_id in office.found(QUESTION)


def test_one_deleted_while_it_is_being_rewritten_stays_deleted(monkeypatch) -> None:
    office = Office()
    insight = office.desk.save(NOTE)
    save = office.library.catalogue.save_ingested

    def meanwhile(*args: object, **named: object) -> object:
        monkeypatch.setattr(office.library.catalogue, "save_ingested", save)
        office.desk.delete(office.desk.insight(insight.id))
        return save(*args, **named)

    monkeypatch.setattr(office.library.catalogue, "save_ingested", meanwhile)
    with pytest.raises(NotFound):  # the document it was to be stored in is gone
        office.desk.change(replace(insight, text="Zebras count stripes."))
    assert office.desk.insight(insight.id).deleted_at is not None
    assert insight.document_id not in office.found(QUESTION)


def test_deleting_can_be_taken_back() -> None:
    office = Office()
    insight = office.desk.save(NOTE, tags=["herd"])
    back = office.desk.restore(office.desk.delete(insight))
    assert (back.deleted_at, back.text, back.tags) == (None, NOTE, ("herd",))
    assert back.document_id in office.found(QUESTION, tags=("herd",))
    assert office.desk.behind(back.document_id) == back


def test_indexing_again_keeps_ids_of_documents_and_their_uses() -> None:
    office = Office()
    insight, lived = office.desk.save(NOTE), office.desk.finish_episode(QUESTION)
    assert office.desk.reindex() == 2
    assert office.desk.insight(insight.id) == insight
    assert office.desk.episode(lived.id) == lived
    assert {insight.document_id, lived.document_id} <= office.found(QUESTION)


# Looking


def test_lists_are_paged_and_narrowed() -> None:
    office = Office()
    for number in range(5):
        office.desk.save(f"Note {number} of zebras.", tags=["even"] if number % 2 == 0 else [])
    page = office.desk.insights(InsightQuery(tags=("even",)), page=2, per_page=2)
    assert ([each.text for each in page.items], page.total, page.pages) == (["Note 0 of zebras."], 3, 2)
    assert office.desk.counts(Insight).tags == {"even": 3}
    for limits in ({"per_page": 0}, {"per_page": 101}, {"page": 0}):
        with pytest.raises(BadRequest, match="1"):
            office.desk.insights(**limits)
        with pytest.raises(BadRequest, match="1"):
            office.desk.episodes(**limits)


def test_what_is_not_there_is_not_found() -> None:
    office = Office()
    with pytest.raises(NotFound):
        office.desk.insight(9)
    with pytest.raises(NotFound):
        office.desk.episode(office.desk.save(NOTE).id)
    assert office.desk.behind(1) is None


class Uses:
    """Counts three uses of every document."""

    def uses(self, document_ids: list[int]) -> dict[int, DocumentUsage]:
        return dict.fromkeys(document_ids, DocumentUsage(3))


def test_strength_fades_by_the_sector_and_more_slowly_when_used() -> None:
    office = Office()
    felt = office.desk.save(NOTE, sector=Sector.EMOTIONAL)
    fact = replace(felt, sector=Sector.SEMANTIC)
    assert office.desk.strengths([felt]) == pytest.approx([1.0], abs=1e-6)
    office.now += timedelta(days=100)
    emotional, semantic = office.desk.strengths([felt, fact])
    assert (semantic, emotional) == pytest.approx((0.368, 0.607), abs=1e-3)
    office.desk._uses = Uses()  # type: ignore[assignment]
    (used,) = office.desk.strengths([fact])
    assert used == pytest.approx(0.658, abs=1e-3)
    office.now -= timedelta(days=300)
    assert office.desk.strengths([felt]) == [1.0]


def test_documents_and_their_counts_know_nothing_of_notes() -> None:
    library = payroll_library()
    before = (library.catalogue.statistics(), [each.id for each in library.catalogue.documents()])
    office = Office(library)
    office.desk.save(NOTE)
    office.desk.finish_episode(QUESTION)
    assert (library.catalogue.statistics(), [each.id for each in library.catalogue.documents()]) == before
    assert [each.origin for each in library.catalogue.documents(origin=None)][:2] == [Origin.EPISODE, Origin.INSIGHT]
    assert isinstance(library.catalogue.documents(origin=Origin.INSIGHT)[0], Document)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["save", "edit", "tag", "delete", "restore", "reindex"]), max_size=12))
def test_whatever_is_done_living_notes_are_found_and_deleted_ones_are_not(steps: list[str]) -> None:
    office = Office(Library())
    for number, step in enumerate(steps):
        living, deleted = office.desk.insights().items, office.desk.insights(InsightQuery(deleted=True)).items
        if step == "save":
            office.desk.save(f"Zebra stripes, note {number}.")
        elif step == "reindex":
            assert office.desk.reindex() == len(living)
        elif step == "restore" and deleted:
            office.desk.restore(deleted[0])
        elif step == "edit" and living:
            office.desk.change(replace(living[-1], text=f"Zebra stripes, rewritten {number}."))
        elif step == "tag" and living:
            office.desk.tag(living[0], [f"t{number}"])
        elif step == "delete" and living:
            office.desk.delete(living[len(living) // 2])
    living = office.desk.insights(per_page=100).items
    assert office.found("zebra stripes") == {each.document_id for each in living}
    assert office.library.vectors.count() == office.library.sparse.count() == len(living)
