"""The brief: what stands in each of its forms, and that nothing hostile in it runs."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import jsonschema
import pytest
from markdown_it import MarkdownIt

from core.answers.brief import bibliography, brief_data, brief_html, brief_markdown
from core.answers.service import write_extractive
from core.domain.documents import Truth
from core.domain.five_truths import Figure, FiveTruthsAnswer
from tests.answers.asking import COUNTED, answer_for, expense_answer
from tests.answers.schema import BRIEF
from tests.coverage.boards import citation
from tests.search.library import Library

FORMULA, SCRIPT = "=cmd|'/C calc'!A0", "<script>alert(1)</script><img src=x onerror=alert(1)>"
HOSTILE = [
    FORMULA,
    SCRIPT,
    "[click](javascript:alert(1)) ![x](http://x/y.png)",
    "```\n# free\n```",
    "&lt;b&gt; {{ 7*7 }}",
]


def hostile(text: str) -> FiveTruthsAnswer:
    """An answer in which every text that comes from outside is `text`."""
    answer = expense_answer()
    figure = Figure(text, text, f"SELECT 1 -- {text}", text, text, 1)
    evil = citation(text, document_name=text, authority=text, section=text)
    reported = replace(answer.of(Truth.REALITY), citations=(evil,), figures=(figure,), silence=text, needed=text)
    conflicts = tuple(replace(each, words=text) for each in answer.conflicts)
    changed = replace(
        answer, question=text, truths=(*answer.truths[:4], reported), conflicts=conflicts, notices=(text,)
    )
    return replace(changed, to_raise=(text,), confidence_reason=text, filters_in_words=(text,))


class Reader(HTMLParser):
    """What a browser would see: elements and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_brief_says_everything_there_is_to_say() -> None:
    answer = expense_answer()
    text = brief_markdown(answer, write_extractive(answer))
    for heading in ("In short", "Regulatory: answered", "Intent: silent", "Where they agree", "Where they disagree"):
        assert f"## {heading}" in text
    assert "## Missing for a complete answer" in text
    assert "**expense reports submitted late: 37**" in text and COUNTED.sql in text
    seen = Reader(brief_html(answer, write_extractive(answer))).text
    shown = (*answer.to_raise, answer.confidence_reason, COUNTED.sql, *(each.words for each in answer.agreements))
    assert all(words in seen for words in shown)


def test_each_source_stands_once_in_the_bibliography() -> None:
    sources = bibliography(expense_answer())
    assert [source.number for source in sources] == list(range(1, len(sources) + 1))
    assert len({source.name for source in sources}) == len(sources)
    assert sources[0].written == ("[law.pdf, p.1] (government)",)
    assert sources[-1].written == (COUNTED.citation,) and sources[-1].name == "expenses"
    cited = {each.citation_id for truth in Truth for each in expense_answer().cited(truth)}
    assert {name for source in sources for name in source.ids} == cited
    assert brief_markdown(expense_answer()).count("\\[law.pdf, p.1\\] (government)") == 1


def test_two_pages_of_one_document_are_one_source() -> None:
    pages = tuple(citation(f"Page {n}.", citation_id=f"{n}.0", page=n, document_id=7) for n in (1, 2, 2))
    reported = replace(expense_answer().truths[0], citations=pages)
    (source,) = bibliography(replace(expense_answer(), truths=(reported,) * 5, conflicts=(), agreements=()))[:1]
    assert source.written == ("[policy.pdf, p.1]", "[policy.pdf, p.2]")


def test_the_data_are_as_described() -> None:
    for answer in (expense_answer(), answer_for(library=Library()), hostile(SCRIPT)):
        data = json.loads(json.dumps(brief_data(answer, write_extractive(answer))))
        jsonschema.validate(data, BRIEF)
    assert brief_data(expense_answer())["synthesis"] is None
    quotes = [each["quote"] for each in brief_data(hostile(SCRIPT))["truths"][4]["citations"]]
    assert quotes == [SCRIPT]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_runs_in_html(text: str) -> None:
    plain = Reader(brief_html(expense_answer()))
    evil = Reader(brief_html(hostile(text), write_extractive(hostile(text))))
    assert set(evil.tags) <= set(plain.tags) | {"p", "span"}
    assert not {"script", "img", "a", "link", "iframe"} & set(evil.tags)
    assert not [name for name, _ in evil.attributes if name.startswith("on")]
    assert "default-src 'none'" in brief_html(expense_answer())


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_runs_in_markdown(text: str) -> None:
    reported = hostile(text)
    source = brief_markdown(reported, write_extractive(reported))
    seen = Reader(MarkdownIt("commonmark", {"html": True}).enable("table").render(source))
    assert not {"script", "img", "b", "table"} & set(seen.tags)
    assert all(value.startswith("/document?id=") for name, value in seen.attributes if name == "href")
    titles = re.findall(r"(?m)^#+ .*$", brief_markdown(expense_answer(), write_extractive(expense_answer())))
    assert len([tag for tag in seen.tags if tag in ("h1", "h2")]) == len(titles)
    assert text.split("\n")[-1].lstrip("`") in seen.text


@pytest.mark.parametrize("form", [brief_markdown, brief_html])
def test_no_line_is_a_formula(form: "object") -> None:
    reported = hostile(FORMULA)
    lines = form(reported, write_extractive(reported)).split("\n")  # type: ignore[operator]
    body = [re.sub(r"<[^>]+>", "", line) for line in lines]
    assert not [line for line in body if line.lstrip().startswith(("=", "+", "@")) and not line.startswith("  @media")]


def test_the_same_answer_gives_the_same_brief() -> None:
    other = answer_for(figures=lambda question: (COUNTED,))
    assert brief_html(expense_answer()) == brief_html(other)
    assert brief_markdown(expense_answer()) == brief_markdown(other)
    assert brief_data(expense_answer()) == brief_data(other)
