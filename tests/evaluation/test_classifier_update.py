"""Adding documents to a fitted classifier: it learns the new ones, and what it knew before stays."""

from dataclasses import replace

import numpy as np
import pytest

from core.domain.documents import Label
from core.domain.errors import BadRequest
from core.evaluation.judgments.files import LabelRow
from core.evaluation.tuning.candidate_fitting import PlaceChoice, fitted_places
from core.evaluation.tuning.classifier_fitting import fit_classifier
from core.evaluation.tuning.classifier_update import add_documents
from core.evaluation.tuning.training_documents import TrainingDocument, training_document
from core.ingestion.classification.document_features import features_of
from core.ingestion.classification.jurisdiction import ELSEWHERE, place_candidates
from core.ingestion.classification.linear_model import ClassifierModel, built_in_model
from core.ingestion.classification.truth import truth_label
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.evaluation.training import AUTHORITIES, EMBEDDER, NO_VECTORS, TEXTS, corpus, sampled

MISLEADING = (
    "This guide explains what the client may scope in offer {n}. We recommend slow cooling. Click Save to finish."
)
"""Intent, mostly in words of advice."""


def document(text: str, truth: str, source: str, place: str = "global") -> TrainingDocument:
    row = LabelRow("f", f"{truth}.txt", "0", truth, "other", AUTHORITIES[truth], place, "", source)
    return training_document(row, "en", sampled(text), NO_VECTORS, BUILT_IN_TERMS, passages=[text])


def further(count: int = 30) -> list[TrainingDocument]:
    return [document(MISLEADING.format(n=number), "intent", f"other{number}/a") for number in range(count)]


@pytest.fixture(scope="module")
def model() -> ClassifierModel:
    return fit_classifier(list(corpus()), EMBEDDER)


def label(model: ClassifierModel, text: str) -> Label:
    sample = sampled(text)
    return truth_label(sample, model.blocks(features_of(sample, "en"), NO_VECTORS), NO_VECTORS, model)


def test_what_further_documents_share_is_learned_and_the_rest_stays(model: ClassifierModel) -> None:
    told: list[str] = []
    added = add_documents(model, further(), list(corpus()), told.append)
    assert label(model, MISLEADING.format(n=99)).value != "intent"
    assert label(added, MISLEADING.format(n=99)).value == "intent"
    assert {truth: label(added, text.format(n=99)).value for truth, text in TEXTS.items()} == {
        truth: truth for truth in TEXTS
    }
    assert told[0] == "truth: 0.000 right before, 1.000 after, on sources left out"
    assert [each.partition(":")[0] for each in told] == ["truth", "authority", "jurisdiction"]


def test_a_source_is_not_judged_by_what_it_taught_itself(model: ClassifierModel) -> None:
    told: list[str] = []
    own = [replace(each, source="other/a") for each in further(10)]
    plain = [document(TEXTS["intent"].format(n=number), "intent", f"another{number}/a") for number in range(30)]
    added = add_documents(model, [*own, *plain], on_step=told.append)
    assert label(added, MISLEADING.format(n=99)).value == "intent"
    assert told[0] == "truth: 0.750 right before, 0.750 after, on sources left out"


def test_documents_of_one_owner_are_refused_with_what_to_do(model: ClassifierModel) -> None:
    alone = [replace(each, source="other/a") for each in further()]
    with pytest.raises(BadRequest, match="too few new documents"):
        add_documents(model, alone, list(corpus()))


def test_known_documents_hold_what_the_model_had_learned(model: ClassifierModel) -> None:
    """The further ones call guides an intent."""
    wrong = [document(TEXTS["reference"].format(n=n), "intent", f"other{n}/a") for n in range(12)]
    guide = TEXTS["reference"].format(n=99)
    assert label(add_documents(model, wrong), guide).value == "intent"
    assert label(add_documents(model, wrong, list(corpus())), guide).value != "intent"


def test_words_biases_thresholds_dates_passages_and_domains_stay(model: ClassifierModel) -> None:
    added = add_documents(model, further())
    assert added.vocabularies is model.vocabularies
    assert added.heads.keys() == model.heads.keys()
    assert all(added.heads[name] is model.heads[name] for name in model.heads.keys() - {"truth", "authority"})
    assert all(np.array_equal(added.heads[name].bias, head.bias) for name, head in model.heads.items())
    assert {group: row for group, row in added.numbers.items() if group != "place_features"} == {
        group: row for group, row in model.numbers.items() if group != "place_features"
    }


def test_a_label_that_is_not_named_stays(model: ClassifierModel) -> None:
    told: list[str] = []
    added = add_documents(model, further(), on_step=told.append, labels=["authority"])
    assert added.heads["truth"] is model.heads["truth"] and added.heads["authority"] is not model.heads["authority"]
    assert added.numbers == model.numbers
    assert [each.partition(":")[0] for each in told] == ["authority"]
    added = add_documents(model, further(), labels=["jurisdiction"])
    assert added.heads == model.heads and added.numbers["place_features"] != model.numbers["place_features"]


def test_each_class_counts_the_same_however_many_documents_it_has(model: ClassifierModel) -> None:
    """Three times as many that call a guide an intent do not outweigh those that agree with what was learned."""
    text = TEXTS["reference"]
    many = [document(text.format(n=n), "intent", f"other{n}/a") for n in range(36)]
    few = [document(text.format(n=n), "reference", f"another{n}/a") for n in range(12)]
    found = label(add_documents(model, [*many, *few]), text.format(n=99))
    assert (found.value or found.runner_up) == "reference"


def test_an_owner_s_known_documents_do_not_judge_its_new_ones(model: ClassifierModel) -> None:
    """They are left out with them, in whatever letters the owner is written."""
    told: list[str] = []
    own = [replace(each, source=f"other/{number}") for number, each in enumerate(further(10))]
    plain = [document(TEXTS["intent"].format(n=number), "intent", f"another{number}/a") for number in range(30)]
    known = [replace(each, source="OTHER/known") for each in further(20)]
    add_documents(model, [*own, *plain], known, told.append)
    assert told[0] == "truth: 0.750 right before, 0.750 after, on sources left out"


def test_authorities_move_less_than_truths(model: ClassifierModel) -> None:
    """Each of these documents contradicts the model in both."""
    added = add_documents(model, further())
    truth, authority = (
        np.abs(added.heads[name].words["words"] - model.heads[name].words["words"]).sum()
        for name in ("truth", "authority")
    )
    assert 0 < authority < 0.8 * truth


def test_documents_that_contradict_each_other_make_it_less_sure(model: ClassifierModel) -> None:
    text = TEXTS["reference"]
    mixed = [document(text.format(n=n), ("intent", "reference")[n % 2], f"other{n}/a") for n in range(40)]
    assert add_documents(model, mixed).heads["truth"].temperature[0] > 0.1
    assert add_documents(model, list(corpus())).heads["truth"].temperature[0] < 0.1


def test_nothing_to_add_is_refused(model: ClassifierModel) -> None:
    with pytest.raises(BadRequest, match="too few new documents"):
        add_documents(model, [], list(corpus()))


def test_what_jurisdictions_were_before_is_what_the_model_gave(model: ClassifierModel) -> None:
    """This one takes every place for federal, whatever the text names; the new documents agree on another."""
    told: list[str] = []
    text = "No person shall operate a kiln in Kenya. The Republic of Kenya licenses it, in Kenya, number {n}."
    blind = {**model.numbers, "place_features": {**dict.fromkeys(model.numbers["place_features"], 0.0), "federal": 5.0}}
    new = [document(text.format(n=n), "regulatory", f"other{n}/a", "country:KE") for n in range(60)]
    add_documents(replace(model, numbers=blind), new, on_step=told.append)
    assert told[2] == "jurisdiction: 0.000 right before, 1.000 after, on sources left out"


def places(count: int, text: str, place: str) -> list[PlaceChoice]:
    documents = [document(text, "regulatory", f"owner{number}/a", place) for number in range(count)]
    kinds = dict.fromkeys(("global", "federal", "state", "country"), -1.4)
    truth, authority = Label("regulatory", 0.9), Label("government", 0.9)
    return [PlaceChoice.of(each, truth, authority, kinds) for each in documents]


def test_weights_of_places_stay_near_what_other_documents_taught() -> None:
    """One document hardly moves them, a hundred do."""
    base = {"name mentions": 2.0, "global": -1.0, ELSEWHERE: -2.0}
    text = "In Kenya and in Norway, in Norway and in Norway."
    few, many = (fitted_places(places(n, text, "country:KE"), np.ones(n), base) for n in (1, 100))
    assert abs(few["name mentions"] - 2.0) < 0.1 < abs(many["name mentions"] - 2.0)


def test_what_hardly_varies_or_is_not_met_stays_near_its_old_weight() -> None:
    base = built_in_model().numbers["place_features"]
    unnamed = places(50, "Rules of the office for the staff.", "global")
    found = fitted_places(unnamed, np.ones(50), base)
    assert abs(found["first mention"] - base["first mention"]) < 1.0
    assert found["city mentions"] == base["city mentions"]
    found = fitted_places([*unnamed, *places(1, "Rules of Ohio.", "state:OH")], np.ones(51), base)
    assert abs(found["state"] - base["state"]) < 1.0


def test_two_names_of_the_united_states_are_one_place() -> None:
    rows = [places(1, "The United States and Kenya.", value)[0].right for value in ("federal", "country:US")]
    assert rows[0] == rows[1]
    assert rows[0] != places(1, "The United States and Kenya.", "country:NO")[0].right


def test_a_place_that_a_text_does_not_name_is_elsewhere() -> None:
    """Where this is often so, no place is certain; elsewhere itself is no label."""
    values, rows = place_candidates(
        sampled("Rules."),
        (),
        "en",
        Label("intent", 0.9),
        Label("customer", 0.9),
        dict.fromkeys(("global", "federal"), -1),
    )
    assert values[-1] == ELSEWHERE
    assert rows[-1] == {ELSEWHERE: 1.0}
    unnamed = fitted_places(places(50, "Rules of the office.", "country:KE"), np.ones(50))
    named = fitted_places(places(50, "Rules of the office in Kenya, Kenya.", "country:KE"), np.ones(50))
    assert unnamed[ELSEWHERE] > 0 > named[ELSEWHERE]
    assert not any(choice.found(unnamed) for choice in places(1, "Rules of the office.", "country:KE"))
