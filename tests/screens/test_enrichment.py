"""Enrichment on Library: what is drawn from a document, corrected by hand; and how far the library is."""

import time
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from core.domain.errors import ModelUnavailable
from core.library.enrichment.store import OPERATIONS
from core.library.enrichment.values import Operation, OperationOutcome
from pages.components.library import enrichment
from tests.enrich.reading import AT, POLICY
from tests.screens.conftest import Opened, Stack, words


def _shown(opened: Opened, document_id: int) -> AppTest:
    """The enrichment of a document."""
    screen = opened("library.py", document=str(document_id))
    [view] = [each for each in screen.segmented_control if "Enrichment" in each.options and "Labels" in each.options]
    return view.set_value("Enrichment").run()


def _state(opened: Opened) -> AppTest:
    """How far the library is enriched."""
    return opened("library.py", view="enrichment")


def test_a_document_tells_its_type_summary_keywords_questions_laws_and_dates(library: Stack, opened: Opened) -> None:
    text = words(_shown(opened, library.add("leave.md", POLICY)))
    for part in ("This policy explains", "How long must leave records be kept", "29 U\\.S\\.C\\.", "2026\\-01\\-01"):
        assert part in text
    assert "because of" in text and "Drawn " in text


def test_text_of_a_document_is_drawn_as_it_is(stocked: Stack, opened: Opened) -> None:
    hostile = next(each.id for each in stocked.workbench.documents.list() if each.name == "hostile_notes.md")
    assert ":red[shout]" not in words(_shown(opened, hostile))


def test_what_is_not_drawn_yet_can_be_drawn_now(library: Stack, opened: Opened) -> None:
    library.jobs.work = lambda kind, number: None
    document_id = library.add("leave.md", POLICY)
    screen = _shown(opened, document_id)
    assert "Not enriched yet" in words(screen)
    screen.button(key="enrich.now").click().run()
    assert "This policy explains" in words(screen)


def test_a_question_taken_out_stays_out_until_reset(library: Stack, opened: Opened) -> None:
    document_id = library.add("leave.md", POLICY)
    question = library.workbench.enrichment.of(document_id).questions.questions[0].question
    screen = _shown(opened, document_id)
    screen.button(key=f"icon.enrich.question.{document_id}.0").click().run()
    assert question.removesuffix("?") not in words(screen) and "changed by hand" in words(screen)
    screen.button(key="enrich.reset.questions").click().run()
    assert question.removesuffix("?") in words(screen)


def test_the_type_the_summary_and_the_keywords_can_be_corrected(library: Stack, opened: Opened) -> None:
    document_id = library.add("leave.md", POLICY)
    screen = _shown(opened, document_id)
    screen.selectbox(key=f"enrich.document_type.{document_id}").set_value("handbook").run()
    screen.button(key="enrich.save.document_type").click().run()
    screen.text_area(key=f"enrich.summary.{document_id}").set_value("In our own words.").run()
    screen.button(key="enrich.save.summary").click().run()
    stored = library.workbench.enrichment.of(document_id).keywords.words[:2]
    screen.multiselect(key=f"enrich.keywords.{document_id}").set_value(list(stored)).run()
    screen.button(key="enrich.save.keywords").click().run()
    found = library.workbench.enrichment.of(document_id)
    assert found.document_type.value == "handbook" and found.keywords.words == stored
    assert found.summary.rewritten == "In our own words." and "In our own words" in words(screen)


def test_what_is_typed_last_is_saved_and_a_reset_shows_what_was_found(library: Stack, opened: Opened) -> None:
    document_id = library.add("leave.md", POLICY)
    screen = _shown(opened, document_id)
    found = screen.text_area(key=f"enrich.summary.{document_id}").value
    # The click leaves the field, so that the browser sends both together.
    screen.text_area(key=f"enrich.summary.{document_id}").set_value("In our own words.")
    screen.button(key="enrich.save.summary").click().run()
    assert library.workbench.enrichment.of(document_id).summary.rewritten == "In our own words."
    screen.button(key="enrich.reset.summary").click().run()
    assert [each.value for each in screen.text_area if each.label == "Summary"] == [found]


def test_what_somebody_else_corrected_meanwhile_is_not_overwritten(library: Stack, opened: Opened) -> None:
    document_id = library.add("leave.md", POLICY)
    screen = _shown(opened, document_id)
    library.workbench.enrichment.edits.set_keywords(document_id, ["sabbatical"], "Ben")
    screen.button(key="enrich.save.keywords").click().run()
    assert library.workbench.enrichment.of(document_id).keywords.words == ("sabbatical",)
    assert "changed by Ben meanwhile" in words(screen)


def test_a_failure_is_told_with_its_reason(library: Stack, opened: Opened) -> None:
    document_id = library.add("leave.md", POLICY)
    known = library.workbench.enrichment.of(document_id).outcomes[Operation.KEYWORDS]
    failed = replace(known, result=None, problem="The model is away.", hint="Wait for it.")
    library.workbench.enrichment._store.save([failed])
    assert "The model is away" in words(_shown(opened, document_id))
    state = words(_state(opened))
    assert "1 failure" in state and "The model is away" in state and "Try 1 failed document again" in state


def test_the_state_counts_every_operation_and_an_empty_library_says_what_to_do(library: Stack, opened: Opened) -> None:
    assert "The library is empty" in words(_state(opened))
    library.add("leave.md", POLICY)
    screen = _state(opened)
    assert "1 of 1 document enriched" in words(screen) and "All documents are enriched" in words(screen)
    assert list(screen.dataframe[0].value["Extract"]) == [row.label for row in OPERATIONS.values()]


def test_shares_and_counts_of_every_line_are_of_the_same_documents(library: Stack, opened: Opened) -> None:
    for number in range(2):
        library.add(f"leave {number}.md", f"{POLICY}\nVersion {number}.\n")
    library.add("broken.pdf", "%PDF-1.7 no more")
    screen = _state(opened)
    assert "**2 of 3 documents enriched** – 66%" in words(screen)
    table = screen.dataframe[0].value
    assert set(table["Share"]) == {66}
    assert all(table["Done"] + table["Missing"] + table["Outdated"] + table["Failed"] == 3)


def test_what_lacks_enrichment_is_drawn_in_the_background(library: Stack, opened: Opened) -> None:
    library.jobs.work = lambda kind, number: None
    library.add("leave.md", POLICY)
    screen = _state(opened)
    screen.button(key="enrich.all").click().run()
    run = enrichment.current_run()
    assert run is not None
    deadline = time.monotonic() + 60
    while run.running:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert run.done == run.total == 1 and run.report is not None and not run.report.failures
    screen.run()
    assert "All documents are enriched" in words(screen)


def test_a_batch_that_cannot_go_on_says_why(library: Stack, opened: Opened, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    library.jobs.work = lambda kind, number: None
    library.add("leave.md", POLICY)

    def away(outcomes: list[OperationOutcome]) -> None:
        raise ModelUnavailable("The store is away.", "Start it.")

    monkeypatch.setattr(library.workbench.enrichment._store, "save", away)
    screen = _state(opened)
    screen.button(key="enrich.all").click().run()
    run = enrichment.current_run()
    deadline = time.monotonic() + 60
    while run is not None and run.running:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    screen.run()
    assert "The store is away" in words(screen)
    assert AT.tzinfo is not None
