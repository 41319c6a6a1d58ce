"""What readers give: text a person would read, in order, with its blocks."""

import pytest

from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers import extract
from tests.ingestion.making import docx_of, pdf_of, workbook_of


def of_kind(extracted: ExtractedDocument, kind: BlockKind) -> list[str]:
    texts = {page.number: page.text for page in extracted.pages}
    return [texts[block.page][block.start : block.end] for block in extracted.blocks if block.kind is kind]


def test_pdf_gives_pages_headings_title_and_no_running_lines_in_its_blocks() -> None:
    pages = [
        f"# Chapter {n}\nEmployees accrue leave in year {n}.\nThey carry it over."
        for n in ("one", "two", "three", "four")
    ]
    extracted = extract(
        "leave.pdf", pdf_of(*pages, header="Handbook of leave", footer=True, title="The leave handbook")
    )
    assert extracted.paged
    assert extracted.title == "The leave handbook"
    assert [text for _, text in extracted.headings] == ["Chapter one", "Chapter two", "Chapter three", "Chapter four"]
    assert len(extracted.pages) == 4
    furniture = of_kind(extracted, BlockKind.FURNITURE)
    assert furniture.count("Handbook of leave") == 4
    assert "Page 2 of 4" in furniture
    assert "Handbook of leave" in extracted.pages[2].text


def test_docx_keeps_document_order_lists_and_whole_rows() -> None:
    data = docx_of(
        "# Pay", "We pay monthly. It is due:", "- on the first", table=[["Grade", "Pay"], ["A", "10"], ["B", "12"]]
    )
    extracted = extract("pay.docx", data)
    assert (
        extracted.pages[0].text == "Pay\n\nWe pay monthly. It is due:\n\n• on the first\n\nGrade | Pay\nA | 10\nB | 12"
    )
    assert [(b.row, b.columns) for b in extracted.blocks if b.kind is BlockKind.ROW][1] == (1, "Grade; Pay")


def test_markdown_is_read_as_it_is_shown() -> None:
    text = "---\ntitle: Leave\ndate: 2023-06-17\n---\n# Leave {#leave}\n\nAsk **early**, see [the page](x).\n\n"
    text += "1. Scope\n--------\n\n- one\n  more\n- *two*\n  1. deep\n\n| A | B |\n|---|---|\n| `a` | 1 \\| 2 |\n"
    extracted = extract("leave.md", text.encode())
    front, _, shown = extracted.pages[0].text.partition("\n\n")
    assert front == "---\ntitle: Leave\ndate: 2023-06-17\n---"
    assert shown == ("Leave\n\nAsk early, see the page.\n\n1. Scope\n\n• one more\n• two\n1. deep\n\nA | B\na | 1 | 2")
    assert extracted.title == "Leave"
    assert extracted.metadata["published"] == "2023-06-17"
    assert extracted.headings == ((1, "Leave"), (2, "1. Scope"))
    assert of_kind(extracted, BlockKind.ITEM) == ["• one more", "• two", "1. deep"]
    assert [(b.row, b.columns) for b in extracted.blocks if b.kind is BlockKind.ROW] == [(None, ""), (1, "A; B")]


@pytest.mark.parametrize("body", ["", "<!-- nothing -->\n", "{% include rights.html %}\n"])
@pytest.mark.parametrize(
    "sentence", ["You may take unpaid leave to care for a child.", "員工每年享有十四天的帶薪年假，應於當年使用。"]
)
def test_front_matter_is_the_text_of_a_page_without_any_other(body: str, sentence: str) -> None:
    text = f"---\n# Made by hand\ntitle: Leave\ntags: [a, b]\nrights:\n  - text: {sentence}\n---\n{body}"
    extracted = extract("leave.md", text.encode())
    assert extracted.title == "Leave"
    shown = extracted.pages[0].text
    assert sentence in shown and "---" not in shown and "tags" not in shown and "Made by hand" not in shown
    assert of_kind(extracted, BlockKind.ITEM) == [f"• text: {sentence}"]


@pytest.mark.parametrize("front", ["title: Leave", "tags: [one, two, three, four, five, six, seven, eight, nine]"])
def test_front_matter_without_a_sentence_is_no_text(front: str) -> None:
    extracted = extract("leave.md", f"---\n{front}\n---\n".encode())
    assert all(block.kind is BlockKind.FURNITURE for block in extracted.blocks)


HTML_IN_MARKDOWN = """# Leave rules

<!-- a comment -->
<table class="t"><thead><tr><th>Grade</th><th>Days</th></tr></thead>
<tbody><tr><td>**A**</td><td><a href="a.html">20&nbsp;days</a><br>a year</td></tr>
<tr><td>B</td><td>25 &amp; more</td></tr></tbody></table>

<div class="note" markdown="1">
## Note
- Ask <b>early</b><script>evil()</script>, see <em>[the form](f.md)</em>
</div>

Write to <agency name> &lt;now&gt;. ![A chart of leave](chart.png) <style>p {}</style>
Paid in un<i>believ</i>able 10<sup>6</sup> cents, see in*section 4 B*of it.

a | b
--|--|--
1 | 2
"""


def test_html_inside_markdown_becomes_rows_links_their_words() -> None:
    extracted = extract("rules.md", HTML_IN_MARKDOWN.encode())
    assert extracted.pages[0].text == (
        "Leave rules\n\nGrade | Days\nA | 20 days a year\nB | 25 & more\n\nNote\n\n• Ask early, see the form\n\n"
        "Write to <agency name> <now>. A chart of leave\n"
        "Paid in unbelievable 10^6 cents, see in section 4 B of it.\n\na | b\n1 | 2"
    )
    rows = [(b.row, b.columns) for b in extracted.blocks if b.kind is BlockKind.ROW]
    assert rows == [(None, ""), (1, "Grade; Days"), (2, "Grade; Days"), (None, ""), (1, "a; b")]


def test_html_shows_what_a_reader_sees() -> None:
    page = """<html><head><title>Leave</title><style>p{}</style><meta name="date" content="2024-02-01"></head><body>
    <nav>Home</nav><h1>Paid leave</h1><script>steal()</script><p>Leave is <b>paid</b>&nbsp;always.</p><!-- no -->
    <ul><li>one</li><li>two <ul><li>deep</li></ul></li></ul><table><tr><th>Grade</th><th>Days</th></tr>
    <tr><td>A</td><td>20</td></tr></table><div hidden>secret</div></body></html>"""
    extracted = extract("leave.html", page.encode())
    assert extracted.pages[0].text == (
        "Paid leave\n\nLeave is paid always.\n\n• one\n• two\n• deep\n\nGrade | Days\nA | 20"
    )
    assert (extracted.title, extracted.metadata["published"]) == ("Leave", "2024-02-01")


TEXT = "Überstunden werden bezahlt. Grüße aus Köln, „Straße“ und Ärger über Öl und Übung für jedermann – täglich."


def test_dot_leaders_are_contents_only_if_their_titles_are_in_the_text() -> None:
    contents = ["Scope ........ 2", "Pay ........ 3", "Leave ........ 10"]
    text = "\n".join(contents)
    assert of_kind(extract("a.txt", text.encode()), BlockKind.FURNITURE) == []
    full = f"{text}\n\nScope\n\nIt is for all.\n\nPay\n\nIt is due.\n\nLeave\n\nIt is paid."
    assert of_kind(extract("a.txt", full.encode()), BlockKind.FURNITURE) == contents
    assert of_kind(extract("a.txt", b"Annual leave ........ 25\nSick leave .......... 10"), BlockKind.FURNITURE) == []


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("O contrato vale entre as partes,\no empregador deve pagar o aviso.", []),
        ("We pay\no wages\no leave", ["o wages", "o leave"]),
        ("We pay:\no wages", ["o wages"]),
    ],
)
def test_the_letter_o_is_a_bullet_only_where_it_is_no_word(text: str, items: list[str]) -> None:
    assert of_kind(extract("a.txt", text.encode()), BlockKind.ITEM) == items
    assert of_kind(extract("a.pdf", pdf_of(text)), BlockKind.ITEM) == items


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_plain_text_is_read_in_any_encoding(encoding: str) -> None:
    assert extract("note.txt", TEXT.encode(encoding)).pages[0].text == TEXT


def test_characters_a_database_refuses_are_gone() -> None:
    assert extract("note.txt", b"Leave\x00 is\x07 paid.\r\nYes.").pages[0].text == "Leave is paid.\nYes."


CSV = "Department;Name;Overtime\nPolice;Ada;141,998.22\nFire;Bob;12.5\nFire;Eve;=SUM(A1:A2)\nFire;Kim;7;extra\n"
CSV += "Police;Max;\n"


def test_csv_rows_are_lines_that_name_their_columns() -> None:
    extracted = extract("pay.csv", CSV.encode())
    assert extracted.pages[0].text.split("\n")[0] == "Department: Police; Name: Ada; Overtime: 141,998.22"
    assert "Overtime: =SUM(A1:A2)" in extracted.pages[0].text
    assert "Column 4: extra" in extracted.pages[0].text
    assert [block.row for block in extracted.blocks if block.page == 1] == [1, 2, 3, 4, 5]


def test_csv_summary_answers_how_many_and_the_most() -> None:
    rows = "\n".join(f"{'Police' if n % 2 else 'Fire'},P{n},{n * 1.5}" for n in range(1, 41))
    extracted = extract("pay.csv", f"Department,Name,Overtime\n{rows}\n".encode())
    summary = extracted.pages[-1]
    assert summary.label == "Summary of Table"
    assert "has 40 rows in total and 3 columns: Department, Name, Overtime." in summary.text
    assert "Overtime, largest (highest, maximum, biggest): 60.0, in row 40: Department: Fire; Name: P40" in summary.text
    assert "sum (total) 1230; average (mean) 30.75" in summary.text
    assert "Highest Overtime where Department is Police: 58.5, in row 39." in summary.text
    assert (
        "Department: 40 of 40 rows filled, 2 different values; values (rows): Fire (20); Police (20)." in summary.text
    )


def test_a_wide_and_long_table_stays_bounded() -> None:
    header = ",".join(f"c{n}" for n in range(300))
    rows = "\n".join(",".join(str(n * k % 17) for k in range(300)) for n in range(300))
    extracted = extract("wide.csv", f"{header}\n{rows}\n".encode())
    assert len(extracted.pages[-1].text) < 60_000
    assert [page.label for page in extracted.pages[:2]] == ["Table, rows 1–250", "Table, rows 251–300"]


def test_workbook_sheets_are_labelled_and_values_are_as_shown() -> None:
    from datetime import datetime

    data = workbook_of(
        Hours=[["Day", "From", "Paid"], [datetime(2025, 2, 20), 8.5, True], [datetime(2025, 2, 21), 9.0, False]]
    )
    extracted = extract("hours.xlsx", data)
    assert extracted.pages[0].label == "Sheet: Hours"
    assert extracted.pages[0].text == "Day: 2025-02-20; From: 8.5; Paid: yes\nDay: 2025-02-21; From: 9; Paid: no"
    assert not extracted.paged


def test_every_document_of_the_shared_corpus_is_read(shared) -> None:  # type: ignore[no-untyped-def]
    files = [path for path in sorted((shared / "corpus" / "files").iterdir()) if path.stat().st_size < 100_000]
    for path in files:
        extracted = extract(path.name, path.read_bytes())
        texts = {page.number: page.text for page in extracted.pages}
        for block in extracted.blocks:
            assert texts[block.page][block.start : block.end].strip(), path.name
    assert len(files) > 40
