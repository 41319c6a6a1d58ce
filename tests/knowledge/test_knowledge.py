"""What the open tables say, and what happens when one of them is wrong."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from core.domain.documents import TemporalClass, Truth
from core.domain.errors import BadTable
from core.knowledge import classifier_weights, domains, jurisdictions, prototypes, temporal, truths
from core.knowledge.workspace_terms import BUILT_IN_TERMS

DOMAINS = "taxes earnings deductions time benefits recruiting learning demographics organization general".split()


def test_there_are_ten_domains_with_words_and_titles() -> None:
    assert sorted(BUILT_IN_TERMS.domains.keywords) == sorted(DOMAINS)
    assert all(words for name, words in BUILT_IN_TERMS.domains.keywords.items() if name != "general")
    assert BUILT_IN_TERMS.domains.title("time") == "Time and attendance"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("What tax withholding is required by the IRS?", "taxes"),
        ("Best practice for configuring earnings codes", "earnings"),
        ("What are the 401k requirements?", "deductions"),
        ("What's missing from time tracking config?", "time"),
        ("company policy for PTO", "time"),
        ("How many active employees in Texas?", "demographics"),
        ("Why is X set up this way?", None),
        ("What's configured?", None),
        ("Is this compliant with FLSA?", None),
        ("Paid at the time of delivery, from time to time", None),
        ("first_draft.pdf", None),
        ("a syntax of one vacationist", None),
        ("taxes", "taxes"),
    ],
)
def test_the_words_of_a_text_name_its_domain(text: str, first: str | None) -> None:
    assert next(iter(BUILT_IN_TERMS.domains.hits(text)), None) == first


def test_vacation_is_time_and_never_the_health_care_act() -> None:
    assert list(BUILT_IN_TERMS.domains.hits("vacation")) == ["time"]
    assert list(BUILT_IN_TERMS.domains.hits("ACA")) == ["benefits"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("How many active employees in Texas?", ["state:TX"]),
        ("Sacramento, CA 95814", ["state:CA"]),
        ("in or out, ok? hi, it's me", []),
        ("IN OR OUT", []),
        ("AS 36.30.560 provides", ["state:AK"]),
        ("Cal. Lab. Code § 226", ["state:CA"]),
        ("820 ILCS 105/1", ["state:IL"]),
        ("29 CFR 541.100", ["federal"]),
        ("the IRS requires", ["federal"]),
        ("the GDPR", ["country:EU"]),
        ("minimum wage in germany", ["country:DE"]),
        ("New Mexico", ["state:NM"]),
        ("Kansas City and Washington County", []),
        ("Colorado County", ["state:TX"]),
        ("900 Georgia Avenue, Michigan City", ["state:IN"]),
        ("Washington, DC 20001", ["state:DC"]),
        ("Northern Ireland", ["country:GB"]),
        ("STATE OF OHIO", ["state:OH"]),
        ("a turkey sandwich", []),
    ],
)
def test_places_are_named_by_names_codes_and_citations(text: str, places: list[str]) -> None:
    assert list(BUILT_IN_TERMS.jurisdictions.hits(text)) == places


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("California", "state:CA"), ("cal.", "state:CA"), ("CA", "state:CA"), ("state:ca", "state:CA"),
        ("IRS", "federal"),
        ("US", "federal"), ("federal", "federal"), ("Germany", "country:DE"), ("country:de", "country:DE"),
        ("worldwide", "global"),
        ("Kansas City", None),
        ("in", None), ("or", None), ("me", None), ("IN", None), ("us", None), ("", None), ("nowhere", None),
    ],
)  # fmt: skip
def test_a_jurisdiction_is_parsed_from_words(words: str, value: str | None) -> None:
    assert BUILT_IN_TERMS.jurisdictions.parse(words) == value


def test_every_state_and_the_capital_stand_in_the_table() -> None:
    states = [value for value in BUILT_IN_TERMS.jurisdictions.titles if value.startswith("state:")]
    assert len(states) == 51
    assert BUILT_IN_TERMS.jurisdictions.title("state:CA") == "California"


def test_every_truth_says_what_it_answers_and_how_severe_its_absence_is() -> None:
    rows = truths.truths()
    assert list(rows) == list(Truth)
    assert {truth: row.severity for truth, row in rows.items()} == {
        "regulatory": "high", "compliance": "high", "intent": "medium", "reference": "low", "reality": "medium",
    }  # fmt: skip
    assert all(row.question.endswith("?") or row.question for row in rows.values())


def test_every_truth_has_a_temporal_class() -> None:
    assert set(temporal.temporal_by_truth()) == set(Truth)
    assert set(temporal.temporal_by_truth().values()) <= set(TemporalClass)


def test_words_beside_dates_are_in_lower_case_and_each_stands_once_in_its_row() -> None:
    for row in temporal.date_cues().values():
        assert list(row) == [each.lower() for each in row]
        assert len(set(row)) == len(row)


def test_prototypes_cover_every_domain() -> None:
    assert set(prototypes.prototypes()) == set(DOMAINS)


BAD = [
    (
        domains,
        "_rows",
        {"taxes": {"title": "T", "keywords": [], "colour": "red"}},
        "[taxes] has the unknown key 'colour'",
    ),
    (domains, "_rows", {"taxes": {"title": "T", "keywords": "tax"}}, "domains.toml: [taxes] keywords"),
    (truths, "truths", {"fiction": {}}, "truths.toml: [top level] has the unknown key 'fiction'"),
    (truths, "truths", {}, "truths.toml: [regulatory] is missing"),
    (temporal, "temporal_by_truth", {"by_truth": {"intent": "soon"}}, "temporal.toml: [by_truth]"),
    (
        classifier_weights,
        "domain_weights",
        {"domain": {"general_lead": 1}},
        "classifier_weights.toml: [domain] lacks 'name'",
    ),
    (prototypes, "prototypes", {"domain": {"fiction": ["x"]}}, "prototypes.toml: [domain] has the unknown"),
    (
        jurisdictions,
        "_signal_rows",
        {"net": {"of": []}, "money": {}},
        "jurisdictions.toml: [net] has the unknown key 'of'",
    ),
    (
        jurisdictions,
        "_signal_rows",
        {"net": {}, "money": {"$": "country:XX"}},
        "[money] $ says the unknown 'country:XX'",
    ),
    (jurisdictions, "_rows", {"planets": {}}, "jurisdictions.toml: [top level] has the unknown key 'planets'"),
]


@pytest.mark.parametrize(("module", "loader", "rows", "message"), BAD, ids=[row[3] for row in BAD])
def test_a_wrong_row_is_an_error_that_names_file_and_key(
    monkeypatch: pytest.MonkeyPatch, module: Any, loader: str, rows: Mapping[str, Any], message: str
) -> None:
    monkeypatch.setattr(module, "table", lambda name: rows)
    load: Callable[[], object] = getattr(module, loader).__wrapped__
    with pytest.raises(BadTable) as caught:
        load()
    assert message in str(caught.value)
