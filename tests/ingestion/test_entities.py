"""What passages name: a table of texts, traps among them, and the laws every text obeys."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Passage, Span
from core.domain.entities import EntityType, rarity
from core.domain.errors import BadTable
from core.knowledge import entities as table
from core.ner.recognizer import entities_of, names_in, tag_entities

ORGANIZATION, PERSON, LAW, FORM, MONEY, DATE, PLACE, TECHNOLOGY, CONCEPT = EntityType


def passage(text: str, *, section: str = "", rows: tuple[int, int] | None = None) -> Passage:
    """A passage of one sentence."""
    return Passage(text, 1, 0, len(text), (Span(0, len(text)),), section=section, rows=rows)


def named(*texts: str) -> list[list[str]]:
    """Canonical names per passage of one document."""
    return [[entity.name for entity in entities] for entities in entities_of([passage(text) for text in texts])]


TEXTS: list[tuple[str, list[tuple[str, EntityType]]]] = [
    # Laws
    ("as 26 U.S.C. § 3402(f)(2) requires", [("26 U.S.C. § 3402", LAW)]),
    ("26 USC 3402, 42 U.S.C. Section 1320d-2", [("26 U.S.C. § 3402", LAW), ("42 U.S.C. § 1320d-2", LAW)]),
    ("under 42 U.S.C. 401 et seq.", [("42 U.S.C. § 401", LAW)]),
    ("29 C.F.R. § 778.113(a) and 29 CFR part 541", [("29 CFR 778.113", LAW), ("29 CFR part 541", LAW)]),
    ("42 CFR 435.917-918, 26 CFR 1.401(k)-1", [("42 CFR 435.917", LAW), ("26 CFR 1.401(k)-1", LAW)]),
    ("section 125(d) of the Internal Revenue Code", [("26 U.S.C. § 125", LAW)]),
    ("IRC § 401 plans; Treas. Reg. § 1.162-5", [("26 U.S.C. § 401", LAW), ("26 CFR 1.162-5", LAW)]),
    ("Pub. L. 93–259 and Public Law No. 111-005", [("Pub. L. 93-259", LAW), ("Pub. L. 111-5", LAW)]),
    ("Executive Order 13960; FAR 52.217-9", [("Executive Order 13960", LAW), ("FAR 52.217-9", LAW)]),
    ("RCW 49.46.130 and 820 ILCS 105", [("RCW 49.46.130", LAW), ("820 ILCS 105", LAW)]),
    ("the FLSA, not the flsa", [("Fair Labor Standards Act", LAW)]),
    ("the fair labor standards act of 1938 says", [("Fair Labor Standards Act", LAW)]),
    ("The Clean Air Act of 1970 applies.", [("Clean Air Act of 1970", LAW)]),
    ("Section 5 of the Ethics in Government Act", [("Ethics in Government Act", LAW)]),
    ("The Act, this Act and such Act; they act.", []),
    # Forms
    ("Form W-2, form w-4 and I-9s", [("Form W-2", FORM), ("Form W-4", FORM), ("Form I-9", FORM)]),
    ("Forms 940, 941 and W-3", [("Form 940", FORM), ("Form 941", FORM), ("Form W-3", FORM)]),
    ("File Form 1040, 2024 or later", [("Form 1040", FORM)]),
    ("your wage and tax statement", [("Form W-2", FORM)]),
    ("Schedule C (Form 1040); Pub. 15-A", [("Schedule C (Form 1040)", FORM), ("Publication 15-A", FORM)]),
    ("SF-50, DD Form 214", [("SF 50", FORM), ("DD Form 214", FORM)]),
    ("a form of pay, to form 3 teams, Form A, in the form", []),
    # Amounts and days
    (
        "$27.63 an hour, $20,000,000.00 or $1.5 million",
        [("$27.63", MONEY), ("$20,000,000", MONEY), ("$1,500,000", MONEY)],
    ),
    ("a bill of $0 and 27.63 hours", []),
    ("by January 31, 2024, or 31 January 2024", [("2024-01-31", DATE)]),
    ("due January 31 and in March 2024", [("January 31", DATE), ("2024-03", DATE)]),
    ("12/31/2023, 2025-02-20", [("2023-12-31", DATE), ("2025-02-20", DATE)]),
    ("03/04/2023 may be two days; in 2023; 13/13/2023", []),
    # Organizations, people and places
    (
        "The IRS and the U.S. Department of Labor",
        [("Internal Revenue Service", ORGANIZATION), ("Department of Labor", ORGANIZATION)],
    ),
    ("the Ohio Department of Job and Family Services", [("Ohio Department of Job and Family Services", ORGANIZATION)]),
    (
        "the Department of Labor and the Department of State",
        [("Department of Labor", ORGANIZATION), ("Department of State", ORGANIZATION)],
    ),
    ("Acme Tools, Inc. and Bolt & Nut LLC", [("Acme Tools Inc", ORGANIZATION), ("Bolt & Nut LLC", ORGANIZATION)]),
    ("the National Labor Relations Board", [("National Labor Relations Board", ORGANIZATION)]),
    ("the Change Control Board and the Payroll Department", []),
    ("Ask Ms. Okafor or Maria Lopez.", [("Okafor", PERSON), ("Maria Lopez", PERSON)]),
    ("John Q. Public of Acme Corp", [("John Q. Public", PERSON), ("Acme Corp", ORGANIZATION)]),
    ("Mary Must sign. Thomas Street. Michael May", []),
    (
        "in Alaska, Sacramento, CA 95814 or Washington, D.C.",
        [("Alaska", PLACE), ("Sacramento, CA", PLACE), ("Washington, DC", PLACE)],
    ),
    # Technologies and terms
    ("Excel files of Microsoft Excel in PostgreSQL", [("Microsoft Excel", TECHNOLOGY), ("PostgreSQL", TECHNOLOGY)]),
    ("Set `maxRows` and `MAX_SIZE`, not `rows` or `true`", [("maxRows", TECHNOLOGY), ("MAX_SIZE", TECHNOLOGY)]),
    ("NIST SP 800-53, FIPS 140-2", [("NIST SP 800-53", TECHNOLOGY), ("FIPS 140-2", TECHNOLOGY)]),
    ("The term “covered employees” means the staff.", [("covered employee", CONCEPT)]),
    ("(a) Standby time means the hours spent waiting.", [("standby time", CONCEPT)]),
    ("This means a lot. It means that. Working late means a meal.", []),
    ("by means of a form", []),
    # Traps
    ("May I ask us? It is in or out, OK. Me, too.", []),
    ("Employees Must Record Hours. However, Nobody Does.", []),
    ("ALL EMPLOYEES MUST ACT NOW: WHAT IT MEANS FOR US", []),
    ("A sap of the tree; far and wide; the sec", []),
    ("Slack time is lost. Excel at work.", []),
    ("", []),
    ("𝔘𝔫𝔦 残業手当 §§ () “” $ Form", []),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_text_names_these_and_nothing_else(text: str, expected: list[tuple[str, EntityType]]) -> None:
    [entities] = entities_of([passage(text)])
    assert [(entity.name, entity.type) for entity in entities] == expected


def test_an_abbreviation_that_is_defined_is_recognised_in_the_whole_document() -> None:
    reported = named("Ask the CRB first.", "The Claims Review Board (CRB) meets.", "CRBs and crb; CRB.")
    assert reported == [["Claims Review Board"]] * 3
    assert named("Ask the CRB first.") == [[]]


def test_both_ways_of_defining_an_abbreviation_count_and_the_letters_must_fit() -> None:
    assert named("LMS (Learning Management System) is used.") == [["Learning Management System"]]
    assert named("Some other words (LMS) and a list (see above).") == [[]]


def test_what_a_definition_adds_to_a_well_known_name_is_an_alias_of_it() -> None:
    [[law]] = entities_of([passage("the Equal Pay Act (EPA) applies")])
    assert (law.name, law.aliases) == ("Equal Pay Act", ("EPA", "Equal Pay Act of 1963"))


def test_a_term_of_several_words_is_recognised_where_it_is_used_and_one_of_a_single_word_where_it_is_defined() -> None:
    reported = named("“Covered employee” means staff. “Wages” means pay.", "Each covered employee earns wages.")
    assert reported == [["covered employee", "wage"], ["covered employee"]]


RAFT = (
    "Raft is a consensus algorithm for a replicated log. A leader in Raft sends heartbeats to its followers.",
    "When followers of a Raft cluster hear nothing, they vote. Clusters that run Raft survive lost servers.",
)


def test_a_term_that_a_document_uses_as_a_name_is_an_entity_also_where_a_sentence_begins_with_it() -> None:
    (first, second) = entities_of([passage(text) for text in RAFT])
    assert [(each.name, each.type) for each in first] == [("Raft", TECHNOLOGY)]
    assert [each.name for each in second] == ["Raft"]


@pytest.mark.parametrize(
    ("text", "section", "names"),
    [
        ("We book it in Unanet. Once Unanet shows the day as free, ask whoever runs Unanet.", "Unanet", ["Unanet"]),
        ("We book it in Unanet. Once it shows the day as free, we ask again.", "Unanet", []),  # used once
        ("Staff call Open Season a chance to switch between health plans. You enrol early during Open Season each year."
         " Those who miss the date wait for Open Season again.",
         "Open Season", ["open season"]),
        ("Send the CPSX to us, sign the CPSX first, and keep one CPSX for later use.", "", ["CPSX"]),
        # No names: a role, the start of a sentence, an ordinary word, a part of a longer name, another language
        ("As agreed the Vendor shall send it. If the Vendor fails, the Vendor pays. When the Vendor is late, wait.",
         "Vendor", []),
        ("All rules bind Offeror alike. If bids are late, Offeror loses; where they are early, Offeror gains nothing.",
         "Offeror", []),
        ("Travel is paid by us. Travel needs a form. Travel ends at home. Travel starts at work.", "Travel", []),
        ("We pay for Travel here and for travel there; our Travel is travel and all Travel is paid.", "Travel", []),
        ("It is chosen by the Board of Zebras, heard by the Board of Zebras, and paid by the Board of Zebras.", "", []),
        ("Wenn der Urlaub endet, wird Urlaub neu berechnet, weil Urlaub sonst verfällt und Urlaub bezahlt wird.",
         "Urlaub", []),
    ],
)  # fmt: skip
def test_only_what_is_used_as_a_name_is_one(text: str, section: str, names: list[str]) -> None:
    (found,) = entities_of([passage(text, section=section)])
    assert [entity.name for entity in found if entity.type in (CONCEPT, TECHNOLOGY)] == names


def test_a_section_of_the_code_knows_its_title_from_the_headings() -> None:
    headed = passage(
        "as section 206(a) or 207 of this title says", section="Title 29— LABOR › CHAPTER 8 › § 213. Exemptions"
    )
    [entities] = entities_of([headed])
    assert [entity.name for entity in entities] == ["29 U.S.C. § 213", "29 U.S.C. § 206", "29 U.S.C. § 207"]
    assert named("as section 206 of this title says") == [[]]


def test_cells_of_a_table_are_values_and_a_page_of_numbers_names_none() -> None:
    row = passage("Overtime Pay: $20; Paid: 2024-01-31; Department: Department of Labor", rows=(1, 1))
    assert [[entity.name for entity in each] for each in entities_of([row])] == [["Department of Labor"]]
    many = " ".join(f"${number},000" for number in range(1, 30))
    assert named(f"Form 941 {many}") == [["Form 941"]]


def test_passages_get_the_names_and_the_document_every_entity_once() -> None:
    before = [passage("Form W-2 for the IRS"), passage("the IRS again")]
    after, entities = tag_entities(before)
    assert [each.entities for each in after] == [
        ("Form W-2", "Internal Revenue Service"),
        ("Internal Revenue Service",),
    ]
    assert [entity.name for entity in entities] == ["Form W-2", "Internal Revenue Service"]
    assert [each.text for each in after] == [each.text for each in before]


@given(st.lists(st.text(max_size=200), max_size=4))
def test_any_text_can_be_read(texts: list[str]) -> None:
    passages = entities_of([passage(text) for text in texts])
    assert len(passages) == len(texts)
    for entities in passages:
        names = [entity.name for entity in entities]
        assert len(set(names)) == len(names) and all(name.strip() == name and name for name in names)


PIECES = [
    "Form W-2",
    "the IRS",
    "29 CFR 778.113",
    "Acme Tools, Inc.",
    "$5",
    "May 1",
    "“pay” means",
    "(ABC)",
    "Department of",
    "and",
    ".",
    "\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_names_stand_in_the_text_in_order_and_never_overlap(text: str) -> None:
    found = names_in(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_rarer_an_entity_the_more_it_says(one: int, other: int, library: int) -> None:
    assert 0 < rarity(one, library) <= 1
    if one <= other <= library:
        assert rarity(one, library) >= rarity(other, library)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"known": {"planet": {"Mars": []}}}, "unknown key 'planet'"),
        ({"known": {"law": {"A": ["X"], "B": ["X"]}}}, "'X' names 'A' too"),
        ({"oops": {}}, "unknown key 'oops'"),
    ],
)
def test_a_wrong_table_of_entities_is_an_error_that_names_the_place(
    rows: dict, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "table", lambda name: {"known": {}} | rows)
    table.known_entities.cache_clear()
    with pytest.raises(BadTable, match=expected):
        table.known_entities()
    table.known_entities.cache_clear()


def test_missing_words_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "table", lambda name: {"known": {}, "wordlike": ["far"], "endings": {"law": "Act"}})
    table.name_words.cache_clear()
    with pytest.raises(BadTable, match="endings"):
        table.name_words()
    table.name_words.cache_clear()
