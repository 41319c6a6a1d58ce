"""The brief of a shortlist: truth by truth, numbered, and without formulas."""

import io

from core.library.shortlist_brief import shortlist_markdown, shortlist_xlsx
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
    assert "⚠ The document was deleted." in text and "2. a.md, section Pay" in text


def test_the_workbook_has_a_row_per_item_and_no_formula() -> None:
    import openpyxl

    shortlist = Shortlist("Pay", "", AT, (_item("reality", "=1+1"), _item("intent", "Weekly.")))
    rows = list(openpyxl.load_workbook(io.BytesIO(shortlist_xlsx(shortlist, {}))).active.values)  # type: ignore[union-attr]
    assert [row[1] for row in rows] == ["Truth", "Intent", "Reality"] and rows[2][2] == "'=1+1"
