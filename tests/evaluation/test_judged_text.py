"""Sets as files: what goes out comes back exactly, and what cannot be taken over is told line by line."""

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.errors import BadRequest, Outdated
from core.domain.evaluation import JudgedQuestion, Judgment, Level, Relevant
from core.domain.filters import SearchFilters
from core.evaluation.judgments.files import CSV_COLUMNS, FILES, SetFile
from core.evaluation.judgments.imports import MOST_BYTES, JudgmentImportPreview
from core.evaluation.judgments.service import JudgmentService
from core.evaluation.judgments.units import passage_unit
from core.evaluation.judgments.validation import checked_question, filters_data, filters_of
from tests.fakes import FakeEvaluationStore
from tests.search.library import NOW, Library, payroll_library

JSONL, CSV, QRELS, QUERIES = FILES


def units_of(library: Library) -> list[str]:
    return [
        passage_unit(document.sha256, passage)
        for document in library.catalogue.documents()
        for passage in library.catalogue.passages_of(document.id)
    ]


LIBRARY = payroll_library()
UNITS = units_of(LIBRARY)
SHA = {document.name: document.sha256 for document in LIBRARY.catalogue.documents()}


class Shop:
    """A desk over the shared library, with an empty set; nothing here searches."""

    def __init__(self, library: Library = LIBRARY, level: Level = Level.PASSAGE) -> None:
        self.store = FakeEvaluationStore()
        self.desk = JudgmentService(self.store, lambda request: pytest.fail("searched"), library.catalogue, lambda: NOW)
        self.set = self.desk.add_set("Set", None, level, "Ada")

    def written(self, file: SetFile) -> str:
        return self.desk.written(self.set.id, file)

    def preview(self, text: str | bytes, name: str = "set.jsonl", who: str = "Ada") -> JudgmentImportPreview:
        data = text.encode() if isinstance(text, str) else text
        return self.desk.preview(self.set.id, data, name, who)

    def take(self, text: str, name: str = "set.jsonl", who: str = "Ada") -> JudgmentImportPreview:
        preview = self.preview(text, name, who)
        self.desk.accept(preview)
        return preview

    @property
    def questions(self) -> dict[str, JudgedQuestion]:
        return {each.key: each for each in self.desk.questions(self.set.id)}

    @property
    def graded(self) -> list[tuple[str, str, int | None, str]]:
        keys = {each.id: each.key for each in self.desk.questions(self.set.id)}
        return [(keys[j.question_id], j.unit, j.grade, j.who) for j in self.desk.judgments(self.set.id)]


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def reasons(preview: JudgmentImportPreview) -> list[str]:
    return [f"{each.line}: {each.reason}" for each in preview.refused]


# Round trips

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t\r'=+-@,;\"\u2028"), max_size=60)
QUESTIONS = TEXT.filter(str.strip).map(str.strip)
KEYS = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12).filter(
    lambda key: key == key.strip() and key.isprintable()
)
MOMENTS = st.datetimes(
    datetime(1900, 1, 1),
    datetime(2200, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=30))]),
)
FILTERS = st.builds(
    SearchFilters,
    truths=st.sampled_from([(), ("intent",), ("regulatory", "compliance")]),
    tags=st.lists(TEXT, max_size=2, unique=True).map(tuple),
    tags_mode=st.sampled_from(["any", "all"]),
    date_from=st.none() | MOMENTS.map(lambda moment: moment.astimezone(UTC)),  # as bounds are read
    recency_months=st.none() | st.integers(1, 400),
    include_undated=st.booleans(),
    exclude_jurisdictions=st.sampled_from([(), ("state:AK",)]),
    archived=st.sampled_from([False, True, None]),
)
RELEVANT = st.lists(
    st.builds(
        Relevant,
        st.sampled_from([*SHA.values(), "00ff"]),
        st.lists(TEXT, max_size=2).map(tuple),
        st.integers(1, 3),
        st.none() | st.integers(1, 900),
    ),
    max_size=2,
).map(tuple)
ASKED = st.lists(
    st.tuples(KEYS, QUESTIONS, st.sampled_from(["natural", "keyword"]), FILTERS, RELEVANT),
    max_size=5,
    unique_by=lambda query: query[0],
)
SAYINGS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from(UNITS),
        st.sampled_from([0, 1, 2, 3, None]),
        QUESTIONS.map(lambda name: " ".join(name.split())[:40].strip()).filter(bool),
        MOMENTS,
        st.booleans(),
    ),
    max_size=12,
)


def filled(query: list[Any], expected: list[Any]) -> Shop:
    shop = Shop()
    stored = shop.store.add_questions(
        [JudgedQuestion(shop.set.id, key, text, kind, questions, known) for key, text, kind, questions, known in query]
    )
    shop.store.judge(
        [
            Judgment(shop.set.id, stored[place % len(stored)].id, unit, grade, who, at, blind)
            for place, unit, grade, who, at, blind in expected
            if stored
        ]
    )
    return shop


@settings(max_examples=150)
@given(ASKED, SAYINGS)
def test_our_jsonl_gives_back_the_same_set(query: list[Any], expected: list[Any]) -> None:
    shop, other = filled(query, expected), Shop()
    text = shop.written(JSONL)
    if not text:
        return
    preview = other.take(text)
    assert preview.refused == () and not preview.changed
    assert other.written(JSONL) == text
    again = other.preview(text)
    assert again.empty and again.refused == ()
    assert (again.unchanged, again.known) == (len(query), len(other.graded))


@settings(max_examples=100)
@given(ASKED, SAYINGS)
def test_every_grade_of_a_csv_file_comes_back_to_its_judge_and_result(query: list[Any], expected: list[Any]) -> None:
    query = [entry for entry in query if not any(text.startswith("'") for text in entry[:2])]
    expected = [each for each in expected if not each[3].startswith("'")]
    shop, other = filled(query, expected), Shop()
    if not query:
        return
    preview = other.take(shop.written(CSV), "set.csv")
    assert preview.refused == ()
    assert sorted(other.graded, key=str) == sorted(shop.graded, key=str)
    assert [(each.key, each.question, each.kind) for each in other.questions.values()] == [
        (each.key, each.question, each.kind) for each in shop.questions.values()
    ]


@given(ASKED, SAYINGS)
def test_qrels_hold_one_grade_per_result_which_comes_back(query: list[Any], expected: list[Any]) -> None:
    shop = filled([(*entry[:4], ()) for entry in query], expected)
    text = shop.written(QRELS)
    rows = [line.split(" ") for line in text.splitlines()]
    assert all(len(row) == 4 and row[1] == "0" and row[3] in "0123" for row in rows)
    judged = {(key, unit) for key, unit, grade, _ in shop.graded if grade is not None}
    assert {(row[0], row[2]) for row in rows} == judged and len(rows) == len(judged)
    if text:
        other = filled([(*entry[:4], ()) for entry in query], [])
        assert reasons(other.take(text, "set.qrels")) == []
        assert other.written(QRELS) == text


@given(ASKED)
def test_the_queries_beside_qrels_are_read_as_questions(query: list[Any]) -> None:
    shop, other = filled(query, []), Shop()
    text = shop.written(QUERIES)
    if text:
        assert other.take(text, "queries.jsonl").refused == ()
        assert other.written(QUERIES) == text


@given(FILTERS)
def test_filters_are_the_same_after_they_were_written(filters: SearchFilters) -> None:
    assert filters_of(json.loads(json.dumps(filters_data(filters)))) == filters


@given(st.text(max_size=200))
def test_no_text_of_a_question_breaks_the_check(text: str) -> None:
    try:
        assert checked_question(text) == text.strip()
    except BadRequest as problem:
        assert problem.hint


# What goes out


def judged_shop() -> Shop:
    shop = Shop()
    first = shop.desk.add_question(shop.set.id, "=When are taxes due?")
    shop.desk.add_question(shop.set.id, "Who approves overtime?")
    unit = next(unit for unit in UNITS if unit.startswith(SHA["pub.pdf"]))
    shop.desk.judge(shop.set.id, first.id, unit, 3, "@Ada", blind=True)
    shop.desk.judge(shop.set.id, first.id, unit, None, "Ben")
    return shop


def test_a_csv_row_names_document_page_and_passage_and_no_cell_is_a_formula() -> None:
    first, second, unjudged = csv.DictReader(io.StringIO(judged_shop().written(CSV), newline=""))
    assert tuple(first) == CSV_COLUMNS
    assert (first["question"], first["judge"], first["grade"], first["blind"]) == (
        "'=When are taxes due?", "'@Ada", "3", "yes"
    )  # fmt: skip
    assert first["document"] == "pub.pdf" and first["page"] == "1" and first["passage"]
    assert (second["grade"], second["judge"]) == ("can't judge", "Ben")
    assert (unjudged["key"], unjudged["unit"], unjudged["grade"]) == ("q2", "", "")


def test_qrels_hold_what_the_judges_agree_on_and_known_answers_of_the_library() -> None:
    shop = Shop()
    handbook, guide = SHA["handbook.md"], SHA["guide.html"]
    known = (
        Relevant(handbook, ("two days per month",), 3),
        Relevant("00ff", ("gone",), 2),
        Relevant(guide, ("no",), 1),
    )
    (question,) = shop.store.add_questions([JudgedQuestion(shop.set.id, "q1", "Vacation?", relevant=known)])
    unit = next(unit for unit in UNITS if unit.startswith(SHA["sow.docx"]))
    for who, grade in (("Ada", 0), ("Ben", 2), ("Cy", 2)):
        shop.desk.judge(shop.set.id, question.id, unit, grade, who)
    stored = next(unit for unit in UNITS if unit.startswith(handbook))
    assert sorted(shop.written(QRELS).splitlines()) == sorted([f"q1 0 {unit} 2", f"q1 0 {stored} 3"])


def test_what_is_said_of_a_retired_question_stays_at_home() -> None:
    shop = judged_shop()
    shop.desk.retire_question(shop.questions["q1"].id)
    assert shop.written(QRELS) == "" and json.loads(shop.written(JSONL))["id"] == "q2"


# What comes in


def test_the_plain_form_of_judged_corpora_is_read_with_its_known_answers() -> None:
    shop = Shop()
    row = {
        "id": "d01",
        "question": "How much vacation?",
        "kind": "natural",
        "truth_types": ["compliance"],
        "filters": {"jurisdiction": "state:AK"},
        "relevant": [{"sha256": SHA["handbook.md"], "page": None, "must_contain": ["two days"], "grade": 3}],
        "expected_category": "policy",
    }
    none = {"id": "d02", "question": "Zebras?", "kind": "none", "filters": {}, "relevant": []}
    preview = shop.take(lines(row, none))
    assert preview.refused == () and preview.unheld == 0
    assert shop.questions["d01"].relevant == (Relevant(SHA["handbook.md"], ("two days",), 3),)
    assert shop.questions["d01"].filters.jurisdictions == ("state:AK",)
    assert shop.questions["d02"].answerable is False


def test_answers_in_documents_the_library_does_not_hold_are_counted() -> None:
    row = {"id": "d01", "question": "Why?", "relevant": [{"sha256": "00ff", "must_contain": ["x"], "grade": 3}]}
    assert Shop().preview(lines(row)).unheld == 1


def test_a_csv_file_with_questions_only_makes_questions() -> None:
    shop = Shop()
    preview = shop.take("\ufeffQuestion;Kind\nHow much vacation?;Natural\n'=Why?;\n\nhow much vacation?;\n", "q.csv")
    assert preview.refused == ()
    assert [(each.key, each.question, each.kind) for each in shop.questions.values()] == [
        ("q1", "How much vacation?", "natural"),
        ("q2", "=Why?", "natural"),
    ]


def test_a_csv_file_may_name_documents_with_page_and_passage_instead_of_units() -> None:
    shop = Shop()
    head = "key,question,document,page,passage,grade,judge\n"
    preview = shop.take(
        head
        + "q1,Deposits?,pub.pdf,1,Employers must deposit,3,Ben\n"
        + "q1,,handbook.md,,,2.0,\n"
        + "q1,,sow.docx,,,Can't judge,Cy\n"
        + "q1,,pub.pdf,,,1,Ben\n"
        + "q1,,pub.pdf,7,,1,Ben\n",
        "q.csv",
    )
    documents = {unit.split(":")[0]: (grade, who) for _, unit, grade, who in shop.graded}
    assert documents == {
        SHA["pub.pdf"]: (3, "Ben"),
        SHA["handbook.md"]: (2, "Ada"),
        SHA["sow.docx"]: (None, "Cy"),
    }
    assert reasons(preview) == [
        "5: 2 passages of 'pub.pdf' fit page and words.",
        "6: No passage of 'pub.pdf' fits page and words.",
    ]


def test_qrels_name_files_of_the_library_and_questions_of_the_set() -> None:
    shop = Shop(level=Level.DOCUMENT)
    shop.desk.add_question(shop.set.id, "Deposits?")
    preview = shop.take(
        f"q1 0 pub.pdf 3\r\nq1 0 {SHA['guide.html']} 1\nq9 0 pub.pdf 1\nq1 0 lost file.pdf 1\n", "a.txt"
    )
    assert shop.graded == [("q1", SHA["pub.pdf"], 3, "Ada"), ("q1", SHA["guide.html"], 1, "Ada")]
    assert reasons(preview) == [
        "3: The set has no question 'q9', and this line does not say what it asks.",
        "4: The library contains no document 'lost file.pdf'.",
    ]


def test_a_file_name_that_is_not_unique_is_refused() -> None:
    library = payroll_library()
    library.add("pub.pdf", "Another text under the same name.")
    shop = Shop(library, Level.DOCUMENT)
    shop.desk.add_question(shop.set.id, "Deposits?")
    assert reasons(shop.preview("q1 0 pub.pdf 3", "a.qrels")) == ["1: 2 documents are called 'pub.pdf'."]


def test_a_whole_document_cannot_be_graded_in_a_set_of_passages_unless_it_is_one() -> None:
    shop = Shop()
    shop.desk.add_question(shop.set.id, "Deposits?")
    preview = shop.preview(f"q1 0 {SHA['pub.pdf']} 3\nq1 0 {SHA['guide.html']} 2\n", "a.qrels")
    assert [each.unit.split(":")[0] for each in preview.judgments] == [SHA["guide.html"]]
    assert reasons(preview) == ["1: 2 passages of '" + SHA["pub.pdf"][:60] + "' fit page and words."]


def test_a_passage_may_be_graded_in_a_set_of_documents() -> None:
    shop = Shop(level=Level.DOCUMENT)
    shop.desk.add_question(shop.set.id, "Deposits?")
    preview = shop.preview(f"q1 0 {UNITS[0]} 3", "a.qrels")
    assert [each.unit for each in preview.judgments] == [UNITS[0]]


def test_nothing_is_stored_before_it_is_accepted() -> None:
    shop = Shop()
    preview = shop.preview(lines({"id": "q1", "question": "Why?", "judgments": [{"unit": UNITS[0], "grade": 3}]}))
    assert len(preview.new) == len(preview.judgments) == 1 and not preview.empty
    assert shop.questions == {} and shop.graded == []
    (judged,) = shop.desk.accept(preview)
    assert (judged.grade, judged.who, judged.at) == (3, "Ada", NOW)


def test_a_changed_question_is_shown_as_it_is_and_as_it_would_be() -> None:
    shop = Shop()
    before = shop.desk.add_question(shop.set.id, "How much vacation?", "keyword", SearchFilters(truths=("compliance",)))
    preview = shop.preview("key,question\nq1,How much leave?\n", "q.csv")
    ((was, would),) = preview.changed
    assert was == before and (would.question, would.kind, would.filters) == (
        "How much leave?", "keyword", before.filters
    )  # fmt: skip
    shop.desk.accept(preview)
    assert shop.questions["q1"].id == before.id and shop.questions["q1"].question == "How much leave?"


def test_a_set_that_changed_since_the_preview_is_not_overwritten() -> None:
    shop = Shop()
    new = shop.preview(lines({"id": "q1", "question": "Why?"}))
    questions = shop.desk.add_question(shop.set.id, "How?")
    with pytest.raises(Outdated, match="'q1' has been changed"):
        shop.desk.accept(new)
    changed = shop.preview(lines({"id": "q1", "question": "Why?"}))
    judged = shop.preview(f"q1 0 {UNITS[0]} 3", "a.qrels")
    shop.desk.retire_question(questions.id)
    for preview in (changed, judged):
        with pytest.raises(Outdated):
            shop.desk.accept(preview)
    assert shop.questions == {} and shop.graded == []


def test_a_grade_that_is_there_already_is_not_added_again_and_another_one_is() -> None:
    shop = Shop()
    question = shop.desk.add_question(shop.set.id, "Why?")
    shop.desk.judge(shop.set.id, question.id, UNITS[0], 3, "Ada")
    same, other = (shop.preview(f"q1 0 {UNITS[0]} {grade}", "a.qrels") for grade in (3, 1))
    assert (same.known, same.judgments, same.empty) == (1, (), True)
    assert [each.grade for each in other.judgments] == [1]


# Hostile files


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.qrels"])
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "contains nothing"),
        (b" \n\n\t", "contains nothing"),
        (b'{"id": "q1"\xff}', "not UTF-8"),
        ("key,question\nq1,Würde?".encode("utf-16"), "not UTF-8"),
        ("Straße".encode("cp1252"), "not UTF-8"),
        (b"x" * (MOST_BYTES + 1), "too large"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_refused_whole(name: str, data: bytes, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        Shop().preview(data, name)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Is not JSON"),
        ("[1, 2]", "Is not a JSON object"),
        ("null", "Is not a JSON object"),
        ("{}", "neither a key nor a question"),
        ('{"id": "q2", "question": "Why?", "filters": {"tags": ["a\\u0000b"]}}', "invalid character"),
        ("[" * 100_000, "not JSON"),
        ('{"id": "q2", "question": ' + "9" * 5_000 + "}", "not JSON that can be read"),
        ('{"id": "q2", "question": "a\\u0000b"}', "invalid character"),
        ('{"id": "q2", "question": "\\ud800"}', "invalid character"),
        ('{"id": "q\\u00002", "question": "Why?"}', "invalid character"),
        ('{"id": "q 2", "question": "Why?"}', "holds blanks"),
        ('{"id": "q2", "question": ""}', "The question is empty"),
        ('{"id": "q2", "question": ["Why?"]}', "'question' is not a text"),
        ('{"id": null, "question": "Why?"}', "'key' is not a text"),
        ('{"id": "q2"}', "has no question 'q2'"),
        ('{"id": "q1", "question": "Again?"}', "'q1' is already in line 1."),
        ('{"id": "q2", "question": "Why?", "filters": {"truth": "odd"}}', r"Invalid truths: \['odd'\]"),
        ('{"id": "q2", "question": "Why?", "filters": [1]}', "'filters' is not an object"),
        ('{"id": "q2", "question": "Why?", "filters": {"documents": [99]}}', "document 99, which is not in this"),
        ('{"id": "q2", "question": "Why?", "relevant": [{"sha256": "0", "grade": 7}]}', "Grade 7 is not 1, 2 or 3"),
        ('{"id": "q2", "question": "Why?", "relevant": [{"sha256": 5}]}', "has no sha256"),
        ('{"id": "q2", "question": "Why?", "relevant": {"sha256": "0"}}', "'relevant' is not a list"),
        ('{"id": "q2", "question": "Why?", "relevant": [{"sha256": "0", "must_contain": "a"}]}', "not a list of texts"),
        ('{"id": "q2", "question": "Why?", "relevant": [{"sha256": "0", "page": 0}]}', "is not a page number"),
        ('{"id": "q2", "question": "Why?", "kind": "none", "relevant": [{"sha256": "0"}]}', "names an answer"),
        ('{"id": "q2", "question": "Why?", "judgments": 5}', "'judgments' is not a list"),
    ],
)  # fmt: skip
def test_a_bad_line_of_jsonl_is_told_and_the_others_go_on(line: str, reason: str) -> None:
    shop = Shop()
    preview = shop.preview(f'{{"id": "q1", "question": "First?"}}\n{line}\n{{"id": "q3", "question": "Third?"}}\n')
    assert [each.key for each in preview.new] == ["q1", "q3"]
    (refused,) = preview.refused
    assert refused.line == 2 and len(refused.text) <= 80
    assert re.search(reason, refused.reason)


@pytest.mark.parametrize(
    ("judgment", "reason"),
    [
        ({"unit": UNITS[0], "grade": 7}, "'7' is not a grade."),
        ({"unit": UNITS[0], "grade": True}, "'True' is not a grade."),
        ({"unit": UNITS[0], "grade": float("nan")}, "'nan' is not a grade."),
        ({"unit": UNITS[0]}, "A judgment has no unit or no grade."),
        ({"unit": 5, "grade": 1}, "A judgment has no unit or no grade."),
        ({"unit": "00ff:1:abc", "grade": 1}, "The library contains no document '00ff:1:abc'."),
        ({"unit": "", "grade": 1}, "The library contains no document ''."),
        ({"unit": UNITS[0], "grade": 1, "at": "yesterday"}, "'yesterday' is not a date."),
        ({"unit": UNITS[0], "grade": 1, "at": 5}, "'5' is not a date."),
        ({"unit": UNITS[0], "grade": 1, "who": "x" * 81}, "A judge's name has at most 80 characters, this one has 81."),
        ({"unit": UNITS[0], "grade": 1, "blind": "yes"}, "A judgment's blind is neither true nor false."),
        ({"unit": UNITS[0], "grade": 1, "who": ["Ada"]}, "A judgment's who is not text."),
        ([1], "A judgment has no unit or no grade."),
    ],
)  # fmt: skip
def test_a_bad_judgment_is_told_and_its_question_stays(judgment: Any, reason: str) -> None:
    row = {"id": "q1", "question": "Why?", "judgments": [judgment, {"unit": UNITS[1], "grade": 2}]}
    preview = Shop().preview(lines(row))
    assert reasons(preview) == [f"1: {reason}"]
    assert [each.key for each in preview.new] == ["q1"] and [each.grade for each in preview.judgments] == [2]


def test_a_passage_that_has_changed_is_told() -> None:
    removed = f"{SHA['pub.pdf']}:1:000000000000"
    preview = Shop().preview(lines({"id": "q1", "question": "Why?", "judgments": [{"unit": removed, "grade": 1}]}))
    assert preview.refused[0].reason.startswith("The document has no passage")


def test_a_judge_who_contradicts_themselves_in_one_file_is_told() -> None:
    shop = Shop()
    shop.desk.add_question(shop.set.id, "Why?")
    preview = shop.preview(f"q1 0 {UNITS[0]} 3\nq1 0 {UNITS[0]} 3\nq1 0 {UNITS[0]} 0\n", "a.qrels")
    assert len(preview.judgments) == 1
    assert reasons(preview) == ["3: Ada has graded this result otherwise in line 1."]


def test_grades_of_nobody_are_refused() -> None:
    shop = Shop()
    shop.desk.add_question(shop.set.id, "Why?")
    assert reasons(shop.preview(f"q1 0 {UNITS[0]} 3", "a.qrels", who=" ")) == [
        "1: A judgment needs the name of who judges."
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 0 x", "four columns"),
        ("nonsense", "four columns"),
        (f"q1 0 {UNITS[0]} 7", "'7' is not a grade"),
        (f"q1 0 {UNITS[0]} -1", "'-1' is not a grade"),
        (f"q1 0 {UNITS[0]} ²", "'²' is not a grade"),
        (f"q1 0 {UNITS[0]} {'9' * 5_000}", "is not a grade"),
        ("q1 0 a\0b 1", "no document"),
    ],
)
def test_a_bad_line_of_qrels_is_told_and_the_others_go_on(line: str, reason: str) -> None:
    shop = Shop()
    shop.desk.add_question(shop.set.id, "Why?")
    preview = shop.preview(f"q1 0 {UNITS[1]} 1\n{line}\nq1 0 {UNITS[2]} 2\n", "a.qrels")
    assert [each.grade for each in preview.judgments] == [1, 2]
    (refused,) = preview.refused
    assert refused.line == 2 and reason in refused.reason


@pytest.fixture
def usual_cells() -> Iterator[None]:
    """Python's own limit of a cell, which holds for the whole process and which reading a large table raises."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q2,Why?,,,9", "It gives a grade to no result"),
        (f"q2,Why?,,{UNITS[0]},", "It names a result and gives it no grade"),
        (f"q2,Why?,,{UNITS[0]},7", "'7' is not a grade"),
        ("q1,Other?,,,", "'q1' is already in line 2."),
        ("q 2,Why?,,,", "holds blanks"),
        ("q2,a\0b,,,", "invalid character"),
        ("q2," + "x" * 200_000 + ",,,", "not CSV"),
        (",,natural,,", "neither a key nor a question"),
    ],
)
def test_a_bad_row_of_csv_is_told_and_the_others_go_on(line: str, reason: str, usual_cells: None) -> None:
    preview = Shop().preview(f"key,question,kind,unit,grade\nq1,First?,,,\n{line}\nq3,Third?,,,\n", "a.csv")
    assert [each.key for each in preview.new] == ["q1", "q3"]
    (refused,) = preview.refused
    assert refused.line == 3 and reason in refused.reason


@pytest.mark.parametrize(
    ("header", "problem"), [("a,b", "neither a column"), ("key,question,key", "column 'key' twice")]
)
def test_a_csv_file_without_sound_columns_is_refused(header: str, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        Shop().preview(f"{header}\n1,2,3\n", "a.csv")


@given(st.binary(max_size=300), st.sampled_from(["a.jsonl", "a.csv", "a.qrels", "a"]))
def test_no_bytes_break_the_preview(data: bytes, name: str) -> None:
    shop = Shop()
    try:
        preview = shop.preview(data, name)
    except BadRequest as problem:
        assert problem.message and problem.hint
        return
    shop.desk.accept(preview)


@given(st.text(st.sampled_from('{}[]"q1:, 0\\unitgrade\n'), max_size=120), st.sampled_from(["a.jsonl", "a.csv", "a"]))
def test_no_text_breaks_the_preview(text: str, name: str) -> None:
    shop = Shop()
    try:
        shop.desk.accept(shop.preview(text, name))
    except BadRequest as problem:
        assert problem.message
