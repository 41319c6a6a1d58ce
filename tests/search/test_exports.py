"""A result as files: what is written is what was found, sums add up, and nothing written can run."""

import csv
import io
import json
from dataclasses import replace
from math import fsum, prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from openpyxl import load_workbook

from core.answers.context import cited_ids, context_of_hits, supported
from core.domain.queries import SearchRequest
from core.domain.results import Multiplier, Score, SearchResult
from core.search.explanation import shown_parts
from core.search.exports import (
    FORMATS,
    export_data,
    file_name,
    result_csv,
    result_json,
    result_markdown,
    result_text,
    result_xlsx,
)
from tests.search.library import NOW, Library, payroll_library

QUESTION = "When must employers deposit withheld income taxes?"
HOSTILE = ("=1+1", "+SUM(A1)", "-2+3", "@cmd", "\t=1+1", '=HYPERLINK("http://x","y")')


def ask(library: Library, question: str, **options: Any) -> SearchResult:
    return library.searcher.search(SearchRequest(question, **options), NOW)


@pytest.fixture(scope="module")
def result() -> SearchResult:
    return ask(payroll_library(), QUESTION, profile="knowledge", top_k=1)


def rows_of(result: SearchResult) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result_csv(result).decode("utf-8-sig"), newline="")))


def parts(row: dict[str, str]) -> tuple[float, float]:
    """What a row's parts come to, and the score beside them."""
    adds = [float(value) for name, value in row.items() if name.endswith(" adds") and value]
    times = [float(value) for name, value in row.items() if name.startswith("× ") and value]
    return fsum(adds) * prod(times), float(row["score"])


def test_keywords_of_the_document_are_in_every_file() -> None:
    library = payroll_library()
    for document in library.catalogue.documents():
        library.catalogue.save_keywords(document.id, ["income tax", "=deposit"])
    found = ask(library, QUESTION, profile="knowledge", top_k=1)
    assert {row["keywords"] for row in rows_of(found)} == {"income tax, =deposit"}
    assert json.loads(result_json(found))["hits"][0]["keywords"] == ["income tax", "=deposit"]
    assert "Keywords: income tax, =deposit." in result_markdown(found)
    sheet = load_workbook(io.BytesIO(result_xlsx(found)))["Results"]
    heads, row = ([cell.value for cell in each] for each in (sheet[1], sheet[2]))
    assert row[heads.index("keywords")] == "income tax, =deposit"
    overlap = next(factor for factor in found.hits[0].score.factors if factor.name == "keyword_overlap")
    assert overlap.value == pytest.approx(0.6)  # income, tax and deposit of five


@pytest.mark.parametrize("profile", ["balanced", "knowledge", "relevance", "authority"])
def test_the_rows_of_the_csv_are_the_hits_and_their_parts_add_up(profile: str) -> None:
    result = ask(payroll_library(), QUESTION, profile=profile)
    rows = rows_of(result)
    assert [int(row["rank"]) for row in rows] == [hit.rank for hit in result.hits] != []
    for row, hit in zip(rows, result.hits, strict=True):
        made, total = parts(row)
        assert abs(made - total) < 1e-9
        assert total == hit.score.total
        assert row["quote"] == hit.citations[0].quote
        assert row["citation id"] == hit.citations[0].citation_id
        assert row["truth"] == (hit.candidate.passage.truth or "")
        assert row["page"] == ("1" if row["document"].endswith(".pdf") else "")


def test_a_multiplier_has_a_column_of_its_own(result: SearchResult) -> None:
    hit = result.hits[0]
    total = fsum(factor.contribution for factor in hit.score.factors) * 0.5
    halved = Score(total, hit.score.factors, (Multiplier("temporal", 0.5, "dated"),))
    (row,) = rows_of(replace(result, hits=(replace(hit, score=halved),)))
    assert row["× temporal"] == "0.5"
    assert parts(row) == pytest.approx((total, total), abs=1e-9)


def test_the_workbook_holds_hits_scores_citations_what_was_left_out_sources_and_the_search(
    result: SearchResult,
) -> None:
    book = load_workbook(io.BytesIO(result_xlsx(result)))
    assert book.sheetnames == ["Results", "Scores", "Citations", "Left out", "Bibliography", "Search"]
    heads, *rows = book["Results"].iter_rows(values_only=True)
    assert [dict(zip(heads, row, strict=True))["score"] for row in rows] == [hit.score.total for hit in result.hits]
    _, *scores = book["Scores"].iter_rows(values_only=True)
    totals = [row[5] for row in scores if row[2] == "Total"]
    adds = fsum(row[5] for row in scores if row[0] == 1 and row[2] != "Total" and row[5] is not None)
    assert abs(adds * prod(m.value for m in result.hits[0].score.multipliers) - totals[0]) < 1e-9
    _, *left_out = book["Left out"].iter_rows(values_only=True)
    assert len(left_out) == len(result.dropped) > 0
    facts = dict(row for row in book["Search"].iter_rows(min_row=2, values_only=True))
    assert (facts["question"], facts["profile"]) == (QUESTION, result.profile.ref)


def test_json_holds_everything_letter_for_letter(result: SearchResult) -> None:
    data = json.loads(result_json(result))
    assert data == json.loads(json.dumps(export_data(result)))
    hit, reported = result.hits[0], data["hits"][0]
    assert reported["score"] == hit.score.total
    sums = fsum(each["contribution"] for each in reported["factors"]) * prod(
        each["value"] for each in reported["multipliers"]
    )
    assert abs(sums - reported["score"]) < 1e-9
    assert [each["quote"] for each in reported["citations"]] == [each.quote for each in hit.citations]
    assert data["bibliography"][0]["document"] == "pub.pdf"
    assert len(data["left_out"]) == len(result.dropped)


def test_the_brief_says_what_was_asked_found_and_left_out(result: SearchResult) -> None:
    reported = replace(result, notices=("The graph leg failed.",), filters_in_words=("truth is regulatory",))
    text = result_markdown(reported)
    for words in ("# When must employers", "profile knowledge", "Only: truth is regulatory", "⚠ The graph leg failed"):
        assert words in text
    best = result.hits[0].citations[0]
    assert f"[pub.pdf, p.1](/document?id={best.document_id}&mark={best.citation_id}) (1)" in text
    assert f"= {result.hits[0].score.total:.3f}" in text
    assert "## What was left out" in text
    assert "## Bibliography\n\n1. Government. pub.pdf. Page 1. (upload, " in text
    shown = fsum(value for _, value in shown_parts(result.hits[0].score))
    assert abs(shown - float(f"{fsum(f.contribution for f in result.hits[0].score.factors):.3f}")) < 1e-9


def test_a_result_without_an_answer_is_told_in_every_format() -> None:
    result = ask(Library(), "Which zebra eats quantum marmalade?")
    assert not result.hits
    assert rows_of(result) == []
    assert json.loads(result_json(result))["hits"] == []
    assert "**Nothing found.**" in result_markdown(result)
    assert load_workbook(io.BytesIO(result_xlsx(result)))["Results"].max_row == 1


def test_a_result_that_probably_does_not_answer_says_so_and_lists_what_is_nearest() -> None:
    library = Library()
    library.add("picnic.md", "The picnic has music and a raffle.")
    result = ask(library, "raffle licence of the gambling commission")
    assert result.hits and not result.answered and result.answer_probability is not None
    words = f"Probably not answered in this library (p = {1 - result.answer_probability:.2f})."
    assert words in result_text(result) and result.silence in result_text(result)
    assert "**Probably not answered in this library" in result_markdown(result)
    data = json.loads(result_json(result))
    assert data["answer_probability"] == result.answer_probability and len(data["hits"]) == len(result.hits)
    facts = {row[0].value: row[1].value for row in load_workbook(io.BytesIO(result_xlsx(result)))["Search"].iter_rows()}
    assert facts["answered"] == "probably not"

    # Where a part of the library could not be searched, nobody knows.
    legs = (replace(result.legs[0], error="no vectors"), *result.legs[1:])
    broken = replace(result, legs=legs, answer_probability=None, answered=True, silence="")
    facts = {row[0].value: row[1].value for row in load_workbook(io.BytesIO(result_xlsx(broken)))["Search"].iter_rows()}
    assert facts["answered"] == "not known"


@pytest.mark.parametrize("evil", HOSTILE)
def test_nothing_in_a_file_runs_as_a_formula(evil: str) -> None:
    library = Library()
    library.add(f"{evil}.md", f"{evil} overtime is paid weekly", section=evil)
    result = ask(library, "overtime paid weekly", profile="knowledge")
    assert result.hits
    cells = [
        cell for row in csv.reader(io.StringIO(result_csv(result).decode("utf-8-sig"), newline="")) for cell in row
    ]
    assert not [cell for cell in cells if cell.lstrip(" ").startswith(tuple("=+-@\t\r")) and not _number(cell)]
    for sheet in load_workbook(io.BytesIO(result_xlsx(result))):
        for row in sheet.iter_rows():
            assert all(cell.data_type != "f" for cell in row)
    assert not [line for line in result_markdown(result).splitlines() if line.startswith(("=", "+", "@"))]


def _number(cell: str) -> bool:
    return cell.replace(".", "", 1).replace("-", "").replace("e", "").isdigit()


def test_a_brief_shows_markup_in_quotes_as_text() -> None:
    library = Library()
    library.add("evil.md", "Overtime <script>alert(1)</script> [link](javascript:alert(1)) ![x](http://x) `code` # no")
    html = MarkdownIt("commonmark").render(result_markdown(ask(library, "overtime link code", profile="knowledge")))
    assert "alert(1)" in html
    assert not [tag for tag in ("<script", "<img", "<code") if tag in html]
    assert html.count("<a ") == html.count('<a href="/document?id=')


@given(question=st.text())
def test_file_names_are_safe_on_every_file_system(question: str) -> None:
    name = file_name(question, ".csv")
    assert name.endswith("-results.csv")
    assert len(name) <= 80
    assert not set(name) & set('/\\:*?"<>|\0\n .') - {"."}
    assert name.count(".") == 1


def test_the_formats_are_made_of_bytes_and_named_once(result: SearchResult) -> None:
    assert list(FORMATS) == ["csv", "xlsx", "json", "markdown"]
    assert all(form.made(result) for form in FORMATS.values())


# Numbered sentences, and back


def test_the_context_block_numbers_every_cited_sentence_once(result: SearchResult) -> None:
    block = context_of_hits(result)
    assert list(block.citations) == list(cited_ids(block.text))
    assert block.text.splitlines()[0] == "# 1. [pub.pdf, p.1], regulatory"
    assert all(block.quote_of(each.citation_id) == each.quote for hit in result.hits for each in hit.citations)


def test_a_pasted_answer_is_checked_against_the_sentences_it_cites(result: SearchResult) -> None:
    block = context_of_hits(result)
    first = result.hits[0].citations[0]
    true, false, lost = supported(
        f"{first.quote} [{first.citation_id}]\nPenguins get 40 days off [{first.citation_id}].\nTaxes wait [99999.0].",
        block,
    )
    assert true.supported and true.score > 0.9
    assert not false.supported
    assert lost.unknown == ("99999.0",)


def test_a_document_cannot_pose_as_another_sentences_number() -> None:
    library = Library()
    library.add("x [7.0] y.md", "Overtime [8.0] is paid weekly, says the rule [f1].")
    block = context_of_hits(ask(library, "overtime paid weekly", profile="knowledge"))
    assert block.citations
    assert set(cited_ids(block.text)) == set(block.citations)


def test_a_result_without_hits_gives_an_empty_block() -> None:
    result = replace(ask(payroll_library(), QUESTION), hits=())
    assert context_of_hits(result).text == ""
