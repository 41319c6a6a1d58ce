"""The classifier as an analyst meets it: what it decides, what it quotes, and when it would rather not say."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.inference.embedder import load_embedder
from core.domain.documents import EvidenceSource, Label, Labels, Page
from core.ingestion.classification.classifier import TruthClassifier
from core.knowledge.classifier_weights import clue_weights, truth_intercepts
from core.knowledge.workspace_terms import BUILT_IN_TERMS

EXAMPLES = tomllib.loads((Path(__file__).parent / "examples.toml").read_text("utf-8"))["document"]

TAX_GUIDE = "Internal Revenue Service. Employers must withhold income tax and FICA. You must file Form 941."
VENDOR_GUIDE = "Acme best practice: we recommend one earning code per bonus. Navigate to earnings and click Add."
WORK = "The client requires benefit deduction setup. In scope: 401k deduction, HSA, FSA. Deliverable: test plan."
TIME_OFF = "Company policy on time off, PTO accrual and attendance. Internal use. Approved by HR."

WORDS_THAT_DECIDE = [
    # name, text, truths it may be, domains, authorities
    ("Payroll_Tax_Guide_IRS.pdf", TAX_GUIDE, {"regulatory"}, {"taxes"}, {"government"}),
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
def classifier(tmp_path_factory: pytest.TempPathFactory) -> TruthClassifier:
    return TruthClassifier(load_embedder("default", tmp_path_factory.mktemp("models"), 1))


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
    assert accuracy["truth"] >= 0.90
    assert accuracy["authority"] >= 0.85
    assert accuracy["jurisdiction"] >= 0.80


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example["name"]))
def test_every_quote_stands_in_the_text_or_the_name(classifier: TruthClassifier, example: Mapping[str, str]) -> None:
    labels = labelled(classifier, example["name"], example["text"])
    for field, label in labels.items():
        for item in label.evidence:
            source = example["name"] if item.source is EvidenceSource.NAME else example["text"]
            assert item.quote and item.quote in source, (field, item)


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


@pytest.mark.parametrize(
    ("text", "metadata", "expected"),
    [
        ("Leave policy. Effective date: June 17, 2023. Approved 2022-01-05.", {}, "2023-06-17"),
        ("Tax guide. For use in preparing 2023 Returns. Printed Feb 2, 2024.", {}, "2023"),
        ("Field guide\nSeptember 2020\nHow agencies buy software in small steps.", {}, "2020-09"),
        ("How to sign in\nv 2.0 November 2013\nInstall the client first.", {}, "2013-11"),
        ("Gültig ab 31.12.2024. Diese Richtlinie gilt für alle.", {}, "2024-12-31"),
        ("A plan without a day.", {"published": "2023-07-28"}, "2023-07-28"),
        ("Minutes of the board meeting held on 3 March 2021. The motion was seconded and carried.", {}, "2021-03-03"),
        ("Version consolidée au 1er septembre 1993\nCode du travail", {}, "1993-09-01"),
        ("The law was passed in 1938 and changed in 1974 after long debates in both houses.", {}, None),
    ],
)
def test_a_document_is_dated_by_what_it_says_of_itself(
    classifier: TruthClassifier, text: str, metadata: dict[str, str], expected: str | None
) -> None:
    assert labelled(classifier, "paper.txt", text, **metadata).effective_date.value == expected


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


ABOUT_RULES = [
    "What is a travel policy? A travel policy is a document that tells staff which expenses are repaid. Many companies "
    "lose money without one. Here are a few tips for writing yours, and a sample policy to start from.",
    "The new leave act was signed into law in May. Employers should now review their notices. It is worth noting that "
    "small companies must also update their forms. Consult an attorney if you are unsure.",
]


@pytest.mark.parametrize("text", ABOUT_RULES)
def test_an_article_about_rules_is_no_sure_rule(classifier: TruthClassifier, text: str) -> None:
    truth = labelled(classifier, "article.txt", text).truth
    assert truth.value == "reference"


def test_law_words_without_the_lawgivers_own_voice_stay_unsure(classifier: TruthClassifier) -> None:
    text = "Employers must pay overtime. The act requires records. Public Law 99-150 and 29 U.S.C. 207 say so."
    truth = labelled(classifier, "overtime_irs_tax_code.txt", text).truth
    assert truth.value == "regulatory"
    assert truth.probability < 0.8


@pytest.mark.parametrize(
    ("text", "truth", "jurisdiction"),
    [
        ("Diese Richtlinie gilt für alle Mitarbeiter. Vorgesetzte genehmigen jede Reise.", "compliance", "country:DE"),
        (
            "Code du travail. Article L1222-9. La présente loi fixe les règles du télétravail.",
            "regulatory",
            "country:FR",
        ),
    ],
)
def test_rules_in_other_languages_are_told_apart(
    classifier: TruthClassifier, text: str, truth: str, jurisdiction: str
) -> None:
    labels = labelled(classifier, "document.txt", text)
    assert (labels.truth.value, labels.jurisdiction.value) == (truth, jurisdiction)


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


@pytest.mark.parametrize("name", ["first_draft.pdf", "What.txt", "vacancy.txt", "nowcast.txt"])
def test_words_inside_other_words_do_not_count(classifier: TruthClassifier, name: str) -> None:
    assert not [c for c in classifier.clues(name, [Page(1, "Blue water.")]) if c.source is EvidenceSource.NAME]


def test_the_clues_of_a_document_add_up_to_its_decision(classifier: TruthClassifier) -> None:
    for example in EXAMPLES[:12]:
        sums = dict(truth_intercepts())
        for clue in classifier.clues(example["name"], [Page(1, example["text"])]):
            for truth, weight in clue_weights()[clue.key].items():
                sums[truth] = sums.get(truth, 0.0) + weight * clue.strength
        truth = labelled(classifier, example["name"], example["text"]).truth
        assert max(sums, key=lambda value: sums[value]) == (truth.value or truth.runner_up)
