"""Whether a text's citations support its sentences: what cites, what is looked up, and what is judged."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.answers.cite_check.judgement import Source, SupportState, judge
from core.answers.cite_check.references import cited_sentences
from core.answers.cite_check.service import CheckedClaim
from core.domain.errors import BadRequest
from core.evaluation.benchmarks.cite_check import cases, evaluate_cite_check, read_pairs
from core.workbench import Workbench
from tests.workbench import Stores, built

if TYPE_CHECKING:
    from core.ports.stores import Embedder

PAIRS = Path(__file__).parents[2] / "bench" / "cite_check"
POLICY = """# Vacation policy

Managers must approve vacation within 5 working days. Vacation that is not taken is carried into the next year.
Employees ask for vacation in writing. The policy applies in California since March 1, 2024.
"""
WAGES = "# Wages\n\nThe minimum wage is $16 an hour. Tips are never counted as wages.\n"


@pytest.fixture(scope="module")
def library(embedder: "Embedder", tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """Two documents, one of a project."""
    workbench = built(Stores(embedder), tmp_path_factory.mktemp("watched"))
    workbench.documents.upload("vacation.md", POLICY.encode())
    workbench.documents.upload("wages.md", WAGES.encode(), project="Payroll")
    return workbench


def name_of(library: Workbench, document: str, words: str) -> str:
    """The citation id of the sentence with these words."""
    found = next(each for each in library.documents.list() if each.name == document)
    for passage in library.documents.passages(found.id):
        for number, span in enumerate(passage.sentences):
            if words in span.of(passage.text):
                return f"{passage.id}.{number}"
    raise AssertionError(words)


def only(library: Workbench, text: str) -> CheckedClaim:
    """The check of a text of one sentence."""
    [claim] = library.cite_check.check(text)
    return claim


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Paid weekly [42.3].", [("Paid weekly.", ("42.3",))]),
        ("Paid weekly. [42.3]", [("Paid weekly.", ("42.3",))]),
        ("Paid [42.3; 43], due [44.0].", [("Paid, due.", ("42.3", "43", "44.0"))]),
        ("One fact [1.0]. Another fact [2.0].", [("One fact.", ("1.0",)), ("Another fact.", ("2.0",))]),
        ("See it [a b.pdf, p. 12].", [("See it.", ("a b.pdf, p. 12",))]),
        ("Rows [staff.csv, rows 3–9].", [("Rows.", ("staff.csv, rows 3–9",))]),
        ("Under [a.md, Who, and when?; 43].", [("Under.", ("a.md, Who, and when?", "43"))]),
        ("It [sic] is [as said] so.", [("It [sic] is [as said] so.", ())]),
        ("A [link](https://x.org) is no citation.", [("A [link](https://x.org) is no citation.", ())]),
    ],
)
def test_citations_belong_to_the_sentence_they_follow(text: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    assert list(cited_sentences(text)) == found


@pytest.mark.parametrize(
    ("claim", "state"),
    [
        ("Managers must approve vacation within 5 working days.", SupportState.SUPPORTED),
        ("Vacation must be approved by managers within 5 working days.", SupportState.SUPPORTED),
        ("Managers must approve vacation within 9 working days.", SupportState.NOT_SUPPORTED),
        ("Managers must not approve vacation within 5 working days.", SupportState.NOT_SUPPORTED),
        ("Managers need not approve vacation within 5 working days.", SupportState.NOT_SUPPORTED),
        ("The cafeteria opens at noon.", SupportState.NOT_SUPPORTED),
        ("Managers must approve vacation within 5 working days, and the board publishes a list.", SupportState.PARTLY),
    ],
)
def test_a_sentence_is_judged_by_the_one_it_cites(library: Workbench, claim: str, state: SupportState) -> None:
    cited = name_of(library, "vacation.md", "5 working days")
    checked = only(library, f"{claim[:-1]} [{cited}].")
    assert checked.state is state, checked.problems
    assert checked.cited == (cited,)
    if state is SupportState.SUPPORTED:
        assert checked.problems == ()
        assert checked.decided_by is not None
        assert checked.decided_by.citation_id == cited
        assert checked.decided_by.quote == "Managers must approve vacation within 5 working days."
    else:
        assert checked.problems


def test_another_sentence_of_the_same_passage_supports_it_only_partly(library: Workbench) -> None:
    cited = name_of(library, "vacation.md", "Employees ask")
    checked = only(library, f"Managers must approve vacation within 5 working days [{cited}].")
    assert checked.state is SupportState.PARTLY
    assert checked.decided_by is not None
    assert "5 working days" in checked.decided_by.quote


@pytest.mark.parametrize("place", ["vacation.md", "VACATION.MD", "vacation.md, p. 1", "vacation.md, Vacation policy"])
def test_a_place_is_found_by_the_name_of_its_document(library: Workbench, place: str) -> None:
    assert only(library, f"Vacation is asked for in writing [{place}].").state is SupportState.SUPPORTED
    assert only(library, f"Vacation is asked for by telephone in Nevada [{place}].").state is not SupportState.SUPPORTED


@pytest.mark.parametrize(
    "citation",
    [
        "999999.0",
        "999999",
        "no-such.pdf, p.3",
        "vacation.md, p. 9",
        "vacation.md, Sick leave",
        "99999999999999999999.1",
    ],
)
def test_a_citation_that_leads_nowhere_is_not_found(library: Workbench, citation: str) -> None:
    checked = only(library, f"Vacation is asked for in writing [{citation}].")
    assert checked.state is SupportState.NOT_FOUND
    assert checked.not_found == (citation,)
    assert checked.decided_by is None


def test_a_lost_citation_beside_a_good_one_leaves_the_sentence_partly_supported(library: Workbench) -> None:
    cited = name_of(library, "vacation.md", "in writing")
    checked = only(library, f"Employees ask for vacation in writing [{cited}, 999999.0].")
    assert (checked.state, checked.not_found) == (SupportState.PARTLY, ("999999.0",))


def test_two_citations_support_a_sentence_of_two_clauses_together(library: Workbench) -> None:
    wage, vacation = name_of(library, "wages.md", "$16"), name_of(library, "vacation.md", "in writing")
    text = f"The minimum wage is $16 an hour, and employees ask for vacation in writing [{wage}; {vacation}]."
    assert only(library, text).state is SupportState.SUPPORTED


def test_a_sentence_without_citation_is_told_apart(library: Workbench) -> None:
    states = [each.state for each in library.cite_check.check("Nothing is cited here.\n\nNor is it here.")]
    assert states == [SupportState.NOT_CITED, SupportState.NOT_CITED]


def test_a_project_narrows_documents_cited_by_name(library: Workbench) -> None:
    text = "Tips are never counted as wages [wages.md]."
    assert [each.state for each in library.cite_check.check(text, "Payroll")] == [SupportState.SUPPORTED]
    assert [each.state for each in library.cite_check.check(text, "Benefits")] == [SupportState.NOT_FOUND]


def test_texts_that_are_empty_or_too_long_are_refused(library: Workbench) -> None:
    for text in ("", "  \n", "Long [1.0]. " * 5_000):
        with pytest.raises(BadRequest):
            library.cite_check.check(text)


def test_a_source_without_sentences_is_not_found(embedder: "Embedder") -> None:
    assert judge("It is so.", Source((), frozenset()), embedder.embed).state is SupportState.NOT_FOUND


def test_every_pair_is_judged_in_its_true_form_and_in_changed_ones(embedder: "Embedder") -> None:
    pairs = read_pairs(PAIRS / "held_out.jsonl")
    made = list(cases(pairs, embedder.embed))
    assert sum(case.change == "unchanged" for case in made) == len(pairs)
    assert {case.change for case in made} >= {"number", "date", "name", "denial", "clause added"}
    assert all(case.claim != pair.claim for pair in pairs for case in made if case.change in ("number", "denial"))


def test_held_out_documents_share_nothing_with_those_the_check_was_made_on() -> None:
    development, held_out = (
        {(pair.document, pair.quote) for pair in read_pairs(PAIRS / f"{name}.jsonl")}
        for name in ("development", "held_out")
    )
    assert not {document for document, _ in development} & {document for document, _ in held_out}


def test_the_check_is_as_good_as_the_documentation_says(embedder: "Embedder") -> None:
    data = evaluate_cite_check(read_pairs(PAIRS / "held_out.jsonl"), embedder.embed).data()
    text = (PAIRS.parents[1] / "docs" / "mcp.md").read_text("utf-8")
    assert f"precision {data['precision']:.2f}, recall {data['recall']:.2f}" in text


@pytest.mark.parametrize("line", ["no json", '{"document": "a"}', "[]"])
def test_a_wrong_line_of_pairs_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(f"{line}\n")
    with pytest.raises(BadRequest, match="line 1"):
        read_pairs(file)
