"""Citations stand on the page letter for letter, and are written in four styles."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.domain.documents import Document, DocumentState, Passage, SourceType, Span
from core.domain.results import Candidate, Citation, Score, Signals
from core.search.citations.cite import cite, cite_hits, display_quote, distinct, linked, sentence_relevance, written
from core.search.ranking.score import ScoredCandidates, collapse
from core.text.sentences import sentences

NOW = datetime(2026, 1, 15, tzinfo=UTC)
PAPER = Document(3, "IRS_Pub_15.pdf", "a" * 64, 10, DocumentState.READY, NOW, paged=True)
PAGE = "Heading\nDeposits are due monthly. Semiweekly filers deposit sooner. See your manager."
TEXT = PAGE[8:]
FIRST = TEXT.index("Semi")
LAST = TEXT.index("See")
PASSAGE = Passage(
    TEXT,
    5,
    8,
    len(PAGE),
    (Span(0, FIRST - 1), Span(FIRST, LAST - 1), Span(LAST, len(TEXT))),
    id=42,
    document_id=3,
)


def citation(**changes: object) -> Citation:
    """The first citation of the passage, with some fields changed."""
    return replace(cite(PASSAGE, PAPER, {})[0], **changes)


def test_the_sentence_with_the_rare_words_comes_first() -> None:
    best, *_ = cite(PASSAGE, PAPER, {"semiweekly": 5.0, "deposits": 1.0})
    assert best.quote == "Semiweekly filers deposit sooner."
    assert best.quote == PAGE[best.start : best.end]
    assert (best.citation_id, best.sentence_index, best.page) == ("42.1", 1, 5)
    assert best.relevance == pytest.approx(0.5 + 0.5 * 4 / 6)  # all the question's words, but only four words


@given(st.text(min_size=1, max_size=80), st.text(max_size=20), st.data())
def test_a_quote_is_always_what_stands_on_the_page(text: str, before: str, data: st.DataObject) -> None:
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=4))})
    spans = tuple(Span(start, end) for start, end in pairwise(cuts))
    page = before + text
    found = cite(Passage(text, 1, len(before), len(page), spans, id=9), PAPER, {"word": 1.0})
    assert found
    for item in found:
        assert item.quote == page[item.start : item.end]
        assert 0 <= item.relevance <= 1


def test_measured_meaning_counts_beside_the_words() -> None:
    values = {"deposits": 1.0, "chief": 4.0}
    cosines = [0.9 if "manager" in span.of(TEXT) else 0.1 for span in PASSAGE.sentences]
    by_meaning = cite(PASSAGE, PAPER, values, cosines=cosines)
    assert by_meaning[0].quote == "See your manager."
    assert by_meaning[0].relevance == pytest.approx(0.9 / 2 * 0.75)
    assert by_meaning[1].relevance == pytest.approx((0.2 + 0.1) / 2 * (0.5 + 0.5 * 4 / 6))


def handbook(text: str, *, section: str = "", context: str = "") -> Passage:
    """A passage cut by the product's own splitting into sentences."""
    return replace(
        PASSAGE, text=text, start=0, end=len(text), sentences=sentences(text), section=section, context=context
    )


RECORDS = """### Keeping records

| Record | Kept for | Kept by |
|--------|---------:|---------|
| Payroll file | 7 years | Finance |
| Interview notes | 1 year | Recruiting |"""


def test_a_table_answers_with_its_row_not_with_its_header() -> None:
    values = {"record": 1.0, "kept": 2.0, "interview": 3.0}
    quotes = [c.quote for c in cite(handbook(RECORDS, section="Keeping records"), PAPER, values)]
    assert quotes[0] == "| Interview notes | 1 year | Recruiting |"
    assert quotes[2] == "| Record | Kept for | Kept by |"
    assert not any("---" in quote for quote in quotes)


def test_a_row_is_read_with_the_column_names_of_its_table() -> None:
    row = handbook(
        "| Payroll file | 7 years | Finance |\n\nAsk the office for more.", context="Manual\nRecord; Kept for; Kept by"
    )
    assert cite(row, PAPER, {"kept": 2.0})[0].quote == "| Payroll file | 7 years | Finance |"
    lone = cite(row, PAPER, {}, cosines=(1.0,))
    assert lone[0].quote == "| Payroll file | 7 years | Finance |"


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("## Parental leave\n\nMothers and fathers may stay at home for twelve weeks.", ""),
        ("Parental leave\n-----\n\nMothers and fathers may stay at home for twelve weeks.", ""),
        ("Parental leave\n\nMothers and fathers may stay at home for twelve weeks.", "Handbook › Parental leave"),
        ("*Parental leave*\n\n```text\n\nMothers and fathers may stay at home for twelve weeks.", "*Parental leave*"),
    ],
)
def test_a_bare_heading_is_never_cited_before_a_sentence(text: str, section: str) -> None:
    best = cite(handbook(text, section=section), PAPER, {"parental": 3.0, "leave": 2.0})[0]
    assert best.quote == "Mothers and fathers may stay at home for twelve weeks."


def test_a_heading_alone_is_cited_when_nothing_else_stands_there() -> None:
    assert cite(handbook("## Parental leave"), PAPER, {"leave": 1.0})[0].quote == "## Parental leave"


def test_a_question_for_money_prefers_the_sentence_that_holds_one() -> None:
    text = "The mileage rate for your business is set each January. The mileage rate for business is 65.5 cents a mile."
    values = {"mileage": 1.0, "rate": 1.0, "business": 1.0}
    assert "65.5" in cite(handbook(text), PAPER, values, kind="money")[0].quote


def test_meaning_finds_the_answer_in_other_words() -> None:
    text = "The rules about parents and their papers are old rules here. You may stay at home for twelve weeks."
    passage = handbook(text)
    by_words = cite_hits([Candidate(passage, Signals(0.5))], {3: PAPER}, {"parents": 0.1}, "")[0]
    measured = Signals(0.5, sentences=(0.0, 0.9))
    by_meaning = cite_hits([Candidate(passage, measured)], {3: PAPER}, {"parents": 0.1, "baby": 1.0}, "")[0]
    assert by_words[0].quote.startswith("The rules")
    assert by_meaning[0].quote.startswith("You may")


@given(
    st.lists(
        st.sampled_from(("# Heading", "| a | b |", "|---|---|", "| 1 | 2 |", "One. Two three.", "- item", "", "```")),
        max_size=9,
    )
)
def test_whatever_stands_on_a_page_its_quotes_stand_there_too(lines: list[str]) -> None:
    text = "\n".join(lines)
    for item in cite(handbook(text, section="Heading", context="a; b"), PAPER, {"one": 1.0, "a": 1.0}):
        assert item.quote == text[item.start : item.end]


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("| Payroll file | 7 years | Finance |", "Payroll file · 7 years · Finance"),
        ("Step | Who | When", "Step · Who · When"),
        ("| a \\| b | **c** |\n|---|---|\n| d | |", "a | b · c d"),
        ("### **Paid** leave", "Paid leave"),
        ("- *Ask* your [manager](https://x.gov/a) first", "Ask your manager first"),
        ("> * quoted `code`", "quoted code"),
        ("Name: Ada; Pay: 10", "Name: Ada; Pay: 10"),
        ("a*b*c, 2 * 3 * 4, my_file_name and $5", "a*b*c, 2 * 3 * 4, my_file_name and $5"),
        ("-5 degrees", "-5 degrees"),
        ("§ 5 …", "§ 5 …"),
    ],
)
def test_a_quote_is_shown_without_its_marks(quote: str, shown: str) -> None:
    assert display_quote(quote) == shown


def test_a_passage_without_sentence_borders_is_cited_whole() -> None:
    assert [c.quote for c in cite(replace(PASSAGE, sentences=()), PAPER, {})] == [TEXT]


def test_relevance_is_the_share_of_the_question_by_rarity() -> None:
    assert sentence_relevance("Year-end deposits", {"year": 1.0, "deposit": 2.0, "levy": 1.0}) == 0.75
    assert sentence_relevance("anything", {}) == 0.0


@pytest.mark.parametrize(
    ("changes", "style", "expected"),
    [
        ({"authority": "government"}, "brief", "[IRS_Pub_15.pdf, p.5]"),
        ({"authority": "government"}, "full", "[IRS_Pub_15.pdf, p.5] (government)"),
        ({"authority": None}, "full", "[IRS_Pub_15.pdf, p.5]"),
        ({"authority": "government"}, "academic", "Government. IRS_Pub_15.pdf. Page 5."),
        ({"authority": None}, "academic", "IRS_Pub_15.pdf. Page 5."),
        ({"authority": "government", "page": None}, "brief", "[IRS_Pub_15.pdf]"),
        ({"authority": "government", "page": None}, "academic", "Government. IRS_Pub_15.pdf."),
        ({"page": None, "section": "Taxes › When  to pay?"}, "brief", "[IRS_Pub_15.pdf, When to pay?]"),
        (
            {"authority": "government", "page": None, "section": "When to pay?"},
            "academic",
            "Government. IRS_Pub_15.pdf. When to pay?",
        ),
        ({"authority": None, "page": None, "section": "a " * 40}, "full", f"[IRS_Pub_15.pdf, {'a ' * 29}a…]"),
        ({"document_name": "employees.csv", "page": None, "rows": (12, 18)}, "brief", "[employees.csv, rows 12–18]"),
        ({"document_name": "employees.csv", "page": None, "rows": (7, 7)}, "brief", "[employees.csv, row 7]"),
    ],
)
def test_citation_styles(changes: dict[str, object], style: str, expected: str) -> None:
    assert written(citation(**changes), style) == expected


@pytest.mark.parametrize(
    ("title", "url", "expected"),
    [
        ("Pub. 15", "https://irs.gov/p15", "[Pub. 15](https://irs.gov/p15)"),
        ("A [draft] *rule*", "https://x.gov/a (1)", r"[A \[draft\] \*rule\*](https://x.gov/a%20%281%29)"),
        ("Trap", "javascript:alert(1)", "[Trap](/document?id=3&mark=MARK)"),
        ("Two\nlines", "", "[Two lines](/document?id=3&mark=MARK)"),
    ],
)
def test_a_markdown_link_cannot_be_broken_by_its_title(title: str, url: str, expected: str) -> None:
    cited = citation(title=title, url=url)
    assert written(cited, "markdown") == expected.replace("MARK", cited.citation_id)
    assert written(citation(document_name="", title="", document_id=0), "markdown") == "[Source](#)"


@pytest.mark.parametrize("title", ["R&amp;D | pay", "a &#124; b", "~~old~~ &copy; $x$", "Time & pay \\| rates"])
def test_a_markdown_link_renders_as_its_title_also_in_a_table(title: str) -> None:
    link = written(citation(title=title), "markdown")
    html = (
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(f"{link}\n\n| source |\n|---|\n| {link} |\n")
    )
    assert [unescape(shown) for shown in re.findall("<a [^>]*>(.*?)</a>", html)] == [title, title]


def test_a_citation_carries_where_its_document_comes_from() -> None:
    page = replace(PAPER, title="Circular E", url="https://irs.gov/p15", source_type=SourceType.WEB)
    found = cite(replace(PASSAGE, date=NOW), page, {})[0]
    assert (found.title, found.url, found.source_type, found.date) == ("Circular E", page.url, SourceType.WEB, NOW)
    assert linked(found) == r"[IRS\_Pub\_15.pdf, p.5](https://irs.gov/p15)"
    assert cite(PASSAGE, PAPER, {})[0].title == "IRS_Pub_15.pdf"
    own = cite(PASSAGE, PAPER, {})[0]
    assert linked(own).endswith(f"(/document?id=3&mark={own.citation_id})")


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(ValueError, match="chicago"):
        written(citation(), "chicago")


def test_one_citation_per_passage_is_left() -> None:
    both = [*cite(PASSAGE, PAPER, {}), *cite(replace(PASSAGE, id=43), PAPER, {})]
    assert [c.passage_id for c in distinct(both)] == [42, 43]


def scored(passage_id: int, text: str, total: float) -> ScoredCandidates:
    """A scored passage of this text."""
    return ScoredCandidates(Candidate(replace(PASSAGE, id=passage_id, text=text), Signals(total)), Score(total, ()))


LONG = "The contractor shall submit the final invoice within sixty calendar days after the period of performance."


def test_near_identical_passages_are_shown_once() -> None:
    ranked = [
        scored(1, LONG, 0.9),
        scored(2, "Something else entirely, about leave.", 0.8),
        scored(3, LONG + " Yes.", 0.7),
    ]
    shown, dropped = collapse(ranked)
    assert [(item.candidate.passage.id, similar) for item, similar in shown] == [(1, (3,)), (2, ())]
    assert [d.candidate.passage.id for d in dropped] == [3]
    assert "passage 1" in dropped[0].detail


def test_all_shared_cases_of_citation_styles_hold(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "cases.json").read_text("utf-8"))
    for case in cases["citation_styles"]:
        given_citation = citation(document_name=case["document"], page=case["page"], authority=case["authority"])
        for style in ("brief", "full", "academic"):
            assert written(given_citation, style) == case[style], case


DELIVERABLES = """The Contractor shall comply with the following:

• Submit the monthly status report. It is due on the 5th.
• Deliver the source code within 30 days;
• Return all badges.

Nothing else is due."""


def test_a_lead_in_is_cited_with_the_items_it_announces() -> None:
    first = cite(handbook(DELIVERABLES), PAPER, {"contractor": 3.0, "comply": 3.0})[0]
    assert first.quote == DELIVERABLES[: DELIVERABLES.index("\n\nNothing")]
    assert first.citation_id == "42.0"


def test_a_lead_in_ends_with_the_last_item_that_holds_the_kind_of_answer() -> None:
    first, *others = cite(handbook(DELIVERABLES), PAPER, {"contractor": 3.0, "comply": 3.0}, kind="duration")
    assert first.quote.endswith("within 30 days;")
    assert all(each.start >= first.end for each in others), "no sentence is cited twice"


@pytest.mark.parametrize(
    "text",
    [
        "The rate is:\n\n$27.63 an hour.",
        "An employer may exclude any employee whose duty is\n\n(A) the design of systems;\n(B) testing.",
        "These forms are needed, as follows.\n1. The time sheet.\n2. The receipt.",
    ],
)
def test_what_a_sentence_announces_is_quoted_with_it(text: str) -> None:
    assert cite(handbook(text), PAPER, {})[0].quote == text


def test_a_lead_in_whose_items_are_elsewhere_is_cited_last() -> None:
    text = "Leave is granted by the manager. The grounds for special leave are the following:"
    found = cite(handbook(text), PAPER, {"grounds": 3.0, "special": 3.0, "leave": 1.0})
    assert [each.quote for each in found] == [text[:32], text[33:]]


def test_a_long_list_is_cited_in_part_and_still_exactly() -> None:
    text = "Employees shall bring:\n" + "\n".join(f"• document number {n} of a long list" for n in range(40))
    first = cite(handbook(text), PAPER, {"employees": 1.0})[0]
    assert text.startswith(first.quote) and first.quote.count("•") > 3 and len(first.quote) <= 600


def test_the_sentence_with_the_kind_of_answer_comes_before_one_with_more_words() -> None:
    text = "The final invoice is due when the period of performance ends. The contractor sends it within 60 days of it."
    values = {"final": 2.0, "invoice": 2.0, "due": 1.0, "days": 1.0, "contractor": 2.0}
    assert "60 days" in cite(handbook(text), PAPER, values, kind="duration")[0].quote
