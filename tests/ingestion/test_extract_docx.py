"""Word documents: what Word shows, with its numbers, notes, equations, text boxes and page headers."""

import pytest

from core.ingestion.parsers import extract
from tests.ingestion.making import with_part
from tests.ingestion.making_word import strict, word_of


def text_of(body: str, **parts: str) -> str:
    return extract("a.docx", word_of(body, **parts)).pages[0].text


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def par(text: str, properties: str = "") -> str:
    inner = text if text.startswith("<") else run(text)
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def item(text: str, number: int, level: int = 0) -> str:
    return par(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def style(name: str, properties: str = "", based: str = "") -> str:
    base = f'<w:basedOn w:val="{based}"/>' if based else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/>{base}'
        f"<w:pPr>{properties}</w:pPr></w:style>"
    )


def levels(*rows: str) -> str:
    """Levels of a list, each "format text further-XML"."""
    out = ""
    for at, row in enumerate(rows):
        form, text, *more = row.split(" ", 2)
        out += (
            f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{"".join(more)}'
            f'<w:lvlText w:val="{text}"/></w:lvl>'
        )
    return out


def lists(*sequences: str, numbers: str = "") -> str:
    out = "".join(f'<w:abstractNum w:abstractNumId="{at}">{each}</w:abstractNum>' for at, each in enumerate(sequences))
    for at in range(len(sequences)):
        out += f'<w:num w:numId="{at + 1}"><w:abstractNumId w:val="{at}"/></w:num>'
    return out + numbers


CLAUSES = levels("decimal %1.", "decimal %1.%2", "lowerLetter (%3)", "lowerRoman (%4)")


def test_clauses_carry_the_numbers_that_word_shows() -> None:
    body = item("Scope", 1) + item("Fees", 1) + item("Monthly", 1, 1) + item("Paid late", 1, 1)
    body += item("by a week", 1, 2) + item("by a month", 1, 2) + item("in June", 1, 3) + item("in July", 1, 3)
    body += item("Refunds", 1, 1) + item("if asked", 1, 2) + item("End", 1) + item("Notice", 1, 1)
    assert text_of(body, numbering=lists(CLAUSES)).split("\n") == [
        *("1. Scope", "2. Fees", "2.1 Monthly", "2.2 Paid late", "(a) by a week", "(b) by a month"),
        *("(i) in June", "(ii) in July", "2.3 Refunds", "(a) if asked", "3. End", "3.1 Notice"),
    ]


def test_headings_are_numbered_by_their_styles() -> None:
    linked = levels(
        'upperRoman %1 <w:pStyle w:val="heading1"/>', 'decimal %1.%2 <w:isLgl/><w:pStyle w:val="heading2"/>'
    )
    styles = style("heading 1", '<w:numPr><w:numId w:val="1"/></w:numPr>') + style("heading 2", "", "heading1")
    first, second = '<w:pStyle w:val="heading1"/>', '<w:pStyle w:val="heading2"/>'
    body = par("Scope", first) + par("Law", first) + par("Courts", second) + par("Venue", second)
    extracted = extract("a.docx", word_of(body, numbering=lists(linked), styles=styles))
    assert extracted.headings == ((1, "I Scope"), (1, "II Law"), (2, "2.1 Courts"), (2, "2.2 Venue"))
    assert (extracted.title, extracted.metadata) == ("Scope", {})


def test_a_list_that_begins_anew_counts_from_its_start_and_another_list_counts_on() -> None:
    anew = '<w:num w:numId="7"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/>'
    anew += '</w:lvlOverride></w:num><w:num w:numId="8"><w:abstractNumId w:val="0"/></w:num>'
    body = item("a", 1) + par("Between.") + item("b", 8) + item("c", 7) + item("d", 7)
    shown = text_of(body, numbering=lists(CLAUSES, numbers=anew)).split()
    assert shown == ["1.", "a", "Between.", "2.", "b", "4.", "c", "5.", "d"]


NUMBERS = [
    ("upperLetter %1)", 28, "BB)"),
    ("upperRoman %1", 9, "IX"),
    ("decimalZero %1", 3, "03"),
    ("bullet %1", 1, "•"),
    ("chineseCounting %1", 2, "•"),
    ("decimal §%1", 2, "§2"),
]


@pytest.mark.parametrize(("level", "count", "label"), NUMBERS)
def test_numbers_of_lists_are_written_as_word_does(level: str, count: int, label: str) -> None:
    shown = text_of("".join(item("x", 1) for _ in range(count)), numbering=lists(levels(level)))
    assert shown.split("\n")[-1] == f"{label} x"


def test_deleted_paragraphs_are_not_counted_and_those_without_number_are_paragraphs() -> None:
    gone = '<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr>'
    gone += '<w:del w:id="2"><w:r><w:delText>Gone</w:delText></w:r></w:del></w:p>'
    body = item("One", 1) + gone + item("Two", 1) + item("Plain.", 0)
    assert text_of(body, numbering=lists(CLAUSES)) == "1. One\n2. Two\n\nPlain."


def cell(inner: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def test_numbers_and_cells_that_span_rows_are_read_in_every_row() -> None:
    begin, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    head = row(*(cell(par(text)) for text in ("No.", "Country", "Year", "Rate")))
    first = row(*(cell(item("", 1)), cell(par("Austria"), begin), cell(par("2023")), cell(par("6 %"))))
    second = row(*(cell(item("", 1)), cell("<w:p/>", goes_on), cell(par("2024")), cell(par("7 %"))))
    third = row(*(cell(item("", 1)), cell(par("Belgium")), cell(par("2024")), cell(par("8 %"))))
    gone = row(cell(par("9.")), cell(par("France")), properties='<w:del w:id="3"/>')
    extracted = extract(
        "a.docx", word_of(f"<w:tbl>{head}{first}{second}{gone}{third}</w:tbl>", numbering=lists(CLAUSES))
    )
    assert extracted.pages[0].text.split("\n") == [
        *("No. | Country | Year | Rate", "1. | Austria | 2023 | 6 %", "2. | Austria | 2024 | 7 %"),
        "3. | Belgium | 2024 | 8 %",
    ]


def test_hidden_and_moved_words_are_left_out() -> None:
    moved = f'<w:moveFrom w:id="1">{run("Moved ")}</w:moveFrom>'
    shown = run("now", '<w:vanish w:val="0"/>')
    body = f"<w:p>{run('Pay ')}{run('not ', '<w:vanish/>')}{moved}{shown}</w:p>"
    assert text_of(body) == "Pay now"


def math(xml: str) -> str:
    return f"<m:oMath>{xml}</m:oMath>"


def sign(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


HALF = f"<m:f><m:num>{sign('1')}</m:num><m:den>{sign('2')}</m:den></m:f>"
EQUATIONS = [
    (sign("5 000"), "5 000"),
    (sign("2") + HALF + sign("x"), "2 1/2 x"),
    (f"<m:sSup><m:e>{sign('10')}</m:e><m:sup>{sign('6')}</m:sup></m:sSup>", "10^6"),
    (f"<m:rad><m:deg/><m:e>{sign('a')}{sign('+')}{sign('b')}</m:e></m:rad>", "√(a+b)"),
    (f"<m:d><m:e>{sign('a')}{HALF}</m:e></m:d>", "(a 1/2)"),
    (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>{sign("a")}</m:e></m:d>', "[a]"),
    (
        f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{sign("i=1")}</m:sub><m:sup>{sign("10")}</m:sup>'
        f"<m:e>{sign('x')}</m:e></m:nary>",
        "∑_(i=1)^10 x",
    ),
]


@pytest.mark.parametrize(("xml", "text"), EQUATIONS)
def test_equations_are_part_of_the_sentence(xml: str, text: str) -> None:
    body = f"<w:p>{run('The penalty is ')}{math(xml)}{run(' euros.')}</w:p>"
    assert text_of(body) == f"The penalty is {text} euros."


def test_paragraphs_of_a_text_box_follow_the_paragraph_that_it_stands_at_once() -> None:
    box = f"<w:txbxContent>{par('Warning')}{par('Do not exceed 5 bar')}</w:txbxContent>"
    shape = f'<mc:AlternateContent><mc:Choice Requires="wps">{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>'
    shape = f"<w:r>{shape}</mc:AlternateContent></w:r>"
    body = f"<w:p>{run('See the')}{shape}{run(' box.')}</w:p>"
    assert text_of(body) == "See the box.\n\nWarning\n\nDo not exceed 5 bar"
    table = f"<w:tbl>{row(cell(body), cell(par('B')))}</w:tbl>"
    assert text_of(table) == "See the box. Warning Do not exceed 5 bar | B"


def test_footnotes_and_endnotes_are_read() -> None:
    notes = '<w:{0} w:id="0" w:type="separator"><w:p/></w:{0}><w:{0} w:id="1">{1}</w:{0}>'
    body = par("The fee is due.")
    foot, end = notes.format("footnote", par("See section 7.")), notes.format("endnote", par("See annex 2."))
    assert text_of(body, footnotes=foot, endnotes=end) == "The fee is due.\n\nSee section 7.\n\nSee annex 2."


def section(*references: str, more: str = "") -> str:
    return f"<w:sectPr>{''.join(references)}{more}</w:sectPr>"


def header(name: str, kind: str = "default") -> str:
    return f'<w:headerReference w:type="{kind}" r:id="{name}"/>'


def test_page_headers_are_read_once_without_page_numbers() -> None:
    page = f'<w:p>{run("Page ")}<w:fldSimple w:instr=" PAGE ">{run("3")}</w:fldSimple></w:p>'
    grid = f"<w:tbl>{row(cell(par('SOP-012')), cell(par('Effective 5 May 2024')), cell(page))}</w:tbl>"
    first = par(section(header("header"), header("header2", "first"), header("header3", "even")))
    body = par("# Scope", '<w:pStyle w:val="heading1"/>') + first + par("Text.") + section(header("header4"))
    parts = {"header": grid + page, "header2": par("Cover"), "header3": par("Even"), "header4": grid + par("Part 2")}
    text = text_of(body, styles=style("heading 1"), **parts)
    assert text == "SOP-012 | Effective 5 May 2024\nPart 2\n\n# Scope\n\nText."
    shown = text_of(body.replace("</w:sectPr>", "<w:titlePg/></w:sectPr>"), **parts)
    assert shown.startswith("SOP-012 | Effective 5 May 2024\nCover\nPart 2\n\n")


def test_a_page_header_without_letters_is_left_out_and_one_alone_is_no_text() -> None:
    from core.domain.errors import EmptyFile

    assert text_of(par("Text.") + section(header("header")), header=par("– 3 –")) == "Text."
    with pytest.raises(EmptyFile):
        text_of(section(header("header")), header=par("Letterhead"))


KINDS = [
    ("a.docm", "application/vnd.ms-word.document.macroEnabled.main+xml"),
    ("a.dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"),
    ("a.dotm", "application/vnd.ms-word.template.macroEnabledTemplate.main+xml"),
]


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_templates_and_files_with_macros_are_read(name: str, kind: str) -> None:
    extracted = extract(name, word_of(par("The fee is due."), kind))
    assert (extracted.pages[0].text, extracted.warnings) == ("The fee is due.", ())


def test_strict_open_xml_is_read() -> None:
    body = par("<m:oMath><m:r><m:t>5</m:t></m:r></m:oMath>") + item("Scope", 1)
    data = word_of(body, numbering=lists(CLAUSES), endnotes=f'<w:endnote w:id="1">{par("A note.")}</w:endnote>')
    assert extract("a.docx", strict(data)).pages[0].text == "5\n\n1. Scope\n\nA note."


def symbol(char: str, font: str = "Wingdings") -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{char}"/></w:r>'


SYMBOLS = [
    (symbol("F0FE") + run(" yes ") + symbol("F0A8") + run(" no"), "☑ yes ☐ no"),
    (symbol("2612", "MS Gothic") + run(" yes"), "☒ yes"),
    (run("þ", '<w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/>') + run(" yes"), "☑ yes"),
    (run("rate ") + symbol("F0A3", "Symbol") + run(" 5 %, ") + symbol("F06D", "Symbol") + run("g"), "rate ≤ 5 %, μg"),
    (run("Pay") + symbol("no") + run(" 5"), "Pay 5"),
]


@pytest.mark.parametrize(("runs", "text"), SYMBOLS)
def test_symbols_are_the_signs_that_word_shows(runs: str, text: str) -> None:
    assert text_of(f"<w:p>{runs}</w:p>") == text


def field(data: str, result: str = "") -> str:
    shown = f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(result)}' if result else ""
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        f'<w:r><w:instrText> FORM </w:instrText></w:r>{shown}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


FIELDS = [
    ('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', "", "☒"),
    ('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "", "☐"),
    ('<w:checkBox><w:default w:val="1"/></w:checkBox>', "", "☒"),
    (
        '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Austria"/><w:listEntry w:val="Belgium"/></w:ddList>',
        "",
        "Belgium",
    ),
    ('<w:ddList><w:listEntry w:val="Austria"/></w:ddList>', "Chile", "Chile"),
    ("<w:textInput/>", "Ada", "Ada"),
]


@pytest.mark.parametrize(("data", "result", "text"), FIELDS)
def test_form_fields_show_their_boxes_and_values(data: str, result: str, text: str) -> None:
    assert text_of(f"<w:p>{run('Answer: ')}{field(data, result)}</w:p>") == f"Answer: {text}"


def test_cells_of_the_first_row_that_span_columns_name_each() -> None:
    two = '<w:gridSpan w:val="2"/>'
    head = row(cell(par("Country")), cell(par("2023"), two), cell(par("2024"), two))
    rows = head + row(*(cell(par(text)) for text in ("Austria", "1", "2", "3", "4")))
    rows += row(cell(par("Belgium")), cell(par("none"), two), cell(par("5")), cell(par("6")))
    assert text_of(f"<w:tbl>{rows}</w:tbl>").split("\n") == [
        *("Country | 2023 | 2023 | 2024 | 2024", "Austria | 1 | 2 | 3 | 4", "Belgium | none |  | 5 | 6")
    ]
    form = row(cell(par("Name"), two), cell(par("Ada"), two)) + row(cell(par("Born")), cell(par("1815")))
    assert text_of(f"<w:tbl>{form}</w:tbl>") == "Name | Ada\nBorn | 1815"


def test_comments_follow_the_text_with_who_wrote_them_and_about_what() -> None:
    begin, end = (f'<w:commentRange{each} w:id="4"/>' for each in ("Start", "End"))
    body = f"<w:p>{run('Pay ')}{begin}{run('within 30 days')}{end}{run('.')}</w:p>"
    comments = f'<w:comment w:id="4" w:author="Eva">{par("Should be 14.")}</w:comment><w:comment w:id="5"/>'
    assert text_of(body, comments=comments) == (
        "Pay within 30 days.\n\nComment by Eva on “within 30 days”: Should be 14."
    )


CHART = """<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx><c:rich><a:p><a:r>
<a:t>Wages</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache>
<c:pt idx="0"><c:v>Rate</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:numRef><c:f>A1</c:f><c:numCache>
<c:formatCode>d.m.yyyy</c:formatCode><c:pt idx="0"><c:v>45292</c:v></c:pt><c:pt idx="1"><c:v>45323</c:v></c:pt>
</c:numCache></c:numRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode>
<c:pt idx="0"><c:v>0.25</c:v></c:pt><c:pt idx="1"><c:v>0.3</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>
</c:barChart></c:plotArea></c:chart></c:chartSpace>"""


def test_charts_are_tables_of_their_data() -> None:
    drawing = '<w:r><w:drawing><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="chart"/>'
    body = f"<w:p>{run('See below.')}{drawing}</w:drawing></w:r></w:p>"
    data = with_part(word_of(body, chart=""), "word/chart.xml", CHART.encode())
    assert extract("a.docx", data).pages[0].text.split("\n") == [
        *("See below.", "", "Wages", "", "Category | Rate", "2024-01-01 | 25%", "2024-02-01 | 30%")
    ]
