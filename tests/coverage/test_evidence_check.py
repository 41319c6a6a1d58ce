"""Whether the sentences of an acceptance still stand, in a real library that changes under them."""

from dataclasses import replace
from hashlib import sha256

import pytest

from core.coverage.review import broken_pins
from core.domain.coverage import Decision, ReviewVerdict
from core.domain.documents import DocumentState, Page, Passage, Truth
from core.search.citations.cite import citation_of
from tests.label_edits import store_labels
from tests.search.library import NOW, Library, WordEmbedder

RULE = "Visitors must sign the book at the gate."


def library_with(*texts: str, name: str = "gate.pdf", project: str | None = None) -> tuple[Library, Decision]:
    library = Library()
    catalogue_library = library.add(name, *texts, truth=Truth.COMPLIANCE)
    document = library.catalogue.document(catalogue_library[0].document_id)
    if project:
        store_labels(library.catalogue, replace(document, project=project), [])
    return library, accepted(catalogue_library[0], library)


def accepted(passage: Passage, library: Library, verdict: ReviewVerdict = ReviewVerdict.ACCEPTED) -> Decision:
    pinned = citation_of(passage, library.catalogue.document(passage.document_id), 0)
    return Decision(1, "compliance", None, verdict, "Ada", NOW, 1, id=7, pinned=(pinned,))


def evidence_problem(library: Library, decision: Decision, project: str | None = None) -> str:
    return broken_pins([decision], library.catalogue, project).get(7, "")


def read_again(library: Library, document_id: int, text: str, truth: Truth = Truth.COMPLIANCE) -> None:
    """The same bytes read once more: new passage ids, perhaps other text and labels."""
    document = library.catalogue.document(document_id)
    passage = Passage(text, 1, 0, len(text), (), truth=truth)
    stored = library.catalogue.save_ingested(document, [Page(1, text)], [passage], WordEmbedder().embed([text]))
    library.vectors.add(stored, WordEmbedder().embed([text]))


def test_a_sentence_that_stands_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    library, decision = library_with(RULE)
    monkeypatch.setattr(library.catalogue, "documents", None)  # of a large library, only what is cited is read
    assert evidence_problem(library, decision) == ""


def test_reading_the_same_text_again_breaks_nothing() -> None:
    library, decision = library_with(RULE)
    cited = decision.pinned[0]
    read_again(library, cited.document_id, RULE)
    assert cited.passage_id not in library.catalogue.passages([cited.passage_id])
    assert evidence_problem(library, decision) == ""


def test_while_a_document_is_read_again_its_sentences_stand() -> None:
    library, decision = library_with(RULE)
    library.catalogue.mark(decision.pinned[0].document_id, step="read")
    assert library.catalogue.document(decision.pinned[0].document_id).state is DocumentState.PENDING
    assert evidence_problem(library, decision) == ""


def test_a_deleted_document_is_named() -> None:
    library, decision = library_with(RULE)
    library.catalogue.delete(decision.pinned[0].document_id)
    assert evidence_problem(library, decision) == f"“{RULE}” (gate.pdf, p. 1) is no longer in the library."


def test_the_same_bytes_uploaded_again_stand_in() -> None:
    library, decision = library_with(RULE)
    library.catalogue.delete(decision.pinned[0].document_id)
    library.add("renamed.pdf", RULE, truth=Truth.COMPLIANCE)
    assert evidence_problem(library, decision) == ""


def test_a_new_version_is_quoted_in_its_new_wording() -> None:
    library, decision = library_with(RULE, "Dogs stay outside.")
    library.catalogue.delete(decision.pinned[0].document_id)
    library.add("gate.pdf", "Welcome.", "Visitors should sign the list at the gate.", truth=Truth.COMPLIANCE)
    words = evidence_problem(library, decision)
    assert "replaced by a new version" in words and "says “Visitors should sign the list at the gate.”" in words


def test_a_new_version_without_such_a_sentence_quotes_none() -> None:
    library, decision = library_with(RULE)
    library.catalogue.delete(decision.pinned[0].document_id)
    library.add("gate.pdf", "Parking costs nothing on Sundays.", truth=Truth.COMPLIANCE)
    assert evidence_problem(library, decision).endswith("was replaced by a new version of the document.")


def test_a_page_read_otherwise_breaks_the_sentence() -> None:
    library, decision = library_with(RULE)
    read_again(library, decision.pinned[0].document_id, "V1s1tors mvst s1gn the b00k at the gate.")
    assert "no longer read like that on its page" in evidence_problem(library, decision)


def test_another_truth_breaks_it_also_when_the_passage_has_a_new_id() -> None:
    library, decision = library_with(RULE)
    cited = decision.pinned[0]
    passage = library.catalogue.passages([cited.passage_id])[cited.passage_id]
    document = library.catalogue.document(cited.document_id)
    store_labels(library.catalogue, document, [replace(passage, truth=Truth.REFERENCE)])
    assert "is now classified as reference" in evidence_problem(library, decision)
    read_again(library, cited.document_id, RULE, Truth.INTENT)
    assert "is now classified as intent" in evidence_problem(library, decision)


def test_an_archived_document_is_out() -> None:
    library, decision = library_with(RULE)
    document = library.catalogue.document(decision.pinned[0].document_id)
    store_labels(library.catalogue, replace(document, archived=True), [])
    assert "no longer in the library" in evidence_problem(library, decision)


def test_a_document_of_another_project_does_not_carry_this_one() -> None:
    library, decision = library_with(RULE, project="north")
    assert evidence_problem(library, decision, "north") == evidence_problem(library, decision) == ""
    assert "no longer in the library" in evidence_problem(library, decision, "south")


def test_several_broken_sentences_are_counted_and_other_verdicts_not_looked_at() -> None:
    library, decision = library_with(RULE)
    removed = replace(decision.pinned[0], sha256=sha256(b"gone").hexdigest(), document_name="old.pdf")
    both = replace(decision, pinned=(removed, removed))
    assert evidence_problem(library, both).endswith("(2 sentences changed)")
    confirmed = accepted(
        library.catalogue.passages_of(decision.pinned[0].document_id)[0], library, ReviewVerdict.CONFIRMED
    )
    assert broken_pins([replace(confirmed, pinned=(removed,))], library.catalogue, None) == {}
