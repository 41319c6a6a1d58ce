"""Fitting what clues tell: it learns, keeps what nobody saw, leaves sources out, and always says the same."""

from core.domain.documents import EvidenceSource, Truth
from core.evaluation.tuning.classifier_fitting import (
    LabelledDocument,
    best_temperature,
    figures_text,
    fit,
    fitted_text,
    left_out,
)
from core.ingestion.classification.truth import Clue
from core.knowledge.classifier_weights import given_weights

SHALL = "manner: commands with shall"
STEPS = "manner: gives steps to follow"


def judged(truth: str, source: str, *keys: str) -> LabelledDocument:
    clues = tuple(Clue(key, "", 1.0, "words", EvidenceSource.TEXT, key) for key in keys)
    return LabelledDocument(f"{source}.txt", source, truth, clues)


DOCUMENTS = [judged("intent", f"buyer {i}", SHALL) for i in range(8)] + [
    judged("reference", f"maker {i}", STEPS) for i in range(8)
]


def test_a_manner_tells_what_the_documents_that_have_it_are() -> None:
    found = fit(DOCUMENTS)
    assert max(found.weights[SHALL], key=lambda truth: found.weights[SHALL][truth]) == "intent"
    assert max(found.weights[STEPS], key=lambda truth: found.weights[STEPS][truth]) == "reference"
    assert all(weight >= 0 for row in found.weights.values() for weight in row.values())


def test_a_clue_that_no_document_holds_keeps_what_the_table_gives() -> None:
    key = "sign reference: recommends"
    assert fit(DOCUMENTS).weights[key] == given_weights()[key]


def test_documents_of_a_source_left_out_are_told_by_the_others() -> None:
    told = left_out(DOCUMENTS)
    assert [max(row, key=lambda truth: row[truth]) for row in told] == [one.truth for one in DOCUMENTS]
    assert all(abs(sum(row.values()) - 1.0) < 1e-9 for row in told)


def test_a_source_alone_in_what_it_shows_is_not_known_from_itself() -> None:
    lonely = judged("reality", "lonely", "manner: gives times of day")
    (*_, told) = left_out([*DOCUMENTS, lonely])
    assert told["reality"] < 0.5


def test_the_same_documents_give_the_same_table() -> None:
    assert fitted_text(fit(DOCUMENTS), 16, 16) == fitted_text(fit(DOCUMENTS), 16, 16)


def test_predictions_that_are_too_sure_are_to_be_cooled() -> None:
    sure = dict.fromkeys((truth.value for truth in Truth), 0.0025) | {"intent": 0.99}
    half = [judged("intent", "a"), judged("reality", "b")] * 5
    assert best_temperature(half, [sure] * 10) > 1.0


def test_the_figures_name_what_was_wrong() -> None:
    text = figures_text("names shown", DOCUMENTS[:1], [{"intent": 0.2, "reality": 0.8}])
    assert "wrong: buyer 0.txt is intent, not reality (0.80)" in text
