"""The reranker that comes with Fivefold: what it reads, what it leaves to others, and how it is learned."""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.inference.cross_encoder import StockCrossEncoder, load_cross_encoder, stock_cross_encoder
from adapters.inference.included_reranker import CHANGES, included_reranker_folder, merged
from adapters.inference.model_cache import weights_digest
from bootstrap.environment import Settings
from bootstrap.workbench import configured_rerankers
from core.domain.documents import Passage, Span
from core.domain.errors import BadRequest
from core.domain.queries import Route, ScoreProfile, SearchRequest
from core.domain.results import Candidate, SearchResult, Signals
from core.evaluation.judgments.word_hashes import word_hash
from core.evaluation.tuning.reranker_fitting import (
    RerankerExample,
    RerankerQuestion,
    parse_reranker_questions,
    reranker_examples,
)
from core.knowledge.rerankers import rerank_table
from core.ports.models import Reranked
from core.search.ranking.factors import ScoringContext
from core.search.ranking.rerank import DeadlineReranker, pieces_of, reranked, with_rerank
from core.search.ranking.score import score
from core.text.sentences import sentences
from tests.tiny_models import tiny_embedder

INCLUDED = rerank_table().rows["included"]
QUESTION = "How long are records kept?"
NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


def passage(text: str, number: int = 1, context: str = "") -> Passage:
    return Passage(text, 1, 0, len(text), sentences(text), id=number, context=context)


class Noted:
    """A reranker that notes what it is given; the logit of a text is the number its first piece begins with."""

    problem = ""

    def __init__(self) -> None:
        self.read: list[list[str]] = []

    def logits(self, question: str, texts: Sequence[Sequence[str]], deadline_ms: float | None = None) -> Reranked:
        self.read += [list(text) for text in texts]
        return Reranked(tuple(float(text[0].split()[0]) for text in texts))


# What it reads


@given(st.lists(st.text("ab .", min_size=1, max_size=90), max_size=12), st.integers(20, 200))
def test_pieces_hold_all_sentences_once_and_are_short_unless_one_sentence_is_long(
    parts: list[str], characters: int
) -> None:
    text = "Begin. " + " ".join(f"{part}." for part in parts)
    each = passage(text)
    pieces = pieces_of(each, characters)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    longest = max(span.end - span.start for span in each.sentences)
    assert max(map(len, pieces)) <= max(characters, longest)


def test_of_long_headings_the_end_is_read() -> None:
    (piece,) = pieces_of(passage("Keep it.", context="Handbook > " * 20 + "Records"), 60)
    assert piece == "> Handbook > Records\nKeep it."


def test_ten_passages_are_read_and_those_in_another_language_are_not() -> None:
    reranker = Noted()
    before = [Candidate(passage(f"{n} text.", n), Signals(0.5, other_language=n == 3)) for n in range(1, 15)]
    after, notice = reranked(before, QUESTION, reranker, INCLUDED)
    assert [c.signals.rerank_logit for c in after] == [1.0, 2.0, None, *map(float, range(4, 11)), *[None] * 4]
    assert [c.passage.id for c in after if c.signals.unreadable] == [3]
    assert len(reranker.read) == 9
    assert notice == ""


def test_a_question_in_another_language_is_not_read_and_told_so() -> None:
    reranker = Noted()
    before = [Candidate(passage("1 text."), Signals(0.5))]
    after, notice = reranked(before, "Wie lange werden die Unterlagen aufbewahrt?", reranker, INCLUDED)
    assert (after, reranker.read) == (tuple(before), [])
    assert notice == "The reranker 'included' reads only English: nothing was reranked."


def test_where_no_passage_is_english_it_says_so() -> None:
    before = [Candidate(passage("1 texte."), Signals(0.5, other_language=True))]
    after, notice = reranked(before, QUESTION, Noted(), INCLUDED)
    assert after == tuple(before)
    assert notice == "The reranker 'included' reads only English, and the best passages are not."
    assert reranked([], QUESTION, Noted(), INCLUDED) == ((), "")


def test_a_passage_it_cannot_read_counts_as_the_mean_of_those_it_read() -> None:
    profile = with_rerank(ScoreProfile("plain", {"similarity": 1.0}), INCLUDED.share)
    foreign = [Signals(0.5, other_language=True, unreadable=True), Signals(0.5, other_language=True)]
    signals = [Signals(0.5, rerank_logit=-3.0), Signals(0.5, rerank_logit=3.0), *foreign, Signals(0.5)]
    read = [Candidate(passage("text", n), each) for n, each in enumerate(signals, 1)]

    def totals(reranker: str) -> list[float]:
        request = SearchRequest(QUESTION, rerank=reranker)
        result = SearchResult(
            request=request, route=Route(), profile=profile, filters=request.filters, filters_in_words=(), hits=(),
            dropped=(), candidates=tuple(read), documents={}, legs=(), answered=False,
        )  # fmt: skip
        context = ScoringContext.of_result(result, profile, NOW)
        return [score(each, context).total for each in read]

    low, high, unreadable, far, unread = totals("included")
    assert unreadable == pytest.approx((low + high) / 2)
    assert far == unread < low, "one that it would not have read anyway gains nothing"


# The model


@pytest.mark.slow
def test_what_is_learned_is_added_to_the_embedding_model_and_tells_right_from_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.numpy import save_file

    from adapters.inference import included_reranker
    from adapters.inference.reranker_training import train_reranker

    folder = tiny_embedder(tmp_path / "base", 32)
    examples = [RerankerExample(f"what is {n}", ("it is red",), ("no", "not", "none")) for n in range(1200)]
    steps: list[tuple[int, int]] = []
    learned = train_reranker(examples, folder, 64, lambda done, of: steps.append((done, of)))
    assert steps[-1] == (75, 75)
    assert {each.dtype for each in learned.values()} == {np.dtype(np.float16)}
    save_file(learned, tmp_path / "changes.safetensors")
    monkeypatch.setattr(included_reranker, "CHANGES", tmp_path / "changes.safetensors")
    monkeypatch.setattr(included_reranker, "model_folder", lambda model: folder)
    former = tmp_path / "models" / "0123456789abcdef-included-reranker"
    former.mkdir(parents=True)
    (former / "model.safetensors").write_bytes(b"former weights")
    converted = tmp_path / "models" / f"{weights_digest(former)[:16]}-scores-openvino"
    other = tmp_path / "models" / "fedcba9876543210-scores-openvino"
    converted.mkdir()
    other.mkdir()
    made = included_reranker_folder(tmp_path / "models")
    assert included_reranker_folder(tmp_path / "models") == made
    assert set((tmp_path / "models").iterdir()) == {made, other}, "what an earlier version made is removed"
    model = StockCrossEncoder(stock_cross_encoder(made), 64)
    right, *wrong = model.score("what is 7", ["it is red", "no", "none"])
    assert right > max(wrong) + 1

    # Learning goes on from a file, and begins to be wrong only where the new examples say something else.
    again = train_reranker(examples[:1], folder, 64, start=learned)
    assert all(np.allclose(again[name], learned[name], atol=0.02) for name in learned)
    with pytest.raises(BadRequest, match="another model"):
        train_reranker(examples[:1], tiny_embedder(tmp_path / "other", 16), 64, start=learned)


def test_changes_to_weights_that_the_base_lacks_are_refused() -> None:
    half: dict[str, Any] = {"gone.down": np.ones((1, 2), np.float16), "gone.up": np.ones((2, 1), np.float16)}
    with pytest.raises(KeyError, match="gone"):
        merged({"layer.weight": np.eye(2, dtype=np.float32)}, half)


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_changes_that_cannot_be_read_leave_a_search_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    from adapters.inference import included_reranker

    if damage == "damaged":
        (tmp_path / "changes").write_bytes(CHANGES.read_bytes()[:1000])
    monkeypatch.setattr(included_reranker, "CHANGES", tmp_path / "changes")
    reranker = configured_rerankers(Settings(tmp_path), threads=1, hurried=False)["included"]
    before = [Candidate(passage("1 text."), Signals(0.5))]
    after, notice = reranked(before, QUESTION, reranker, INCLUDED)
    assert after == tuple(before)
    assert notice.startswith("Not reranked: The included reranker cannot be made")
    assert reranker.problem


@pytest.mark.slow
def test_the_included_model_is_small_and_tells_an_answer_from_its_neighbours(models: Path) -> None:
    assert CHANGES.stat().st_size < 2_000_000
    model = load_cross_encoder("included", "included", models, 1, INCLUDED.max_tokens)
    assert model.notice == ""
    handbook = {
        "How many days of annual leave do employees get?": "Annual leave is twenty-five days a year for all.",
        "When is the canteen open?": "The canteen is open from eleven to two.",
        "Who approves overtime?": "Overtime is approved by the head of department in advance.",
        "How long are payroll records kept?": "Payroll records are kept for six years after the end of the tax year.",
        "What must be worn in the workshop?": "Helmets and safety boots are worn in the workshop at all times.",
        "On which day are wages paid?": "Wages are paid on the last working day of the month.",
        "How can I report an accident?": "Accidents are reported on form A12 to the safety officer.",
        "Is smoking allowed in company cars?": "Smoking is not allowed in company cars.",
    }
    texts = [*handbook.values()]
    right = [int(np.argmax(model.score(question, texts))) == at for at, question in enumerate(handbook)]
    assert sum(right) >= 6, right
    reranker = configured_rerankers(Settings(models.parent), threads=1, hurried=False)["included"]
    question = next(iter(handbook))
    best = float(max(model.score(question, texts)))
    assert reranker.logits(question, [texts]).logits == (pytest.approx(best, abs=0.1),)


# What it learns from

DOCS = Path(__file__).parents[2] / "docs"
RETENTION = "The firm keeps every contract for ten years after it has ended."
ACCESS = "Only the legal department may open the archive of the contracts."
HOLIDAY = "On public holidays the office stays closed and nobody is on call."


def library() -> dict[str, list[Passage]]:
    return {"a": [passage(f"{RETENTION} {ACCESS}", 1)], "b": [passage(HOLIDAY, 2)]}


def vectors(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors by the letters of the texts."""
    found = np.array([[text.lower().count(letter) + 0.1 for letter in "abcdefghilmnoprstuvy"] for text in texts])
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def rows(name: str) -> list[dict[str, str]]:
    with (DOCS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def asked(kind: str, sentence: str, document: str = "a") -> RerankerQuestion:
    return RerankerQuestion(document, kind, (word_hash(sentence),), "How long are contracts kept?")


def test_the_piece_with_the_answer_is_right_and_others_of_its_document_and_of_others_are_wrong() -> None:
    (example,) = reranker_examples([asked("plain", RETENTION)], library(), 70, vectors)
    assert example.right == (RETENTION,)
    assert example.wrong == (ACCESS, HOLIDAY)


def test_what_comes_nearest_to_a_question_without_an_answer_is_wrong() -> None:
    (example,) = reranker_examples([asked("near", RETENTION)], library(), 70, vectors)
    assert (example.right, example.wrong) == ((), (RETENTION, ACCESS))


def test_a_question_whose_sentence_or_document_is_gone_teaches_nothing() -> None:
    gone = [asked("plain", "Nobody ever wrote this sentence anywhere at all."), asked("plain", RETENTION, "c")]
    assert reranker_examples(gone, library(), 70, vectors) == []


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        json.dumps({"document": "a", "kind": "plain", "question": "Why?"}),
        json.dumps({"document": "a", "kind": "hard", "sentences": [], "question": "Why?"}),
        json.dumps({"document": "a", "kind": "plain", "sentences": ["x"], "question": "Why?"}),
    ],
)
def test_a_line_that_is_no_question_is_told_with_its_number(line: str) -> None:
    good = json.dumps({"document": "a", "kind": "plain", "sentences": ["0123456789ab:8"], "question": "Why?"})
    with pytest.raises(BadRequest, match="Line 2"):
        parse_reranker_questions([good, line])


def test_the_listed_questions_are_about_listed_files() -> None:
    questions = parse_reranker_questions((DOCS / "reranker-questions.jsonl").read_text("utf-8").splitlines())
    assert {each.document for each in questions} == {row["sha256"][:16] for row in rows("reranker-sources.csv")}
    assert len(questions) > 15_000


def test_no_file_and_no_owner_judges_search_that_it_learned_from() -> None:
    judged: set[str] = set()
    for collection in ("public_1", "public_2"):
        judged |= set((DOCS.parent / "tests/search/judged" / collection / "documents.txt").read_text("utf-8").split())
    owners = {row["source"].split("/")[0] for row in rows("classifier-sources.csv") if row["sha256"] in judged}
    learned = rows("reranker-sources.csv")
    assert judged.isdisjoint(row["sha256"] for row in learned)
    assert owners.isdisjoint(row["source"].split("/")[0] for row in learned)


def test_a_piece_not_read_in_time_leaves_its_passage_without_a_logit() -> None:
    class Late:
        notice = ""

        def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
            return np.array([float("nan") if "late" in text else 1.0 for text in texts], dtype=np.float32)

    reranker = DeadlineReranker("included", Late, 60_000, monotonic)
    found = reranker.logits(QUESTION, [["a", "b"], ["a", "late"], ["c"]])
    assert found.logits == (1.0, None, 1.0)
    assert found.notice.startswith("2 of 3 were reranked")


def test_spans_of_a_passage_without_sentences_are_the_whole() -> None:
    bare = replace(passage("Keep it."), sentences=())
    assert pieces_of(bare, 50) == ["Keep it."]
    assert Span(0, 8) == passage("Keep it.").sentences[0]
