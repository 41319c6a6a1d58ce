"""The classifier as an analyst meets it: what it decides, what it quotes, and when it would rather not say."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.documents import EvidenceSource, Label, Labels, Page, Passage
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.classification.linear_model import built_in_model
from core.ingestion.classification.truth import CAUTIOUS
from core.ingestion.sentence_vectors import embed_passages
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import Embedder

EXAMPLES = tomllib.loads((Path(__file__).parent / "examples.toml").read_text("utf-8"))["document"]

TAX_GUIDE = "Internal Revenue Service. Employers must withhold income tax and FICA. You must file Form 941."
VENDOR_GUIDE = (
    "Acme Pro best practice: we recommend one earning code per bonus. In Acme Pro, navigate to earnings, click Add and"
    " enter your license key. Our support team helps customers of Acme."
)
WORK = "The client requires benefit deduction setup. In scope: 401k deduction, HSA, FSA. Deliverable: test plan."
TIME_OFF = "Company policy on time off, PTO accrual and attendance. Internal use. Approved by HR."

WORDS_THAT_DECIDE = [
    # name, text, truths it may be, domains, authorities
    ("Payroll_Tax_Guide_IRS.pdf", TAX_GUIDE, {"regulatory", "reference"}, {"taxes"}, {"government"}),
    ("Acme_Best_Practices_Earnings.pdf", VENDOR_GUIDE, {"reference"}, {"earnings"}, {"vendor"}),
    ("Client_SOW.docx", WORK, {"intent"}, {"deductions"}, {"customer"}),
    ("Time_Off_Policy.pdf", TIME_OFF, {"compliance"}, {"time"}, {"internal"}),
    ("first_draft.pdf", "", {None}, {None}, {None}),
    ("", "", {None}, {None}, {None}),
    ("disappear.txt", "we disappear", {None}, {"general", None}, {None}),
    ("vacation_request.txt", "Employees may use vacation days", {"compliance", "reference"}, {"time"}, {"internal"}),
    ("code_of_conduct.pdf", "company policy", {"compliance"}, {"general"}, {"internal"}),
    ("Statement of Work.docx", "in scope", {"intent"}, {"general"}, {"customer"}),
]


@pytest.fixture(scope="module")
def classifier(embedder: Embedder) -> TruthClassifier:
    return TruthClassifier(embedder)


def labelled(classifier: TruthClassifier, name: str, text: str, **metadata: str) -> Labels:
    return classifier.document(name, "", [Page(1, text)] if text else [], {}, metadata, terms=BUILT_IN_TERMS)


@pytest.mark.parametrize(("name", "text", "truths", "domains", "authorities"), WORDS_THAT_DECIDE)
def test_the_words_decide(
    classifier: TruthClassifier, name: str, text: str, truths: set[str], domains: set[str], authorities: set[str]
) -> None:
    labels = labelled(classifier, name, text)
    assert labels.truth.value in truths
    assert labels.domain.value in domains
    assert labels.authority.value in authorities


def test_the_shared_cases_hold(classifier: TruthClassifier, shared: Path) -> None:
    cases = json.loads((shared / "cases" / "cases.json").read_text("utf-8"))["classification"]
    wrong = []
    for case in cases:
        labels = labelled(classifier, case["file_name"], case["text"])
        for field, allowed in case["expected"].items():
            value = getattr(labels, field).value or "unknown"
            if value not in allowed or value == case.get("not", {}).get(field):
                wrong.append((case["file_name"], field, value))
    assert not wrong


CONTRACTS = {
    "nl": "Overeenkomst. De opdrachtnemer moet de diensten voor het einde van de maand leveren. De opdrachtgever"
    " betaalt de prijs na de aanvaarding. De partijen komen vertrouwelijkheid overeen. Handtekening van de partijen.",
    "de": "Vertrag. Der Auftragnehmer muss die Leistungen bis Ende des Monats liefern. Der Auftraggeber zahlt den Preis"
    " nach Abnahme. Die Parteien vereinbaren die Vertraulichkeit. Unterschrift der Parteien.",
}


@pytest.mark.parametrize(("language", "text"), CONTRACTS.items())
def test_a_contract_in_another_language_is_read_by_its_translation(
    classifier: TruthClassifier, language: str, text: str
) -> None:
    labels = labelled(classifier, "document.txt", text)
    assert labels.language.value == language
    assert labels.truth.value == "intent"
    quotes = [each.quote for each in labels.truth.evidence if each.source is EvidenceSource.TEXT and each.quote]
    assert quotes
    assert all(quote in text for quote in quotes)
    english = Label("en", 1.0, confirmed=True)
    reading = classifier.read("document.txt", "", [Page(1, text)])
    untranslated = classifier.labels(*reading, {"language": english}, BUILT_IN_TERMS)
    assert untranslated.truth.value != "intent" or untranslated.truth.probability < labels.truth.probability - 0.2


@pytest.mark.parametrize("hidden", [False, True], ids=["names shown", "names hidden"])
def test_documents_that_set_no_weight_are_told_apart(classifier: TruthClassifier, hidden: bool) -> None:
    right: dict[str, list[bool]] = {"truth": [], "authority": [], "jurisdiction": []}
    for example in EXAMPLES:
        name = f"document.{example['name'].rsplit('.', 1)[-1]}" if hidden else example["name"]
        labels = labelled(classifier, name, example["text"])
        for field, marks in right.items():
            if field in example:
                marks.append(getattr(labels, field).value == example[field])
        if labels.truth.value in ("regulatory", "compliance") and labels.truth.probability >= 0.8:
            assert labels.truth.value == example["truth"], example["name"]
    accuracy = {field: sum(marks) / len(marks) for field, marks in right.items()}
    # Forty texts of about a hundred words that no weight was fitted to; whole documents are labelled more surely.
    assert accuracy["truth"] >= 0.75
    assert accuracy["authority"] >= 0.65
    assert accuracy["jurisdiction"] >= 0.75


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example["name"]))
def test_every_quote_stands_in_the_text_or_the_name(classifier: TruthClassifier, example: Mapping[str, str]) -> None:
    labels = labelled(classifier, example["name"], example["text"])
    for field, label in labels.items():
        for item in label.evidence:
            source = example["name"] if item.source is EvidenceSource.NAME else example["text"]
            assert item.quote in source, (field, item)


def test_a_decision_names_its_runner_up_and_a_probability(classifier: TruthClassifier) -> None:
    truth = labelled(
        classifier, "policy.txt", "This policy applies to all employees. Disciplinary action may follow."
    ).truth
    assert truth.value == "compliance"
    assert truth.runner_up in {"regulatory", "intent", "reference", "reality"}
    assert 0.0 < truth.runner_up_probability < truth.probability <= 1.0
    assert truth.evidence


def test_the_same_input_gives_the_same_labels(classifier: TruthClassifier) -> None:
    example = EXAMPLES[3]
    again = TruthClassifier(classifier._embedder)
    first = labelled(classifier, example["name"], example["text"])
    assert first == labelled(classifier, example["name"], example["text"])
    assert first == labelled(again, example["name"], example["text"])


def test_an_abstention_says_why(classifier: TruthClassifier) -> None:
    for text in ("", "   \n", "Blue. Seven."):
        truth = labelled(classifier, "scan0001.pdf", text).truth
        assert truth.value is None
        assert truth.reason.endswith(".")


def test_a_correction_wins_and_what_follows_from_it_follows(classifier: TruthClassifier) -> None:
    text = "The contractor shall deliver a plan. Proposals are due on May 1."
    corrections = {"truth": Label("compliance"), "domain": Label("learning")}
    labels = classifier.document("rfp.txt", "", [Page(1, text)], corrections, terms=BUILT_IN_TERMS)
    assert (labels.truth.value, labels.truth.probability, labels.truth.confirmed) == ("compliance", 1.0, True)
    assert labels.domain.value == "learning"
    assert labels.authority.value == "internal"


def test_a_sentence_is_embedded_alone_only_where_no_passage_has_it(classifier: TruthClassifier) -> None:
    reading, alone = classifier.read("rules.txt", "", [Page(1, f"{VENDOR_GUIDE} {TAX_GUIDE}")])
    model, first = built_in_model(), reading.segments[0]
    inside = np.ones(384, dtype=np.float32) / np.sqrt(384, dtype=np.float32)
    vectors = classifier.segment_vectors(reading, {first: inside})
    np.testing.assert_allclose(vectors[0], model.as_alone(inside[None])[0], atol=1e-3)
    assert len(reading.segments) > 3
    np.testing.assert_allclose(vectors[1:], alone[1:], atol=1e-3)
    unfitted = TruthClassifier(classifier._embedder, replace(model, embedder="another"))
    np.testing.assert_allclose(unfitted.segment_vectors(reading, {first: inside}), alone, atol=1e-3)


def test_sentences_read_in_their_passage_point_where_they_do_alone(
    classifier: TruthClassifier, embedder: Embedder
) -> None:
    """Forty texts that the map was not fitted to."""
    cosines = []
    for example in EXAMPLES:
        reading, alone = classifier.read("document.txt", "", [Page(1, example["text"])])
        if not reading.segments:
            continue
        passage = Passage(example["text"], 1, 0, len(example["text"]), ())
        inside = embed_passages(embedder, [passage], segments=reading.segments).segments
        mean = classifier.segment_vectors(reading, inside).mean(axis=0)
        own = alone.mean(axis=0)
        cosines.append(float(mean @ own / np.linalg.norm(mean) / np.linalg.norm(own)))
    assert np.mean(cosines) > 0.85


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Employees may use their vacation days in any month of the year.", "en"),
        ("Die Mitarbeitenden müssen ihre Urlaubstage im laufenden Jahr nehmen.", "de"),
        ("Les employés doivent demander leurs congés deux semaines à l'avance.", "fr"),
    ],
)
def test_the_language_is_told(classifier: TruthClassifier, text: str, language: str) -> None:
    assert labelled(classifier, "paper.txt", text).language.value == language


def test_law_and_policy_labels_claim_much_only_where_that_was_right_on_other_documents(
    classifier: TruthClassifier,
) -> None:
    sure = built_in_model().numbers["truth"]["sure"]
    assert sure >= 0.8
    for example in EXAMPLES:
        truth = labelled(classifier, "document.txt", example["text"]).truth
        if truth.value in ("regulatory", "compliance"):
            assert truth.probability <= CAUTIOUS or truth.probability >= sure


def test_the_quoted_sentences_come_first_and_say_how_much_they_decided(classifier: TruthClassifier) -> None:
    truth = labelled(classifier, "paper.txt", EXAMPLES[0]["text"]).truth
    quoted = [each for each in truth.evidence if each.rule.startswith("reads like")]
    assert 1 <= len(quoted) <= 3
    assert tuple(quoted) == truth.evidence[: len(quoted)]
    assert [each.weight for each in quoted] == sorted((each.weight for each in quoted), reverse=True)


LAWS = [
    # a document, and a sentence of another truth put under it, which makes the first less likely
    (
        "This policy applies to all employees. Violations of this policy lead to disciplinary action.",
        "The contractor shall deliver the plan; sealed proposals are due on the closing date.",
    ),
    (
        "For purposes of this section, no person shall discriminate. Any person who violates this chapter is liable.",
        "This guide explains how to install the software. We recommend best practices; click on the Save button.",
    ),
    (
        "Request for proposals. Offerors shall submit sealed bids; the system shall approve time cards.",
        "This policy applies to all staff. Ask your supervisor for prior approval; this policy is reviewed yearly.",
    ),
    (
        "This guide describes how to configure the platform. Navigate to Settings and click the button.",
        "Any person who violates this section is guilty of a misdemeanor under this chapter of the act.",
    ),
]


@pytest.mark.parametrize(("text", "other"), LAWS)
def test_a_sentence_of_another_truth_makes_the_first_less_likely(
    classifier: TruthClassifier, text: str, other: str
) -> None:
    alone = labelled(classifier, "paper.txt", text).truth
    mixed = labelled(classifier, "paper.txt", f"{text}\n\n{other}").truth
    assert alone.value is not None
    likelihood = {mixed.value: mixed.probability, mixed.runner_up: mixed.runner_up_probability}
    assert likelihood.get(alone.value, 0.0) < alone.probability


@pytest.mark.parametrize(
    "text",
    ["", " \n\t\n ", "\x00\x01\x02", "@@ ## ~~ ;;", "xkq zzv qqp wlk", "x", "\n" * 50_000 + "a", "1,." * 15_000],
    ids=["empty", "blank", "control", "marks", "garbage", "a letter", "blank lines", "digits and marks"],
)
def test_nothing_readable_gets_no_truth(classifier: TruthClassifier, text: str) -> None:
    truth = labelled(classifier, "scan0001.bin", text).truth
    assert truth.value is None
    assert truth.reason
