"""Web pages: numbers and rows as a browser shows them."""

import pytest

from core.ingestion.parsers import extract


def text_of(body: str) -> str:
    return extract("a.html", f"<html><body>{body}</body></html>".encode()).pages[0].text


INLINE = [
    ("The fee is <del>10</del><ins>15</ins> euros.", "The fee is 15 euros."),
    ("The fee is <ins>15</ins> <s>10</s> <del>a</del> euros.", "The fee is 15 euros."),
    ("The fee is <del>1</del><del>0</del>\n<ins>15</ins> euros.", "The fee is 15 euros."),
    ("The fee is <s>10</s>15 euros, <s>net</s>, now.", "The fee is 10 15 euros, net, now."),
    ("The fee is <strike>10</strike><b>15</b>.", "The fee is 10 15."),
    ("Unbeliev<ins>e</ins>d.", "Unbelieved."),
    ("Take <math><mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math> days.", "Take 2 1/2 days."),
    ("(<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>4</mn></mfrac></math>)", "((a+b)/4)"),
    ("Up to <math><msup><mn>10</mn><mn>6</mn></msup></math>.", "Up to 10^6."),
    ("Take <math><mn>5</mn><msqrt><mn>2</mn></msqrt><mroot><mn>8</mn><mn>3</mn></mroot></math>.", "Take 5√2 3√8."),
    (
        "<math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math> and 1<sup>1</sup>&frasl;<sub>2</sub>",
        "x_1^2 and 1 1⁄2",
    ),
    ("Call the Tele<wbr>phone, a num<wbr>ber.", "Call the Telephone, a number."),
    ('<form><input type="radio"> yes <input type="radio" checked> no</form>', "☐ yes ☒ no"),
    (
        '<form><input type="radio"> yes <input type="radio"> no</form><input type="checkbox" checked> menu',
        "yes no\n\nmenu",
    ),
    ('<input type="checkbox" checked disabled> done, <input type="checkbox" disabled> open', "☒ done, ☐ open"),
]


@pytest.mark.parametrize(("html", "text"), INLINE)
def test_numbers_that_stand_apart_are_not_joined(html: str, text: str) -> None:
    assert text_of(f"<p>{html}</p>") == text


def test_a_deleted_block_beside_an_inserted_one_is_left_out() -> None:
    assert text_of("<del><p>Pay 10.</p></del><ins><p>Pay 15.</p></ins><del><p>Gone?</p></del><p>End.</p>") == (
        "Pay 15.\n\nEnd."
    )
    assert text_of("<p>Now.</p><del><p>Kept.</p></del><p>End.</p>") == "Now.\n\nKept.\n\nEnd."


LISTS = [
    ('type="i"', ["i.", "ii.", "iii.", "iv."]),
    ('type="I" start="9"', ["IX.", "X.", "XI.", "XII."]),
    ('type="a" start="26"', ["z.", "aa.", "ab.", "ac."]),
    ('type="A"', ["A.", "B.", "C.", "D."]),
    ('style="color: red; list-style: upper-roman"', ["I.", "II.", "III.", "IV."]),
    ('style="list-style-type: lower-alpha"', ["a.", "b.", "c.", "d."]),
    ('type="i" start="0"', ["0.", "i.", "ii.", "iii."]),
    ("", ["1.", "2.", "3.", "4."]),
    ("reversed", ["4.", "3.", "2.", "1."]),
]


@pytest.mark.parametrize(("attributes", "marks"), LISTS)
def test_items_carry_the_numbers_that_a_browser_shows(attributes: str, marks: list[str]) -> None:
    assert text_of(f"<ol {attributes}>{'<li>x</li>' * 4}</ol>").split("\n") == [f"{mark} x" for mark in marks]


def test_cells_that_span_rows_are_repeated_and_keep_the_columns() -> None:
    table = """<table><tr><th>Country</th><th>Year</th><th colspan="2">Rate</th></tr>
    <tr><td rowspan="2">Austria</td><td>2023</td><td>6 %</td><td>8 %</td></tr>
    <tr><td>2024</td><td>7 %</td><td>9 %</td></tr>
    <tr><td>Belgium</td><td>2024</td><td colspan="2">none</td></tr><tr><td colspan="2">All</td><td>5 %</td></tr>
    <tr><td colspan="4">Source: payroll.</td></tr></table>"""
    extracted = extract("a.html", table.encode())
    assert extracted.pages[0].text.split("\n") == [
        "Country | Year | Rate | Rate",
        "Austria | 2023 | 6 % | 8 %",
        "Austria | 2024 | 7 % | 9 %",
        "Belgium | 2024 | none",
        "All |  | 5 %",
        "Source: payroll.",
    ]
    assert {block.columns for block in extracted.blocks if block.row} == {"Country; Year; Rate; Rate"}


def test_a_cell_does_not_reach_beyond_its_part_of_the_table() -> None:
    head = '<thead><tr><th rowspan="9">Country</th><th>Rate</th></tr></thead>'
    assert text_of(f"<table>{head}<tbody><tr><td>Austria</td><td>6 %</td></tr></tbody></table>") == (
        "Country | Rate\nAustria | 6 %"
    )


def test_repeated_cells_stay_bounded() -> None:
    wide = f'<td colspan="60000" rowspan="60000">{"x" * 199}</td>' * 200
    assert len(text_of(f"<table><tr>{wide}</tr>{'<tr><td>y</td></tr>' * 5_000}</table>")) < 2_000_000
