"""Measuring by command: question sets of a library with exit codes for machines, and judged files."""

import csv
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bootstrap.environment import Settings
from bootstrap.scratch_library import NamedFile, fill
from bootstrap.workbench import open_workbench
from cli.main import app
from core.domain.errors import StoreFailed
from core.domain.evaluation import NOTHING_ANSWERS, JudgedQuestion, Level, QuestionSet, Relevant
from core.domain.queries import ScoreProfile
from core.search.pipeline import SearchPipeline
from core.workbench import Workbench

FACTS = {
    "vacation": "Managers approve vacation within 5 working days.",
    "overtime": "Overtime is paid at one and one-half times the regular rate.",
    "statement": "A wage and tax statement is furnished by January 31.",
    "deposit": "Withheld income taxes are deposited on the 15th.",
    "travel": "Travel costs are refunded against original receipts.",
    "laptop": "A lost laptop is reported to the service desk at once.",
    "badge": "Visitors wear a badge at the front gate.",
    "parking": "Parking permits are renewed every spring.",
    "pension": "The pension plan is matched up to four percent.",
    "sick": "Sick leave needs a certificate after three days.",
    "training": "Safety training is repeated every second year.",
    "fire": "The fire alarm is tested on the first Monday.",
}
SILENCE = "Which pesticide applicator certificate expires?"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def text_of(name: str) -> str:
    return f"# {name.title()}\n\n{FACTS[name]}\n"


def known(name: str) -> Relevant:
    return Relevant(sha256(text_of(name).encode()).hexdigest(), (FACTS[name].rstrip("."),), 3)


@pytest.fixture(scope="module")
def workbench(command_folder: Path) -> Iterator[Workbench]:
    """The library of this module, open as in the app while commands use it."""
    with open_workbench(Settings(command_folder, worker=False)) as opened:
        fill(opened, [NamedFile(f"{name}.md", text_of(name).encode()) for name in FACTS])
        opened.evaluation.profiles.save(profile("poor", authority=1.0), "Ada")
        opened.evaluation.profiles.save(profile("good", similarity=0.6, keyword=0.4), "Ada")
        yield opened


def profile(name: str, threshold: float = 0.0, **weights: float) -> ScoreProfile:
    return ScoreProfile(name, weights, threshold=threshold, floor=0.0)


def new_set(workbench: Workbench, name: str, project: str | None = None, *, silence: bool = True) -> QuestionSet:
    """A set that asks for every fact, and for one that is nowhere."""
    judging = workbench.evaluation.judging
    question_set = judging.add_set(name, project, Level.DOCUMENT, "Ada")
    requests = [
        JudgedQuestion(
            question_set.id, each, f"What holds for {FACTS[each].split(' is ')[0]}?", relevant=(known(each),)
        )
        for each in FACTS
    ]
    requests += [JudgedQuestion(question_set.id, "none", SILENCE, NOTHING_ANSWERS)] if silence else []
    judging.change_questions(requests)
    return question_set


@pytest.fixture(scope="module")
def facts(workbench: Workbench) -> QuestionSet:
    return new_set(workbench, "Facts of the house")


# Measuring a set


def test_a_set_is_measured_with_intervals_and_the_experiment_is_kept(
    workbench: Workbench, facts: QuestionSet, tmp_path: Path
) -> None:
    words = ("--set", "facts  of the HOUSE", "--profile", "good", "--who", "Ben", "--note", "Before the move")
    bounds = ("--min", "ndcg@10=0.7", "--min", "hit@5=0.5", "--max", "false_refusal=0.2")
    result = run("evaluate", "run", *words, *bounds, "--json", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    experiment = workbench.evaluation.experiments.experiments(facts.id)[0]
    assert (experiment.who, experiment.note, experiment.profile.ref, experiment.total, experiment.scheduled) == (
        "Ben", "Before the move", "good@1", 13, False
    )  # fmt: skip
    assert f"Facts of the house: 13 questions with good@1, kept as experiment {experiment.id}." in result.stdout
    row = next(line.split() for line in result.stdout.splitlines() if line.startswith("ndcg@10"))
    stored = experiment.measures["ndcg@10"]
    assert row[1:] == [f"{stored.mean:.3f}", f"{stored.low:.3f}", f"{stored.high:.3f}", str(stored.n)]
    assert "of the first ten results are not judged" in result.stdout
    data = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert data["measures"]["ndcg@10"]["mean"] == stored.mean
    assert (data["experiment"], data["missed"], len(data["outcomes"])) == (experiment.id, [], 13)


def test_a_missed_minimum_is_named_and_the_exit_code_is_1(facts: QuestionSet, tmp_path: Path) -> None:
    words = ("--set", facts.name, "--profile", "poor", "--min", "ndcg@10=0.99", "--min", "map=0", "--json")
    result = run("evaluate", "run", *words, tmp_path / "out.json")
    assert result.exit_code == 1
    [reported] = [line for line in result.stderr.splitlines() if line.startswith("Missed: ")]
    assert "ndcg@10 is 0." in reported and "below the minimum 0.99; its interval" in reported
    assert [f"Missed: {statement}" for statement in json.loads((tmp_path / "out.json").read_text())["missed"]] == [
        reported
    ]


def test_without_a_profile_a_set_is_measured_with_the_default_of_its_project(workbench: Workbench) -> None:
    theirs = new_set(workbench, "Theirs", "Tallgrass", silence=False)
    workbench.evaluation.profiles.choose("Tallgrass", "good", "Ada")
    assert run("evaluate", "run", "--set", "Theirs", "--project", "Tallgrass").exit_code == 0
    [experiment] = workbench.evaluation.experiments.experiments(theirs.id)
    assert (experiment.profile.name, experiment.who) == ("good", "command line")
    result = run("evaluate", "run", "--set", "Theirs", "--project", "Tallgrass", "--min", "refused=0.1")
    assert (result.exit_code, "refused was not measured" in result.stderr) == (1, True)


def test_the_questions_that_are_worse_than_last_time_are_listed(workbench: Workbench, tmp_path: Path) -> None:
    experiment, book = new_set(workbench, "Watched"), workbench.evaluation.profiles
    book.save(profile("watched", similarity=1.0), "Ada")
    first = run("evaluate", "run", "--set", "Watched", "--profile", "watched")
    assert "Compared with" not in first.stdout
    book.save(profile("watched", threshold=0.999, similarity=1.0), "Ada", after=1)
    second = run("evaluate", "run", "--set", "Watched", "--profile", "watched", "--json", tmp_path / "out.json")
    assert second.exit_code == 0
    before = workbench.evaluation.experiments.experiments(experiment.id)[1]
    assert f"Compared with experiment {before.id} of" in second.stdout
    assert "(the profile was watched@1)" in second.stdout
    assert "worse: vacation: " in second.stdout and "false_refusal 0.000 → 1.000" in second.stdout
    reported = json.loads((tmp_path / "out.json").read_text("utf-8"))["before"]
    assert {each["key"] for each in reported["worse"]} == set(FACTS)
    assert reported["changes"]["ndcg@10"]["mean"] < 0 < reported["changes"]["ndcg@10"]["p_value"] < 0.01
    other = run("evaluate", "run", "--set", "Watched", "--profile", "good")
    assert "Compared with" not in other.stdout


@pytest.mark.usefixtures("facts")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "facts of the house", "--min", "accuracy=1"), "There is no measure 'accuracy'."),
        (("--set", "facts of the house", "--min", "map=2"), "'map=2' is outside [0, 1]."),
        (("--set", "facts of the house", "--max", "map=1"), "'map' has no maximum"),
        (("--set", "nowhere"), "There is no question set 'nowhere'."),
        (("--set", "facts of the house", "--profile", "odd"), "There is no score profile 'odd'."),
        (("--set", "facts of the house", "--who", " "), "An experiment needs a name."),
        (("--set", "elsewhere"), "'Elsewhere' is a set of 'Far'."),
        (("--set", "empty"), "'Empty' contains no questions."),
    ],
)
def test_an_error_is_told_with_what_to_do_and_exit_code_2(
    workbench: Workbench, words: tuple[str, ...], message: str
) -> None:
    names = [each.name for each in workbench.evaluation.judging.sets(None)]
    for name, project in (("Elsewhere", "Far"), ("Empty", None)):
        if name not in names:
            workbench.evaluation.judging.add_set(name, project, Level.PASSAGE, "Ada")
    result = run("evaluate", "run", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 2


def test_a_search_that_fails_is_no_missed_minimum(facts: QuestionSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object, **options: object) -> None:
        raise StoreFailed("The disk is full.", "Make room.")

    monkeypatch.setattr(SearchPipeline, "search_many", failing)
    result = run("evaluate", "run", "--set", facts.name, "--min", "ndcg@10=1")
    assert result.exit_code == 2
    assert "is failed." in result.stderr and "The disk is full. Make room." in result.stderr


def test_a_file_that_cannot_be_written_is_told(facts: QuestionSet, tmp_path: Path) -> None:
    result = run("evaluate", "run", "--set", facts.name, "--json", tmp_path / "no" / "out.json")
    assert result.exit_code == 2
    assert "cannot be written: No such file or directory." in result.stderr


# Better weights for a set

QUICK = ("--trials", "6", "--folds", "2", "--factor", "similarity", "--factor", "keyword", "--factor", "authority")


def test_better_weights_are_told_and_saved_when_they_are_recommended(
    workbench: Workbench, facts: QuestionSet, tmp_path: Path
) -> None:
    words = ("--set", facts.name, "--profile", "poor", *QUICK, "--apply", "found", "--who", "Ada")
    result = run("evaluate", "optimise", *words, "--json", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Recommended: ndcg@10 +")
    for row in ("current weights", "found, on the questions it was found on", "found, on questions it had not seen"):
        assert row in result.stdout
    assert result.stdout.rstrip().endswith("Saved as found@1.")
    [saved] = workbench.evaluation.profiles.versions("found")
    assert (saved.who, saved.origin) == ("Ada", "poor@1")
    assert saved.note.startswith("Recommended: ") and "on 'Facts of the house'" in saved.note
    data = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert data["after"] == dict(saved.profile.weights)
    assert (data["before"], data["recommended"], data["optimising"]["folds"]) == ({"authority": 1.0}, True, 2)
    again = run("evaluate", "optimise", *words[:-4], "--seed", "7", "--apply", "found", "--who", "Ben")
    assert again.exit_code in (0, 2), again.output  # the same weights are nothing to save
    assert ("Saved as found@2." in again.stdout) is (again.exit_code == 0)


def test_weights_that_are_not_recommended_are_not_saved_and_the_exit_code_is_1(
    workbench: Workbench, facts: QuestionSet
) -> None:
    words = ("evaluate", "optimise", "--set", facts.name, "--profile", "good", *QUICK)
    result = run(*words, "--apply", "never", "--who", "Ada")
    assert result.exit_code == 1, result.output
    assert result.stdout.startswith("Not recommended: ")
    assert "Nothing was saved." in result.stderr
    assert workbench.evaluation.profiles.versions("never") == ()
    assert run(*words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--apply", "found"), "A profile is saved in somebody's name."),
        (("--apply", "Balanced", "--who", "Ada"), "'balanced' comes with the product and does not change."),
        (("--apply", "balanced", "--who", "Ada"), "'balanced' comes with the product and does not change."),
        (("--apply", "a@b", "--who", "Ada"), "A profile's name cannot hold @."),
        (("--measure", "answer@5"), "'answer@5' cannot be optimised."),
        (("--factor", "odd", "--factor", "similarity"), "There is no factor 'odd'."),
        (("--factor", "similarity"), "There is nothing to weigh."),
        (("--folds", "1"), "1 is not a number of folds."),
        (("--trials", "0"), "0 is not a number of trials."),
        (("--seed", "-1"), "-1 is not a number of seed."),
    ],
)
def test_what_cannot_be_searched_for_is_refused_before_anything_is_kept(
    workbench: Workbench, facts: QuestionSet, words: tuple[str, ...], message: str
) -> None:
    before = len(workbench.evaluation.experiments.experiments())
    result = run("evaluate", "optimise", "--set", facts.name, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(workbench.evaluation.experiments.experiments()) == before


# The default of the library


@pytest.mark.usefixtures("facts")
def test_questions_are_scored_with_the_default_of_the_project_unless_told_otherwise(workbench: Workbench) -> None:
    workbench.evaluation.profiles.choose("Hilltop", "good", "Ada")
    question = "How fast is vacation approved?"

    def used(*words: str) -> str:
        return str(json.loads(run("search", question, "--json", *words).stdout)["profile"])

    assert used() == "balanced"
    assert used("--project", "Hilltop") == "good@1"
    assert used("--project", "Hilltop", "--project", "Other") == "balanced"
    assert used("--project", "Hilltop", "--profile", "relevance") == "relevance"
    result = json.loads(run("answer", question, "--project", "Hilltop", "--format", "json").stdout)
    assert "good@1" in json.dumps(result)


# Judged files


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The facts as files, with a question for each."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / "files").mkdir()
    columns = "file original_name truth domain authority jurisdiction effective_date source sha256".split()
    with (folder / "labels.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(columns)
        for name in FACTS:
            (folder / "files" / f"{name}.md").write_text(text_of(name))
            rows.writerow([name, f"{name}.md", "compliance", "time", "internal", "", "", "ours", known(name).sha256])
    lines = [question_line(name, name, [known(name)]) for name in FACTS]
    (folder / "questions.jsonl").write_text("\n".join([*lines, question_line("none", "pesticide", [])]))
    return folder


def question_line(key: str, asks: str, relevant: list[Relevant], kind: str = "keyword") -> str:
    answers = [{"sha256": each.sha256, "must_contain": list(each.must_contain), "grade": 3} for each in relevant]
    return json.dumps({"id": key, "question": f"What holds for {asks}?", "kind": kind, "relevant": answers})


def test_weights_are_searched_for_on_judged_files_without_a_library(judged: Path, tmp_path: Path) -> None:
    words = (judged / "questions.jsonl", judged / "labels.csv", judged / "files", "--profile", "relevance")
    result = run("evaluate", "weights", *words, *QUICK, "--json", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    assert "ecommended: " in result.stdout
    assert "ndcg@10" in result.stdout and "gain on those over the current weights" in result.stdout
    data = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert data["profile"]["name"] == "relevance"
    assert data["held_out"]["n"] == len(FACTS)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([question_line("1", "a", []), question_line("1", "b", [])], "The question '1' is there twice."),
        (
            [question_line("1", "a", [known("fire")], "none")],
            "The question '1' has an answer, so its kind is not 'none'.",
        ),
    ],
)
def test_questions_that_contradict_themselves_are_named_before_any_file_is_read(
    judged: Path, tmp_path: Path, lines: list[str], message: str
) -> None:
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    result = run("evaluate", "search", tmp_path / "questions.jsonl", judged / "labels.csv", judged / "files")
    assert (result.exit_code, message in result.stderr) == (2, True)
    assert "ingested" not in result.stderr


@pytest.mark.parametrize("command", ["search", "weights"])
def test_a_wrong_profile_is_told_before_any_file_is_read(judged: Path, command: str) -> None:
    words = (judged / "questions.jsonl", judged / "labels.csv", judged / "files")
    result = run("evaluate", command, *words, "--profile", "odd")
    assert (result.exit_code, "There is no score profile 'odd'." in result.stderr) == (2, True)
    assert "ingested" not in result.stderr
