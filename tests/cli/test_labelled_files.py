"""What is left out when labelled files are judged, and how further ones are added to the built-in model."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import core.evaluation.tuning.classifier_fitting as fitting
from cli.labelled_files import ReadFile, left_out
from cli.main import app
from core.domain.documents import Page
from core.domain.errors import BadRequest
from core.evaluation.judgments.files import LabelRow
from core.evaluation.tuning.training_documents import TrainingDocument, fold_of, training_document
from core.ingestion.classification.linear_model import ClassifierModel, built_in_model, from_bytes
from core.ingestion.classification.sample import read_for_classifying
from core.knowledge.workspace_terms import BUILT_IN_TERMS

WORDS = "kiln glaze clay oven brick sand shelf tray mould dust wheel slip frit cone bisque stain brush sponge".split()
NO_VECTORS = np.zeros((0, 384), dtype=np.float32)


def text_of(number: int) -> str:
    """Texts of which no two share three words in a row."""
    return " ".join(f"{WORDS[number % len(WORDS)]}{number} {word}{number}" for word in WORDS) + "."


def file_of(number: int, source: str, text: str = "", truth: str = "intent") -> ReadFile:
    sample = read_for_classifying("document.txt", "", [Page(1, text or text_of(number))], {})
    row = LabelRow(f"{number}.txt", f"{number}.txt", f"{number:064}", truth, "other", "customer", "global", "", source)
    return ReadFile(row, training_document(row, "en", sample, NO_VECTORS, BUILT_IN_TERMS), (), NO_VECTORS)


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The sources that each fold's model was fitted on."""
    folds: list[set[str]] = []

    def record(documents: Sequence[TrainingDocument], *_: object) -> ClassifierModel:
        folds.append({each.source for each in documents})
        return built_in_model()

    monkeypatch.setattr(fitting, "fit_classifier", record)
    return folds


def test_neither_an_owner_nor_a_copy_teaches_what_judges_its_documents(learned: list[set[str]]) -> None:
    others = [file_of(number, f"owner{number}/a") for number in range(10)]
    elsewhere = next(f"copier{n}/a" for n in range(99) if fold_of(f"copier{n}/a", 5) != fold_of("own/a", 5))
    copy = file_of(20, elsewhere, f"Quoted below. {text_of(30)}")
    left_out([file_of(30, "own/a")], [*others, file_of(31, "OWN/b"), copy], True, [], 0)
    same_fold = {each.row.source for each in others if fold_of(each.row.source, 5) == fold_of("own/a", 5)}
    assert learned == [{each.row.source for each in others} - same_fold]


def test_the_stock_classifier_learns_the_same_documents(learned: list[set[str]]) -> None:
    others = [
        file_of(number, f"owner{number}/a", f"{text_of(number)} {word} {word}", truth)
        for number in range(20)
        for truth, word in (("intent", "tender"), ("compliance", "policy"))
    ]
    judged = [file_of(90, "own/a", "A tender of ours.", "intent"), file_of(91, "own/a", "The policy here.", "reality")]
    documents, _, stock = left_out(judged, others, True, [], 0)
    assert [stock[each.row.sha256].labels.truth.value for each in judged] == ["intent", "compliance"]
    assert stock.keys() == documents.keys()
    assert stock[judged[0].row.sha256].labels.authority.value == "customer"  # the only one there is
    assert len(learned) == 1


def test_documents_of_one_owner_alone_are_refused_with_what_to_do() -> None:
    with pytest.raises(BadRequest, match="too few documents"):
        left_out([file_of(1, "own/a"), file_of(2, "own/b")], [], True, [], 0)


def fit(*words: str) -> str:
    return CliRunner().invoke(app, ["evaluate", "fit-classifier", *words]).output


def test_further_files_are_added_to_the_built_in_model_and_fit_its_map(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    rows = ["file,original_name,sha256,truth,domain,authority,jurisdiction,effective_date,source"]
    for number in range(12):
        text = f"Our staff policy number {number}. Employees ask their manager before they travel.".encode()
        (tmp_path / "files" / f"{number}.txt").write_bytes(text)
        rows.append(
            f"{number}.txt,{number}.txt,{sha256(text).hexdigest()},compliance,other,internal,global,,owner{number}/a"
        )
    (tmp_path / "labels.csv").write_text("\n".join(rows), "utf-8")
    output = fit("--add", "--learn-from", str(tmp_path), "--write", str(tmp_path / "model.npz"))
    assert "truth: 1.000 right before, 1.000 after, on sources left out" in output
    assert "12 documents of 12 sources" in output
    added = from_bytes((tmp_path / "model.npz").read_bytes())
    assert added.heads["passage"].bias.tolist() == built_in_model().heads["passage"].bias.tolist()
    assert added.numbers["place_features"] != built_in_model().numbers["place_features"]
    output = fit("--only", "context", "--learn-from", str(tmp_path), "--write", str(tmp_path / "context.npz"))
    assert "The map of sentences in context explains " in output
    context = from_bytes((tmp_path / "context.npz").read_bytes())
    assert context.context.shape == built_in_model().context.shape
    assert context.heads["truth"].bias.tolist() == built_in_model().heads["truth"].bias.tolist()


def test_what_can_be_added_to_is_not_what_can_be_fitted_alone() -> None:
    assert "Give one of: truth, authority, jurisdiction." in fit("--add", "--only", "dates")
