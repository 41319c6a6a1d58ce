"""The judged topics that the board's probability is fitted to."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from core.evaluation.judgments.files import read_topics

JUDGED = Path(__file__).parent / "judged"
COLLECTIONS = ("corpus", "corpus_wide")
PUBLIC = ("public_1", "public_2")
SOURCES = Path(__file__).parents[2] / "docs" / "classifier-sources.csv"


def lines(collection: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (JUDGED / f"{collection}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("collection", [*COLLECTIONS, *PUBLIC])
def test_each_topic_is_judged_once_and_names_its_evidence(collection: str) -> None:
    topics = read_topics(JUDGED / f"{collection}.jsonl")
    assert len({topic.topic for topic in topics}) == len(topics) >= 30
    for row in lines(collection):
        assert set(row["evidence"]) == set(row["covered"]), row["topic"]
        assert all(row["evidence"].values()), row["topic"]


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_evidence_is_a_document_of_that_truth(shared: Path, collection: str) -> None:
    evidence_is_of_that_truth(shared / collection / "labels.csv", collection)


@pytest.mark.parametrize("collection", PUBLIC)
def test_evidence_is_a_listed_document_of_that_truth(collection: str) -> None:
    evidence_is_of_that_truth(SOURCES, collection)


def evidence_is_of_that_truth(labels: Path, collection: str) -> None:
    with labels.open(encoding="utf-8", newline="") as file:
        truths = {row["sha256"]: row["truth"] for row in csv.DictReader(file)}
    for row in lines(collection):
        for truth, documents in row["evidence"].items():
            assert {truths[sha256] for sha256 in documents} == {truth}, row["topic"]
