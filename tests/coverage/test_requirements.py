"""Requirement sentences: what is one, how binding it is, and what it is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as hypotheses

from core.coverage.requirements import modality_of, requirement_name, requirements
from core.domain.coverage import Modality, TopicOrigin
from core.domain.documents import Span, Truth
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.search.library import Library

SENTENCES = [
    ("The vendor shall train all users.", Modality.SHALL),
    ("Passwords must be changed every year.", Modality.MUST),
    ("Bidders are required to submit two references.", Modality.MUST),
    ("Reports should be sent by email.", Modality.SHOULD),
    ("The agency may extend the contract.", Modality.MAY),
    ("The agency may not extend the contract.", Modality.MUST),
    ("The data may only be used for payroll.", Modality.MUST),
    ("Data shall not leave the country.", Modality.SHALL),
    ("The system has to log every access.", Modality.MUST),
    ("Staff are expected to attend the kickoff.", Modality.SHOULD),
    ("Invoices are due in May.", None),
    ("The meeting was held on 3 May 2024.", None),
    ("If something must be dropped, the report can follow.", None),
    ("We discussed the plan.", None),
]


@pytest.mark.parametrize(("sentence", "modality"), SENTENCES)
def test_how_binding_a_sentence_is(sentence: str, modality: Modality | None) -> None:
    assert modality_of(sentence) is modality


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("The system shall calculate\n daily overtime.", "The system shall calculate daily overtime."),
        ("The offeror shall not disclose costs.", "The offeror shall not disclose costs."),
        ("(c) You may not share API tokens.", "You may not share API tokens."),
        ("2.1. Backups must be kept for seven years.", "Backups must be kept for seven years."),
        ("• When coverage ends, the system shall tell it.", "When coverage ends, the system shall tell it."),
        ("It shall be so.", ""),
        ("Invoices are due in May.", ""),
    ],
)
def test_a_requirement_is_called_by_its_own_words(sentence: str, name: str) -> None:
    assert requirement_name(sentence) == name


def test_a_long_name_begins_with_the_main_clause_and_ends_with_a_word() -> None:
    introduced = f"To gain {'routine, physical ' * 8}access, the Contractor shall comply with HSPD-12."
    assert requirement_name(introduced) == "… the Contractor shall comply with HSPD-12."
    listed = f"Solutions that {'read, ' * 30}or write data must be hosted here."
    assert requirement_name(listed).startswith("Solutions that read, read")
    long = "The vendor shall " + ", ".join(f"deliver item{n} to plant{n}" for n in range(40)) + "."
    name = requirement_name(long)
    assert name.startswith("The vendor shall deliver item0") and name.endswith(" …") and len(name) <= 140


WORDS = ["invoices", *("of", "it", "to", "the", "by", "for") * 2, "contractor", "not", "signed", ",", "which", "7"]
MODALS = ["shall", "must be", "must be", "should", "may", "is required to"]


@given(
    hypotheses.lists(hypotheses.sampled_from(WORDS), min_size=10, max_size=30),
    hypotheses.lists(hypotheses.sampled_from(WORDS), max_size=10),
    hypotheses.sampled_from(MODALS),
)
def test_a_name_is_the_sentence_or_a_part_of_it(before: list[str], after: list[str], modal: str) -> None:
    sentence = " ".join([*before, modal, *after]) + "."
    name = requirement_name(sentence)
    assert len(name) <= 140
    assert name.removeprefix("… ").removesuffix(" …") in sentence


@given(hypotheses.text(max_size=200), hypotheses.text(max_size=40))
def test_any_text_gets_a_name_of_at_most_140_characters(text: str, section: str) -> None:
    assert len(requirement_name(f"{text} must {text}", section)) <= 140


def test_only_intent_is_read_each_requirement_once_with_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(library.catalogue, "documents", None)
    library.add("sow.md", "The vendor shall train all warehouse users. The vendor shall train all warehouse users.",
                "R-01 | The system shall print shipping labels for parcels | Staff need to read them | M",
                "The agency may extend the contract.", truth=Truth.INTENT)  # fmt: skip
    library.add("law.md", "Employers must keep payroll records for three years.", truth=Truth.REGULATORY)
    found = requirements(library.catalogue, None, terms=BUILT_IN_TERMS)
    assert [topic.name for topic in found] == [
        "The vendor shall train all warehouse users.",
        "R-01: The system shall print shipping labels for parcels",
    ]
    assert {topic.origin for topic in found} == {TopicOrigin.REQUIREMENT}
    for topic in found:
        assert topic.source is not None
        page = library.catalogue.page(topic.source.document_id, topic.source.page_number)
        assert topic.source.quote == page.text[topic.source.start : topic.source.end]
        assert topic.modality is Modality.SHALL


def test_questions_forms_and_definitions_are_no_requirements() -> None:
    library = Library()
    texts = (
        "Shall the vendor train all the users?",
        "Name of offeror who shall sign here ________________ date.",
        "The term Services shall have the meaning given in section two.",
    )
    library.add("forms.md", *texts, truth=Truth.INTENT)
    assert requirements(library.catalogue, None, terms=BUILT_IN_TERMS) == ()


def test_a_requirement_that_introduces_a_list_is_called_by_the_list_too() -> None:
    library = Library()
    lines = ["An invoice must include the following items:", "a) Hours worked.", "b) Hourly rate.", "Thank you."]
    text = "\n".join(lines)
    spans = tuple(Span(text.index(line), text.index(line) + len(line)) for line in lines)
    library.add("sow.md", text, truth=Truth.INTENT, sentences=spans)
    [found] = requirements(library.catalogue, None, terms=BUILT_IN_TERMS)
    assert found.name == "An invoice must include the following items: a) Hours worked. b) Hourly rate."
    assert found.source is not None and found.source.quote == lines[0]
