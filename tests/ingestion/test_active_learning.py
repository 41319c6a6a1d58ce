"""What corrections teach: the kind they belong to, and nothing else."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import EvidenceSource, Label, Labels, Page
from core.ingestion.classification.classifier import TruthClassifier
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.library.active_learning.neighbours import (
    DocumentTraits,
    Example,
    TrainedLabel,
    TrainedNeighbours,
    traits_of,
    weigh_in,
)
from core.library.active_learning.training import LabelPredictor, TrainedClassifier, train_neighbours
from core.ports.stores import Embedder

HERE = Path(__file__).parent
OTHERS: Sequence[Mapping[str, str]] = tomllib.loads((HERE / "examples.toml").read_text("utf-8"))["document"]
KINDS: Sequence[Mapping[str, Any]] = tomllib.loads((HERE / "lessons.toml").read_text("utf-8"))["kind"]
FIELDS = ("truth", "domain", "authority", "jurisdiction", "temporal_class")


@pytest.fixture(scope="module")
def own(embedder: Embedder) -> TruthClassifier:
    return TruthClassifier(embedder)


def traits(own: TruthClassifier, name: str, text: str) -> DocumentTraits:
    reading, vectors = own.read(name, "", [Page(1, text)])
    return traits_of(reading, vectors, own.labels(reading, vectors, {}, BUILT_IN_TERMS))


def confirmed(own: TruthClassifier, number: int, document: Mapping[str, str], **values: str) -> Example:
    return Example(number, document["name"], values, traits(own, document["name"], document["text"]))


def labelled(own: TruthClassifier, lessons: TrainedNeighbours, document: Mapping[str, str]) -> Labels:
    """The labels of a document nobody confirmed."""
    teacher = LabelPredictor(lessons)
    pages = [Page(1, document["text"])]
    return TrainedClassifier(own, lambda: teacher).document(document["name"], "", pages, {}, {}, terms=BUILT_IN_TERMS)


def lessons_of(own: TruthClassifier, kind: Mapping[str, Any], number: int = 5) -> TrainedNeighbours:
    """What correcting the first documents of a kind teaches."""
    corrected = [
        confirmed(own, n, each, **{kind["field"]: kind["value"]}) for n, each in enumerate(kind["document"][:number], 1)
    ]
    return train_neighbours(corrected, 1, frozenset())[0]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind["name"]))
def test_five_corrections_of_one_kind_fix_the_sixth(own: TruthClassifier, kind: Mapping[str, Any]) -> None:
    """Whichever of the six is the one nobody corrected."""
    for left in range(6):
        rest = {**kind, "document": [each for at, each in enumerate(kind["document"]) if at != left]}
        lessons = lessons_of(own, rest)
        label = getattr(labelled(own, lessons, kind["document"][left]), kind["field"])
        assert label.value == kind["value"], kind["document"][left]["name"]
        phrase = [each for each in label.evidence if each.source is EvidenceSource.CORRECTION]
        assert phrase and all(each.quote in kind["document"][left]["text"] for each in phrase)
        assert all("reads like '" in each.rule and "(lessons 1)" in each.rule for each in phrase)


def test_forty_unrelated_documents_keep_their_labels_to_the_letter(own: TruthClassifier) -> None:
    corrected = [
        confirmed(own, 10 * at + n, each, **{kind["field"]: kind["value"]})
        for at, kind in enumerate(KINDS)
        for n, each in enumerate(kind["document"])
    ]
    lessons, _ = train_neighbours(corrected, 1, frozenset())
    assert len(OTHERS) == 40 and lessons.strengths == {
        "truth": lessons.strengths["truth"],
        "domain": lessons.strengths["domain"],
    }
    changed = []
    for each in OTHERS:
        before, after = labelled(own, TrainedNeighbours(0), each), labelled(own, lessons, each)
        changed += [(each["name"], f) for f in FIELDS if getattr(before, f).value != getattr(after, f).value]
    assert changed == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind["name"]))
def test_one_kind_leaves_the_other_kinds_alone(own: TruthClassifier, kind: Mapping[str, Any]) -> None:
    lessons = lessons_of(own, kind, 6)
    for other in KINDS:
        for each in other["document"] if other is not kind else ():
            assert labelled(own, lessons, each) == labelled(own, TrainedNeighbours(0), each), each["name"]


def test_confirming_forty_right_and_wrong_labels_makes_none_of_the_others_wrong(own: TruthClassifier) -> None:
    statements = [
        confirmed(
            own, n, each, **{field: each[field] for field in ("truth", "authority", "jurisdiction") if field in each}
        )
        for n, each in enumerate(OTHERS)
    ]
    lessons, outcomes = train_neighbours(statements, 1, frozenset())
    assert {each.field for each in outcomes} == {"truth", "authority", "jurisdiction"}
    assert all(each.right_taught >= each.right_alone for each in outcomes), outcomes
    assert lessons.strengths == {each.field: each.strength for each in outcomes}


# Contradictions, copies, order: small examples whose likeness is given by hand


def example(
    number: int, own: str, expected: str, vector: Sequence[float] = (1.0, 0.0, 0.0), sure: float = 0.6
) -> Example:
    """A document of which the classifier says `own` and a person `said`."""
    mean = np.array(vector, dtype=np.float32)
    labels = Labels(truth=Label(own, sure), language=Label("en", 1.0))
    return Example(
        number, f"{number}.txt", {"truth": expected}, DocumentTraits(labels, (), mean / np.linalg.norm(mean))
    )


def beside(number: int) -> tuple[float, float, float]:
    """Directions that are alike, and not nearly the same."""
    return (1.0, 0.3 * np.cos(2.4 * number), 0.3 * np.sin(2.4 * number))


def test_corrections_that_contradict_each_other_change_nothing(own: TruthClassifier) -> None:
    """Left out, every document the classifier had right would be made wrong by the others: so they are not used."""
    statements = [example(n, "intent", "intent", beside(n)) for n in range(4)]
    statements += [example(n, "intent", "compliance" if n % 2 else "reality", beside(n)) for n in range(4, 8)]
    lessons, [outcome] = train_neighbours(statements, 1, frozenset())
    assert outcome.right_taught >= outcome.right_alone == 4
    fresh = example(99, "intent", "", beside(2)).traits
    found = LabelPredictor(lessons).found(fresh)
    assert weigh_in("truth", fresh.own.truth, found.get("truth", ()), lessons.strengths["truth"]).value == "intent"


def test_one_correction_that_misleads_is_left_out_and_named() -> None:
    """Four documents are confirmed as the classifier has them; two alike were said to be something else by mistake."""
    right = [example(n, "intent", "intent", beside(n), sure=0.46) for n in range(2)]
    wrong = [example(n, "intent", "reality", beside(n), sure=0.46) for n in range(2, 6)]
    far = [example(n, "intent", "intent", (0.05, 1.0, 0.1 * n), sure=0.46) for n in range(6, 9)]
    _, [outcome] = train_neighbours([*right, *wrong, *far], 1, frozenset())
    assert outcome.right_taught >= outcome.right_alone


def test_copies_of_one_document_count_once() -> None:
    alone, _ = train_neighbours([example(1, "intent", "reality")], 1, frozenset())
    copied, [outcome] = train_neighbours([example(n, "intent", "reality") for n in range(1, 6)], 1, frozenset())
    fresh = example(9, "intent", "", beside(1)).traits
    labels = [
        weigh_in("truth", fresh.own.truth, LabelPredictor(each).found(fresh)["truth"], 4.0) for each in (alone, copied)
    ]
    assert labels[0].probability == pytest.approx(labels[1].probability)
    assert labels[0].value == labels[1].value
    assert outcome.right_taught == 0, "a copy must not vouch for a copy"
    assert len({each.group for each in copied.examples}) == 1


def test_the_same_corrections_teach_the_same_in_any_order() -> None:
    statements = [example(n, "intent", "reality" if n % 3 else "intent", beside(n)) for n in range(9)]
    forth, back = train_neighbours(statements, 1, frozenset()), train_neighbours(statements[::-1], 1, frozenset())
    assert forth == back


def test_a_field_nobody_confirmed_teaches_nothing() -> None:
    lessons, outcomes = train_neighbours([example(1, "intent", "reality")], 1, frozenset())
    assert [each.field for each in outcomes] == ["truth"]
    assert set(LabelPredictor(lessons).found(example(2, "intent", "").traits)) == {"truth"}
    assert train_neighbours([], 3, frozenset()) == (TrainedNeighbours(3), ())


def test_phrases_everybody_uses_tell_nothing() -> None:
    marks = ("purpose", "scope", "page", "approved by", "owner")
    one, other = (replace(example(n, "intent", "reality"), document_id=n) for n in (1, 2))
    apart = replace(other.traits, mean=np.array([0.0, 1.0, 0.0], dtype=np.float32), marks=marks)
    known = replace(one, traits=replace(one.traits, marks=marks))
    reported, _ = train_neighbours([known], 1, frozenset())
    assert LabelPredictor(reported).found(apart)
    silent, _ = train_neighbours([known], 1, frozenset(marks))
    assert not LabelPredictor(silent).found(apart)


VALUES = st.sampled_from(["regulatory", "compliance", "intent", "reference", "reality"])


@st.composite
def labels_and_lessons(draw: st.DrawFn) -> tuple[Label, list[TrainedLabel]]:
    """What the classifier can say of a truth, and lessons of any values."""
    sure = draw(st.floats(0.45, 1.0))
    value, second = draw(st.lists(VALUES, min_size=2, max_size=2, unique=True))
    label = Label(value, sure, second, (1 - sure) * draw(st.floats(0.25, 1.0)))
    found = draw(st.lists(st.tuples(VALUES, st.floats(0.01, 1.0)), max_size=8))
    return label, [
        TrainedLabel(example(n, value, statement), statement, nearness) for n, (statement, nearness) in enumerate(found)
    ]


@given(labels_and_lessons(), st.sampled_from([0.0, 2.0, 4.0, 8.0]))
def test_a_taught_label_is_a_label(pair: tuple[Label, list[TrainedLabel]], strength: float) -> None:
    own, found = pair
    label = weigh_in("truth", own, found, strength)
    assert 0.0 <= label.probability <= 1.0 and 0.0 <= label.runner_up_probability <= 1.0
    assert label.probability + label.runner_up_probability <= 1.0 + 1e-9
    assert label.value != label.runner_up
    if not found or not strength:
        assert label is own
    if label.value in ("regulatory", "compliance") and label.value != own.value:
        assert label.probability < 0.8


@given(labels_and_lessons())
def test_lessons_for_what_the_classifier_says_never_change_its_mind(pair: tuple[Label, list[TrainedLabel]]) -> None:
    own, found = pair
    agreeing = [replace(each, value=own.value or "") for each in found]
    label = weigh_in("truth", own, agreeing, 4.0)
    assert label.value == own.value and label.probability >= own.probability - 1e-9
