"""Presentations: boxes with equations, cells that span rows, slide shows and templates."""

from io import BytesIO
from typing import Any

import pptx
import pytest
from lxml import etree
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
