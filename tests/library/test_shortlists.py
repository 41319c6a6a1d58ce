"""The brief of a shortlist: truth by truth, numbered, and without formulas."""

import io

from core.library.shortlist_brief import shortlist_docx, shortlist_markdown, shortlist_xlsx
from core.library.shortlists import Shortlist, ShortlistItem
from tests.stores.contracts.usage import AT


def _item(truth: str, quote: str, note: str = "") -> ShortlistItem:
    return ShortlistItem("Who pays?", 1, "a.md", 1, truth, quote, "a.md, section Pay", AT, note)


def test_the_brief_goes_truth_by_truth_with_numbered_quotes() -> None:
    items = (_item("reality", "=Paid late."), _item("regulatory", "Pay weekly.", "key"), _item("", "Odd."))
    text = shortlist_markdown(Shortlist("Pay & leave", "", AT, items), {0: "The document was deleted."})
    assert text.startswith("# Pay &amp; leave\n")
    assert text.index("## Regulatory") < text.index("## Reality") < text.index("## No truth known")
    assert "“Pay weekly.” (1)" in text and "“'=Paid late.” (2)" in text and "Note: key" in text
    assert text.count("Question: Who pays?") == 3
    twice = (_item("reality", "Paid late."), _item("reality", "Paid twice."))
    assert shortlist_markdown(Shortlist("Pay", "", AT, twice), {}).count("Question: Who pays?") == 1
    assert "⚠ The document was deleted." in text and "2. a.md, section Pay" in text


def test_the_word_document_has_the_same_order_and_any_character() -> None:
    import docx

    items = (_item("reality", "Paid late.\x0b"), _item("regulatory", "Pay weekly.", "key"))
    brief = docx.Document(io.BytesIO(shortlist_docx(Shortlist("Pay & leave", "", AT, items), {1: "It was deleted."})))
    lines = [(each.style.name if each.style else "", each.text.strip()) for each in brief.paragraphs]
    assert lines == [
        ("Title", "Pay & leave"),
        ("Heading 1", "Regulatory"),
        ("Normal", "Question: Who pays?"),
        ("Quote", "“Pay weekly.” (1)"),
        ("Normal", "Note: key"),
        ("Normal", "⚠ It was deleted."),
        ("Heading 1", "Reality"),
        ("Normal", "Question: Who pays?"),
        ("Quote", "“Paid late.” (2)"),
        ("Heading 1", "Sources"),
        ("Normal", "1. a.md, section Pay"),
        ("Normal", "2. a.md, section Pay"),
    ]


def test_the_workbook_has_a_row_per_item_and_no_formula() -> None:
    import openpyxl

    shortlist = Shortlist("Pay", "", AT, (_item("reality", "=1+1"), _item("intent", "Weekly.")))
    rows = list(openpyxl.load_workbook(io.BytesIO(shortlist_xlsx(shortlist, {}))).active.values)  # type: ignore[union-attr]
    assert [row[1] for row in rows] == ["Truth", "Intent", "Reality"] and rows[2][2] == "'=1+1"
