"""Ranking and answer probability fitted to two small made folders from the command line."""

import json
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from core.knowledge.answerability import parse_answer_model, parse_topic_model, parse_truth_model

pytestmark = pytest.mark.usefixtures("command_folder")

_TOPICS = {
    "kitchen": {
        "bread": "Bread rises for two hours beside the oven. Dough is kneaded by hand.",
        "soup": "Soup simmers on a low flame until noon. Bones give it strength.",
        "cheese": "Cheese ripens in a damp cellar for ninety days. It is turned every week.",
        "apples": "Apples keep in a cool loft through the winter. Bruised ones are pressed.",
    },
    "harbour": {
        "ferries": "Ferries leave the northern pier every forty minutes. Tickets are sold on board.",
        "cranes": "Cranes lift containers of at most thirty tonnes. Wind above gale force stops them.",
        "pilots": "Pilots board vessels two miles off the lighthouse. Fog delays the boarding.",
        "nets": "Nets are dried on the eastern quay. Torn nets are mended by the net loft.",
    },
}


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two collections of four documents and four questions each."""
    made = []
    for name, texts in _TOPICS.items():
        folder = tmp_path_factory.mktemp("collections") / name
        folder.mkdir()
        corpus = [json.dumps({"_id": key, "title": key, "text": text}) for key, text in texts.items()]
        queries = [json.dumps({"_id": f"q-{key}", "text": f"What is said of {key}?"}) for key in texts]
        (folder / "corpus.jsonl").write_text("\n".join(corpus))
        (folder / "queries.jsonl").write_text("\n".join(queries))
        rows = ["query-id\tcorpus-id\tscore", *(f"q-{key}\t{key}\t1" for key in texts)]
        (folder / "qrels.tsv").write_text("\n".join(rows))
        made.append(folder)
    return made


@pytest.mark.parametrize("read", [False, True])
def test_the_probability_of_an_answer_is_fitted_and_measured_left_out(
    folders: list[Path], tmp_path: Path, read: bool
) -> None:
    model, out = tmp_path / "model.toml", tmp_path / "out.json"
    options = ["--read"] if read else []
    result = run("evaluate", "fit-answerability", *folders, "--write", model, "--json", out, *options)
    assert result.exit_code == 0, result.output
    data = json.loads(out.read_text())
    assert [(each["collection"], each["cases"]) for each in data["left_out"]] == [("kitchen", 8), ("harbour", 8)]
    assert all(each["auroc"] > 0.8 for each in data["left_out"])
    name = "answerability_read" if read else "answerability"
    written = parse_answer_model(tomllib.loads(model.read_text()), name)
    assert ("reading" in written.weights) is read
    assert written.threshold == data["threshold"]
    assert "# Fitted to cosines of all-MiniLM-L6-v2" in model.read_text()
    assert "curve of kitchen" in result.stdout and "curve of harbour" in result.stdout


def test_the_probability_of_a_truth_is_fitted_and_measured_left_out(folders: list[Path], tmp_path: Path) -> None:
    model, out = tmp_path / "model.toml", tmp_path / "out.json"
    result = run("evaluate", "fit-truth-answers", *folders, "--write", model, "--json", out)
    assert result.exit_code == 0, result.output
    data = json.loads(out.read_text())["left_out"]
    assert [(each["collection"], each["answerable"]) for each in data] == [("kitchen", 4), ("harbour", 4)]
    for each in data:
        assert each["auroc"] > 0.8
        assert each["answering"]["truths"] + each["other"]["truths"] == 20 == each["without"]["truths"]
    written = parse_truth_model(tomllib.loads(model.read_text()))
    assert written.evidence > 0


def test_the_probability_that_a_truth_covers_a_topic_is_fitted_and_measured_left_out(tmp_path: Path) -> None:
    folders, judged = [], tmp_path / "judged"
    judged.mkdir()
    for name, texts in _TOPICS.items():
        folder = tmp_path / name
        (folder / "files").mkdir(parents=True)
        rows = ["file,sha256,truth,domain,authority,jurisdiction,effective_date"]
        topics = []
        for (key, text), truth in zip(texts.items(), ("regulatory", "reference", "intent", "compliance"), strict=True):
            (folder / "files" / f"{key}.txt").write_text(text)
            digest = sha256(text.encode()).hexdigest()
            rows.append(f"{key}.txt,{digest},{truth},general,internal,global,")
            others = sorted({"regulatory", "reference", "intent", "compliance"} - {truth})
            topics.append(json.dumps({"topic": key, "covered": [truth], "missing": others}))
        (folder / "labels.csv").write_text("\n".join(rows))
        (judged / f"{name}.jsonl").write_text("\n".join(topics[:3]))
        (folder / "gaps.jsonl").write_text(topics[3])
        folders.append(folder)
    model, out = tmp_path / "model.toml", tmp_path / "out.json"
    result = run("evaluate", "fit-coverage", *folders, "--topics", judged, "--write", model, "--json", out)
    assert result.exit_code == 0, result.output
    data = json.loads(out.read_text())["left_out"]
    assert [each["collection"] for each in data] == ["kitchen", "harbour"]
    for each in data:
        states = [each[name] for name in ("gap", "partial", "full")]
        assert (sum(some["cells"] for some in states), sum(some["covered"] for some in states)) == (16, 4)
        assert each["auroc"] > 0.8 and each["brier"] < 0.2
    written = parse_topic_model(tomllib.loads(model.read_text()))
    assert written.evidence > 0


def test_requirements_are_measured_by_judged_sentences(tmp_path: Path) -> None:
    folder, judged, out = tmp_path / "harbour", tmp_path / "judged", tmp_path / "out.json"
    (folder / "files").mkdir(parents=True)
    judged.mkdir()
    sentences = ["The vendor shall moor every ferry at the north pier.", "The vendor may hire two divers."]
    texts = {
        "contract": ("intent", "\n\n".join(sentences)),
        "by-law": ("regulatory", "Every ferry is moored at the north pier in winter."),
        "guide": ("reference", "Onions are peeled and cut before the soup boils."),
    }
    rows = ["file,sha256,truth,domain,authority,jurisdiction,effective_date"]
    for name, (truth, text) in texts.items():
        (folder / "files" / f"{name}.txt").write_text(text)
        rows.append(f"{name}.txt,{sha256(text.encode()).hexdigest()},{truth},general,internal,global,")
    (folder / "labels.csv").write_text("\n".join(rows))
    contract = sha256(texts["contract"][1].encode()).hexdigest()
    cells = {"covered": ["regulatory"], "missing": ["reference"]}
    lines = [
        {"document": contract, "sentence": sha256(text.encode()).hexdigest(), "requirement": "shall" in text, **cells}
        for text in sentences
    ]
    (judged / "requirements_harbour.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = run("evaluate", "requirements", folder, "--judged", judged, "--json", out)
    assert result.exit_code == 0, result.output
    [data] = json.loads(out.read_text())["collections"]
    assert (data["found"], data["requirements_found"], data["requirements"]) == (1, 1, 1)
    assert data["cells"]["auroc"] == 1 and data["cells"]["full"] == {"cells": 1, "covered": 1}
    (judged / "requirements_harbour.jsonl").write_text(json.dumps({**lines[0], "document": "0" * 64}))
    refused = run("evaluate", "requirements", folder, "--judged", judged)
    assert refused.exit_code == 2 and "None of the judged sentences" in refused.stderr


def test_weights_are_chosen_on_the_other_folders(folders: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run("evaluate", "fit-weights", *folders, "--json", out)
    assert result.exit_code == 0, result.output
    data = json.loads(out.read_text())
    assert [(each["folder"], each["questions"]) for each in data["left_out"]] == [("kitchen", 4), ("harbour", 4)]
    for each in data["left_out"]:
        assert sum(each["weights"].values()) == pytest.approx(1)
        assert all(0 < each[name] <= 1 for name in ("in_use", "equal", "chosen"))
    assert all(low <= data["best"][name] <= high for name, (low, high) in data["ranges"].items())
    assert "best on all folders: similarity" in result.stdout


@pytest.mark.parametrize("command", ["fit-answerability", "fit-truth-answers", "fit-weights"])
def test_one_folder_is_refused_before_it_is_read(command: str, folders: list[Path]) -> None:
    refused = run("evaluate", command, folders[0], folders[0])
    assert refused.exit_code == 2
    assert "One folder cannot be judged by others." in refused.stderr
