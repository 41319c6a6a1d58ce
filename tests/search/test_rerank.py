"""Reranking: what is read in time counts as one factor; what is not, or cannot be had, is told and harms nothing."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import fsum, nan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.inference import cross_encoder
from adapters.inference.cross_encoder import (
    OpenVinoCrossEncoder,
    StockCrossEncoder,
    load_cross_encoder,
    stock_cross_encoder,
)
from adapters.inference.cross_encoder_conversion import MOST_DIFFERENCE, PROBES
from bootstrap.environment import Settings
from bootstrap.workbench import configured_rerankers
from core.domain.documents import Passage, Span
from core.domain.errors import BadTable, ModelUnavailable
from core.domain.queries import Route, ScoreProfile
from core.domain.results import Candidate, Signals
from core.knowledge.loading import table
from core.knowledge.profiles import check_profile, profiles
from core.knowledge.rerankers import RERANKERS, parse_rerankers, rerank_table
from core.ports.models import Reranked
from core.search.ranking import rerank
from core.search.ranking.factors import ScoringContext
from core.search.ranking.rerank import DeadlineReranker, rank_passages, reranked, with_rerank
from core.search.ranking.score import score

if TYPE_CHECKING:
    import torch

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
QUESTION = "How long are records kept?"
FAST = rerank_table().rows["fast"]
INCLUDED = rerank_table().rows["included"]


class Scripted:
    """A cross-encoder whose logit is the number a text begins with; it can be held up at a text."""

    def __init__(self, notice: str = "") -> None:
        self.notice, self.read, self.held_at = notice, [], ""
        self.reached, self.free = threading.Event(), threading.Event()
        self.most_at_once = self._now = 0

    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        if self.held_at and any(text.startswith(self.held_at) for text in texts):
            self.reached.set()
            assert self.free.wait(60)
        self.read += [(question, text) for text in texts]
        self._now -= 1
        return np.array([float(text.split()[0]) for text in texts], dtype=np.float32)


def made(model: Scripted, deadline_ms: int | None = 60_000) -> DeadlineReranker:
    reranker = DeadlineReranker("fast", lambda: model, deadline_ms, monotonic)
    reranker.warm()
    return reranker


def passage(text: str, number: int = 1, context: str = "") -> Passage:
    return Passage(text, 1, 0, len(text), (Span(0, len(text)),), id=number, context=context)


def whole(texts: Sequence[str]) -> list[list[str]]:
    """Texts of one piece each."""
    return [[text] for text in texts]


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(passage(text, n), Signals(0.5)) for n, text in enumerate(texts, 1)]


# The deadline


def test_all_that_is_read_in_time_is_scored_and_nothing_is_said() -> None:
    model = Scripted(notice="It is slow.")
    assert made(model).logits(QUESTION, whole(["3 c", "1 a", "2 b"])) == Reranked((3.0, 1.0, 2.0))
    assert model.read == [(QUESTION, "3 c"), (QUESTION, "1 a"), (QUESTION, "2 b")]


def test_a_deadline_keeps_what_was_scored_and_leaves_the_rest() -> None:
    model = Scripted()
    model.held_at = "5"
    reranker = made(model, deadline_ms=1000)
    found = reranker.logits(QUESTION, whole([f"{n} text" for n in range(10)]))
    assert found.logits == (0.0, 1.0, 2.0, 3.0, *[None] * 6)
    assert found.notice == "4 of 10 were reranked in 1000 ms; the others count 0 for it and keep their order."
    model.free.set()


def test_a_batch_under_way_at_the_deadline_is_the_last_of_its_question() -> None:
    model = Scripted()
    model.held_at = "0"
    reranker = made(model, deadline_ms=100)
    reranker.logits(QUESTION, whole([f"{n} text" for n in range(10)]))
    model.free.set()
    model.held_at = ""
    while reranker.logits(QUESTION, whole(["8 other"])).logits == (None,):
        pass
    assert len([text for _, text in model.read if text.endswith("text")]) == rerank._BATCH


def test_a_busy_model_says_so_and_threads_do_not_pile_up() -> None:
    model = Scripted()
    model.held_at = "0"
    reranker = made(model, deadline_ms=50)
    first = reranker.logits(QUESTION, whole(["0 text"]))
    before = threading.active_count()
    others = [reranker.logits(QUESTION, whole(["1 text"])) for _ in range(5)]
    assert first.logits == (None,)
    assert first.notice == "0 of 1 were reranked in 50 ms; the others count 0 for it and keep their order."
    assert {found.logits for found in others} == {(None,)}
    assert {found.notice for found in others} == {
        "The reranker 'fast' is busy with other questions: nothing was reranked."
    }
    assert threading.active_count() == before
    model.free.set()


def test_callers_at_once_take_turns_and_each_gets_its_own() -> None:
    model = Scripted()
    reranker = made(model)
    found: dict[int, Reranked] = {}

    def ask(number: int) -> None:
        found[number] = reranker.logits(QUESTION, whole([f"{number} a", f"{number + 100} b", f"{number + 200} c"]))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: Reranked((float(n), float(n + 100), float(n + 200))) for n in range(8)}
    assert model.most_at_once == 1


def test_a_slow_model_says_why_when_it_did_not_get_through() -> None:
    model = Scripted(notice="It runs unconverted.")
    model.held_at = "1"
    found = made(model, deadline_ms=50).logits(QUESTION, whole(["1 text"]))
    model.free.set()
    assert found.notice.endswith("It runs unconverted.")


def test_a_logit_that_is_no_number_is_none() -> None:
    class Broken:
        notice = ""

        def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
            return np.array([nan] * len(texts), dtype=np.float32)

    found = DeadlineReranker("fast", Broken, 60_000, monotonic).logits(QUESTION, whole(["a", "b"]))
    assert found == Reranked((None, None), "0 of 2 were reranked; the others count 0 for it and keep their order.")


def test_an_error_nobody_expected_reaches_whoever_asked_and_the_model_goes_on() -> None:
    model = Scripted()
    reranker = made(model)
    with pytest.raises(ValueError, match="could not convert"):
        reranker.logits(QUESTION, whole(["no number"]))
    assert reranker.logits(QUESTION, whole(["1 text"])).logits == (1.0,)


# Loading


def test_nothing_loads_before_it_is_needed() -> None:
    loads: list[int] = []
    reranker = DeadlineReranker("fast", lambda: loads.append(1) or Scripted(), 60_000, monotonic)  # type: ignore[func-returns-value]
    assert reranker.logits(QUESTION, whole([])) == Reranked(())
    assert loads == []
    for _ in range(3):
        reranker.logits(QUESTION, whole(["1 text"]))
    assert loads == [1]


def test_a_model_still_loading_does_not_hold_a_search_up() -> None:
    ready, model = threading.Event(), Scripted()

    def load() -> Scripted:
        assert ready.wait(60)
        return model

    reranker = DeadlineReranker("fast", load, 50, monotonic)
    found = reranker.logits(QUESTION, whole(["1 text", "2 text"]))
    assert found.logits == (None, None)
    assert "still being loaded" in found.notice
    ready.set()
    patient = DeadlineReranker("fast", lambda: model, None, monotonic)
    assert patient.logits(QUESTION, whole(["1 text"])) == Reranked((1.0,))


def test_a_model_loads_while_the_question_is_typed() -> None:
    ready, model, started = threading.Event(), Scripted(), threading.Event()

    def load() -> Scripted:
        started.set()
        assert ready.wait(60)
        return model

    reranker = DeadlineReranker("fast", load, None, monotonic)
    reranker.start_loading()
    assert started.wait(60) and not ready.is_set()
    started.clear()
    ready.set()
    assert reranker.logits(QUESTION, whole(["1 text"])) == Reranked((1.0,)) and not started.is_set()
    broken = DeadlineReranker("fast", failing(), 60_000, monotonic)
    with pytest.raises(ModelUnavailable):
        broken.warm()
    broken.start_loading()  # the search that needs it says so


def failing(after: Callable[[], None] = lambda: None) -> Callable[[], Scripted]:
    def load() -> Scripted:
        after()
        raise ModelUnavailable("The weights are not here.", "Fetch them.")

    return load


def test_a_failure_to_load_is_remembered_for_some_minutes() -> None:
    clock, tries = [1000.0], []
    reranker = DeadlineReranker("fast", failing(lambda: tries.append(1)), 60_000, lambda: clock[0])
    assert reranker.problem == ""
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="not here"):
            reranker.logits(QUESTION, whole(["1 text"]))
    assert (len(tries), reranker.problem) == (1, "The weights are not here.")
    clock[0] += 301
    with pytest.raises(ModelUnavailable, match="not here"):
        reranker.logits(QUESTION, whole(["1 text"]))
    assert len(tries) == 2


def test_a_person_can_have_a_failed_model_looked_for_again_at_once() -> None:
    tries: list[int] = []
    reranker = DeadlineReranker("fast", failing(lambda: tries.append(1)), 60_000, lambda: 1000.0)
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            reranker.logits(QUESTION, whole(["1 text"]))
        reranker.forget_failure()
    assert len(tries) == 2


def test_whatever_keeps_a_model_from_loading_costs_a_notice_and_not_the_search() -> None:
    def full_disk() -> Scripted:
        raise OSError(28, "No space left on device")

    reranker = DeadlineReranker("fast", full_disk, 60_000, monotonic)
    before = candidates("a", "b")
    after, notice = reranked(before, QUESTION, reranker, FAST)
    assert after == tuple(before)
    assert notice.startswith("Not reranked: The reranker 'fast' cannot be loaded: [Errno 28] No space left on device.")
    assert "No space left" in reranker.problem


def test_weights_that_are_not_on_this_machine_are_told_and_search_goes_on(tmp_path: Path) -> None:
    settings = Settings(tmp_path, reranker_fast="no/such-model-anywhere", reranker_balanced="not a name at all!")
    every = configured_rerankers(settings, threads=1, hurried=False)
    assert tuple(every) == RERANKERS
    before = candidates("a", "b")
    after, notice = reranked(before, QUESTION, every["fast"], FAST)
    assert after == tuple(before)
    assert notice.startswith("Not reranked: The model 'no/such-model-anywhere' is not on this machine")
    assert "FIVEFOLD_RERANKER_FAST" in notice
    assert "neither a folder nor a model name" in reranked(before, QUESTION, every["balanced"], FAST)[1]


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import core.search.ranking.rerank, sys; print({'torch', 'openvino', 'tokenizers'} & set(sys.modules))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["set()"]


# What is read of a search, and what it counts


def test_at_most_a_hundred_candidates_are_read_from_the_best_on() -> None:
    model = Scripted()
    before = candidates(*[f"{n} text" for n in range(130)])
    after, notice = reranked(before, QUESTION, made(model), FAST)
    assert [c.signals.rerank_logit for c in after] == [*map(float, range(100)), *[None] * 30]
    assert [c.passage for c in after] == [c.passage for c in before]
    assert notice == ""


def test_title_and_headings_are_read_before_the_text_and_all_is_cut_at_2000_characters() -> None:
    model = Scripted()
    long = Candidate(passage("word " * 1000, context="7 Retention policy"), Signals(0.5))
    (after,), _ = reranked([long], QUESTION, made(model), FAST)
    assert after.signals.rerank_logit == 7.0
    ((_, text),) = model.read
    assert text.startswith("7 Retention policy\nword word")
    assert len(text) == 2000


def test_no_candidates_are_none() -> None:
    assert reranked([], QUESTION, made(Scripted()), FAST) == ((), "")


def test_texts_are_ranked_for_their_own_sake_unread_ones_last() -> None:
    model = Scripted()
    assert rank_passages(QUESTION, [], made(model), FAST) == []
    assert rank_passages(QUESTION, ["1 a", "3 b", "1 c", "2 d"], made(model), FAST) == [
        (1, 3.0),
        (3, 2.0),
        (0, 1.0),
        (2, 1.0),
    ]
    assert len(rank_passages(QUESTION, [f"{n} text" for n in range(150)], made(model), FAST)) == 150
    model.held_at = "0"
    late = rank_passages(QUESTION, ["1 a", "2 b", "0 c", "9 d"], made(model, deadline_ms=1000), FAST)
    model.free.set()
    assert late == [(1, 2.0), (0, 1.0), (2, None), (3, None)]


WEIGHTS = st.dictionaries(
    st.sampled_from(["similarity", "keyword", "rerank", "authority"]), st.floats(0.01, 1), min_size=1
).map(lambda raw: {name: weight / fsum(raw.values()) for name, weight in raw.items()})


@given(WEIGHTS)
def test_weights_with_the_reranker_sum_to_1_and_the_others_keep_their_proportions(weights: dict[str, float]) -> None:
    profile = ScoreProfile("any", weights)
    found = with_rerank(profile, FAST.share)
    check_profile(found)
    if "rerank" in weights:
        assert found == profile
        return
    assert found.weights["rerank"] == FAST.share
    for name, weight in weights.items():
        assert found.weights[name] == pytest.approx(weight * (1 - FAST.share))


@given(WEIGHTS, st.floats(0, 1), st.floats(0, 1), st.none() | st.floats(-12, 12))
def test_what_is_shown_without_a_reranker_is_shown_with_it(
    weights: dict[str, float], similarity: float, threshold: float, logit: float | None
) -> None:
    profile = ScoreProfile("any", weights, threshold=threshold)
    signals = Signals(similarity, term_coverage=similarity, rerank_logit=logit)

    def lead(profile: ScoreProfile) -> float:
        total = score(Candidate(passage("text"), signals), ScoringContext.of(Route(), profile, NOW)).total
        return total - profile.threshold

    if lead(profile) >= 0:
        assert lead(with_rerank(profile, FAST.share)) >= -1e-12


@pytest.mark.parametrize("name", list(profiles()))
def test_every_profile_can_be_reranked(name: str) -> None:
    check_profile(with_rerank(profiles()[name], FAST.share))


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=12).map(lambda found: sorted(found, reverse=True)),
    st.lists(st.floats(-12, 12), max_size=12),
)
def test_those_not_read_keep_their_order_among_themselves(similar: list[float], logits: list[float]) -> None:
    profile = with_rerank(ScoreProfile("plain", {"similarity": 1.0}), FAST.share)
    context = ScoringContext.of(Route(), profile, NOW)
    reported = [*logits, *[None] * len(similar)][: len(similar)]
    totals = [
        score(Candidate(passage("text"), Signals(value, rerank_logit=logit)), context).total
        for value, logit in zip(similar, reported, strict=True)
    ]
    unread = [total for total, logit in zip(totals, reported, strict=True) if logit is None]
    assert unread == sorted(unread, reverse=True)


def test_the_reranker_is_one_factor_and_does_not_override_the_others() -> None:
    profile = with_rerank(ScoreProfile("plain", {"similarity": 1.0}), FAST.share)
    context = ScoringContext.of(Route(), profile, NOW)
    near, far = (
        score(Candidate(passage("text"), Signals(similarity, rerank_logit=logit)), context).total
        for similarity, logit in ((0.9, -9.0), (0.2, 9.0))
    )
    assert near > far


# The table


@pytest.mark.parametrize(
    ("row", "key", "value"),
    [
        ("fast", "share", 1.0),
        ("included", "share", "much"),
        ("fast", "candidates", 0),
        ("included", "english_only", "yes"),
        ("fast", "deadline_ms", -1),
        ("fast", "deadline_ms", True),
        ("balanced", "model", ""),
        ("accurate", "speed", 1),
    ],
)
def test_a_wrong_row_is_told_with_file_and_key(row: str, key: str, value: object) -> None:
    raw = {name: dict(values) for name, values in table("rerankers").items()}
    raw[row][key] = value
    with pytest.raises(BadTable, match=rf"rerankers\.toml: \[{row}\].*{key}"):
        parse_rerankers(raw)


def test_a_missing_row_is_told() -> None:
    with pytest.raises(BadTable, match=r"\[fast\] is missing"):
        parse_rerankers({name: row for name, row in table("rerankers").items() if name != "fast"})


# Real models


def tiny(folder: Path, *, numbers: int = 1) -> Path:
    """A cross-encoder of two small layers with random weights, that reads letters and is told to apply a sigmoid."""
    import torch

    folder.mkdir(parents=True)
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *[f"##{letter}" for letter in letters]]
    sizes = {"vocab_size": len(vocabulary), "hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 256}
    config = {
        **sizes,
        "model_type": "bert",
        "architectures": ["BertForSequenceClassification"],
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "id2label": {str(number): f"LABEL_{number}" for number in range(numbers)},
        "sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    torch.manual_seed(4)
    torch.save(weights(len(vocabulary), numbers), folder / "pytorch_model.bin")
    letter_tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    values = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 256, **marks}
    (folder / "tokenizer_config.json").write_text(json.dumps(values))
    return folder


def weights(vocabulary: int, numbers: int) -> "dict[str, torch.Tensor]":
    """Random weights under the names a BERT classifier gives them."""
    import torch

    found: dict[str, torch.Tensor] = {}

    def linear(name: str, wide: int, deep: int) -> None:
        found[f"{name}.weight"], found[f"{name}.bias"] = torch.randn(wide, deep) * 0.3, torch.randn(wide) * 0.3

    def norm(name: str) -> None:
        found[f"{name}.weight"], found[f"{name}.bias"] = torch.ones(32), torch.zeros(32)

    for kind, rows in (("word", vocabulary), ("position", 256), ("token_type", 2)):
        found[f"bert.embeddings.{kind}_embeddings.weight"] = torch.randn(rows, 32) * 0.3
    norm("bert.embeddings.LayerNorm")
    for layer in ("bert.encoder.layer.0", "bert.encoder.layer.1"):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear(f"{layer}.attention.{part}", 32, 32)
        norm(f"{layer}.attention.output.LayerNorm")
        linear(f"{layer}.intermediate.dense", 64, 32)
        linear(f"{layer}.output.dense", 32, 64)
        norm(f"{layer}.output.LayerNorm")
    linear("bert.pooler.dense", 32, 32)
    linear("classifier", numbers, 32)
    return found


def letter_tokenizer(vocabulary: Sequence[str]) -> Any:
    """Cuts a text into letters, as a BERT tokenizer does with words it does not know."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


TEXTS = ["Records are kept for three years.", "", "Overtime is paid. " * 200, "W-2", "Überstunden", "café 中文"]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("cross-encoder") / "tiny")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder; what is converted into its models takes a process that imports torch."""
    return tmp_path_factory.mktemp("kept")


@pytest.mark.slow
def test_the_converted_model_agrees_with_the_original_and_both_give_raw_logits(model_folder: Path, kept: Path) -> None:
    models = kept / "models"
    converted = load_cross_encoder(str(model_folder), "fast", models, 1, 512)
    assert isinstance(converted, OpenVinoCrossEncoder)
    original = StockCrossEncoder(stock_cross_encoder(model_folder), 512)
    pairs = [*PROBES, *[(QUESTION, text) for text in TEXTS]]
    expected = np.array([original.score(question, [text])[0] for question, text in pairs])
    found = np.array([converted.score(question, [text])[0] for question, text in pairs])
    np.testing.assert_allclose(found, expected, atol=MOST_DIFFERENCE)
    assert np.ptp(expected) > 4 * MOST_DIFFERENCE, "a model that tells nothing apart proves nothing"
    assert expected.min() < 0, "a sigmoid was applied"
    np.testing.assert_allclose(converted.score(QUESTION, TEXTS), found[len(PROBES) :], atol=MOST_DIFFERENCE)
    np.testing.assert_allclose(original.score(QUESTION, TEXTS), expected[len(PROBES) :], atol=1e-4)
    again = load_cross_encoder(str(model_folder), "fast", models, 1, 512)
    assert np.array_equal(again.score(QUESTION, TEXTS), converted.score(QUESTION, TEXTS))
    assert len(list(models.glob("*-rerank-openvino-*"))) == 1


@pytest.mark.slow
def test_tokens_beyond_the_rows_number_are_not_read(model_folder: Path, tmp_path: Path) -> None:
    short = StockCrossEncoder(stock_cross_encoder(model_folder), 24)
    same = [short.score("who", [text])[0] for text in ("abcdefgh " * 9 + "one end", "abcdefgh " * 9 + "another")]
    assert same[0] == pytest.approx(same[1], abs=1e-6)


@pytest.mark.slow
def test_a_model_of_several_numbers_is_no_reranker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder, "find_spec", lambda name: None)  # a failed conversion comes to the same
    folder = tiny(tmp_path / "three", numbers=3)
    reranker = DeadlineReranker(
        "fast", lambda: load_cross_encoder(str(folder), "fast", tmp_path / "kept", 1, 512), None, monotonic
    )
    after, notice = reranked(candidates("a"), QUESTION, reranker, FAST)
    assert after[0].signals.rerank_logit is None
    assert "3 numbers per pair" in notice


@pytest.mark.slow
def test_a_folder_of_the_settings_is_loaded_and_serves_many_callers(model_folder: Path, kept: Path) -> None:
    settings = Settings(kept, reranker_fast=str(model_folder))
    reranker = configured_rerankers(settings, threads=1, hurried=False)["fast"]
    expected = reranker.logits(QUESTION, whole(TEXTS))
    assert None not in expected.logits
    found: list[Reranked] = []
    threads = [threading.Thread(target=lambda: found.append(reranker.logits(QUESTION, whole(TEXTS)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    assert replace(settings, reranker_fast="").reranker_fast == ""
