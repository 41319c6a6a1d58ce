"""Slides, OpenDocument, rich text and workbooks of the old kind: headings, items and rows as such, in reading order."""

from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from core.domain.errors import BadFile, EmptyFile, EncryptedFile, UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.chunking import split
from core.ingestion.parsers import extract
from core.ingestion.parsers.layout import PlacedShape, in_reading_order
from tests.ingestion.making import loaded, with_part
from tests.ingestion.making_office import msg_of, odp_of, odt_of, rtf_of, xls_of


def lines_of(extracted: ExtractedDocument, page: int = 1) -> list[tuple[str, int, str]]:
    text = extracted.pages[page - 1].text
    return [
        (block.kind.value, block.level, text[block.start : block.end])
        for block in extracted.blocks
        if block.page == page
    ]


def saved(deck: Any) -> bytes:
    out = BytesIO()
    deck.save(out)
    return out.getvalue()


def deck_of() -> Any:
    """A title slide, one of bullets with notes, one with two columns, a table, a chart, and a picture alone."""
    deck = pptx.Presentation()
    deck.core_properties.title, deck.core_properties.author = "Payroll kick-off", "Ana Petrov"
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "Payroll kick-off", "What we agreed"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Overtime"
    frame = second.placeholders[1].text_frame
    frame.text = "Overtime starts after 40 hours."
    deeper = frame.add_paragraph()
    deeper.text, deeper.level = "Supervisors approve it.", 1
    second.notes_slide.notes_text_frame.text = "Ask about weekends.\nThen close."
    third = deck.slides.add_slide(deck.slide_layouts[3])
    third.shapes.title.text = "Two ways"
    third.placeholders[1].text_frame.text, third.placeholders[2].text_frame.text = "Left words.", "Right words."
    fourth = deck.slides.add_slide(deck.slide_layouts[5])
    fourth.shapes.title.text = "Grades"
    lower = fourth.shapes.add_textbox(Inches(1), Inches(6), Inches(3), Inches(0.5))
    lower.text_frame.text = "Source: payroll."
    grid = fourth.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(5), Inches(2)).table
    for row, cells in enumerate([("Grade", "Rate"), ("A", "10.50"), ("B", "12.00")]):
        for column, cell in enumerate(cells):
            grid.cell(row, column).text = cell
    fifth = deck.slides.add_slide(deck.slide_layouts[5])
    fifth.shapes.title.text = "Hours"
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Hours", (40, 42.5))
    fifth.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(4), Inches(3), data)
    return deck


def test_slides_are_pages_with_titles_items_rows_and_notes() -> None:
    extracted = extract("deck.pptx", saved(deck_of()))
    assert (extracted.paged, extracted.title, extracted.metadata["author"]) == (True, "Payroll kick-off", "Ana Petrov")
    assert lines_of(extracted, 1)[0] == ("heading", 1, "Payroll kick-off")
    assert lines_of(extracted, 2) == [
        ("heading", 2, "Overtime"),
        ("item", 0, "• Overtime starts after 40 hours."),
        ("item", 1, "• Supervisors approve it."),
        ("heading", 3, "Notes"),
        ("paragraph", 0, "Ask about weekends."),
        ("paragraph", 0, "Then close."),
    ]
    assert lines_of(extracted, 4) == [
        ("heading", 2, "Grades"),
        ("row", 0, "Grade | Rate"),
        ("row", 0, "A | 10.50"),
        ("row", 0, "B | 12.00"),
        ("paragraph", 0, "Source: payroll."),
    ]
    assert lines_of(extracted, 5)[1:] == [
        ("row", 0, "Category | Hours"),
        ("row", 0, "May | 40"),
        ("row", 0, "June | 42.5"),
    ]
    rows = [(block.row, block.columns) for block in extracted.blocks if block.page == 4 and block.row]
    assert rows == [(1, "Grade; Rate"), (2, "Grade; Rate")]
    assert [text for _, text in extracted.headings][:3] == ["Payroll kick-off", "Overtime", "Notes"]


def test_the_sentence_of_a_slide_is_a_passage_of_that_page() -> None:
    extracted = extract("deck.pptx", saved(deck_of()))
    found = [each for each in split(extracted, "Deck") if "Overtime starts after 40 hours." in each.text]
    assert [(each.page, each.section.split(" › ")[-1]) for each in found] == [(2, "Overtime")]


def test_grouped_boxes_are_read_where_the_group_stands_and_footers_are_not() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    bottom = slide.shapes.add_textbox(Inches(1), Inches(5), Inches(3), Inches(1))
    bottom.text_frame.text = "Last."
    group = slide.shapes.add_group_shape()
    for top, text in ((2, "Second."), (1, "First.")):
        group.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(0.5)).text_frame.text = text
    extracted = extract("deck.pptx", saved(deck))
    assert [text for _, _, text in lines_of(extracted)] == ["First.", "Second.", "Last."]


def test_hidden_slides_and_slides_of_pictures_are_counted() -> None:
    deck = deck_of()
    deck.slides[1].element.set("show", "0")
    blank = deck.slides.add_slide(deck.slide_layouts[6])
    blank.shapes.add_shape(1, 0, 0, 100, 100)
    assert extract("deck.pptx", saved(deck)).warnings == (
        "1 of 6 slides (6) contains no text that could be read, only pictures.",
        "1 of 6 slides (2) is hidden when it is shown; they were read.",
    )


def test_columns_are_read_one_after_the_other_when_they_were_made_so() -> None:
    head, left, right = (
        PlacedShape(0, 0, 9, 1),
        (PlacedShape(0, 2, 4, 3), PlacedShape(0, 3, 4, 9)),
        (PlacedShape(5, 2, 9, 3), PlacedShape(5, 3, 9, 9)),
    )
    assert in_reading_order([head, *left, *right]) == [0, 1, 2, 3, 4]
    assert in_reading_order([head, left[0], right[0], left[1], right[1]]) == [0, 1, 2, 3, 4]
    assert in_reading_order([*right, *left, head])[0] == 4


ODT = """<text:h text:outline-level="1">Leave policy</text:h>
<text:tracked-changes><text:changed-region><text:deletion><text:p>Deleted words.</text:p></text:deletion>
</text:changed-region></text:tracked-changes>
<text:p>Employees<text:s text:c="2"/>accrue <text:span>leave</text:span><text:note text:note-class="footnote">
<text:note-citation>1</text:note-citation><text:note-body><text:p>See the act.</text:p></text:note-body></text:note>
 every month.<office:annotation><text:p>Really?</text:p></office:annotation></text:p>
<text:table-of-content><text:index-body><text:p>Leave policy 1</text:p></text:index-body></text:table-of-content>
<text:section><text:h text:outline-level="2">Carry over</text:h></text:section>
<text:list><text:list-item><text:p>Five days stay.</text:p><text:list><text:list-item><text:p>Not more.</text:p>
</text:list-item></text:list></text:list-item></text:list>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Grade</text:p></table:table-cell>
<table:table-cell><text:p>Days</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>A</text:p></table:table-cell><table:table-cell><text:p>20</text:p>
</table:table-cell></table:table-row></table:table><text:p text:style-name="P1">Annex</text:p>"""


def test_opendocument_text_keeps_headings_lists_rows_and_notes_in_order() -> None:
    styles = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    meta = (
        "<dc:title>Leave</dc:title><meta:initial-creator>Ana</meta:initial-creator><dc:date>2024-02-01T10:00</dc:date>"
    )
    extracted = extract("leave.odt", odt_of(ODT, styles, meta))
    assert lines_of(extracted) == [
        ("heading", 1, "Leave policy"),
        ("paragraph", 0, "Employees  accrue leave\n every month."),
        ("furniture", 0, "Leave policy 1"),
        ("heading", 2, "Carry over"),
        ("item", 0, "• Five days stay."),
        ("item", 1, "• Not more."),
        ("row", 0, "Grade | Days"),
        ("row", 0, "A | 20"),
        ("heading", 1, "Annex"),
        ("paragraph", 0, "See the act."),
        ("paragraph", 0, "Comment: Really?"),
    ]
    assert (extracted.title, extracted.metadata["author"], extracted.metadata["modified"]) == (
        "Leave",
        "Ana",
        "2024-02-01",
    )


def test_lists_and_headings_of_opendocument_carry_their_numbers() -> None:
    def item(text: str, more: str = "") -> str:
        return f"<text:list-item><text:p>{text}</text:p>{more}</text:list-item>"

    def listed(items: str, more: str = 'text:style-name="L1"') -> str:
        return f"<text:list {more}>{items}</text:list>"

    number = '<text:list-level-style-number text:level="{}" style:num-format="{}" style:num-{}="{}"/>'.format
    bullet = '<text:list-level-style-bullet text:level="1" text:bullet-char="–"/>'
    second = number(2, "1", "suffix", ".").replace("/>", ' text:display-levels="2"/>')
    styles = f'<text:list-style style:name="L1">{number(1, "1", "suffix", ".")}{second}'
    styles += f'{number(3, "a", "suffix", ")")}</text:list-style><text:list-style style:name="L2">{bullet}'
    styles += '</text:list-style><text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/>'
    styles += '<text:outline-level-style text:level="2" style:num-format=""/></text:outline-style>'
    deep = listed(item("Late", listed(item("by a day") + item("by a week"), "")) + item("Early"), "")
    head = '<text:h text:outline-level="{}">{}</text:h>'.format
    body = head(1, "Pay") + listed(item("Fees", deep) + item("Terms</text:p><text:p>as agreed"))
    body += listed(item("Dash"), 'text:style-name="L2"') + head(2, "More") + head(1, "Leave")
    body += listed(item("Notice"), 'text:style-name="L1" text:continue-numbering="true"') + listed(item("New"))
    extracted = extract("a.odt", odt_of(body, styles))
    assert [line for line in extracted.pages[0].text.split("\n") if line] == [
        *("I Pay", "1. Fees", "1.1. Late", "a) by a day", "b) by a week", "1.2. Early", "2. Terms", "as agreed"),
        *("• Dash", "More", "II Leave", "3. Notice", "1. New"),
    ]


def test_repeated_and_spanning_cells_of_opendocument_are_read_where_they_count_and_hidden_text_is_not() -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    rows = (
        ("", cell("Country") + cell("2024", 'table:number-columns-spanned="2"') + "<table:covered-table-cell/>"),
        ("", cell("Austria", 'table:number-rows-spanned="2"') + cell("7", 'table:number-columns-repeated="2"')),
        ("", "<table:covered-table-cell/>" + cell("8") + cell("9")),
        ('table:number-rows-repeated="2"', cell("Chile") + cell("1") + cell("2")),
    )
    table = "".join(f"<table:table-row {more}>{cells}</table:table-row>" for more, cells in rows)
    hidden = '<text:section text:display="none"><text:p>Hidden.</text:p></text:section>'
    hidden += '<text:p>Pay <text:span text:style-name="T1">not </text:span>now.</text:p>'
    styles = '<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>'
    extracted = extract("a.odt", odt_of(f"<table:table>{table}</table:table>{hidden}", styles))
    assert extracted.pages[0].text == (
        "Country | 2024 | 2024\nAustria | 7 | 7\nAustria | 8 | 9\nChile | 1 | 2\nChile | 1 | 2\n\nPay now."
    )


def test_opendocument_slides_are_pages() -> None:
    def box(text: str, kind: str = "outline", left: int = 1, top: int = 1) -> str:
        size = 'svg:width="5cm" svg:height="2cm"'
        frame = f'<draw:frame presentation:class="{kind}" svg:x="{left}cm" svg:y="{top}cm" {size}>'
        return f"{frame}<draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"

    notes = f"<presentation:notes>{box('Say hello.', 'notes')}{box('7', 'page-number')}</presentation:notes>"
    extracted = extract(
        "deck.odp", odp_of(box("Last.", top=9) + box("First.", top=4) + box("Plan", "title") + notes, "")
    )
    assert [text for _, _, text in lines_of(extracted)] == ["Plan", "First.", "Last.", "Notes", "Say hello."]
    assert (len(extracted.pages), extracted.paged) == (2, True)


RTF = r"""\pard\s1 \'dcberstunden\par \pard Overtime is \b paid\b0  at 1.5 \u8211? always.\par
{\listtext 1.\tab}First step\par {\listtext \u-3913?\tab}Second thing\par
\trowd\cellx100\cellx200 Grade\cell Rate\cell\row A\cell 10,50 \'80\cell\row
\pard\outlinelevel1 Sick leave\par It is paid, too.\par"""


def test_rich_text_gives_words_items_rows_and_what_is_marked_as_heading() -> None:
    head = r"{\info{\title Pay rules}{\author Ana}{\creatim\yr2023\mo6\dy7}}"
    extracted = extract("pay.rtf", rtf_of(RTF, head))
    assert lines_of(extracted) == [
        ("heading", 1, "Überstunden"),
        ("paragraph", 0, "Overtime is paid at 1.5 – always."),
        ("item", 0, "1. First step"),
        ("item", 0, "• Second thing"),
        ("row", 0, "Grade | Rate"),
        ("row", 0, "A | 10,50 €"),
        ("heading", 2, "Sick leave"),
        ("paragraph", 0, "It is paid, too."),
    ]
    assert (extracted.title, extracted.metadata["published"]) == ("Pay rules", "2023-06-07")
    assert extracted.warnings == ()


def test_rich_text_may_hold_letters_of_its_code_page_as_they_are() -> None:
    data = rb"{\rtf1\ansi\ansicpg1251 " + "Отпуск каждый год.".encode("cp1251") + rb"\par}"
    assert extract("leave.rtf", data).pages[0].text == "Отпуск каждый год."


def test_rich_text_cut_short_says_so() -> None:
    assert extract("pay.rtf", rtf_of(RTF)[:-80]).warnings == ("The file is cut short: its end is missing.",)


def test_an_old_workbook_is_tables_like_a_new_one(tmp_path: Path) -> None:
    data = xls_of(Staff=[["id", "pay"], ["A", 5.5], ["B", 7]], Codes=[["code", "text"], ["REG", "Überzeit"]])
    extracted = extract("staff.xls", data, tmp_path)
    assert [page.label for page in extracted.pages[:2]] == ["Sheet: Staff", "Sheet: Codes"]
    assert extracted.pages[0].text == "id: A; pay: 5.5\nid: B; pay: 7"
    assert loaded(extracted.tables[0]) == [["A", "5.5"], ["B", "7"]]
    assert extracted.pages[1].text == "code: REG; text: Überzeit"


def test_xml_records_are_lines_and_words_between_are_paragraphs() -> None:
    data = b"<?xml version='1.0'?><staff><title>People</title><p>Some <b>bold</b> words.</p>"
    data += b"<person id='1'><name>Ann</name><pay>5</pay></person><person id='2'><name>Bo</name></person></staff>"
    extracted = extract("staff.xml", data)
    assert lines_of(extracted) == [
        ("heading", 2, "People"),
        ("paragraph", 0, "Some bold words."),
        ("row", 0, "id: 1; name: Ann; pay: 5"),
        ("paragraph", 0, "Bo"),
    ]
    assert extracted.title == "People"


def test_attributes_of_xml_data_are_rows() -> None:
    data = b"""<e:Envelope xmlns:e="urn:gesmes"><e:subject>Reference rates</e:subject><Cube><Cube time="2024-12-02">
    <Cube currency="USD" rate="1.0465"/><Cube currency="JPY" rate="157.05"/></Cube></Cube>
    <Amt><InstdAmt Ccy="EUR">500.00</InstdAmt></Amt><fee><name>Wire</name><sum Ccy="CHF">7</sum></fee></e:Envelope>"""
    assert lines_of(extract("rates.xml", data)) == [
        ("paragraph", 0, "Reference rates"),
        ("row", 0, "time: 2024-12-02"),
        ("row", 0, "currency: USD; rate: 1.0465"),
        ("row", 0, "currency: JPY; rate: 157.05"),
        ("row", 0, "Ccy: EUR; InstdAmt: 500.00"),
        ("row", 0, "name: Wire; Ccy: CHF; sum: 7"),
    ]


def test_attributes_that_say_how_to_show_text_are_not_read() -> None:
    text = b"<doc><p class='x'>Leave is <b>paid</b>.</p><p class='y'>So it is.</p><rate from='May' days='5'/></doc>"
    assert extract("doc.xml", text).pages[0].text == "Leave is paid.\n\nSo it is.\n\nfrom: May; days: 5"
    chart = b"<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0L5 5'/><text x='5'>Leave</text></svg>"
    assert extract("chart.xml", chart).pages[0].text == "text: Leave"


SHEET_2003 = """<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="Default" ss:Name="Normal"/></Styles><Worksheet ss:Name="Pay"><Table>
<Row><Cell><Data ss:Type="String">Name</Data></Cell><Cell><Data>Grade</Data></Cell><Cell><Data>Pay</Data></Cell></Row>
<Row><Cell><Data>Ann</Data></Cell><Cell ss:Index="3"><Data ss:Type="Number">12.5</Data><Comment>gross</Comment></Cell>
</Row><Row><Cell ss:MergeAcross="1"><Data>Bo</Data></Cell><Cell><Data>7</Data></Cell></Row>
</Table></Worksheet></Workbook>"""
EXPORTS = [
    (
        "tabs",
        "Name\tPay\nJürgen Müller\t12,50\n".encode("cp1252"),
        "text/tab-separated-values",
        "Name: Jürgen Müller; Pay: 12,50",
    ),
    ("unicode", "Name\tPay\nZoë\t12,50\n".encode("utf-16"), "text/tab-separated-values", "Name: Zoë; Pay: 12,50"),
    ("commas", b"Name,Pay\nAnn,12\n", "text/csv", "Name: Ann; Pay: 12"),
    ("web", b"\xef\xbb\xbf<table><tr><td>Ann</td><td>12</td></tr></table>", "text/html", "Ann | 12"),
    ("xml", SHEET_2003.encode(), "application/xml", "Pay\n\nName | Grade | Pay\nAnn |  | 12.5 gross\nBo |  | 7"),
    ("words", b"No rows were found.", "text/plain", "No rows were found."),
]


@pytest.mark.parametrize(("what", "data", "kind", "text"), EXPORTS, ids=[case[0] for case in EXPORTS])
def test_a_text_exported_under_the_name_of_a_workbook_is_read_as_what_it_is(
    what: str, data: bytes, kind: str, text: str
) -> None:
    for name in ("pay.xls", "pay.xlsx"):
        extracted = extract(name, data)
        assert (extracted.media_type, text in "\n".join(page.text for page in extracted.pages)) == (kind, True)
        assert extracted.warnings[0].startswith(f"The name says {name[4:].upper()}, but the file is ")
    with pytest.raises(UnreadableFile, match="beginning is missing"):
        extract("pay.xls", bytes(range(256)) * 20)


LOCKED = '<manifest:manifest xmlns:manifest="x"><manifest:encryption-data/></manifest:manifest>'
LAUGHS = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;">]><l>&b;&b;</l>'
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>'
DECK = saved(deck_of())
TEXT = odt_of(ODT)
BAD = [
    ("cut.pptx", DECK[: len(DECK) // 2], UnreadableFile, "cut short"),
    ("broken.pptx", with_part(DECK, "ppt/presentation.xml", b"<p:presentation"), UnreadableFile, "damaged"),
    ("entities.pptx", with_part(DECK, "ppt/slides/slide1.xml", LAUGHS), UnreadableFile, "entities"),
    (
        "far.pptx",
        with_part(DECK, "ppt/slides/slide1.xml", b"<!--" + b"x" * 9000 + b"-->" + LAUGHS[21:]),
        UnreadableFile,
        "entities",
    ),
    (
        "hidden.pptx",
        with_part(DECK, "ppt/slides/slide1.xml", b"<?p <a ?>" + LAUGHS[21:]),
        UnreadableFile,
        "entities",
    ),
    (
        "wide.pptx",
        with_part(DECK, "ppt/slides/slide1.xml", LAUGHS.decode().encode("utf-16")),
        UnreadableFile,
        "entities",
    ),
    ("bare.pptx", saved(pptx.Presentation()), EmptyFile, "no text"),
    ("cut.odt", TEXT[:-40], UnreadableFile, "cut short"),
    ("broken.odt", with_part(TEXT, "content.xml", b"<office:document"), UnreadableFile, "damaged"),
    ("entities.odt", with_part(TEXT, "content.xml", LAUGHS), UnreadableFile, "entities"),
    ("locked.odt", with_part(TEXT, "META-INF/manifest.xml", LOCKED.encode()), EncryptedFile, "password"),
    ("bare.odt", odt_of(""), EmptyFile, "no text"),
    ("bare.rtf", rtf_of(""), EmptyFile, "no text"),
    ("plain.rtf", b"Only words, no rich text.", UnreadableFile, "beginning"),
    ("cut.xls", xls_of(S=[["a", "b"], ["c", 1]])[:700], UnreadableFile, "damaged"),
    ("bare.xls", xls_of(S=[]), EmptyFile, "no cell"),
    ("laughs.xml", LAUGHS, UnreadableFile, "entities"),
    ("outside.xml", OUTSIDE, UnreadableFile, "entities"),
    ("cut.xml", b"<?xml version='1.0'?><staff><name>Ann</na", UnreadableFile, "well-formed"),
    ("bare.xml", b"<?xml version='1.0'?><staff/>", EmptyFile, "no text"),
]


@pytest.mark.parametrize(("name", "data", "error", "words"), BAD, ids=[case[0] for case in BAD])
def test_a_bad_office_file_says_what_is_wrong(name: str, data: bytes, error: type[BadFile], words: str) -> None:
    with pytest.raises(error) as caught:
        extract(name, data)
    assert name in caught.value.message
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(("name", "data"), [("a.docx", DECK), ("a.pdf", TEXT), ("a.txt", rtf_of(RTF)), ("a.csv", DECK)])
def test_a_file_named_as_another_kind_is_read_as_what_it_is(name: str, data: bytes) -> None:
    extracted = extract(name, data)
    assert extracted.pages[0].text
    assert "was read as such" in extracted.warnings[0]


def test_every_block_of_every_kind_holds_words() -> None:
    for name, data in (("a.pptx", DECK), ("a.odt", TEXT), ("a.rtf", rtf_of(RTF))):
        extracted = extract(name, data)
        texts = {page.number: page.text for page in extracted.pages}
        assert all(texts[each.page][each.start : each.end].strip() for each in extracted.blocks)
        assert any(each.kind is BlockKind.ROW for each in extracted.blocks)


WHOLE = {
    "a.pptx": DECK,
    "a.odt": TEXT,
    "a.rtf": rtf_of(RTF),
    "a.xls": xls_of(S=[["id", "pay"], ["A", 5], ["B", 7]]),
    "a.msg": msg_of("Leave", "Some words.", {"a.csv": b"a,b\n1,2\n"}, {"Inner": "Words."}),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("seed", range(12))
def test_a_file_with_damaged_bytes_is_read_or_refused_and_never_something_else(name: str, seed: int) -> None:
    chance = Random(seed)
    data = bytearray(WHOLE[name])
    for _ in range(chance.randint(1, 30)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        extracted = extract(name, bytes(data))
    except BadFile as error:
        assert name in error.message
        assert error.hint
    else:
        assert extracted.pages or extracted.members
