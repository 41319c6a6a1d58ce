"""Public sets of questions become texts and questions that teach the included reranker."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.reranker import learned_examples
from core.evaluation.tuning.public_questions import PUBLIC_SETS, AnsweredText
from core.evaluation.tuning.reranker_fitting import parse_reranker_questions

STORY = "The queen lost her ring in the well. A frog dived and brought it back."
RULE, REST = "You must pay the tax within six months.", "You may pay it in ten instalments."
SYMPTOMS, CARE = "The illness begins with a fever and a cough.", "Rest and water are all that is needed."
CLONES: Mapping[str, Mapping[str, str]] = {
    "uci-soe/FairytaleQAData": {
        "data-by-train-split/section-stories/train/ring-story.csv": f'section,text\n1,"{STORY}"\n2,All were glad.\n',
        "data-by-train-split/questions/train/ring-questions.csv": (
            "cor_section,question,answer1\n1,Who found the ring?,a frog dived\n1,Who was sad?,the gardener's wife\n"
        ),
    },
    "deepset-ai/COVID-QA": {
        "data/question-answering/200423_covidQA.json": json.dumps(
            {
                "data": [
                    {
                        "paragraphs": [
                            {
                                "context": f"{SYMPTOMS} {CARE}",
                                "qas": [
                                    {
                                        "question": "What helps?",
                                        "answers": [{"text": "water", "answer_start": len(SYMPTOMS) + 10}],
                                    }
                                ],
                            }
                        ]
                    }
                ]
            }
        )
    },
    "haitian-sun/ConditionalQA": {
        "v1_0/train.json": json.dumps(
            [
                {"url": "tax", "question": "By when is it due?", "evidences": [f"<p>{RULE}</p>"]},
                {"url": "tax", "question": "In parts?", "evidences": [f"<li>{REST}</li>", f"<p>{RULE}</p>"]},
                {"url": "tax", "question": "On the moon?", "evidences": []},
            ]
        )
    },
    "abachaa/MedQuAD": {
        "1_CancerGov_QA/1.xml": (
            f"<D><QAPairs><QAPair><Question>What are the signs ?</Question><Answer>{SYMPTOMS}</Answer></QAPair>"
            f"<QAPair><Question>What is done ?</Question><Answer>{CARE}</Answer></QAPair>"
            "<QAPair><Question>Who gets it ?</Question><Answer/></QAPair></QAPairs></D>"
        )
    },
}


def texts_of(repository: str) -> list[AnsweredText]:
    (public,) = (each for each in PUBLIC_SETS if each.repository == repository)
    return list(public.read({path: text.encode() for path, text in CLONES[repository].items()}))


def test_the_sentence_with_most_words_of_the_answer_answers_and_an_answer_in_other_words_teaches_nothing() -> None:
    (story,) = texts_of("uci-soe/FairytaleQAData")
    assert story.text == f"{STORY}\n\nAll were glad."
    assert story.questions == (("Who found the ring?", ("A frog dived and brought it back.",)),)


def test_the_sentence_that_the_answer_is_marked_in_answers() -> None:
    (article,) = texts_of("deepset-ai/COVID-QA")
    assert article.questions == (("What helps?", (CARE,)),)


def test_a_page_has_the_lines_that_answer_its_questions() -> None:
    (page,) = texts_of("haitian-sun/ConditionalQA")
    assert page.text == f"{RULE}\n\n{REST}"
    assert page.questions == (("By when is it due?", (RULE,)), ("In parts?", (REST, RULE)))


def test_each_heading_of_a_page_is_a_question_unless_its_answer_is_empty() -> None:
    (page,) = texts_of("abachaa/MedQuAD")
    assert page.questions == (("What are the signs ?", (SYMPTOMS,)), ("What is done ?", (CARE,)))


def test_a_text_with_many_questions_teaches_a_few_from_all_over_it() -> None:
    (public,) = (each for each in PUBLIC_SETS if each.repository == "haitian-sun/ConditionalQA")
    rows = [{"url": "x", "question": str(number), "evidences": [f"Line {number}."]} for number in range(60)]
    (page,) = public.read({"v1_0/train.json": json.dumps(rows).encode()})
    assert [question for question, _ in page.questions] == ["0", "10", "20", "30", "40", "50"]


def test_what_is_collected_is_what_the_reranker_learns_from(tmp_path: Path) -> None:
    for repository, files in CLONES.items():
        for name, text in files.items():
            path = tmp_path / "clones" / repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    words = ["evaluate", "collect-questions", str(tmp_path / "clones"), str(tmp_path / "out")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0 and "2 questions of abachaa/MedQuAD" in result.output
    listed = tmp_path / "out" / "questions.jsonl"
    assert len(parse_reranker_questions(listed.read_text("utf-8").splitlines())) == 6
    examples = {each.question: each for each in learned_examples(tmp_path / "out", [listed])}
    assert set(examples) == {"Who found the ring?", "What helps?", "By when is it due?", "In parts?"} | {
        "What are the signs ?",
        "What is done ?",
    }
    assert any(CARE in piece for piece in examples["What helps?"].right)
    assert not any(CARE in piece for piece in examples["By when is it due?"].right)


@pytest.mark.parametrize("command", ["collect-questions", "fit-reranker"])
def test_folders_without_the_files_are_told(tmp_path: Path, command: str) -> None:
    (tmp_path / "files").mkdir()
    listed = tmp_path / "questions.jsonl"
    listed.write_text(
        json.dumps({"document": "a", "kind": "plain", "sentences": ["0123456789ab:8"], "question": "Why?"})
    )
    rest = [str(tmp_path / "out")] if command == "collect-questions" else ["--questions", str(listed)]
    result = CliRunner().invoke(app, ["evaluate", command, str(tmp_path), *rest])
    assert result.exit_code == 2
    assert "none of the" in result.output + result.stderr
