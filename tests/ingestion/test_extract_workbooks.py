"""What workbooks hold beside the values of their cells: comments, text boxes, hidden sheets, rows and columns."""

import zipfile
from io import BytesIO

import openpyxl
import pytest
from openpyxl.comments import Comment

from core.domain.extraction import ExtractedDocument
from core.ingestion.parsers import extract
from tests.ingestion.making import with_part
from tests.ingestion.making_office import ods_of


def saved(book: openpyxl.Workbook) -> bytes:
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def pay_book() -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Pay"
    for row in (["Name", "Rate"], ["Ada", 0.5], ["Bo", 0.7]):
        sheet.append(row)
    return book


def comments_of(extracted: ExtractedDocument) -> list[str]:
    return [line for page in extracted.pages if page.label == "Comments" for line in page.text.split("\n\n")]


def test_comments_on_cells_are_read_with_their_rows() -> None:
    book = pay_book()
    book["Pay"]["B3"].comment = Comment("Eva:\nFrom May on 0.8.", "Eva")
    assert comments_of(extract("a.xlsx", saved(book))) == ["Comment by Eva on “Pay B3: Bo | 0.7”: From May on 0.8."]


RELATIONS = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
 Target="../threadedComments/threadedComment1.xml"/><Relationship Id="r2" Target="/xl/comments1.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments"/><Relationship Id="r3"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing" Target="../drawings/drawing1.xml"/>
</Relationships>"""
THREAD = """<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">
<threadedComment ref="B2" personId="{7}" id="{1}"><text>Is it 0.6?</text></threadedComment>
<threadedComment ref="B2" personId="{8}" id="{2}" parentId="{1}"><text>Yes.</text></threadedComment>
</ThreadedComments>"""
PERSONS = """<personList xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">
<person displayName="Eva" id="{7}"/></personList>"""
COPIES = """<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><authors><author>tc={1}</author>
</authors><commentList><comment ref="B2" authorId="0"><text><t>[Threaded comment] Is it 0.6?</t></text></comment>
</commentList></comments>"""
DRAWING = """<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:twoCellAnchor><xdr:sp><xdr:txBody><a:p><a:r>
<a:t>Rates in EUR.</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor></xdr:wsDr>"""


def test_threads_and_text_boxes_are_read_once() -> None:
    data = saved(pay_book())
    for name, content in {
        "worksheets/_rels/sheet1.xml.rels": RELATIONS,
        "threadedComments/threadedComment1.xml": THREAD,
        "persons/person.xml": PERSONS,
        "comments1.xml": COPIES,
        "drawings/drawing1.xml": DRAWING,
    }.items():
        data = with_part(data, f"xl/{name}", content.encode())
    assert comments_of(extract("a.xlsx", data)) == [
        "Comment by Eva on “Pay B2: Ada | 0.5”: Is it 0.6?",
        "Comment on “Pay B2: Ada | 0.5”: Yes.",
        "Text box on Pay: Rates in EUR.",
    ]


def test_a_workbook_says_what_it_hides() -> None:
    book = pay_book()
    assert extract("a.xlsx", saved(book)).warnings == ()
    book["Pay"].column_dimensions["D"].hidden = True  # empty
    assert extract("a.xlsx", saved(book)).warnings == ()
    book["Pay"].row_dimensions[3].hidden = True
    assert extract("a.xlsx", saved(book)).warnings == ("The only sheet has hidden rows or columns; they were read.",)
    secret = book.create_sheet("Secret")
    secret.append(["Bonus", "Share"])
    secret.append(["Ada", 5000])
    secret.sheet_state = "veryHidden"
    secret.column_dimensions["B"].hidden = True
    extracted = extract("a.xlsx", saved(book))
    assert extracted.warnings == (
        "1 of 2 sheets (Secret) is hidden; it was read.",
        "2 of 2 sheets (Pay, Secret) have hidden rows or columns; they were read.",
    )
    assert "Bonus: Ada; Share: 5000" in extracted.pages[1].text


@pytest.mark.parametrize(
    ("value", "text"), [("PT36H30M00S", "36:30"), ("-PT00H01M30,5S", "-0:01:30"), ("PT5X", "PT5X")]
)
def test_durations_of_opendocument_are_hours_and_minutes(value: str, text: str) -> None:
    data = ods_of([["Name", "Time"], ["Ada", "x"]])
    with zipfile.ZipFile(BytesIO(data)) as package:
        content = package.read("content.xml").decode()
    cell = f'office:value-type="time" office:time-value="{value}"><text:p/>'
    content = content.replace('office:value-type="string"><text:p>x</text:p>', cell)
    assert f"Time: {text}" in extract("a.ods", with_part(data, "content.xml", content.encode())).pages[0].text
