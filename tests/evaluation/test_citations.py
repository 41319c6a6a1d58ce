"""How exact citations are: every citation of every hit, against its page's characters and its picture."""

from dataclasses import replace
from time import perf_counter

import pytest

from core.domain.evaluation import Relevant
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.benchmarks.citations import CitationReport, covered_words, evaluate_citations
from core.evaluation.judgments.files import QuestionJudgment
from core.ingestion.parsers.pdf import read_pdf
from tests.search.library import NOW, payroll_library

SAID = "Employers must deposit withheld income taxes every month. Deposits are due on the 15th."
NEXT = "A wage and tax statement must be furnished by January 31."


def printed(*lines: str) -> bytes:
    from fpdf import FPDF

    paper = FPDF()
    paper.add_page()
    paper.set_font("Helvetica", size=11)
    for line in lines:
        paper.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    return bytes(paper.output())


def question(text: str) -> QuestionJudgment:
    return QuestionJudgment(text, text, "fact", SearchFilters(), ())


def report(original: bytes, *, page_text: str = "", shift: int = 0) -> CitationReport:
    """The library's answer to one question about its PDF, checked against a page of ours."""
    library = payroll_library()

    def search(request: SearchRequest) -> SearchResult:
        result = library.searcher.search(request, NOW)
        pdfs = {
            key: replace(each, media_type="application/pdf" if each.paged else "text/plain")
            for key, each in result.documents.items()
        }
        hits = tuple(
            replace(hit, citations=tuple(replace(c, start=c.start + shift, end=c.end + shift) for c in hit.citations))
            for hit in result.hits
        )
        return replace(result, documents=pdfs, hits=hits)

    def text_of(document_id: int, number: int) -> str:
        return page_text or library.catalogue.page(document_id, number).text

    questions = [question("When must employers deposit withheld income taxes?")]
    return evaluate_citations(questions, search, text_of, lambda _: original, timer=perf_counter)


def test_the_letters_of_the_page_are_those_of_the_library() -> None:
    assert read_pdf("pub.pdf", printed(SAID, NEXT)).pages[0].text.split() == f"{SAID} {NEXT}".split()


def test_citations_on_their_page_are_exact_marked_and_covered() -> None:
    reported = report(printed(SAID, NEXT))
    measures = reported.measures("pdf")
    assert measures["citations"] == measures["drawn"] > 0
    assert [measures[name] for name in ("quotes_exact", "marked", "covered", "words_covered")] == [1, 1, 1, 1]
    assert list(reported.wrong()) == []
    assert len(reported.milliseconds) >= 1
    assert reported.data()["per_kind"]["pdf"]["covered"] == 1


def test_a_page_without_the_sentence_is_not_marked_and_told() -> None:
    reported = report(printed("Something else altogether."))
    assert reported.measures("pdf")["marked"] == 0
    assert reported.measures("pdf")["quotes_exact"] == 1
    assert {each["document"] for each in reported.data()["wrong"]} == {"pub.pdf"}


def test_a_quote_that_is_not_what_its_page_says_is_found_out() -> None:
    reported = report(printed(SAID, NEXT), shift=1)
    assert reported.measures()["quotes_exact"] < 1
    assert reported.data()["wrong"][0]["exact"] is False


def test_a_file_that_cannot_be_drawn_is_told_of_its_citations() -> None:
    wrong = report(b"no pdf at all").data()["wrong"]
    assert wrong
    assert all(each["problem"] == "The original cannot be drawn as pages." for each in wrong)


@pytest.mark.parametrize(
    ("quote", "inside", "expected"),
    [
        ("Helium is stored.", "Heliumisstored.", (3, 3, 0)),
        ("Helium is stored.", "Heliumis", (3, 2, 0)),
        ("Helium is stored.", "Heliumisstored.Argontoo", (3, 3, 8)),
        ("Helium is stored.", ",Helium is stored.", (3, 3, 0)),
        ("inter-\nnational", "inter-national", (2, 2, 0)),
        ("", "abc", (0, 0, 3)),
    ],
)
def test_words_are_covered_by_the_letters_inside_the_boxes(
    quote: str, inside: str, expected: tuple[int, int, int]
) -> None:
    assert covered_words(quote, inside) == expected


def test_the_first_citation_is_held_against_the_judged_words_and_the_kind_asked_for() -> None:
    library = payroll_library()
    question = "When must employers deposit withheld income taxes?"
    result = library.searcher.search(SearchRequest(question, profile="knowledge"), NOW)
    hit = result.hits[0]
    sha256 = result.documents[hit.candidate.passage.document_id].sha256
    relevant = (Relevant(sha256, ("Employers must deposit", "every month"), 3),)
    judged = QuestionJudgment("q", question, "fact", SearchFilters(), relevant)

    def answering(given: SearchResult) -> dict[str, float]:
        return evaluate_citations(
            [judged],
            lambda _: given,
            lambda document_id, number: library.catalogue.page(document_id, number).text,
            lambda _: b"",
            timer=perf_counter,
        ).answering()

    only_first = replace(result, hits=(hit,))
    assert answering(only_first)["answer_first"] == answering(only_first)["answer_cited"] == 1
    assert answering(only_first)["lead_ins"] == 0
    lead_in = replace(hit.citations[0], quote="We keep:")
    other = answering(replace(result, hits=(replace(hit, citations=(lead_in, *hit.citations)),)))
    assert (other["answer_first"], other["answer_cited"], other["lead_ins"]) == (0, 1, 1)
