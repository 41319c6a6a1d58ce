"""Presentations: boxes with equations, cells that span rows, slide shows and templates."""

from datetime import date
from io import BytesIO
from typing import Any

import pptx
import pytest
from lxml import etree
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches

from core.ingestion.parsers import extract
from tests.ingestion.making import with_part
from tests.ingestion.making_office import pptx_of

_SPACES = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
EQUATION = (
    f"<a14:m {_SPACES}><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    "</m:oMath></a14:m>"
)


def text_of(deck: Any) -> str:
    out = BytesIO()
    deck.save(out)
    return extract("a.pptx", out.getvalue()).pages[0].text


def test_a_box_with_an_equation_is_read_once_where_it_stands() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box, below = (slide.shapes.add_textbox(Inches(1), Inches(top), Inches(4), Inches(1)) for top in (1, 3))
    box.text_frame.text, below.text_frame.text = "The fee is ", "Per year."
    box.text_frame.paragraphs[0]._p.append(etree.fromstring(EQUATION))
    choices = etree.fromstring(
        f'<mc:AlternateContent {_SPACES}><mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>'
    )
    box._element.addprevious(choices)
    choices[1].append(etree.fromstring(etree.tostring(box._element)))
    choices[0].append(box._element)
    assert text_of(deck) == "The fee is 1/2\n\nPer year."


def test_a_cell_that_spans_rows_is_read_in_each() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    grid = slide.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(5), Inches(2)).table
    for row, cells in enumerate([("Country", "Rate"), ("Austria", "6 %"), ("", "7 %")]):
        for column, cell in enumerate(cells):
            grid.cell(row, column).text = cell
    grid.cell(1, 0).merge(grid.cell(2, 0))
    assert text_of(deck) == "Country | Rate\nAustria | 6 %\nAustria | 7 %"


def test_a_cell_of_the_first_row_that_spans_columns_names_each() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    grid = slide.shapes.add_table(2, 3, Inches(1), Inches(2), Inches(5), Inches(2)).table
    for row, cells in enumerate([("Country", "Rate", ""), ("Austria", "6 %", "7 %")]):
        for column, cell in enumerate(cells):
            grid.cell(row, column).text = cell
    grid.cell(0, 1).merge(grid.cell(0, 2))
    assert text_of(deck) == "Country | Rate | Rate\nAustria | 6 % | 7 %"


def chart_text(kind: XL_CHART_TYPE, data: Any) -> str:
    deck = pptx.Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    shapes.add_chart(kind, Inches(1), Inches(2), Inches(3), Inches(3), data)
    return text_of(deck)


def test_charts_have_their_dates_percentages_and_points() -> None:
    shares: Any = CategoryChartData(number_format="0%")  # type: ignore[no-untyped-call]
    shares.categories = [date(2024, 1, 1), date(2024, 2, 1)]
    shares.add_series("Share", (0.25, None))
    assert chart_text(XL_CHART_TYPE.LINE, shares) == "Category | Share\n2024-01-01 | 25%\n2024-02-01"
    halves: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    for year in ("2023", "2024"):
        group = halves.add_category(year)
        group.add_sub_category("H1")
        group.add_sub_category("H2")
    halves.add_series("Pay", (1, 2, 3, 4))
    assert chart_text(XL_CHART_TYPE.COLUMN_CLUSTERED, halves) == (
        "Category | Pay\n2023 H1 | 1\n2023 H2 | 2\n2024 H1 | 3\n2024 H2 | 4"
    )
    points: Any = XyChartData()  # type: ignore[no-untyped-call]
    for name, places in (("A", [(1.5, 2), (3, 4)]), ("B", [(5, 6)])):
        series = points.add_series(name)
        for x, y in places:
            series.add_data_point(x, y)
    assert chart_text(XL_CHART_TYPE.XY_SCATTER, points) == "X | A\n1.5 | 2\n3 | 4\nX | B\n5 | 6"


LEGACY = """<p:cmLst xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">
<p:cm authorId="0" idx="1"><p:pos x="1" y="1"/><p:text>Should be 7 %.</p:text></p:cm></p:cmLst>"""
AUTHORS = """<p:cmAuthorLst xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">
<p:cmAuthor id="0" name="Eva"/></p:cmAuthorLst>"""
THREAD = """<t:cmLst xmlns:t="http://schemas.microsoft.com/office/powerpoint/2018/8/main"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><t:cm authorId="0"><t:replyLst><t:reply authorId="{1}">
<t:txBody><a:p><a:r><a:t>Done.</a:t></a:r></a:p></t:txBody></t:reply></t:replyLst>
<t:txBody><a:p><a:r><a:t>Should be 7 %.</a:t></a:r></a:p></t:txBody></t:cm></t:cmLst>"""
COMMENTS = [
    (LEGACY, "http://schemas.openxmlformats.org/officeDocument", "Comment by Eva: Should be 7 %."),
    (THREAD, "http://schemas.microsoft.com/office/2018/10", "Comment by Eva: Should be 7 %.\n\nComment: Done."),
]


@pytest.mark.parametrize(("xml", "kind", "text"), COMMENTS)
def test_comments_on_a_slide_are_read_with_their_replies(xml: str, kind: str, text: str) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for part, name, content, relation in (
        (slide.part, "comment1", xml, f"{kind}/relationships/comments"),
        (deck.part, "authors1", AUTHORS, f"{kind}/relationships/commentAuthors"),
    ):
        related = Part(PackURI(f"/ppt/{name}.xml"), "application/xml", part.package, content.encode())
        part.relate_to(related, relation)
    assert text_of(deck) == text


OFFICE, MICROSOFT = "application/vnd.openxmlformats-officedocument.presentationml", "application/vnd.ms-powerpoint"
KINDS = [
    ("a.ppsx", f"{OFFICE}.slideshow.main+xml"),
    ("a.potx", f"{OFFICE}.template.main+xml"),
    ("a.ppsm", f"{MICROSOFT}.slideshow.macroEnabled.main+xml"),
    ("a.pptm", f"{MICROSOFT}.presentation.macroEnabled.main+xml"),
]


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_slide_shows_templates_and_files_with_macros_are_read(name: str, kind: str) -> None:
    import zipfile

    deck = pptx_of("Overtime", "It starts after 40 hours.")
    with zipfile.ZipFile(BytesIO(deck)) as package:
        types = package.read("[Content_Types].xml").decode()
    data = with_part(deck, "[Content_Types].xml", types.replace(f"{OFFICE}.presentation.main+xml", kind).encode())
    extracted = extract(name, data)
    assert extracted.pages[0].text == "Overtime\n\n• It starts after 40 hours."
    assert extracted.warnings == ()


def test_a_presentation_without_properties_has_no_made_up_ones() -> None:
    import zipfile

    deck = pptx_of("Overtime", "It starts after 40 hours.")
    with zipfile.ZipFile(BytesIO(deck)) as package:
        relations = etree.fromstring(package.read("_rels/.rels"))
    for each in list(relations):
        if each.get("Type").endswith("/core-properties"):
            relations.remove(each)
    assert extract("a.pptx", with_part(deck, "_rels/.rels", etree.tostring(relations))).metadata == {}
