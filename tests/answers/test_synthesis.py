"""An answer in running text: checked when a model writes it, extractive whenever that cannot be had."""

import logging
import pickle
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import pytest

from adapters.inference.language_model import LanguageModelClient
from core.answers.context import context_of
from core.answers.service import INSTRUCTION, synthesize, write_extractive
from core.domain.errors import BadRequest, SynthesisFailed, SynthesisFailure
from core.domain.five_truths import FiveTruthsAnswer
from tests.answers.asking import QUESTION, answer_for, expense_answer
from tests.answers.endpoints import KEY, Behaviour, completion, served
from tests.search.library import Library

LAW, POLICY = "1.0", "3.0"
"""How `expense_answer` cites them: by the first sentence of the first and of the third passage."""
GOOD = (
    f"Employees must submit expense reports within 30 days [{LAW}]. "
    f"Our own rules allow employees to submit expense reports within 60 days [{POLICY}]."
)


def synthesis_of(text: Any, answer: FiveTruthsAnswer | None = None) -> Any:
    """What is made of a completion that says this."""
    with served(Behaviour(completion(text))) as model:
        return synthesize(answer or expense_answer(), model.endpoint())


def failed(behaviour: Behaviour, **values: Any) -> SynthesisFailed:
    """How a client of it fails; the answer then falls back."""
    with served(behaviour) as model:
        endpoint = model.endpoint(**values)
        with pytest.raises(SynthesisFailed) as raised:
            endpoint.write("rules", "context")
        fallen = synthesize(expense_answer(), endpoint)
    assert fallen.text == write_extractive(expense_answer()).text and not fallen.written_by
    assert len(fallen.notices) == 1
    assert fallen.notices[0].startswith("The text is made of the sentences found alone: ")
    assert KEY not in f"{raised.value!r} {raised.value} {fallen.notices}"
    return raised.value


def test_without_a_writer_the_text_is_the_sentences_found() -> None:
    text = synthesize(expense_answer())
    assert text == write_extractive(expense_answer())
    assert f"Employees must submit expense reports within 30 days. [{LAW}]" in text.text
    assert "expense reports submitted late: 37 [f1]" in text.text
    assert not text.written_by and not text.notices and not text.unsupported
    assert [each.cited[0] for each in text.sentences] == [*text.block.citations, *text.block.figures]


def test_a_good_reply_is_kept_as_it_is() -> None:
    text = synthesis_of(GOOD)
    assert text.text == GOOD
    assert text.written_by == "tiny at 127.0.0.1"
    assert not text.notices and not text.unsupported
    assert [each.cited for each in text.sentences] == [(LAW,), (POLICY,)]


def test_the_model_is_given_the_rules_the_question_and_the_numbered_sentences() -> None:
    with served(Behaviour(completion(GOOD))) as model:
        synthesize(expense_answer(), model.endpoint())
        synthesize(expense_answer(), model.endpoint(url=f"http://127.0.0.1:{model.port}/v1/chat/completions/", key=""))
    (path, headers, sent), (second, bare, _) = model.requests
    assert path == second == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in bare
    assert sent["model"] == "tiny" and sent["stream"] is False and sent["temperature"] == 0
    rules, asked_for = sent["messages"]
    assert (rules["role"], rules["content"]) == ("system", INSTRUCTION)
    assert asked_for["content"] == f"Question: {QUESTION}\n\n{context_of(expense_answer()).text}"


def test_an_invented_citation_is_marked() -> None:
    text = synthesis_of(f"{GOOD} Managers approve expense reports [99.7].")
    assert text.notices == ("1 of 3 sentences by tiny at 127.0.0.1 is not supported by what they cite, and marked.",)
    (wrong,) = text.unsupported
    assert wrong.unknown == ("99.7",)
    assert text.marked.split("\n")[2].startswith(
        "Managers approve expense reports. ⚠ not supported: [99.7] is not among"
    )


def test_an_unsupported_number_is_marked() -> None:
    text = synthesis_of(f"{GOOD} Employees must submit expense reports within 45 days [{LAW}].")
    (wrong,) = text.unsupported
    assert wrong.problems == ("“within 45 days” is not in what it cites.",)
    assert text.sentences[0].supported and text.sentences[1].supported


def test_a_reply_without_a_supported_sentence_is_not_shown() -> None:
    text = synthesis_of("Expense reports are wonderful. Ask your manager [99.7].")
    assert text.text == write_extractive(expense_answer()).text
    assert "no sentence of its text is supported" in text.notices[0]


def test_nothing_is_sent_when_no_truth_answers() -> None:
    with served(Behaviour(completion(GOOD))) as model:
        text = synthesize(answer_for(library=Library()), model.endpoint())
    assert not model.requests
    assert text.text == "" and "No truth answers" in text.notices[0]


def test_a_model_that_does_not_answer_in_time_is_left() -> None:
    started = perf_counter()
    late = failed(Behaviour(silent=True), timeout_seconds=0.3)
    assert late.failure is SynthesisFailure.TIMEOUT
    assert "did not answer within 0.3 s" in late.message
    assert perf_counter() - started < 5


def test_a_model_that_drips_for_ever_is_left() -> None:
    assert failed(Behaviour(drips=True), timeout_seconds=0.4).failure is SynthesisFailure.TIMEOUT


@pytest.mark.parametrize("status", [301, 401, 429, 500, 503])
def test_any_other_status_is_a_refusal(status: int) -> None:
    headers = {"Location": "http://127.0.0.1:1/elsewhere"} if status == 301 else {}
    refused = failed(Behaviour(KEY.encode(), status=status, headers=headers))
    assert refused.failure is SynthesisFailure.REFUSED and str(status) in refused.message


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Bad gateway</html>",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{"message": {}}]}',
        b"[" * 200_000,
        completion(["a", "list"]),
        completion(7),
        b" " * 1_100_000,
    ],
    ids=["html", "binary", "list", "null", "no choice", "no content", "deep", "parts", "number", "endless"],
)
def test_garbage_is_unreadable(body: bytes) -> None:
    assert failed(Behaviour(body)).failure is SynthesisFailure.UNREADABLE


@pytest.mark.parametrize("text", ["", "  \n", None])
def test_an_empty_text_is_a_failure(text: Any) -> None:
    assert failed(Behaviour(completion(text))).failure is SynthesisFailure.EMPTY


def test_nobody_at_the_address_is_a_failure() -> None:
    with served(Behaviour()) as model:
        removed = model.endpoint()
    with pytest.raises(SynthesisFailed) as raised:
        removed.write("rules", "context")
    assert raised.value.failure is SynthesisFailure.UNREACHABLE
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.failure, again.message) == (SynthesisFailure.UNREACHABLE, raised.value.message)


def test_the_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert synthesis_of(GOOD).written_by


def test_the_key_is_never_shown_or_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with served(Behaviour(completion(GOOD))) as model:
        endpoint = model.endpoint()
        text = synthesize(expense_answer(), endpoint)
    assert KEY not in f"{endpoint!r} {endpoint} {text!r}"
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "values",
    [
        {"url": "ftp://host/v1"},
        {"url": "host/v1"},
        {"url": "http://["},
        {"url": "http://host:port/v1"},
        {"url": f"http://user:{KEY}@host/v1"},
        {"url": f"http://host/v1?key={KEY}"},
        {"key": f"{KEY}\nX-Other: 1"},
        {"key": f"{KEY}é"},
        {"model": " "},
        {"timeout_seconds": 0},
    ],
    ids=str,
)
def test_what_cannot_be_an_endpoint_is_refused_without_naming_the_key(values: dict[str, Any]) -> None:
    with pytest.raises(BadRequest) as raised:
        LanguageModelClient(**({"url": "http://host/v1", "model": "tiny"} | values))
    assert KEY not in str(raised.value)


class Parrot:
    """A writer without a network: whoever has the two members is one."""

    name = "parrot"

    def write(self, instruction: str, context: str) -> str:
        """The numbered sentences, without their headings."""
        lines: Sequence[str] = context.split("\n")
        return "\n".join(line for line in lines if line.startswith("["))


def test_whoever_repeats_the_sentences_is_supported() -> None:
    text = synthesize(expense_answer(), Parrot())
    assert text.written_by == "parrot" and not text.unsupported
    assert synthesize(expense_answer(), Parrot()) == text
