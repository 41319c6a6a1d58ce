"""What is drawn from documents: after reading, again when outdated, never in place of what a person wrote."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.environment import utc_now
from core.domain.documents import DocumentState
from core.domain.entities import EntityType
from core.domain.errors import BadRequest, ModelUnavailable, NotFound
from core.library.enrichment.service import EnrichmentService
from core.library.enrichment.store import OPERATIONS, OperationRow
from core.library.enrichment.values import Operation
from core.ports.job_queue import JobKind
from core.workbench import Workbench
from tests.enrich.reading import POLICY
from tests.fakes import FakeEnrichmentStore, InlineJobs
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built


@pytest.fixture
def stores() -> Stores:
    return Stores(WordEmbedder())


@pytest.fixture
def workbench(stores: Stores, tmp_path: Path) -> Workbench:
    return built(stores, tmp_path)


def add(workbench: Workbench, name: str = "leave.md", text: str = POLICY) -> int:
    """Upload a text; its jobs run at once."""
    return workbench.documents.upload(name, text.encode()).document_id


def desk_with(workbench: Workbench, stores: Stores, operations: Mapping[Operation, OperationRow]) -> EnrichmentService:
    """The desk of the same library, with other operations."""
    known = workbench.enrichment
    return EnrichmentService(
        store=known._store,
        catalogue=stores.catalogue,
        embedder=stores.embedder,
        jobs=stores.jobs,
        operations=operations,
        now=utc_now,
    )


def test_a_document_is_enriched_after_it_is_read_and_can_be_found(workbench: Workbench) -> None:
    found = workbench.enrichment.of(add(workbench))
    assert found.complete and not found.failures and not found.lacking
    assert found.document_type.value == "policy"
    assert found.summary.sentences and found.keywords.words and found.questions.questions
    page = workbench.documents.page(found.document_id, 1).text
    for statement in (*found.summary.sentences, *(each.answer for each in found.questions.questions)):
        assert page[statement.start : statement.end] == statement.text
        citation = workbench.enrichment.citation(workbench.documents.get(found.document_id), statement)
        assert citation.citation_id == statement.citation_id and statement.text in citation.quote


def test_the_job_waits_in_the_queue_and_is_one_per_document(stores: Stores, workbench: Workbench) -> None:
    waiting: list[tuple[JobKind, int]] = []
    stores.jobs.work = lambda kind, number: waiting.append((kind, number))
    document_id = add(workbench)
    assert (JobKind.ENRICH, document_id) in waiting
    assert workbench.documents.get(document_id).state is DocumentState.READY
    assert workbench.enrichment.lacking() == [document_id]
    workbench.jobs.handlers[JobKind.ENRICH].run(document_id)
    assert workbench.enrichment.lacking() == []


def test_one_operation_that_fails_leaves_the_others_and_is_tried_again_by_the_next_run(
    stores: Stores, workbench: Workbench
) -> None:
    assert isinstance(stores.embedder, WordEmbedder)
    broken = replace(
        OPERATIONS[Operation.KEYWORDS], run=lambda reading, embed: _raise(ModelUnavailable("No model.", "Wait."))
    )
    odd = replace(OPERATIONS[Operation.DATES], run=lambda reading, embed: _raise(ZeroDivisionError("oops")))
    document_id = add(workbench)
    desk = desk_with(workbench, stores, {**OPERATIONS, Operation.KEYWORDS: broken, Operation.DATES: odd})
    desk.enrich(document_id, again=True)
    found = workbench.enrichment.of(document_id)
    assert not found.complete and found.summary.sentences and found.questions.questions
    assert [(each.operation, each.problem, each.hint) for each in found.failures] == [
        (Operation.KEYWORDS, "No model.", "Wait."),
        (
            Operation.DATES,
            "Unexpected ZeroDivisionError: oops",
            "Run it again; if it fails again, report this document.",
        ),
    ]
    reported = workbench.enrichment.statistics()
    assert (reported.enriched, reported.unenriched, reported.rate) == (0, 1, 0.0)
    assert reported.operations[Operation.KEYWORDS].failed == 1 and reported.operations[Operation.SUMMARY].done == 1
    assert workbench.enrichment.failed() == [document_id] == workbench.enrichment.lacking()
    again = workbench.enrichment.enrich(document_id)
    assert [each.operation for each in again] == [Operation.KEYWORDS, Operation.DATES]
    assert workbench.enrichment.of(document_id).complete


def _raise(error: Exception) -> None:
    raise error


def test_a_newer_operation_draws_only_what_is_outdated(stores: Stores, workbench: Workbench) -> None:
    document_id = add(workbench)
    assert workbench.enrichment.enrich(document_id) == ()
    newer = replace(OPERATIONS[Operation.SUMMARY], version=2)
    desk = desk_with(workbench, stores, {**OPERATIONS, Operation.SUMMARY: newer})
    assert [(each.operation, each.version) for each in desk.enrich(document_id)] == [(Operation.SUMMARY, 2)]
    assert desk.enrich(document_id) == ()
    reported = workbench.enrichment.statistics()
    assert reported.operations[Operation.SUMMARY].outdated == 1 and reported.enriched == 0


def test_what_was_drawn_from_an_older_reading_does_not_stand(stores: Stores, workbench: Workbench) -> None:
    document_id = add(workbench)
    before = workbench.enrichment.of(document_id)
    stores.jobs.work = lambda kind, number: None
    workbench.ingestion.ingest(document_id)
    assert workbench.enrichment.of(document_id).outcomes == {}
    workbench.enrichment._store.save([*before.outcomes.values()])  # as a job would that began before the reading
    assert len(workbench.enrichment.enrich(document_id)) == len(Operation)


def test_a_batch_tells_how_far_it_is_stops_and_goes_on_where_it_ended(stores: Stores, workbench: Workbench) -> None:
    stores.jobs.work = lambda kind, number: None
    ids = [add(workbench, f"leave{number}.md", f"{POLICY}\nNumber {number}.\n") for number in range(4)]
    reports: list[tuple[int, int]] = []
    desk = workbench.enrichment
    lacking = desk.lacking()
    assert sorted(lacking) == ids
    report = desk.enrich_many(lacking, stop=lambda: len(reports) == 2, on_document=lambda *args: reports.append(args))
    assert report.stopped and (report.done, report.total) == (2, 4) and reports == [(1, 4), (2, 4)]
    assert desk.statistics().enriched == 2 and desk.statistics().rate == 50.0
    workbench.documents.delete(ids[0])
    report = desk.enrich_many([*desk.lacking(), ids[0]])
    assert not report.stopped and report.failures == () and desk.lacking() == []


def test_statistics_count_what_is_read_and_what_is_not(workbench: Workbench) -> None:
    empty = workbench.enrichment.statistics()
    assert (empty.total, empty.embedded, empty.enriched, empty.unenriched, empty.rate) == (0, 0, 0, 0, 0.0)
    add(workbench)
    broken = workbench.documents.upload("broken.pdf", b"%PDF-1.7 nothing").document_id
    assert workbench.documents.get(broken).state is DocumentState.FAILED
    reported = workbench.enrichment.statistics()
    assert (reported.total, reported.embedded, reported.enriched, reported.unenriched, reported.rate) == (
        2,
        1,
        1,
        1,
        50.0,
    )
    assert workbench.enrichment.enrich(broken) == ()


def test_what_a_person_changed_survives_every_later_run_until_it_is_reset(workbench: Workbench) -> None:
    document_id = add(workbench)
    desk = workbench.enrichment
    found = desk.of(document_id)
    removed, stored = found.keywords.words[0], found.keywords.words[1:3]
    desk.edits.set_keywords(document_id, [*stored, "  Harbour   rules "], "Ann")
    desk.edits.rewrite_summary(document_id, "How leave\nis asked for.", "Ann")
    desk.edits.set_type(document_id, "handbook", "Ann")
    question = found.questions.questions[0].question
    desk.edits.remove_question(document_id, question, "Ann")
    for run in (lambda: desk.enrich(document_id, again=True), lambda: workbench.ingestion.ingest(document_id)):
        run()
        shown = desk.of(document_id)
        assert shown.complete
        assert set(shown.keywords.words) == {*stored, "Harbour rules"} and removed not in shown.keywords.words
        assert shown.summary.rewritten == "How leave is asked for."
        assert shown.document_type.value == "handbook" and shown.document_type.by_hand
        assert question not in [each.question for each in shown.questions.questions]
        assert {each.who for each in shown.edits.values()} == {"Ann"}
    for operation in Operation:
        desk.edits.reset(document_id, operation)
    shown = desk.of(document_id)
    assert shown.edits == {}
    assert shown.keywords == found.keywords and shown.document_type == found.document_type
    assert [each.question for each in shown.questions.questions] == [e.question for e in found.questions.questions]


def test_a_keyword_taken_away_can_be_put_back(workbench: Workbench) -> None:
    document_id = add(workbench)
    desk = workbench.enrichment
    words = desk.of(document_id).keywords.words
    desk.edits.set_keywords(document_id, words[1:], "Ann")
    desk.edits.set_keywords(document_id, words, "Ann")
    assert desk.of(document_id).keywords.words == words and desk.of(document_id).edits == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda edits, i: edits.set_keywords(i, [f"word {n}" for n in range(11)], "Ann"),
        lambda edits, i: edits.set_keywords(i, ["  "], "Ann"),
        lambda edits, i: edits.set_keywords(i, ["x" * 61], "Ann"),
        lambda edits, i: edits.rewrite_summary(i, " \n ", "Ann"),
        lambda edits, i: edits.rewrite_summary(i, "x" * 2_001, "Ann"),
        lambda edits, i: edits.set_type(i, "poem", "Ann"),
    ],
)
def test_a_change_that_cannot_be_is_refused_and_changes_nothing(workbench: Workbench, change) -> None:  # type: ignore[no-untyped-def]
    document_id = add(workbench)
    with pytest.raises(BadRequest):
        change(workbench.enrichment.edits, document_id)
    assert workbench.enrichment.of(document_id).edits == {}


def test_a_deleted_document_leaves_nothing_behind(workbench: Workbench) -> None:
    document_id = add(workbench)
    workbench.enrichment.edits.set_type(document_id, "handbook", "Ann")
    workbench.documents.delete(document_id)
    assert workbench.enrichment.of(document_id).outcomes == {} == workbench.enrichment.of(document_id).edits
    with pytest.raises(NotFound):
        workbench.enrichment.enrich(document_id)


def test_names_of_a_document_come_by_type_and_those_named_most_first(workbench: Workbench) -> None:
    names = workbench.enrichment.entities(add(workbench))
    assert "29 U.S.C. § 2616" in names[EntityType.LAW]
    assert list(names) == [kind for kind in EntityType if kind in names]


def test_enrichment_changes_no_search(stores: Stores, tmp_path: Path) -> None:
    from core.domain.queries import SearchRequest

    plain = Stores(WordEmbedder(), jobs=InlineJobs())
    both = (built(stores, tmp_path), built(plain, tmp_path))
    plain.jobs.work = lambda kind, number: None
    reports = []
    for workbench in both:
        add(workbench)
        add(workbench, "other.md", "# Boats\n\nThe leave of a boat is noted by the harbour master each day.\n")
        result = workbench.search.run(SearchRequest("who approves leave"))
        reports.append([(hit.candidate.passage.text, round(hit.score.total, 9)) for hit in result.hits])
    assert reports[0] == reports[1] and reports[0]


def test_a_store_of_its_own_keeps_nothing_of_another() -> None:
    from tests.fakes import FakeCatalogue

    assert FakeEnrichmentStore(FakeCatalogue()).all_outcomes() == []
