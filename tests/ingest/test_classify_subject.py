"""What a document is about and where it applies, as its words alone say it."""

import pytest

from core.tables.domains import domain_hits

LOOK_ALIKES = [
    "The application allows modules to work well, and the application is allowed to fail.",
    "Contributing to the code is promoted; contributors attend.",
    "Policies may change over time; send offers before the due date and time, as time is of the essence.",
    "Redundant servers resume by themselves; a national standard and a tip for readers are applicable.",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_words_that_share_a_stem_with_a_subject_do_not_name_it(text: str) -> None:
    assert domain_hits(text) == {}


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Applicants send a resume.", "recruiting"),
        ("A housing allowance is paid monthly.", "earnings"),
        ("Employee contributions are matched.", "deductions"),
        ("Record attendance and time.", "time"),
        ("A wellness program is offered.", "benefits"),
        ("Promotions need two years of service.", "organization"),
        ("Ask for date of birth and nationality.", "demographics"),
        ("Send the form to the IRS.", "taxes"),
    ],
)
def test_the_words_themselves_still_name_it(text: str, domain: str) -> None:
    assert domain in domain_hits(text)
