"""Passages: exact spans of one page and section, whole sentences, with what is needed to understand them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Passage
from core.domain.extraction import ExtractedDocument
from core.ingestion.chunking import ChunkSizes, split
from core.ingestion.parsers import extract
from tests.ingestion.making import pdf_of

SENTENCE = "Employees of a public agency accrue leave for every month of service. "


def check_spans(extracted: ExtractedDocument, passages: tuple[Passage, ...]) -> None:
    texts = {page.number: page.text for page in extracted.pages}
    for position, passage in enumerate(passages):
        assert passage.position == position
        assert passage.text == texts[passage.page][passage.start : passage.end]
        assert passage.text == passage.text.strip() != ""
        assert passage.sentences
        end = 0
        for span in passage.sentences:
            assert end <= span.start < span.end <= len(passage.text)
            end = span.end


markdown = st.lists(
    st.sampled_from(
        ["# Pay", "## Leave", SENTENCE, SENTENCE * 9, "- one item", "- another. With two.",
         "| a | b |\n|---|---|\n| 1 | 2 |",
         "```\ncode here\nmore\n```", "(1) first clause;", "word " * 900, "Scope\n-----", "---", "Überstunden 🧾. Ok."]
    ),
    max_size=25,
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(markdown, st.sampled_from([ChunkSizes(), ChunkSizes(target=200, least=50, most=300)]))
def test_every_passage_is_an_exact_span_of_whole_sentences(parts: list[str], sizes: ChunkSizes) -> None:
    text = "\n\n".join(["Begin here.", *parts])
    extracted = extract("any.md", text.encode())
    passages = split(extracted, "Any", sizes)
    check_spans(extracted, passages)
    assert passages == split(extracted, "Any", sizes)
    covered = {n for p in passages for n in range(p.start, p.end)}
    remaining = [n for block in extracted.blocks if block.kind != "furniture" for n in range(block.start, block.end)]
    assert all(n in covered or extracted.pages[0].text[n].isspace() for n in remaining)


def test_a_heading_stands_with_its_text_and_names_the_section() -> None:
    passages = split(extract("h.md", b"# Pay\n\n## Leave\n\nIt is paid.\n\n## Sick\n\nIt is too."), "Handbook")
    assert [(p.section, p.text) for p in passages] == [
        ("Pay › Leave", "Pay\n\nLeave\n\nIt is paid."),
        ("Pay › Sick", "Sick\n\nIt is too."),
    ]
    assert passages[1].context == "Handbook\nPay › Sick"


def test_a_list_that_runs_on_repeats_its_lead_in_as_context() -> None:
    items = "\n".join(f"- the {n}th document that an applicant has to bring along in person" for n in range(40))
    passages = split(extract("l.md", f"Bring to the office:\n\n{items}".encode()), "Forms", ChunkSizes())
    assert len(passages) > 1
    assert passages[0].text.startswith("Bring to the office:")
    assert all(p.context.endswith("Bring to the office:") for p in passages[1:])


def test_table_rows_stay_whole_and_say_which_they_are() -> None:
    rows = "\n".join(f"Police,Person {n},{n}.5" for n in range(1, 101))
    passages = split(extract("t.csv", f"Department,Name,Hours\n{rows}".encode()), "Hours")
    tables = [p for p in passages if p.page == 1]
    assert tables[0].rows is not None and tables[0].rows[0] == 1
    assert tables[-1].rows is not None and tables[-1].rows[1] == 100
    assert all(line.startswith("Department: ") for p in tables for line in p.text.split("\n"))


def test_running_headers_are_in_no_passage() -> None:
    pages = [f"The {word} rule holds for every {word} alone. " * 9 for word in ("leave", "pay", "travel", "training")]
    extracted = extract("r.pdf", pdf_of(*pages, header="Acme handbook", footer=True))
    passages = split(extracted, "Acme")
    check_spans(extracted, passages)
    assert len(passages) >= 4
    assert not any("Acme handbook" in p.text or "Page 1" in p.text for p in passages)


def test_pages_that_repeat_altogether_keep_their_passages() -> None:
    assert len(split(extract("r.pdf", pdf_of(*[SENTENCE * 3] * 4)), "Forms")) == 4


def test_an_abbreviation_that_the_document_spells_out_elsewhere_is_spelled_out_beside_the_passage() -> None:
    text = (
        "# Definitions\n\nWe keep protected health information (PHI) of a covered entity (CE).\n\n"
        "# Duties\n\nTell the CE at once when PHI is lost. The CEO (Ms Doe) is told too."
    )
    defining, using = split(extract("a.md", text.encode()), "Agreement", ChunkSizes(least=1))
    assert "PHI" not in defining.context
    assert using.context.split("\n")[-1] == "CE: covered entity; PHI: protected health information"


def test_what_is_spelled_out_is_never_too_long_and_never_guessed() -> None:
    text = "# A\n\nA leave log number (LLN) and a table (see below).\n\n# B\n\nUse the LLN, not the XYZ."
    stored, cut = (
        split(extract("a.md", text.encode()), "T", ChunkSizes(least=1, context=most))[-1] for most in (220, 10)
    )
    assert stored.context == "T\nB\nLLN: leave log number"
    assert cut.context == "T\nB"


def test_chinese_passages_are_a_third_as_long() -> None:
    text = "".join(f"第{number}条，员工应当遵守公司的规章制度和工作纪律。" for number in range(200))
    passages = split(extract("rules.txt", text.encode()), "rules")
    lengths = [len(passage.text) for passage in passages]
    assert max(lengths) <= ChunkSizes().most // 3 and min(lengths) > 100
    assert all(len(passage.sentences) > 5 for passage in passages)
