"""What stands on the pages of a PDF beside running text: columns, tables, form fields, pages on their side."""

from collections.abc import Callable, Sequence
from io import BytesIO

import pytest
from fpdf import FPDF
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Highlight, Text
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

from core.domain.extraction import BlockKind, ExtractedDocument, LayoutLine
from core.ingestion.chunking import split
from core.ingestion.parsers import extract
from core.ingestion.parsers.pdf_words import PdfWord, PrintedLine
from core.ingestion.parsers.reading_order import Grid, in_order
from core.search.citations.page_locator import located
from tests.ingestion.making import pdf_of

LEFT = [
    "Employees accrue leave every month and",
    "may carry it over to the next year when",
    "the supervisor agrees in writing. Leave",
    "that nobody takes is lost in the end.",
    "Sick leave is another matter: it is not",
    "lost, and it is never paid out at the end.",
]
RIGHT = [
    "Overtime is paid at one and a half times",
    "the regular rate. It starts after forty",
    "hours in one week, and must be approved",
    "by the supervisor before it is worked.",
    "Nobody is asked to work overtime on two",
    "days that follow one another directly.",
]
STAFF = [["Code", "Hours", "Rate"], ["REG", "40", "10.50"], ["OT", "2.5", "15.75"], ["HOL", "8", "10.50"]]
LONG = "A long text that wraps over several lines because its column is narrow and its words are many"


def printed(draw: Callable[[FPDF], None]) -> bytes:
    page = FPDF()
    page.add_page()
    page.set_font("helvetica", size=10)
    draw(page)
    return bytes(page.output())


def texts_of(extracted: ExtractedDocument, kind: BlockKind) -> list[str]:
    texts = {page.number: page.text for page in extracted.pages}
    return [texts[block.page][block.start : block.end] for block in extracted.blocks if block.kind is kind]


def columns(page: FPDF) -> None:
    """Line by line across both columns, as some programs write."""
    page.cell(0, 10, "Rules of work, for everybody who works here, in two columns", new_x="LMARGIN", new_y="NEXT")
    for left, right in zip(LEFT, RIGHT, strict=True):
        page.set_x(20)
        page.cell(72, 6, left)
        page.set_x(98)
        page.cell(80, 6, right, new_x="LMARGIN", new_y="NEXT")


def test_columns_written_across_are_read_one_after_the_other() -> None:
    text = extract("two.pdf", printed(columns)).pages[0].text
    assert "\n".join(LEFT) in text
    assert "\n".join(RIGHT) in text
    assert text.index("Rules of work") < text.index(LEFT[0]) < text.index(LEFT[-1]) < text.index(RIGHT[0])


GERMAN = [
    ["Der Arbeitgeber zahlt das Entgelt am", "Die Kündigung bedarf der Schriftform und"],
    ["Ende des Monats auf ein Konto, das der", "muss dem Empfänger zugehen. Die Frist"],
    ["Arbeitnehmer ihm nennt. Der Anspruch auf", "beträgt vier Wochen zum Ende eines"],
    ["Urlaub entsteht nach sechs Monaten im", "Monats. Bei Krankheit zahlt der Betrieb"],
    ["Betrieb. Überstunden werden mit einem", "Entgelt für sechs Wochen weiter. Danach"],
    ["Zuschlag von einem Viertel bezahlt, wenn", "zahlt die Krankenkasse. Ein Zeugnis wird"],
    ["Vorgesetzte sie vorher genehmigt haben.", "am letzten Tag ausgestellt und übergeben."],
]


def test_columns_of_german_whose_nouns_are_capitalised_are_columns() -> None:
    text = extract("zwei.pdf", printed(lambda page: cells(page, GERMAN, 0, 75))).pages[0].text
    for side in zip(*GERMAN, strict=True):
        assert "\n".join(side) in text


CHINESE = [
    ["第一条员工每年享有带薪年假，年假", "第二条加班应当事先得到批准，加班"],
    ["天数按照工作年限计算，工作满一年", "工资按照法律规定支付，工作日加班"],
    ["的员工享有五天年假，工作满十年的", "支付百分之一百五十，休息日加班支"],
    ["员工享有十天年假。员工应当提前提", "付百分之二百，法定假日加班支付百"],
    ["出申请，并由主管批准。未休的年假", "分之三百。员工不得连续加班超过三"],
    ["可以在次年三月底以前使用，不补休", "小时，每月总数不得超过三十六小时"],
]


def test_columns_of_chinese_are_columns() -> None:
    lines = []
    for at, (left, right) in enumerate(CHINESE):
        base = 700.0 - 20 * at
        words = (PdfWord(left, 60, 252, base, base + 12), PdfWord(right, 281, 473, base, base + 12))
        lines.append(PrintedLine(LayoutLine(f"{left} {right}", 12, False, 60, base), words))
    first, second = ([row[side] for row in CHINESE] for side in (0, 1))
    assert [line.text for line in in_order(lines, [])] == [*first, *second]


def test_titles_beside_long_descriptions_are_no_columns() -> None:
    rows = [
        [f"Annual leave for the staff of grade {at}", f"Twenty-five days in a year, and {at} more"] for at in "ABCDEFG"
    ]
    assert len(texts_of(extract("t.pdf", printed(lambda page: cells(page, rows, 0, 75))), BlockKind.ROW)) == len(rows)


def test_the_sentence_of_a_column_is_one_passage_and_stands_on_the_page() -> None:
    data = printed(columns)
    extracted = extract("two.pdf", data)
    sentences = [span.of(each.text) for each in split(extracted, "Rules") for span in each.sentences]
    sentence = "It starts after forty\nhours in one week, and must be approved\nby the supervisor before it is worked."
    assert sentence in sentences
    text = extracted.pages[0].text
    at = text.index(sentence)
    [boxes] = located(data, 1, text, [(at, at + len(sentence))])
    assert len(boxes) == 3
    assert all(box.left > 270 for box in boxes)


def cells(page: FPDF, rows: Sequence[Sequence[str]], border: int = 1, width: int = 40) -> None:
    for row in rows:
        for cell in row:
            page.cell(width, 7, cell, border=border)
        page.ln()


@pytest.mark.parametrize("border", [1, 0])
def test_tables_are_rows_with_or_without_rules(border: int) -> None:
    extracted = extract("pay.pdf", printed(lambda page: cells(page, STAFF, border)))
    assert [row.split() for row in texts_of(extracted, BlockKind.ROW)] == STAFF
    rows = [(block.row, block.columns) for block in extracted.blocks]
    assert rows == [(None, ""), (1, "Code; Hours; Rate"), (2, "Code; Hours; Rate"), (3, "Code; Hours; Rate")]


def test_words_of_a_hebrew_cell_keep_their_order_in_the_file() -> None:
    words = [PdfWord("המוקדמת", 10, 38, 85, 95), PdfWord("ההודעה", 40, 68, 85, 96), PdfWord("תקופת", 70, 98, 84, 95)]
    years = [PdfWord("12", 110, 120, 85, 95), PdfWord("years", 125, 150, 85, 95)]
    grid = Grid((0, 100, 200), (100, 80, 60), frozenset({(0, 1), (1, 1)}))
    assert grid.cells([*words[::-1], *years[::-1]]) == [["תקופת ההודעה המוקדמת", "12 years"]]


def wrapped(page: FPDF) -> None:
    page.write(8, "These are the grades:\n")
    with page.table(width=150) as table:
        for row in (("Grade", "What it means", "Days"), ("A", LONG, "20"), ("B", "Short", "25")):
            table.row(row)
    page.ln()
    page.write(8, "They are reviewed every year.")


def test_a_cell_of_several_lines_stays_in_its_row_and_in_its_place() -> None:
    data = printed(wrapped)
    extracted = extract("grades.pdf", data)
    assert [" ".join(row.split()) for row in texts_of(extracted, BlockKind.ROW)] == [
        "Grade What it means Days",
        f"A {LONG} 20",
        "B Short 25",
    ]
    text = extracted.pages[0].text
    assert text.index("These are the grades:") < text.index(LONG) < text.index("They are reviewed")
    at = text.index(LONG)
    assert located(data, 1, text, [(at, at + len(LONG))])[0]


def test_a_box_around_prose_is_no_table() -> None:
    def boxed(page: FPDF) -> None:
        page.multi_cell(120, 6, " ".join(LEFT), border=1)

    extracted = extract("box.pdf", printed(boxed))
    assert texts_of(extracted, BlockKind.ROW) == []
    assert " ".join(extracted.pages[0].text.split()) == " ".join(LEFT)


def test_titles_with_page_numbers_are_no_table() -> None:
    rows = [["Scope of the rules", "3"], ["Leave and absence", "7"], ["Pay and overtime", "12"]]
    assert texts_of(extract("c.pdf", printed(lambda page: cells(page, rows, 0, 70))), BlockKind.ROW) == []


WORDS = st.sampled_from("leave overtime rate year of employee paid hours by 40 2.5 $10.00 supervisor accrual I".split())
TABLES = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(WORDS, min_size=width, max_size=width), min_size=3, max_size=8)
)


@settings(max_examples=30, deadline=None)
@given(rows=TABLES, border=st.sampled_from([0, 1]))
def test_no_word_of_a_table_is_lost_and_rows_stay_together(rows: list[list[str]], border: int) -> None:
    extracted = extract("t.pdf", printed(lambda page: cells(page, rows, border)))
    assert extracted.pages[0].text.split() == [word for row in rows for word in row]
    lines = [line.split() for line in extracted.pages[0].text.split("\n") if line]
    assert all(line == row for line, row in zip(lines, rows, strict=True)) or border == 0


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_page_on_its_side_reads_as_upright(turned: int) -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(printed(wrapped))))
    writer.pages[0].rotate(turned)
    out = BytesIO()
    writer.write(out)
    assert extract("a.pdf", out.getvalue()).pages == extract("a.pdf", printed(wrapped)).pages


@pytest.mark.parametrize("turned", [90, 270])
def test_a_table_drawn_sideways_is_rows(turned: int) -> None:
    def sideways(page: FPDF) -> None:
        with page.rotation(turned, x=105, y=105):
            cells(page, STAFF)

    assert [row.split() for row in texts_of(extract("a.pdf", printed(sideways)), BlockKind.ROW)] == STAFF


def form_of(*fields: tuple[str, str, object], page: str = "Leave request", xfa: bool = False) -> bytes:
    """A PDF form: (name, label, value); a value of True is a ticked box, False one that is not."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of(page))))
    stored = ArrayObject()
    for name, label, value in fields:
        ticked = isinstance(value, bool)
        widget = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Annot"),
                NameObject("/Subtype"): NameObject("/Widget"),
                NameObject("/FT"): NameObject("/Btn" if ticked else "/Tx"),
                NameObject("/T"): TextStringObject(name),
                NameObject("/Rect"): ArrayObject(map(NumberObject, (0, 0, 90, 20))),
            }
        )
        if label:
            widget[NameObject("/TU")] = TextStringObject(label)
        if ticked:
            widget[NameObject("/AS")] = NameObject("/Yes" if value else "/Off")
        else:
            widget[NameObject("/V")] = TextStringObject(str(value))
        stored.append(writer._add_object(widget))
    writer.pages[0][NameObject("/Annots")] = stored
    form = DictionaryObject({NameObject("/NeedAppearances"): BooleanObject(True)})
    form[NameObject("/XFA") if xfa else NameObject("/Fields")] = ArrayObject() if xfa else stored
    writer.root_object[NameObject("/AcroForm")] = form
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


FIELDS = [
    ("form[0].name[0]", "Name of the employee:", "Ana Petrović"),
    ("from", "", "2024-03-01"),
    ("paid", "Paid leave", True),
    ("sick", "Sick leave", False),
    ("empty", "Reason", ""),
]


def test_what_a_form_is_filled_with_is_text() -> None:
    extracted = extract("form.pdf", form_of(*FIELDS))
    filled = ["Name of the employee: Ana Petrović", "from: 2024-03-01", "Paid leave: yes"]
    assert extracted.pages[0].text == "\n\n".join(["Leave request", *filled])
    assert texts_of(extracted, BlockKind.ROW) == filled


def test_a_form_without_words_of_its_own_is_read_for_its_fields() -> None:
    assert extract("form.pdf", form_of(*FIELDS, page="")).pages[0].text.startswith("Name of the employee: Ana")


def test_a_form_only_one_program_shows_is_told() -> None:
    [warning] = extract("form.pdf", form_of(page="Please wait while the form is loading.", xfa=True)).warnings
    assert "fields could not be read" in warning


SLIPS = [
    f"Employee {1001 + n}\nPayslip for March 2025\nGross pay: {2500 + 37 * n}.00\nTax: {400 + 13 * n}.20\n"
    f"Hours as agreed with the head of the department number {n}\nOvertime was worked at night, {n} hours, as agreed\n"
    f"Leave that is left for the rest of this year, and the next: {20 - n}\n"
    f"Bonus: 0\nDeductions: {301 + n}.10\nNet pay: {2037 + 11 * n}.55\n"
    f"Paid on {n + 1}.04.2025"
    for n in range(6)
]
RISKS = [
    f"Risk {n}\nOwner: Head of HR\nWhat may happen, as it did {n * n} times before.\nIt is rated and watched.\n"
    f"It is told to the board.\nResidual risk score: 4\nDue date: {n} March 2025"
    for n in range(1, 6)
]
NUMERALS = ("one", "two", "three", "four")
LAW = [f"Article {n}\nThe {word} employer pays.\nAnd so {word} does." for n, word in enumerate(NUMERALS, 1)]


@pytest.mark.parametrize("pages", [SLIPS, RISKS, LAW])
def test_lines_whose_numbers_are_not_the_pages_are_in_passages(pages: list[str]) -> None:
    passages = "\n".join(passage.text for passage in split(extract("a.pdf", pdf_of(*pages)), "A"))
    for line in {line for page in pages for line in page.split("\n")}:
        assert line in passages


@pytest.mark.parametrize(
    ("page", "line"), [("Employees at year end\n250", "250"), ("CIVIL\nIt is about debts.", "CIVIL")]
)
def test_a_lone_number_or_word_at_the_edge_is_content(page: str, line: str) -> None:
    assert texts_of(extract("a.pdf", pdf_of(page, "Another page.\nIt ends.")), BlockKind.FURNITURE) == []
    assert line in split(extract("a.pdf", pdf_of(page)), "A")[0].text


@pytest.mark.parametrize("numbers", [["1", "2", "3", "4"], ["- iii -", "- iv -", "- v -", "- vi -"]])
def test_page_numbers_in_a_sequence_are_furniture(numbers: list[str]) -> None:
    pages = [f"The {word} rule is here.\nIt ends {word}.\n{at}" for word, at in zip(NUMERALS, numbers, strict=True)]
    assert texts_of(extract("a.pdf", pdf_of(*pages)), BlockKind.FURNITURE) == numbers


def test_a_header_with_the_page_number_is_furniture_and_the_first_with_a_date_is_text() -> None:
    pages = [
        f"Handbook of paid leave | {at}\nVersion of 1 March 2025\nThe {word} rule is for all.\nIt ends {word}, "
        "when nobody needs it any longer, or when another rule takes its place."
        for at, word in enumerate(NUMERALS, 41)
    ]
    extracted = extract("a.pdf", pdf_of(*pages))
    furniture = texts_of(extracted, BlockKind.FURNITURE)
    assert [line for line in furniture if "Handbook" in line] == [
        f"Handbook of paid leave | {at}" for at in range(41, 45)
    ]
    assert furniture.count("Version of 1 March 2025") == 3
    assert texts_of(extracted, BlockKind.ROW) == ["Version of 1 March 2025"]


def test_texts_added_to_a_page_are_read_and_files_inside_are_told() -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of("Leave request", "Second page"))))
    added = "Approved by A. Smith on 3 March 2025,\nlimit 40,000 EUR – Grüße"
    writer.add_annotation(0, FreeText(text=added, rect=(50, 550, 300, 650)))
    writer.add_annotation(1, Text(text="Check the limit again.", rect=(50, 350, 300, 450)))
    writer.add_attachment("annex.txt", b"The annex")
    out = BytesIO()
    writer.write(out)
    extracted = extract("a.pdf", out.getvalue())
    note = "Approved by A. Smith on 3 March 2025, limit 40,000 EUR – Grüße"
    assert [page.text for page in extracted.pages] == [
        f"Leave request\n\n{note}",
        "Second page\n\nCheck the limit again.",
    ]
    assert texts_of(extracted, BlockKind.ROW) == [note, "Check the limit again."]
    [warning] = extracted.warnings
    assert "were not read: annex.txt" in warning


def test_remarks_on_marked_words_are_comments_and_copies_of_the_words_are_not() -> None:
    data = pdf_of("The rate is 5 percent.")
    [line] = located(data, 1, "The rate is 5 percent.", [(12, 21)])[0]
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    top, bottom = (float(writer.pages[0].mediabox.top) - each for each in (line.top - 2, line.bottom + 2))
    corners = [line.left - 1, top, line.right + 1, top, line.left - 1, bottom, line.right + 1, bottom]
    for text in ("Should be 7 percent.", "5 percent"):
        remark = Highlight(
            rect=(corners[0], bottom, corners[2], top), quad_points=ArrayObject(map(FloatObject, corners))
        )
        remark[NameObject("/Contents")], remark[NameObject("/T")] = TextStringObject(text), TextStringObject("Eva")
        writer.add_annotation(0, remark)
    out = BytesIO()
    writer.write(out)
    assert extract("a.pdf", out.getvalue()).pages[0].text == (
        "The rate is 5 percent.\n\nComment by Eva on “5 percent”: Should be 7 percent."
    )


def test_a_field_of_choices_has_the_value_that_it_shows() -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of("Where do you work?"))))
    options = ArrayObject(ArrayObject(map(TextStringObject, pair)) for pair in (("AT", "Austria"), ("BE", "Belgium")))
    field = DictionaryObject(
        {
            NameObject("/Subtype"): NameObject("/Widget"),
            NameObject("/FT"): NameObject("/Ch"),
            NameObject("/T"): TextStringObject("Country"),
            NameObject("/V"): TextStringObject("BE"),
            NameObject("/Opt"): options,
            NameObject("/Rect"): ArrayObject(map(NumberObject, (50, 600, 150, 620))),
        }
    )
    fields = ArrayObject([writer._add_object(field)])
    writer.pages[0][NameObject("/Annots")] = fields
    writer.root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): fields})
    out = BytesIO()
    writer.write(out)
    assert extract("a.pdf", out.getvalue()).pages[0].text.endswith("Country: Belgium")
