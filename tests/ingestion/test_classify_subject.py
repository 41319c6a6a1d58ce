"""What a document is about and where it applies, as its words alone say it."""

import pytest

from core.knowledge.workspace_terms import BUILT_IN_TERMS

LOOK_ALIKES = [
    "The application allows modules to work well, and the application is allowed to fail.",
    "Contributing to the code is promoted; contributors attend.",
    "Policies may change over time; send offers before the due date and time, as time is of the essence.",
    "Redundant servers resume by themselves; a national standard and a tip for readers are applicable.",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_words_that_share_a_stem_with_a_subject_do_not_name_it(text: str) -> None:
    assert BUILT_IN_TERMS.domains.hits(text) == {}


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
    assert domain in BUILT_IN_TERMS.domains.hits(text)


@pytest.mark.parametrize(
    "text",
    ["State and federal law agree.", "Ask federal or state agencies.", "Federal, state and local taxes are due."],
)
def test_federal_beside_state_names_every_level_and_no_place(text: str) -> None:
    assert [place.value for place in BUILT_IN_TERMS.jurisdictions.places(text)] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Administrative Rules of Montana, chapter 2", "self"),
        ("the Oregon Revised Statutes", "self"),
        ("Springfield, Ohio Codified Ordinances", "self"),
        ("a warehouse in Oregon", "name"),
    ],
)
def test_a_body_of_law_speaks_for_its_state(text: str, kind: str) -> None:
    assert [place.kind for place in BUILT_IN_TERMS.jurisdictions.places(text)] == [kind]


def test_a_law_of_the_same_name_is_that_of_the_country_whose_year_it_bears() -> None:
    assert [place.value for place in BUILT_IN_TERMS.jurisdictions.places("the Privacy Act 1988")] == ["country:AU"]
    assert [place.value for place in BUILT_IN_TERMS.jurisdictions.places("the Privacy Act of 1974")] == ["federal"]
    assert [place.value for place in BUILT_IN_TERMS.jurisdictions.places("the Federal Government")] == ["federal"]
