"""The command line as a user types it, on a tiny library of its own."""

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from cli.main import app
from fivefold import open_library
from storage.embedded_postgres.server import start_embedded
from tests.answers.schema import BRIEF

POLICY = """# Vacation policy

It is our policy that every employee requests vacation in writing. Managers must approve vacation within 5 working days.
Employees who violate this policy are subject to disciplinary action. Human Resources reviews this policy each year.
"""
LAW = """# Sec. 12. Minimum wage

(a) Every employer shall pay to each of his employees a minimum wage of not less than $7.25 an hour.
(b) Any employer who violates the provisions of this section shall be liable under section 216 of this title.
The Secretary of Labor shall by regulation define the terms of this section. 29 U.S.C. 206(a).
"""


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good files, one empty, one hidden."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "vacation-policy.md").write_text(POLICY)
    (folder / "inner").mkdir()
    (folder / "inner" / "wages.md").write_text(LAW)
    (folder / "empty.txt").write_bytes(b"")
    (folder / ".hidden").write_text("not read")
    return folder


@pytest.fixture(scope="module", autouse=True)
def library(command_folder: Path) -> Iterator[Path]:
    """Every command of this module works on one data folder, whose database runs on from command to command."""
    with closing(start_embedded(command_folder)):
        yield command_folder


@pytest.fixture(scope="module")
def ingested(files: Path) -> Result:
    return run("ingest", files)


def test_each_file_has_its_line_and_a_bad_one_its_reason(ingested: Result) -> None:
    lines = {
        line.split()[1].rstrip(":"): line
        for line in ingested.stdout.splitlines()
        if line.startswith(("ready", "failed"))
    }
    assert set(lines) == {"vacation-policy.md", "inner/wages.md", "empty.txt"}
    assert "compliance (p " in lines["vacation-policy.md"]
    assert "is empty (0 bytes)" in lines["empty.txt"]
    assert "3 files, 1 failed." in ingested.stdout, ingested.stderr
    assert ingested.exit_code == 1


@pytest.mark.usefixtures("ingested")
def test_the_same_file_again_is_recognised(files: Path) -> None:
    again = run("ingest", files / "vacation-policy.md")
    assert again.exit_code == 0
    assert "1 files, 0 failed." in again.stdout


@pytest.mark.usefixtures("ingested")
def test_a_question_is_answered_with_a_quote() -> None:
    result = run("search", "How fast must a manager approve vacation?")
    assert result.exit_code == 0
    assert "[vacation-policy.md, " in result.stdout
    assert "within 5 working days" in result.stdout


@pytest.mark.usefixtures("ingested")
def test_a_question_as_json_honours_its_filters() -> None:
    result = run("search", "vacation approval", "--truth", "regulatory", "--json")
    data = json.loads(result.stdout)
    assert data["filters"] == ["truth is regulatory"]
    assert "vacation-policy.md" not in {hit["document"] for hit in data["hits"]}
    data = json.loads(run("search", "vacation approval", "--truth", "compliance", "--json").stdout)
    hit = data["hits"][0]
    assert hit["document"] == "vacation-policy.md"
    summed = sum(factor["contribution"] for factor in hit["factors"])
    for multiplier in hit["multipliers"]:
        summed *= multiplier["value"]
    assert hit["score"] == pytest.approx(summed, abs=1e-9)


@pytest.mark.usefixtures("ingested")
def test_pages_by_offset_are_one_list_and_a_search_has_weights_of_its_own(tmp_path: Path) -> None:
    def search(*arguments: object) -> Any:
        return json.loads(run("search", "vacation approval", "--json", *arguments).stdout)

    whole = search()
    assert whole["total"] == len(whole["hits"]) > 1 and whole["more"] is False
    pages = [search("--top-k", 1, "--offset", number)["hits"] for number in range(whole["total"])]
    found = [(hit["rank"], hit["passage_id"]) for each in pages for hit in each]
    assert found == [(hit["rank"], hit["passage_id"]) for hit in whole["hits"]]
    own = search("--weight", "keyword=0.6", "--weight", "similarity=0.4", "--threshold", 0.0, "--half-life-days", 30)
    assert own["scoring"]["weights"] == {"keyword": 0.6, "similarity": 0.4}
    assert (own["profile"], own["scoring"]["half_life_days"]) == ("balanced, changed", 30)
    vector = tmp_path / "vector.json"
    vector.write_text(json.dumps([1.0, *[0.0] * 383]))
    given = search("--query-vector", vector)
    assert given["request"]["query_vector_dimensions"] == 384
    similar = [factor["value"] for hit in given["hits"] for factor in hit["factors"] if factor["name"] == "similarity"]
    assert max(similar) < 0.3


def test_weights_and_vectors_that_are_none_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "vector.json"
    for content, message in (("{}", "has no list of numbers"), ("[1,", "is not JSON"), ("[1, true]", "no list of")):
        file.write_text(content)
        refused = run("search", "x", "--query-vector", file)
        assert refused.exit_code == 2 and message in refused.stderr
    assert "'keyword' is not a weight." in run("search", "x", "--weight", "keyword").stderr


@pytest.mark.usefixtures("ingested")
def test_any_filter_narrows_a_search_also_one_that_leaves_out() -> None:
    def search(*arguments: str) -> Any:
        return json.loads(run("search", "vacation approval", "--json", *arguments).stdout)

    assert "vacation-policy.md" in {hit["document"] for hit in search()["hits"]}
    left = search("--filter", "exclude_documents=vacation-policy.md")
    assert left["filters"] == ["document is not vacation-policy.md"]
    assert "vacation-policy.md" not in {hit["document"] for hit in left["hits"]}
    assert "archived documents too" in search("--filter", "archived=too", "--truth", "compliance")["filters"]
    refused = run("search", "x", "--truth", "intent", "--filter", "truths=reality")
    assert refused.exit_code == 2 and "outside" in refused.stderr


@pytest.mark.usefixtures("ingested")
def test_a_question_is_answered_by_five_truths_in_each_format() -> None:
    question = "How fast must a manager approve vacation?"
    text = run("answer", question).stdout
    assert "## Compliance: answered" in text and "within 5 working days" in text
    assert "## Reality: silent" in text and "## Missing for a complete answer" in text
    data = json.loads(run("answer", question, "--format", "json").stdout)
    jsonschema.validate(data, BRIEF)
    assert data["question"] == question
    page = run("answer", question, "--format", "html").stdout
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")


@pytest.mark.usefixtures("ingested")
def test_an_answer_of_a_project_is_narrowed_to_it() -> None:
    data = json.loads(run("answer", "vacation approval", "--project", "Tallgrass", "--format", "json").stdout)
    assert data["filters"] == ["project is Tallgrass"]


@pytest.mark.usefixtures("ingested")
def test_a_lost_keyword_index_is_reported_and_repaired(library: Path) -> None:
    assert "Keywords, vectors and originals agree with it." in run("check").stdout
    for path in (library / "bm25").rglob("*.segment"):
        path.unlink()
    result = run("check")
    assert result.exit_code == 1, result.output
    assert "differs  keywords: The keyword index lacks" in result.stdout and "check --repair" in result.stdout
    repaired = run("check", "--repair")
    assert repaired.exit_code == 0 and "repaired  keywords:" in repaired.stdout
    assert run("check").exit_code == 0


def test_the_trash_is_listed_restored_and_emptied(library: Path, tmp_path: Path) -> None:
    note = tmp_path / "passing-note.md"
    note.write_text("# Note\n\nThe lantern is kept in the shed.\n", "utf-8")
    assert run("ingest", note).exit_code == 0
    with open_library(library) as opened:
        (document,) = [each for each in opened.documents() if each.name == "passing-note.md"]
        opened.delete(document)
        assert [each.name for each in opened.trash()] == ["passing-note.md"]
    assert "30 days left  passing-note.md  (Python)" in run("trash", "list").stdout
    assert "restored  passing-note.md" in run("trash", "restore", "passing-note.md").stdout
    with open_library(library) as opened:
        opened.delete(document.id)
    refused = run("trash", "purge")
    assert refused.exit_code == 2 and "Say which documents" in refused.stderr
    assert run("trash", "purge", "--all", "--yes").stdout == "deleted for good  passing-note.md\n"
    assert run("trash", "list").stdout == "The trash is empty.\n"
    assert run("trash", "restore", document.id).exit_code == 2


@pytest.mark.usefixtures("ingested")
def test_coverage_shows_states_and_what_to_obtain(tmp_path: Path) -> None:
    topics = tmp_path / "topics.csv"
    topics.write_text("topic\nminimum wage\n")
    result = run("coverage", "vacation approval", topics)
    assert result.exit_code == 0
    assert "high: minimum wage / compliance. Obtain an internal policy" in result.stdout
    data = json.loads(run("coverage", "vacation approval", "--json").stdout)
    states = {cell["truth"]: cell["state"] for cell in data["cells"]}
    assert states["compliance"] == "covered"
    assert states["reality"] == "gap"


@pytest.mark.usefixtures("ingested")
def test_coverage_says_that_a_file_is_not_read_yet(library: Path) -> None:
    with open_workbench(Settings(library, worker=False)) as opened:
        waiting = opened.documents.upload("zoo.md", b"# Zoo\nZebras are fed daily.", project="zoo").document_id
    words = "As of now, 1 file is not read yet and may fill a gap."
    assert run("coverage", "zebra husbandry", "--project", "zoo").stdout.endswith(f"{words}\n")
    data = json.loads(run("coverage", "zebra husbandry", "--project", "zoo", "--json").stdout)
    assert (data["unread"], data["waiting"], data["not_read"]) == ([], 1, words)
    assert words not in run("coverage", "zebra husbandry", "--project", "another").stdout
    with open_workbench(Settings(library, worker=False)) as opened:
        opened.documents.delete(waiting)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search", "x", "--truth", "odd"), "Invalid truths: ['odd']"),
        (("search", "x", "--date-from", "soon"), "date_from is not a date: 'soon'"),
        (("answer", "x", "--profile", "odd"), "There is no score profile 'odd'."),
        (("answer", "  "), "The question is empty."),
        (("search", "x", "--profile", "odd"), "There is no score profile 'odd'."),
        (("search", "x", "--threshold", "2"), "this search: [balanced, changed] 'threshold'"),
        (("search", "x", "--reranker-deadline", "1"), "a deadline for a reranker, but no reranker"),
        (("ingest", "nowhere"), "'nowhere' is not a file or folder."),
        (("coverage", "..."), "is not a topic"),
        (("evaluate", "ir", "nowhere"), "cannot be read"),
        (("evaluate", "classification", "nowhere.csv", "."), "nowhere.csv cannot be read"),
    ],
)
def test_an_error_is_told_with_what_to_do_and_exit_code_2(words: tuple[str, ...], message: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 2
    assert result.stdout == ""


@pytest.fixture(scope="module")
def judged(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged corpus of two files in the documented formats."""
    folder = tmp_path_factory.mktemp("judged")
    hashes = {text: sha256(text.encode()).hexdigest() for text in (POLICY, LAW)}
    fields = [
        "file",
        "original_name",
        "truth",
        "domain",
        "authority",
        "jurisdiction",
        "effective_date",
        "source",
        "sha256",
    ]
    with (folder / "labels.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(fields)
        rows.writerow(["a", "vacation-policy.md", "compliance", "time", "internal", "", "", "ours", hashes[POLICY]])
        rows.writerow(["b", "wages.md", "regulatory", "earnings", "government", "federal", "", "statutes", hashes[LAW]])
    relevant = [{"sha256": hashes[POLICY], "must_contain": ["approve vacation", "5 working days"], "grade": 3}]
    questions = [
        {
            "id": "1",
            "question": "How fast is vacation approved?",
            "kind": "natural",
            "filters": {},
            "relevant": relevant,
        },
        {
            "id": "2",
            "question": "vacation approval",
            "kind": "filter",
            "filters": {"truth": "compliance"},
            "relevant": relevant,
        },
        {"id": "3", "question": "pesticide applicator certificate", "kind": "none", "filters": {}, "relevant": []},
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)))
    gaps = {"topic": "minimum wage", "covered": ["regulatory"], "missing": ["compliance", "reality"]}
    (folder / "gaps.jsonl").write_text(json.dumps(gaps))
    passage = {
        "sha256": hashes[LAW],
        "page": None,
        "start_words": "Every employer shall",
        "passage_truth": "regulatory",
    }
    (folder / "passages.jsonl").write_text(json.dumps(passage))
    return folder


def measured(*words: object, out: Path) -> dict[str, object]:
    result = run("evaluate", *words, "--json", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip()
    return json.loads(out.read_text("utf-8"))


def test_classification_is_measured_with_and_without_names(judged: Path, files: Path, tmp_path: Path) -> None:
    words = ("classification", judged / "labels.csv", files, "--hide-names")
    data = measured(*words, out=tmp_path / "out.json")
    assert {"truth_accuracy", "authority_accuracy", "domain_accuracy", "jurisdiction_accuracy", "date_accuracy"} <= set(
        data
    )
    assert {"passage_accuracy", "ece", "ece_by_chance", "abstained", "per_truth", "per_source"} <= set(data)
    assert data["truth_accuracy"] == 1.0
    assert data["date_accuracy"] is None
    assert set(data["per_source"]) == {"ours", "statutes"}
    dates = tmp_path / "dates.csv"
    sha256 = next(csv.DictReader((judged / "labels.csv").read_text("utf-8").splitlines()))["sha256"]
    dates.write_text(f"sha256,effective_date\n{sha256},1999\n")
    assert measured(*words, "--dates", dates, out=tmp_path / "dated.json")["date_accuracy"] == 0.0


def test_search_is_measured_under_each_questions_own_filters(judged: Path, files: Path, tmp_path: Path) -> None:
    words = ("search", judged / "questions.jsonl", judged / "labels.csv", files, "--use-labels")
    data = measured(*words, out=tmp_path / "out.json")
    keys = {
        "hit@5",
        "answer@5",
        "mrr@10",
        "ndcg@10",
        "refused_none",
        "refused_without",
        "false_refusals",
        "quote_exact",
        "median_ms",
        "per_kind",
    }
    assert keys <= set(data)
    assert (data["hit@5"], data["answer@5"], data["mrr@10"], data["quote_exact"]) == (1.0, 1.0, 1.0, 1.0)
    assert set(data["per_kind"]) == {"natural", "filter", "none"}
    without = [outcome["refused_without"] for outcome in data["outcomes"]]
    assert without.count(None) == data["per_kind"]["none"]["questions"]
    assert data["refused_without"] == without.count(True) / (len(without) - without.count(None))


def test_coverage_is_measured_against_judged_gaps(judged: Path, files: Path, tmp_path: Path) -> None:
    words = ("coverage", judged / "gaps.jsonl", judged / "labels.csv", files)
    data = measured(*words, out=tmp_path / "out.json")
    assert (data["cell_accuracy"], data["gap_precision"], data["gap_recall"], data["error_cells"]) == (1.0, 1.0, 1.0, 0)


def test_a_collection_is_measured_for_each_leg(tmp_path: Path) -> None:
    texts = {
        "d1": "Wings lift aircraft in fast air.",
        "d2": "Heat flows through composite slabs.",
        "d3": "Rain falls on hills.",
    }
    lines = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in texts.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "heat in composite slabs"}')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    data = measured("ir", tmp_path, out=tmp_path / "out.json")
    assert set(data) == {"dense", "sparse", "fused", "balanced"}
    assert {leg: values["ndcg@10"] for leg, values in data.items()} == dict.fromkeys(data, 1.0)
    assert {leg: values["recall@100"] for leg, values in data.items()} == dict.fromkeys(data, 1.0)
