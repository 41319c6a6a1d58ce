"""Fitting the classifier: it learns what documents of many sources share, and says the same every time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.domain.documents import Label, Truth
from core.domain.errors import BadTable
from core.domain.vocabulary import DomainWords, Vocabulary
from core.evaluation.judgments.files import LabelRow
from core.evaluation.tuning import classifier_fitting
from core.evaluation.tuning.candidate_fitting import fitted_dates, fitted_domains
from core.evaluation.tuning.classifier_fitting import fit_classifier, fit_parts
from core.evaluation.tuning.context_fitting import explained_variance
from core.evaluation.tuning.training_documents import (
    BLOCKS,
    COPY_WEIGHT,
    EQUAL_PARTS,
    LEAST_PART_CHARACTERS,
    SHORT_CHARACTERS,
    UNSURE_DATE,
    FittingProblem,
    TrainingDocument,
    equal_parts,
    first_lines,
    fold_of,
    training_document,
)
from core.ingestion.classification.dates import effective_date_label
from core.ingestion.classification.document_features import features_of
from core.ingestion.classification.label_evidence import explained
from core.ingestion.classification.linear_model import (
    DOMAIN_HEAD,
    PASSAGE_HEAD,
    ClassifierModel,
    built_in_model,
    from_bytes,
    to_bytes,
)
from core.ingestion.classification.subject import LEAST_WORDS_FOR_MEANING, domain_label
from core.ingestion.classification.truth import truth_label
from core.ingestion.classification.weighting import Prototypes
from core.knowledge.domains import GENERAL
from core.knowledge.workspace_terms import BUILT_IN_TERMS, WorkspaceTerms
from tests.evaluation.training import EMBEDDER, NO_VECTORS, TEXTS, corpus, sampled


@pytest.fixture(scope="module")
def model() -> ClassifierModel:
    return fit_classifier(list(corpus()), EMBEDDER)


@pytest.mark.parametrize("truth", TEXTS)
def test_what_many_sources_share_is_learned(model: ClassifierModel, truth: str) -> None:
    sample = sampled(TEXTS[truth].format(n=99))
    label = truth_label(sample, model.blocks(features_of(sample, "en"), NO_VECTORS), NO_VECTORS, model)
    assert label.value == truth
    assert all(each.quote in sample.body or each.quote == sample.name for each in label.evidence)


def test_the_map_from_sentences_in_context_to_sentences_alone_is_learned_and_stored(model: ClassifierModel) -> None:
    assert not model.reads_context(EMBEDDER)  # these documents have no sentence in a passage
    random = np.random.default_rng(1)
    turned, shift = np.roll(np.eye(384), 1, axis=0), np.linspace(-0.1, 0.1, 384)
    inside = random.normal(size=(2000, 384)).astype(np.float32)
    inside[::100] = 0  # whole in no passage
    first = next(iter(corpus()))
    read = replace(first, in_context=inside, vectors=np.asarray(inside @ turned + shift, dtype=np.float32))
    trained = fit_parts(model, [read, first], ["context"])
    assert trained.heads is model.heads and trained.numbers is model.numbers
    fitted = from_bytes(to_bytes(trained))
    assert fitted.reads_context(f"{fitted.embedder}@1") and not fitted.reads_context("another")
    np.testing.assert_allclose(fitted.as_alone(inside[1:9]), read.vectors[1:9], atol=0.05)
    others = [replace(read, source=f"owner {number}/a") for number in range(9)]
    assert explained_variance([*others, first]) > 0.99
    noise = [replace(each, vectors=random.normal(size=(2000, 384)).astype(np.float32)) for each in others]
    assert explained_variance(noise) < 0.01
    assert isnan(explained_variance([read, first]))


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_evidence_adds_up_to_the_margin(model: ClassifierModel, language: str) -> None:
    text = f"{TEXTS['intent'].format(n=3)}\n{TEXTS['compliance'].format(n=4)}\n{TEXTS['compliance'].format(n=5)}"
    sample = sampled(f"{text}\nBericht und Berichte.", "travel policy.txt")
    blocks, head = model.blocks(features_of(sample, language), NO_VECTORS), model.heads["truth"]
    assert features_of(sample, language).words["report"] == {"en": 1, "de": 3}[language]
    scores = dict(zip(head.classes, head.scores(blocks).tolist(), strict=True))
    evidence = explained(head, model.vocabularies, blocks, sample, NO_VECTORS, "compliance", "intent")
    signed = sum(each.weight if each.value == "compliance" else -each.weight for each in evidence)
    assert signed == pytest.approx(scores["compliance"] - scores["intent"], abs=1e-5)
    assert all(each.weight > 0 for each in evidence)


def test_a_fit_says_the_same_again_and_survives_its_file(model: ClassifierModel) -> None:
    again = fit_classifier(list(corpus()), EMBEDDER)
    assert to_bytes(again) == to_bytes(model)
    stored = from_bytes(to_bytes(model))
    sample = sampled(TEXTS["reference"].format(n=7))
    for head in model.heads:
        blocks = model.blocks(features_of(sample, "en"), NO_VECTORS)
        before, after = model.heads[head].scores(blocks), stored.heads[head].scores(blocks)
        assert np.allclose(before, after, atol=0.05)  # weights are stored as float16
    assert stored.numbers == {group: pytest.approx(row) for group, row in model.numbers.items()}


def test_a_file_that_is_no_model_is_named() -> None:
    with pytest.raises(BadTable, match=r"classifier_model.npz is not a classifier model"):
        from_bytes(b"PK no model")


def test_a_source_keeps_its_fold_whatever_else_is_there() -> None:
    folds = [fold_of(f"owner{number}/a", 5) for number in range(200)]
    assert folds == [fold_of(f"OWNER{number}/A", 5) for number in range(200)]
    assert set(folds) == set(range(5))


def test_the_sources_of_one_owner_share_a_fold() -> None:
    assert len({fold_of(f"owner/{number}", 5) for number in range(200)}) == 1


def test_words_of_too_few_sources_are_not_kept() -> None:
    documents = list(corpus())
    secret = sampled(f"{TEXTS['intent'].format(n=1)} zanzibarium zanzibarium")
    documents[2] = replace(documents[2], sample=secret, features=features_of(secret, "en"))
    assert "zanzibarium" not in fit_classifier(documents, EMBEDDER).vocabularies["words"].index


def dated_corpus(unsure: str) -> Iterator[TrainingDocument]:
    """Thirty sources: one policy with its date, one that only tells of a year, and one labelled `unsure`."""
    reported = "Our staff policy on travel.\nEffective date: {day} May 2018\nEmployees ask their manager."
    untold = "Our staff policy on kilns. It grew out of rules that the board discussed in March {year} at length."
    for source in range(30):
        for text, date in ((reported, f"2018-05-{source % 9 + 1:02}"), (untold, ""), (reported, unsure)):
            row = LabelRow("f", "f.txt", "0", "compliance", "other", "internal", "global", date, f"owner{source}/a")
            sample = sampled(text.format(day=source % 9 + 1, year=1950 + source))
            yield training_document(row, "en", sample, NO_VECTORS, BUILT_IN_TERMS)


def test_a_date_of_which_a_label_is_unsure_teaches_nothing() -> None:
    thresholds = []
    for unsure in ("", UNSURE_DATE):
        problem = FittingProblem.of(list(dated_corpus(unsure)), BLOCKS)
        weights, numbers = fitted_dates(problem, [Label("compliance", 0.9)] * 90)
        assert weights["before in force"] > 0
        thresholds.append(numbers["threshold"])
    assert thresholds[1] < thresholds[0]


def test_dates_further_down_are_learned_not_to_be_a_text_s_own() -> None:
    told = "The bridge of the village was opened on {day} June {year} and is long and wide."
    documents = []
    for source in range(30):
        day = source % 9 + 1
        text = f"Our staff policy.\nEffective date: {day} May 2018\n" + "Employees ask their manager for leave. " * 60
        row = LabelRow(
            "f", "f.txt", "0", "compliance", "other", "internal", "global", f"2018-05-{day:02}", f"o/{source}"
        )
        sample = sampled(text + told.format(day=day, year=1950 + source) + " It has three arches." * 20)
        documents.append(training_document(row, "en", sample, NO_VECTORS, BUILT_IN_TERMS))
        row = replace(row, effective_date="")
        undated = sampled(f"kiln;year;degrees\n{source};{1950 + source};1240\n{source};{1960 + source};1210")
        documents.append(training_document(row, "en", undated, NO_VECTORS, BUILT_IN_TERMS))
    truth = Label("compliance", 0.9)
    weights, numbers = fitted_dates(FittingProblem.of(documents, BLOCKS), [truth] * len(documents))
    fitted = replace(built_in_model(), numbers={"date_features": weights, "date": numbers})

    def date(text: str) -> str | None:
        return effective_date_label(sampled(text), truth, Label("en"), fitted).value

    assert date("Our travel policy.\nEffective date: 4 May 2020") == "2020-05-04"
    assert date(told.format(day=4, year=2020)) is None


def test_only_whole_documents_choose_how_sure_a_date_must_be() -> None:
    """Two of sixty undated documents look dated, more than 3%; their many parts do not count."""
    days = "".join(
        f" The bridge was opened on {day} June 1987 and is long." + " It is wide." * 20 for day in range(1, 9)
    )
    body = "\nEmployees ask their manager for leave." * 60 + days
    documents = [each for each in dated_corpus(UNSURE_DATE) if each.date not in ("", UNSURE_DATE)]
    for number in range(60):
        head = "Our staff policy on travel." + "\nEffective date: 4 May 2018" * (number % 30 == 7)
        row = LabelRow("f", "f.txt", "0", "compliance", "other", "internal", "global", "", f"owner{number % 30}/a")
        documents.append(training_document(row, "en", sampled(head + body), NO_VECTORS, BUILT_IN_TERMS))
    problem = FittingProblem.of(documents, BLOCKS)
    numbers = fitted_dates(problem, [Label("compliance", 0.9)] * len(documents))[1]
    assert numbers["threshold"] > 0.35


def test_passages_are_learned_from_the_documents_they_stand_in(model: ClassifierModel) -> None:
    head, vocabulary = model.heads[PASSAGE_HEAD], model.vocabularies["words"]
    for truth, text in TEXTS.items():
        rows, values = vocabulary.vector(features_of(sampled(text.format(n=77)), "en").words)
        scores = head.bias + values @ head.words["words"][rows]
        assert head.classes[int(scores.argmax())] == truth


def test_a_model_keeps_its_other_heads_when_passages_and_dates_are_fitted_again(model: ClassifierModel) -> None:
    documents = [replace(each, passages=()) for each in corpus()]
    again = fit_parts(model, [*documents, *dated_corpus(UNSURE_DATE)])
    assert {name: again.heads[name] for name in ("truth", "authority", "place")} == {
        name: model.heads[name] for name in ("truth", "authority", "place")
    }
    assert again.vocabularies is model.vocabularies
    assert not again.heads[PASSAGE_HEAD].words["words"].any()
    assert again.numbers["date_features"]["before in force"] > 0
    assert not model.numbers["date_features"]


def test_a_long_document_teaches_no_more_passages_than_a_short_one() -> None:
    row = LabelRow("f", "f.txt", "0", "intent", "other", "customer", "global", "", "owner/1")
    texts = [f"Passage {number}" for number in range(500)]
    stored = training_document(row, "en", sampled("A text."), NO_VECTORS, BUILT_IN_TERMS, passages=texts).passages
    assert len(stored) < 20
    assert (stored[0], stored[-1]) == (texts[0], texts[-1])
    assert len(set(stored)) == len(stored)


def test_unknown_words_never_make_a_decision_surer(model: ClassifierModel) -> None:
    plain = sampled(TEXTS["compliance"].format(n=1))
    strange = sampled(f"{plain.body} {' '.join(f'qwertz{letter}xyz' for letter in 'abcdefghijklmnop')}")
    heat = model.heads["truth"].heat
    assert heat(model.blocks(features_of(strange, "en"), NO_VECTORS)) >= heat(
        model.blocks(features_of(plain, "en"), NO_VECTORS)
    )


def test_vectors_of_another_embedding_do_not_count(model: ClassifierModel) -> None:
    vectors = np.ones((3, 4), dtype=np.float32)
    assert len(model.comparable(vectors, "letters@2")) == 3
    assert len(model.comparable(vectors, "other")) == 0
    assert len(model.comparable(np.ones((3, 5), dtype=np.float32), "letters")) == 0


def test_labels_of_every_truth_are_possible(model: ClassifierModel) -> None:
    assert set(model.heads["truth"].classes) == {truth.value for truth in Truth}
    assert isinstance(
        truth_label(sampled(""), model.blocks(features_of(sampled(""), "en"), NO_VECTORS), NO_VECTORS, model), Label
    )


def test_domains_are_weighed_as_labelled_documents_teach() -> None:
    """Where keywords lie about the domain and meaning does not, meaning weighs more."""
    documents = [
        replace(
            each,
            domain="time" if number % 2 else GENERAL,
            domain_evidence={"time": (float(number % 3 == 0), float(number % 2)), GENERAL: (0.0, 0.3)},
        )
        for number, each in enumerate(corpus())
    ]
    found = fitted_domains(documents, np.ones(len(documents)))
    assert found["meaning"] > 1.0 > abs(found["keyword"])
    assert fitted_domains(list(corpus()), np.ones(len(documents))) == {}


TIME, OTHER = np.eye(4, dtype=np.float32)[:2]
LONG = " ".join(f"Kiln number {n} is fired in the north hall and then cools slowly." for n in range(4))


def document_of_domain(number: int) -> TrainingDocument:
    """A document whose words and keywords say nothing of its domain; its sentence vectors do."""
    truth, domain = list(TEXTS)[number % 5], "time" if number % 2 else "other"
    row = LabelRow("f", f"{truth}.txt", "0", truth, domain, "customer", "global", "", f"owner{number}/a")
    sample = sampled(LONG)
    vectors = np.stack([TIME if number % 2 else OTHER] * len(sample.segments))
    found = {"time": (0.0, 0.0), "taxes": (0.0, 0.0), GENERAL: (0.0, 0.0)}
    return replace(training_document(row, "en", sample, vectors, BUILT_IN_TERMS), domain_evidence=found)


@pytest.fixture(scope="module")
def with_domains(model: ClassifierModel) -> ClassifierModel:
    return fit_parts(model, [document_of_domain(number) for number in range(40)], ["domains"])


class _Plain:
    """Embeds every domain's example sentences as something that no sentence of a text is near to."""

    name, dimensions = EMBEDDER, 4

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([np.eye(4, dtype=np.float32)[3]] * len(texts))


def domain_of(model: ClassifierModel, vector: NDArray[np.float32], terms: WorkspaceTerms = BUILT_IN_TERMS) -> Label:
    sample = sampled(LONG)
    vectors = np.stack([vector] * len(sample.segments))
    known = model.comparable(vectors, EMBEDDER)
    return domain_label(sample, Prototypes(_Plain(), terms.prototypes), vectors, terms, model, known)


def test_sentence_vectors_tell_a_domain_that_no_keyword_names(with_domains: ClassifierModel) -> None:
    told, plain = domain_of(with_domains, TIME), domain_of(with_domains, OTHER)
    assert (told.value, plain.value) == ("time", GENERAL)
    assert told.evidence[0].rule == "reads like time"
    assert told.evidence[0].quote in LONG


def test_in_few_words_a_keyword_counts_as_it_does_in_first_words(model: ClassifierModel) -> None:
    """In these whole documents keywords tell nothing; in their first words they do, or the opposite."""
    documents = [
        replace(
            document_of_domain(number),
            first_evidence={"time": (float(number % 2), 0.0), "taxes": (0.0, 0.0), GENERAL: (0.0, 0.0)},
        )
        for number in range(40)
    ]
    fitted = fit_parts(model, documents, ["domains"])
    note, terms = sampled("Fill in your timesheet."), BUILT_IN_TERMS
    label = domain_label(note, Prototypes(_Plain(), terms.prototypes), NO_VECTORS, terms, fitted, NO_VECTORS)
    assert label.value == "time"
    misled = [replace(each, domain="taxes" if each.domain == "time" else each.domain) for each in documents]
    fitted = fit_parts(model, misled, ["domains"])
    label = domain_label(note, Prototypes(_Plain(), terms.prototypes), NO_VECTORS, terms, fitted, NO_VECTORS)
    assert label.value != "time"


def test_only_the_first_words_of_a_text_teach_what_few_words_tell(model: ClassifierModel) -> None:
    row = LabelRow("f", "f.txt", "0", "intent", "time", "customer", "global", "", "owner/1")
    prototypes = Prototypes(_Plain(), BUILT_IN_TERMS.prototypes)

    def keywords(before: int) -> float:
        sample = sampled(" ".join(["clay"] * before + ["timesheet"] + ["clay"] * 30))
        vectors = np.zeros((len(sample.segments), 4), dtype=np.float32)
        document = training_document(row, "en", sample, vectors, BUILT_IN_TERMS, prototypes=prototypes)
        assert document.domain_evidence["time"][0] > 0.0
        return document.first_evidence["time"][0]

    assert keywords(LEAST_WORDS_FOR_MEANING - 2) > 0.0
    assert keywords(LEAST_WORDS_FOR_MEANING - 1) == 0.0


def test_a_document_is_also_learned_as_its_first_lines_and_as_equal_parts() -> None:
    documents = [*corpus()]
    lines = [f"Staff ask their manager about rule number {number} before they travel." for number in range(60)]
    sample = sampled("\n\n".join(lines))
    numbers = np.repeat(np.arange(len(sample.segments), dtype=np.float32)[:, None], 4, axis=1)
    long = replace(documents[0], sample=sample, vectors=numbers)
    first, parts = first_lines(long), list(equal_parts(long))
    copies = [*first, *parts]
    assert [len(each.sample.body) for each in first] == [*SHORT_CHARACTERS]
    assert len(parts) == EQUAL_PARTS
    assert {each.weight for each in copies} == {COPY_WEIGHT * long.weight}
    assert {len(each.sample.body) for each in parts} == {len(sample.body) // EQUAL_PARTS}
    for part in parts:
        assert part.sample.body in sample.body
        assert [sample.segments[int(row[0])] for row in part.vectors] == list(part.sample.segments) != []


def test_copies_do_not_change_how_much_a_whole_document_counts() -> None:
    documents = [*corpus()]
    problem = FittingProblem.of([*documents, *documents[:40], *documents[:40]], BLOCKS)
    assert problem.first(len(documents)).weights == pytest.approx(FittingProblem.of(documents, BLOCKS).weights)


def test_equal_parts_teach_the_blocks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [*corpus()]
    lines = (f"Staff ask their manager about rule number {number} before they travel." for number in range(60))
    sample = sampled("\n\n".join(lines))
    documents[0] = replace(documents[0], sample=sample, vectors=np.ones((len(sample.segments), 4), dtype=np.float32))
    documents[1:] = [replace(each, vectors=np.ones((1, 4), dtype=np.float32)) for each in documents[1:]]
    rows: dict[str, set[int]] = {"_out_of_fold": set(), "_stack": set(), "_name_weight": set()}
    for name, found in rows.items():
        original = getattr(classifier_fitting, name)

        def counted(*values: Any, original: Any = original, found: set[int] = found) -> Any:
            found.add(max(each.shape[0] for each in values if isinstance(each, np.ndarray)))
            return original(*values)

        monkeypatch.setattr(classifier_fitting, name, counted)
    fit_classifier(documents, EMBEDDER)
    met = len(documents) + sum(len(first_lines(each)) for each in documents)
    assert (rows["_stack"], rows["_name_weight"]) == ({met}, {met})
    assert max(rows["_out_of_fold"]) == met + EQUAL_PARTS


def test_a_part_without_a_whole_sentence_and_a_short_document_give_no_parts() -> None:
    document = next(iter(corpus()))
    sample = sampled("Staff ask their manager first. " + "kiln " * LEAST_PART_CHARACTERS)
    cut = replace(document, sample=sample, vectors=np.ones((1, 4), dtype=np.float32))
    assert len(list(equal_parts(cut))) == 1
    for length, parts in (
        (EQUAL_PARTS * LEAST_PART_CHARACTERS - 1, 0),
        (EQUAL_PARTS * LEAST_PART_CHARACTERS, EQUAL_PARTS),
    ):
        lines = (f"Staff ask their manager about rule number {number}." for number in range(100))
        sample = sampled("\n\n".join(lines)[:length])
        vectors = np.ones((len(sample.segments), 4), dtype=np.float32)
        assert len(list(equal_parts(replace(document, sample=sample, vectors=vectors)))) == parts
    assert first_lines(replace(document, sample=sampled("Staff ask first."))) == []


def test_without_a_head_for_domains_the_vectors_alone_tell_none(model: ClassifierModel) -> None:
    assert domain_of(model, TIME).value == GENERAL


def test_a_domain_that_the_head_never_met_leads_neither_the_known_one_nor_general(
    with_domains: ClassifierModel,
) -> None:
    own = WorkspaceTerms(Vocabulary((DomainWords("kilns", "Kilns", ("furnace",)),)))
    assert domain_of(with_domains, TIME, own).value == "time"
    assert domain_of(with_domains, OTHER, own).value == GENERAL


def test_documents_without_vectors_teach_no_head_for_domains(model: ClassifierModel) -> None:
    documents = [
        replace(document_of_domain(number), vectors=NO_VECTORS, domain="time" if number % 2 else GENERAL)
        for number in range(40)
    ]
    assert DOMAIN_HEAD not in fit_parts(model, documents, ["domains"]).heads


def test_parts_that_are_not_named_stay(model: ClassifierModel) -> None:
    again = fit_parts(model, list(corpus()), ["domains"])
    assert again.heads == model.heads
    assert {name: row for name, row in again.numbers.items() if name != "domain"} == {
        name: row for name, row in model.numbers.items() if name != "domain"
    }
