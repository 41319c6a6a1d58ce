"""Judged files as they are read, and errors that name file and line."""

from pathlib import Path

import pytest

from core.domain.errors import BadRequest
from core.evaluation.judgments.files import (
    filters_of,
    read_collection,
    read_dates,
    read_labels,
    read_passages,
    read_questions,
    read_topics,
)

HEADER = "file,original_name,truth,domain,authority,jurisdiction,effective_date,source,sha256\n"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_labels_are_read_with_the_name_a_user_would_give(tmp_path: Path) -> None:
    path = written(
        tmp_path, "labels.csv", HEADER + '1__a.md,"a, b.md",intent,other,customer,federal,2025-03,site,00ff\n'
    )
    (row,) = read_labels(path)
    assert (row.name, row.truth, row.effective_date, row.sha256) == ("a, b.md", "intent", "2025-03", "00ff")


def test_dates_read_again_replace_those_of_the_labels(tmp_path: Path) -> None:
    labels, dates = tmp_path / "labels.csv", tmp_path / "dates.csv"
    row = "x.txt,{truth},other,internal,global,{date},{sha}\n"
    header = "file,truth,domain,authority,jurisdiction,effective_date,sha256\n"
    rows = [row.format(truth="intent", date=date, sha=sha) for date, sha in (("2020", "a"), ("2021", "b"), ("", "c"))]
    labels.write_text(header + "".join(rows))
    dates.write_text("sha256,effective_date\na,\nc,2024-05-31\n")
    assert [each.effective_date for each in read_labels(labels, dates)] == ["", "2021", "2024-05-31"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a,31 May 2024", "'31 May 2024' is not a date"),
        ("a,2024-5", "'2024-5' is not a date"),
        ("a,2024-13", "'2024-13' is not a date"),
        (",2024", "it has no sha256"),
    ],
)
def test_a_wrong_date_read_again_is_named_by_its_line(tmp_path: Path, row: str, problem: str) -> None:
    path = tmp_path / "dates.csv"
    path.write_text(f"sha256,effective_date\nb,2024\n{row}\n")
    with pytest.raises(BadRequest, match=rf"dates.csv line 3: {problem}"):
        read_dates(path)


def test_a_file_without_dates_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dates.csv"
    path.write_text("sha256,effective_date\n")
    with pytest.raises(BadRequest, match=r"no rows"):
        read_dates(path)


def test_a_region_counts_as_its_country_or_state(tmp_path: Path) -> None:
    judged = ("country:CA (British Columbia)", "state:AK", "global", "")
    rows = "".join(f"{n}.md,{n}.md,intent,other,customer,{place},,site,0{n}\n" for n, place in enumerate(judged))
    read = read_labels(written(tmp_path, "labels.csv", HEADER + rows))
    assert [row.jurisdiction for row in read] == ["country:CA", "state:AK", "global", ""]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("file,truth\n", r"labels\.csv line 1: no column domain"),
        (HEADER, r"labels\.csv contains no rows"),
        (HEADER + "a,a,intent,,,,,,1\nb,b,opinion,,,,,,2\n", r"labels\.csv line 3: 'opinion' is not a truth"),
    ],
)
def test_wrong_labels_are_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        read_labels(written(tmp_path, "labels.csv", text))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"jurisdiction": "state:AK"}, ("jurisdiction is state:AK",)),
        ({"jurisdictions": ["state:AK", "federal"]}, ("jurisdiction is state:AK or federal",)),
        ({"truth_types": ["intent"], "authority": "customer"}, ("truth is intent", "authority is customer")),
        (
            {"date_from": "2025-01-01", "include_undated": True},
            ("dated on or after 2025-01-01", "undated documents too"),
        ),
        ({"exclude_domain": "taxes"}, ("domain is not taxes",)),
        ({}, ()),
    ],
)
def test_filters_are_read_as_people_write_them(raw: dict[str, object], words: tuple[str, ...]) -> None:
    assert filters_of(raw).in_words() == words


GOOD = '{"id": "q1", "question": "Why?", "relevant": [{"sha256": "00", "must_contain": ["a"], "grade": 3}]}\n'


def test_questions_are_read(tmp_path: Path) -> None:
    (question,) = read_questions(written(tmp_path, "q.jsonl", GOOD + "\n"))
    assert question.relevant[0].must_contain == ("a",)
    assert question.kind == "unknown"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", r"q\.jsonl line 2: is not JSON"),
        ('{"id": 1, "question": "Why?"}', r"q\.jsonl line 2: has no relevant"),
        ('{"id": 1, "question": "Why?", "relevant": [{}]}', r"line 2: an entry of 'relevant' has no sha256"),
        (
            '{"id": 1, "question": "Why?", "relevant": [], "filters": {"truth": "odd"}}',
            r"line 2: Invalid truths: \['odd'\]",
        ),
        (
            '{"id": 1, "question": "Why?", "relevant": [], "filters": {"colour": "red"}}',
            r"line 2: unknown filter: 'colour'",
        ),
        ('{"id": 1, "question": "Why?", "relevant": [{"sha256": "0", "grade": 0}]}', r"line 2: grade 0 is not"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        read_questions(written(tmp_path, "q.jsonl", GOOD + line))


def test_topics_and_passages_are_read(tmp_path: Path) -> None:
    topics = written(tmp_path, "gaps.jsonl", '{"topic": "t", "covered": ["intent"], "missing": ["reality"]}')
    assert {truth.value for truth in read_topics(topics)[0].covered} == {"intent"}
    path = written(
        tmp_path, "passages.jsonl", '{"sha256": "0", "page": 3, "start_words": "An", "passage_truth": "intent"}'
    )
    assert read_passages(path)[0].page == 3
    assert read_passages(tmp_path / "none.jsonl") == ()


def test_a_truth_cannot_be_covered_and_missing(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"line 1: a truth is both"):
        read_topics(written(tmp_path, "gaps.jsonl", '{"topic": "t", "covered": ["intent"], "missing": ["intent"]}'))


def test_a_collection_is_read_with_or_without_a_header(tmp_path: Path) -> None:
    written(
        tmp_path,
        "corpus.jsonl",
        '{"_id": "d1", "title": "Wings", "text": "Wings fly."}\n{"_id": "d2", "text": "x\u2028y"}\n',
    )
    written(tmp_path, "queries.jsonl", '{"_id": "q1", "text": "what flies"}')
    written(tmp_path, "qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    collection = read_collection(tmp_path)
    assert collection.grades == {"q1": {"d1": 1}}
    assert collection.texts() == {"d1": "Wings fly.", "d2": "x\u2028y"}
    written(tmp_path, "qrels.tsv", "q1\td1\t1\nq1\td2\n")
    with pytest.raises(BadRequest, match=r"qrels\.tsv line 2"):
        read_collection(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"none\.jsonl cannot be read"):
        read_questions(tmp_path / "none.jsonl")
