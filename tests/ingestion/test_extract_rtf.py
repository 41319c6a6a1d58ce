"""Rich text: what its readers see, without deleted and hidden text, and with its notes."""

import pytest

from core.ingestion.parsers import extract
from tests.ingestion.making_office import rtf_of

SEEN = [
    (r"The fee is {\deleted 10}{\revised 15} euros.\par", "The fee is 15 euros."),
    (r"Pay {\rtlch\fcs1 \ltrch\deleted\revauthdel1 \'8010\u8211?12}{\revised\revauth1 20} now.\par", "Pay 20 now."),
    (r"Take {\v not }five\v  or\v0  days.\par", "Take five days."),
    (r"Pay{\deleted\par}\pard twice.\par", "Pay\n\ntwice."),
    (r"{\deleted five}{\deleted\deleted0 six} days.\par", "six days."),
    (r"It {\mvf was} {\mvt is} due.\par", "It  is due."),
]


@pytest.mark.parametrize(("body", "text"), SEEN)
def test_deleted_hidden_and_moved_words_of_rich_text_are_left_out(body: str, text: str) -> None:
    assert extract("fee.rtf", rtf_of(body)).pages[0].text == text


def test_footnotes_and_text_boxes_of_rich_text_follow_its_text() -> None:
    note = (
        r"{\cs16\super\chftn {\footnote\pard\plain\s1 {\super\chftn } See section 7 of {\i the act}.\par Both parts.}}"
    )
    gone = r"{\deleted old{\footnote\plain Gone.}}"
    box = r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 202}}{\shptxt\pard Not over 5 bar.\par}}}"
    data = rtf_of(rf"The fee{note} is {gone}due.{{\footnote\ftnalt An endnote.}}\par {box}It grows.\par")
    expected = (
        "The fee is due.\n\nIt grows.\n\nSee section 7 of the act.\n\nBoth parts.\n\nAn endnote.\n\nNot over 5 bar."
    )
    assert extract("fee.rtf", data).pages[0].text == expected


def test_rich_text_with_notes_that_is_cut_short_keeps_them() -> None:
    extracted = extract("fee.rtf", rtf_of(r"The fee{\footnote See section 7.} is {\deleted low}{\b due")[:-1])
    assert extracted.pages[0].text == "The fee is due\n\nSee section 7."
    assert extracted.warnings == ("The file is cut short: its end is missing.",)


def test_bytes_of_a_picture_in_rich_text_with_notes_are_not_read() -> None:
    data = rtf_of(r"A fee.{\footnote See page 2.}{\pict\bin6 }}{{{\}\par Due.\par")
    assert extract("fee.rtf", data).pages[0].text == "A fee.\n\nDue.\n\nSee page 2."


def test_list_numbers_of_wordpad_are_read() -> None:
    body = r"{\pntext\f0 1.\tab}{\*\pn\pnlvlbody\pndec{\pntxta.}}Scope\par{\pntext\f0 2.\tab}Fees\par"
    assert extract("a.rtf", rtf_of(body)).pages[0].text == "1. Scope\n2. Fees"
