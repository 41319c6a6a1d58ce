"""What each route answers, as a program reads it."""

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any, cast

import jsonschema
import pytest
from fastapi import FastAPI
from httpx import Response
from starlette.testclient import TestClient

from core.domain.errors import StoreFailed
from core.domain.queries import SearchRequest
from core.ports.models import Reranked
from core.search.exports import export_data
from tests.api.conftest import LAW, POLICY, OpenedLibrary, filled, local_client
from tests.fakes import FakeCatalogue

DOCS = Path(__file__).resolve().parents[2] / "docs"


def data(response: Response, status: int = 200) -> Any:
    """The JSON of an answer that must have this status."""
    assert response.status_code == status, response.text
    return response.json() if response.content else None


def problem(response: Response, status: int) -> dict[str, Any]:
    """The problem of an answer that must have this status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = response.json()
    assert found["status"] == status and found["detail"] and found["request_id"] == response.headers["x-request-id"]
    return found


def until(client: TestClient, address: str, states: tuple[str, ...]) -> Any:
    """The object at an address once its state is one of these."""
    for _ in range(400):
        found = data(client.get(address))
        if found["state"] in states:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{address} stayed {found['state']}")


def upload(client: TestClient, name: str, text: str, **more: Any) -> Response:
    return client.post("/documents", files={"file": (name, text.encode())}, **more)


# Documents


def test_an_upload_is_stored_read_and_found(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    uploaded = upload(
        client, "leave.md", "# Leave\nEmployees must get sick leave.", data={"project": "hr", "tags": ["a", "b"]}
    )
    receipt = data(uploaded, 201)
    assert uploaded.headers["location"] == f"/api/documents/{receipt['document_id']}"
    status = data(client.get(f"/documents/{receipt['document_id']}/status"))
    assert (status["state"], status["failure"]) == ("ready", "")
    document = data(client.get(f"/documents/{receipt['document_id']}"))
    assert (document["name"], document["project"], document["tags"]) == ("leave.md", "hr", ["a", "b"])
    assert data(client.get("/search", params={"q": "sick leave"}))["hits"][0]["document"] == "leave.md"
    again = upload(client, "copy.md", "# Leave\nEmployees must get sick leave.", data={"project": "hr"})
    assert data(again, 200)["duplicate_of"] == "leave.md"


def test_an_upload_that_cannot_be_used_says_why(client: TestClient) -> None:
    found = problem(upload(client, "empty.md", ""), 422)
    assert found["detail"] == "'empty.md' is empty (0 bytes)." and found["hint"]
    assert problem(client.post("/documents", json={"file": "x"}), 400)


def test_a_repeated_upload_with_the_same_key_is_carried_out_once(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client, key = local_client(library), {"Idempotency-Key": "one upload"}
    bad = problem(upload(client, "a.md", "# A\nText of a.", headers=key), 400)
    assert "idempotency-key" in bad["detail"]
    key = {"Idempotency-Key": "one-upload"}
    first = upload(client, "a.md", "# A\nText of a.", headers=key)
    before = len(library.workbench.documents.list())
    second = upload(client, "a.md", "# A\nText of a.", headers=key)
    assert data(first, 201) == data(second, 201)
    assert second.headers["idempotency-replayed"] == "true" and "idempotency-replayed" not in first.headers
    assert len(library.workbench.documents.list()) == before
    assert "another request" in problem(upload(client, "b.md", "# B\nOther text.", headers=key), 400)["detail"]


def test_a_failed_upload_frees_its_key(tmp_path: Path) -> None:
    client, key = local_client(filled(tmp_path)), {"Idempotency-Key": "k"}
    problem(upload(client, "a.md", "", headers=key), 422)
    data(upload(client, "a.md", "# A\nText now.", headers=key), 201)


def test_documents_are_listed_by_words_truth_and_order(client: TestClient) -> None:
    names = [each["document"]["name"] for each in data(client.get("/documents", params={"order": "name"}))["items"]]
    assert names == sorted(names) and {"law.md", "policy.md", "employees.csv"} <= set(names)
    (found,) = data(client.get("/documents", params={"truth": ["regulatory"]}))["items"]
    assert found["document"]["name"] == "law.md"
    found = data(client.get("/documents", params={"words": "penalty"}))["items"][0]
    assert "civil penalty" in found["sentence"]


def test_a_list_is_read_page_by_page_by_offset_and_by_cursor(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client = local_client(library)
    for number in range(7):
        library.workbench.documents.upload(f"note{number}.md", f"# Note {number}\nText {number}.".encode())
    every = [each["document"]["id"] for each in data(client.get("/documents", params={"limit": 100}))["items"]]
    by_offset = [
        each["document"]["id"]
        for offset in range(0, 12, 3)
        for each in data(client.get("/documents", params={"limit": 3, "offset": offset}))["items"]
    ]
    assert by_offset == every and len(every) == 10
    first = data(client.get("/documents", params={"limit": 4}))
    # A document arrives at the top, and one that was listed is deleted: nothing is given twice, nothing is skipped.
    library.workbench.documents.upload("late.md", b"# Late\nCame late.")
    library.workbench.documents.delete(every[1])
    rest, cursor = [], first["next_cursor"]
    while cursor:
        page = data(client.get("/documents", params={"limit": 4, "cursor": cursor}))
        rest += [each["document"]["id"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert [each["document"]["id"] for each in first["items"]] + rest == every
    wrong = problem(client.get("/documents", params={"words": "other", "cursor": first["next_cursor"]}), 400)
    assert "does not belong to this list" in wrong["detail"]
    problem(client.get("/documents", params={"cursor": "nonsense"}), 400)


def test_labels_are_read_corrected_and_given_back(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    labels = data(client.get("/documents/1/labels"))
    assert labels["truth"]["value"] == "compliance" and labels["truth"]["evidence"][0]["quote"]
    corrected = data(client.patch("/documents/1/labels", json={"truth": "intent", "domain": "earnings"}))
    assert (corrected["truth"]["value"], corrected["truth"]["confirmed"]) == ("intent", True)
    assert data(client.delete("/documents/1/labels/truth"))["truth"] == labels["truth"]
    assert "nonsense" in problem(client.patch("/documents/1/labels", json={"truth": "nonsense"}), 400)["detail"]
    problem(client.patch("/documents/1/labels", json={}), 400)
    problem(client.patch("/documents/1/labels", json={"colour": "red"}), 400)


def test_a_document_is_archived_restored_and_deleted(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    for archived in (True, True, False):
        assert data(client.patch("/documents/2", json={"archived": archived}))["archived"] is archived
    assert data(client.delete("/documents/2"), 204) is None
    assert problem(client.get("/documents/2"), 404)["hint"]
    problem(client.delete("/documents/2"), 404)
    (trashed,) = data(client.get("/trash"))["items"]
    assert trashed["id"] == 2 and trashed["contents"]["passage"] and trashed["leaves_at"] > trashed["deleted_at"]
    assert [each["id"] for each in data(client.post("/trash/restore", json={"documents": [2]}))] == [2]
    assert data(client.get("/documents/2"))["id"] == 2 and data(client.get("/trash"))["total"] == 0
    problem(client.delete("/trash/2"), 404)
    data(client.delete("/documents/2"), 204)
    assert data(client.delete("/trash/2"), 204) is None
    problem(client.post("/trash/restore", json={"documents": [2]}), 404)


def test_pages_passages_and_the_original_are_read(client: TestClient) -> None:
    original = client.get("/documents/2/original")
    assert original.content == LAW.encode() and original.headers["content-disposition"].startswith("attachment")
    (page,) = data(client.get("/documents/2/pages"))["items"]
    text = data(client.get(f"/documents/2/pages/{page['number']}"))["text"]
    assert len(text) == page["characters"]
    passage = data(client.get("/documents/2/passages"))["items"][0]
    assert text[passage["start"] : passage["end"]] == passage["text"]
    assert data(client.get(f"/passages/{passage['id']}")) == passage
    problem(client.get("/documents/2/pages/99"), 404)
    assert data(client.get("/documents/1/entities"))["organization"] == ["Acme Corporation"]
    assert data(client.get("/documents/1/enrichment"))["summary"]
    assert data(client.post("/documents/1/retry"), 202)["id"] == 1


# Search


def test_search_gives_the_data_of_the_download_with_scores_that_add_up(
    library: OpenedLibrary, client: TestClient
) -> None:
    found = data(client.get("/search", params={"q": "overtime", "truths": ["compliance"], "limit": 1}))
    (hit,) = found["hits"]
    assert hit["document"] == "policy.md" and found["filters"] == ["truth is compliance"]
    factors = sum(each["contribution"] for each in hit["factors"])
    for each in hit["multipliers"]:
        factors *= each["value"]
    assert abs(factors - hit["score"]) < 1e-9
    posted = data(
        client.post("/search", json={"question": "overtime", "filters": {"truths": ["compliance"]}, "top_k": 1})
    )
    assert posted["hits"] == found["hits"] and posted["schema"] == "fivefold.search/1"
    downloaded = export_data(library.workbench.search.run(SearchRequest("overtime")))
    assert set(found) == {*downloaded, "next_cursor"}


def test_results_are_read_page_by_page(client: TestClient) -> None:
    first = data(client.get("/search", params={"q": "overtime employee", "limit": 1}))
    assert first["total"] > 1 and first["next_cursor"]
    second = data(client.get("/search", params={"q": "overtime employee", "limit": 1, "cursor": first["next_cursor"]}))
    by_offset = data(client.get("/search", params={"q": "overtime employee", "limit": 1, "offset": 1}))
    assert second["hits"] == by_offset["hits"] != first["hits"]
    problem(client.get("/search", params={"q": "another question", "cursor": first["next_cursor"]}), 400)


def test_wrong_searches_are_explained(client: TestClient) -> None:
    assert "query 'q': Field required" in problem(client.get("/search"), 400)["problems"]
    found = problem(client.get("/search", params={"q": "x", "truths": "nonsense", "date_from": "2026-13-99"}), 400)
    assert found["title"] == "Invalid filters"
    assert found["problems"] == ["Invalid truths: ['nonsense']", "date_from is not a date: '2026-13-99'"]
    assert "Truths are: regulatory" in found["hint"]
    assert "no score profile" in problem(client.get("/search", params={"q": "x", "profile": "nonsense"}), 400)["detail"]
    problem(client.get("/search", params={"q": "x", "colour": "red"}), 400)
    problem(client.post("/search", content=b"{not json", headers={"Content-Type": "application/json"}), 400)
    untyped = problem(client.post("/search", content=b'{"question": "x"}'), 400)
    assert untyped["hint"].startswith("The body was sent without a content type; JSON needs")


def test_the_same_candidates_are_scored_otherwise(client: TestClient) -> None:
    values = {"search": {"question": "overtime"}, "scoring": {"weights": {"similarity": 1.0}, "threshold": 0.0}}
    found = data(client.post("/search/rescore", json=values))
    assert {factor["name"] for hit in found["hits"] for factor in hit["factors"]} == {"similarity"}
    assert found["profile"] == "balanced, changed"
    values["scoring"] = {"weights": {"similarity": 0.4}}
    assert "sum to 0.4" in problem(client.post("/search/rescore", json=values), 400)["detail"]


class SameReranker:
    """Gives every passage the same logit."""

    problem = ""

    def logits(self, question: str, texts: Sequence[Sequence[str]], deadline_ms: float | None = None) -> Reranked:
        return Reranked((0.0,) * len(texts))


@pytest.mark.parametrize(
    ("asked", "scoring"),
    [
        ({"profile": "relevance"}, {"weights": {"similarity": 1.0}}),
        ({"profile": "relevance", "threshold": 0.0}, {"threshold": 0.45}),
        ({"profile": "balanced"}, {"profile": "relevance", "threshold": 0.45}),
    ],
)
def test_scoring_otherwise_gives_what_such_a_search_gives_also_with_a_reranker(
    library: OpenedLibrary,
    client: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    asked: dict[str, object],
    scoring: dict[str, object],
) -> None:
    """The threshold was lowered twice for the reranker, and one that was given was not heeded."""
    monkeypatch.setattr(library.workbench.search._pipeline, "_rerankers", {"fast": SameReranker()})
    search = {"question": "overtime", "rerank": "fast"}
    rescored = data(client.post("/search/rescore", json={"search": search | asked, "scoring": scoring}))
    searched = data(client.post("/search", json=search | asked | scoring))
    assert rescored["scoring"] == searched["scoring"] and rescored["profile"] == searched["profile"]
    assert rescored["hits"] == searched["hits"]


def test_a_missing_document_is_explained(client: TestClient) -> None:
    values = {"search": {"question": "overtime", "filters": {"truths": ["compliance"]}}, "document_id": 2}
    found = data(client.post("/search/why-not", json=values))
    assert found["document"]["name"] == "law.md" and "truth is compliance" in found["reasons"][0]
    problem(client.post("/search/why-not", json=values | {"document_id": 999}), 404)


def test_facets_recent_searches_and_similar_passages(client: TestClient) -> None:
    assert data(client.post("/search/facets", json={}))["truths"]["regulatory"] == 1
    assert data(client.post("/search/facets", json={"truths": ["reality"]}))["domains"]
    data(client.get("/search", params={"q": "civil penalty"}))
    assert data(client.get("/search/recent", params={"limit": 1}))[0]["question"] == "civil penalty"
    assert client.delete("/search/recent").status_code == 204
    assert data(client.get("/search/recent")) == []
    passage = data(client.get("/documents/2/passages"))["items"][0]["id"]
    similar = data(client.get(f"/passages/{passage}/similar"))
    assert similar and passage not in {each["passage"]["id"] for each in similar}


# Answers


def test_the_answer_of_five_truths_keeps_its_schema(client: TestClient) -> None:
    values = {"question": "When must overtime be approved?", "write": True}
    found = data(client.post("/answers", json=values))
    jsonschema.validate(found, json.loads((DOCS / "five-truths.schema.json").read_text("utf-8")))
    assert found["truths"][0]["truth"] == "regulatory" and found["synthesis"]["text"]


def test_tables_are_listed_and_asked(client: TestClient) -> None:
    (table,) = data(client.get("/tables"))["items"]
    assert data(client.get(f"/tables/{table['name']}")) == table
    problem(client.get("/tables/nonsense"), 404)
    found = data(client.post("/tables/ask", json={"question": "How many employees work in California?"}))
    assert (found["answered"], found["headline"], found["rows"]) == (True, "2", [[2]]) and "SELECT" in found["sql"]
    refused = data(client.post("/tables/ask", json={"question": "What is the meaning of life?"}))
    assert not refused["answered"] and refused["refusal"]


# Coverage


def test_topics_are_added_and_changed(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    new = {"project": "pay", "topics": [{"name": "sick leave", "needs": ["regulatory"]}, {"name": "Sick leave"}]}
    added = data(client.post("/coverage/topics", json=new), 201)
    topic = added[0]
    names = [each["name"] for each in data(client.get("/coverage/topics", params={"project": "pay"}))["items"]]
    assert (topic["needs"], names) == (["regulatory"], ["overtime", "sick leave"])
    change = {"version": topic["version"], "project": "pay", "owner": "Ann"}
    changed = data(client.patch(f"/coverage/topics/{topic['id']}", json=change))
    assert (changed["owner"], changed["version"]) == ("Ann", topic["version"] + 1)
    problem(client.patch(f"/coverage/topics/{topic['id']}", json=change), 409)
    problem(client.patch("/coverage/topics/999", json=change), 404)
    problem(client.post("/coverage/topics", json={"topics": [{"name": "?!"}]}), 400)
    for each in data(client.get("/coverage/topics"))["items"]:
        project = {"overtime": None, "Acme payroll": "acme"}.get(each["name"], "pay")
        retired = {"version": each["version"], "project": project, "retired": True}
        data(client.patch(f"/coverage/topics/{each['id']}", json=retired))
    assert "no topic to assess" in problem(client.post("/coverage/runs", json={}), 400)["detail"]


def test_a_run_is_started_polled_and_read_as_a_board(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    started = client.post("/coverage/runs", json={})
    run = data(started, 202)
    assert started.headers["location"] == f"/api/coverage/runs/{run['id']}"
    done = until(client, f"/coverage/runs/{run['id']}", ("done", "failed"))
    assert (done["state"], done["done"]) == ("done", done["total"])
    board = data(client.get("/coverage/board"))
    assert board["run_id"] == run["id"] and "overtime" in board["topics"]
    cell = next(each for each in board["cells"] if (each["topic"], each["truth"]) == ("overtime", "compliance"))
    assert cell["state"] == "covered" and cell["evidence"][0]["quote"] in POLICY.replace("# ", "")
    assert data(client.get("/coverage/runs"))["items"][0]["id"] == run["id"]
    problem(client.post("/coverage/runs", json={"resume": run["id"]}), 400)
    assert data(client.post(f"/coverage/runs/{run['id']}/stop"), 202)["state"] == "done"
    data(client.delete(f"/coverage/runs/{run['id']}"), 204)
    problem(client.get(f"/coverage/runs/{run['id']}"), 404)
    problem(client.get("/coverage/board", params={"project": "nothing"}), 404)


def test_a_run_that_begins_again_is_running_and_one_whose_program_was_killed_is_stopped(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client, runs, boards = local_client(library), library.workbench.coverage.runs, library.stores.boards
    run = runs.start(None)
    boards.change_run(replace(run, beat_at=run.beat_at - timedelta(hours=1)))
    assert data(client.get(f"/coverage/runs/{run.id}"))["state"] == "stopped"
    assert data(client.get("/coverage/runs"))["items"][0]["state"] == "stopped"
    work, waiting = cast(FastAPI, client.app).state.gate.work, Event()
    work.start(f"coverage run {run.id}", lambda stop: waiting.wait(30))  # has not stored yet that it goes on
    assert data(client.post("/coverage/runs", json={"resume": run.id}), 202)["state"] == "running"
    assert data(client.get(f"/coverage/runs/{run.id}"))["state"] == "running"
    waiting.set()


def test_an_experiment_whose_program_was_killed_is_stopped(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client, evaluation = local_client(library), library.workbench.evaluation
    questions = data(client.post("/evaluation/sets", json={"name": "Pay"}), 201)["id"]
    data(client.post(f"/evaluation/sets/{questions}/questions", json={"question": "When is overtime paid?"}), 201)
    begun = evaluation.experiments.begin(questions, "balanced", "Ann")
    address = f"/evaluation/experiments/{begun.id}"
    assert data(client.get(address))["state"] == "running"
    library.stores.tunings.change_experiment(replace(begun, beat_at=begun.beat_at - timedelta(hours=1)))
    assert data(client.get(address))["state"] == "stopped"


def test_the_board_tells_topics_of_one_name_apart_and_what_was_not_read(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client = local_client(library)
    data(client.post("/coverage/topics", json={"project": "pay", "topics": [{"name": "Overtime"}]}), 201)
    topics = data(client.get("/coverage/topics"))["items"]
    assert [(each["name"], each["project"]) for each in topics if each["name"] != "Acme payroll"] == [
        ("overtime", None),
        ("Overtime", "pay"),
    ]
    library.stores.jobs.run = lambda document_id: None
    data(upload(client, "zoo.md", "# Zoo\nZebras are fed daily."), 201)
    run = data(client.post("/coverage/runs", json={}), 202)
    until(client, f"/coverage/runs/{run['id']}", ("done", "failed"))
    board = data(client.get("/coverage/board"))
    twins = {"overtime (all projects)", "Overtime (pay)"}
    assert set(board["topics"]) == twins | {"Acme payroll"} == {each["topic"] for each in board["cells"]}
    assert twins <= {each["topic"] for each in board["gaps"]}
    words = "1 file was not read yet when this was assessed and may fill a gap."
    assert (board["unread"], board["waiting"], board["not_read"]) == ([], 1, words)


def test_decisions_are_taken_in_turn_and_undone(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    topic = data(client.get("/coverage/topics"))["items"][0]["id"]
    opinion = {"topic_id": topic, "kind": "intent", "verdict": "waived", "reason": "Not ours.", "expires": "2099-01-01"}
    taken = data(client.post("/coverage/decisions", json=opinion), 201)
    assert (taken["verdict"], taken["who"], taken["number"]) == ("waived", "Local user", 1)
    problem(client.post("/coverage/decisions", json=opinion), 409)
    problem(client.post("/coverage/decisions", json=opinion | {"topic_id": 999}), 404)
    problem(client.post("/coverage/decisions", json=opinion | {"after": 1, "reason": "", "expires": None}), 400)
    assert data(client.delete(f"/coverage/decisions/{taken['id']}"))["verdict"] == "undone"
    assert [each["verdict"] for each in data(client.get("/coverage/decisions"))["items"]] == ["waived", "undone"]


def test_the_meeting_pack_comes_in_every_format(client: TestClient) -> None:
    found = data(client.get("/coverage/pack"))
    jsonschema.validate(found, json.loads((DOCS / "meeting-pack.schema.json").read_text("utf-8")))
    for name, start in (("html", b"<!doctype html>"), ("pdf", b"%PDF"), ("xlsx", b"PK")):
        answer = client.get("/coverage/pack", params={"format": name})
        assert answer.status_code == 200 and answer.content.startswith(start), name
        assert answer.headers["content-disposition"] == f'attachment; filename="meeting-pack.{name}"'


# Profiles and evaluation


def test_profiles_are_saved_in_versions_chosen_and_ended(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    saved = data(client.put("/profiles/ours", json={"weights": {"similarity": 1.0}, "note": "first"}))
    assert (saved["profile"]["ref"], saved["note"], saved["who"]) == ("ours@1", "first", "Local user")
    problem(client.put("/profiles/ours", json={"weights": {"similarity": 0.5, "keyword": 0.5}}), 409)
    problem(client.put("/profiles/ours", json={"weights": {"similarity": 0.5}, "after": 1}), 400)
    data(client.put("/profiles/ours", json={"weights": {"similarity": 0.5, "keyword": 0.5}, "after": 1}))
    versions = data(client.get("/profiles/ours/versions"))["items"]
    assert [each["profile"]["ref"] for each in versions] == ["ours@2", "ours@1"]
    assert data(client.get("/profiles/ours@1"))["weights"] == {"similarity": 1.0}
    assert data(client.put("/profiles/default", json={"name": "ours"}))["default"] is True
    assert data(client.get("/search", params={"q": "overtime"}))["profile"] == "ours@2"
    assert data(client.delete("/profiles/ours", params={"after": 2}))["retired"] is True
    problem(client.get("/profiles/nonsense"), 404)
    assert data(client.get("/profiles"))["items"][0]["default"] is True


def test_questions_are_judged_and_a_profile_is_measured(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    made = data(client.post("/evaluation/sets", json={"name": "Payroll"}), 201)
    base = f"/evaluation/sets/{made['id']}"
    question = data(client.post(f"{base}/questions", json={"question": "When must overtime be approved?"}), 201)
    assert data(client.get(f"{base}/questions"))["items"] == [question]
    pool = data(client.get(f"{base}/questions/{question['id']}/pool"))
    grade = {"question_id": question["id"], "units": [pool[0]["unit"]], "grade": 3, "blind": True}
    (judged,) = data(client.post(f"{base}/judgments", json=grade), 201)
    assert (judged["grade"], judged["who"]) == (3, "Local user")
    assert data(client.get(f"{base}/judgments"))["items"] == [judged]
    assert data(client.get(base))["name"] == data(client.get("/evaluation/sets"))["items"][0]["name"] == "Payroll"
    begun = data(client.post("/evaluation/experiments", json={"set_id": made["id"], "profile": "balanced"}), 202)
    done = until(client, f"/evaluation/experiments/{begun['id']}", ("done", "failed"))
    assert done["state"] == "done" and done["outcomes"][0]["question"] == question["question"] and done["measures"]
    assert data(client.get("/evaluation/experiments", params={"set_id": made["id"]}))["total"] == 1
    problem(client.post(f"{base}/judgments", json=grade | {"grade": 4}), 400)
    problem(client.post("/evaluation/experiments", json={"set_id": 999}), 404)


# Entities, insights, usage


def test_entities_and_the_documents_that_mention_them(client: TestClient) -> None:
    found = data(client.get("/entities", params={"part": "acme"}))["items"]
    assert [(each["name"], each["type"]) for each in found] == [("Acme Corporation", "organization")]
    (mention,) = data(client.get("/entities/acme corporation/documents"))["items"]
    assert mention["document"]["name"] == "policy.md" and "Acme Corporation" in mention["sentence"]
    assert "No document mentions" in problem(client.get("/entities/nobody/documents"), 404)["detail"]


@pytest.mark.parametrize(
    ("kind", "new", "change"),
    [
        (
            "insights",
            {"text": "Overtime needs approval.", "passages": [1]},
            {"text": "Overtime always needs approval."},
        ),
        ("episodes", {"question": "Who approves overtime?", "reward": 1, "opened": [1]}, {"reflection": "Ask early."}),
    ],
)
def test_notes_are_added_changed_deleted_and_restored(
    kind: str, new: dict[str, Any], change: dict[str, Any], tmp_path: Path
) -> None:
    client = local_client(filled(tmp_path))
    added = data(client.post(f"/{kind}", json=new | {"tags": ["pay"]}), 201)
    address = f"/{kind}/{added['id']}"
    assert added["links"][0]["document_name"] == "policy.md" and added["who"] == "Local user"
    assert 0 < data(client.get(address))["strength"] <= 1
    changed = data(client.patch(address, json=change | {"version": added["version"]}))
    assert change.items() <= changed.items()
    problem(client.patch(address, json=change | {"version": added["version"]}), 409)
    assert data(client.get(f"/{kind}", params={"tag": "pay"}))["total"] == 1
    for _ in range(2):
        data(client.delete(address), 204)
    assert data(client.get(f"/{kind}"))["total"] == 0
    assert data(client.get(f"/{kind}", params={"deleted": True}))["total"] == 1
    assert data(client.post(f"{address}/restore"))["deleted_at"] is None
    assert data(client.get(f"/{kind}"))["total"] == 1
    problem(client.get(f"/{kind}/999"), 404)


def test_more_notes_than_a_page_of_the_store_are_all_listed(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client = local_client(library)
    for number in range(105):
        library.workbench.insights.save(f"Note {number} on overtime.")
    seen, cursor = [], ""
    while True:
        page = data(client.get("/insights", params={"limit": 40, "cursor": cursor}))
        seen += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == page["total"] == 105


def test_uses_are_reported_and_read(tmp_path: Path) -> None:
    client = local_client(filled(tmp_path))
    for kind in ("opened", "cited", "helpful", "unmarked", "not helpful"):
        data(client.post("/usage", json={"kind": kind, "passage_id": 1, "question": "Who approves?"}), 204)
    used = data(client.get("/usage/documents/1"))
    assert (used["opened"], used["cited"]) == (1, 1) and used["questions"][0]["question"] == "Who approves?"
    assert data(client.get("/usage/recent"))[0]["document_id"] == 1
    problem(client.post("/usage", json={"kind": "opened", "passage_id": 999}), 404)


def test_counts_health_and_the_index(client: TestClient) -> None:
    assert data(client.get("/statistics"))["by_truth"]["regulatory"] == 1
    assert data(client.get("/health")) == {"status": "ok"}
    assert data(client.get("/"))["openapi"] == "/api/openapi.json"


def test_health_asks_the_database_and_counts_no_labels(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: FakeCatalogue) -> None:
        raise StoreFailed("The database does not answer.")

    monkeypatch.setattr(FakeCatalogue, "statistics", refuse)
    assert data(client.get("/health")) == {"status": "ok"}
    monkeypatch.setattr(FakeCatalogue, "has_passages", refuse)
    assert data(client.get("/health"), 503) == {"status": "failed"}


# Knowledge


def test_knowledge_search_gives_every_score_with_and_without_keywords(client: TestClient) -> None:
    for hybrid in ("true", "false"):
        values = {"q": "overtime approved", "hybrid": hybrid, "limit": 5, "threshold": 0.1}
        found = data(client.get("/knowledge/search", params=values))
        best = found["results"][0]
        assert best["document"] == "policy.md" and found["hybrid"] is (hybrid == "true")
        for name in ("vector_score", "keyword_score", "utility_score", "freshness_score", "temporal_weight"):
            assert 0 <= best[name] <= 1, name
        assert best["keyword_score"] > 0 and best["freshness_score"] > 0 and best["keywords"]
    vectors = [each["vector_score"] for each in found["results"]]
    assert vectors == sorted(vectors, reverse=True), "plain vector search is ordered by similarity alone"
    assert [each["score"] for each in found["results"]] == vectors, "and by nothing else"


def test_knowledge_search_is_narrowed_by_tags(tmp_path: Path) -> None:
    library = filled(tmp_path)
    library.workbench.documents.upload("tagged.md", b"# Overtime\nOvertime is tagged here.", tags=["pay"])
    found = data(local_client(library).get("/knowledge/search", params={"q": "overtime", "tags": "pay,other"}))
    assert {each["document"] for each in found["results"]} == {"tagged.md"}
    problem(local_client(library).get("/knowledge/search"), 400)


def test_knowledge_entities_and_enrichment(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client = local_client(library)
    named = data(client.get("/knowledge/entities/Acme"))
    assert (named["name"], named["documents"][0]["name"]) == ("Acme Corporation", "policy.md")
    stats = data(client.get("/knowledge/enrich/stats"))
    assert stats["total"] == stats["enriched"] + stats["unenriched"] == 3
    library.workbench.enrichment.forget([1, 2])
    batch = {"batchSize": 1, "operations": ["summary", "keywords"]}
    assert data(client.post("/knowledge/enrich/batch", json=batch)) == {
        "processed": 1,
        "succeeded": 1,
        "failed": 0,
        "remaining": 1,
        "failures": [],
    }
    operations = data(client.get("/knowledge/enrich/stats"))["operations"]
    assert operations["summary"]["missing"] == 1 and operations["questions"]["missing"] == 2
    problem(client.post("/knowledge/enrich/batch", json={"operations": ["nonsense"]}), 400)


# Unknown paths and methods


def test_unknown_paths_and_wrong_methods_are_problems(client: TestClient) -> None:
    assert "no route" in problem(client.get("/nonsense"), 404)["detail"]
    found = client.post("/documents/1")
    assert problem(found, 405)["hint"] == "Use DELETE, GET, PATCH." and found.headers["allow"] == "DELETE, GET, PATCH"
    assert problem(client.get("/documents/"), 404)
    assert problem(client.get("/documents/0"), 400)
    assert problem(client.get(f"/documents/{2**64}"), 400)
    assert problem(client.get("/documents/abc"), 400)


def test_two_uploads_with_one_key_at_the_same_time_are_one(tmp_path: Path) -> None:
    library = filled(tmp_path)
    client, begun, go_on = local_client(library), Event(), Event()
    store = library.workbench.documents.upload

    def slow(*arguments: Any, **named: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return store(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch, client, ThreadPoolExecutor(1) as pool:
        patch.setattr(type(library.workbench.documents), "upload", lambda _, *args, **named: slow(*args, **named))
        first = pool.submit(upload, client, "a.md", "# A\nText of a.", headers={"Idempotency-Key": "k"})
        assert begun.wait(60)
        waiting = problem(upload(client, "a.md", "# A\nText of a.", headers={"Idempotency-Key": "k"}), 409)
        go_on.set()
        receipt = data(first.result(), 201)
    assert waiting["hint"] == "Repeat it in a moment."
    assert data(upload(client, "a.md", "# A\nText of a.", headers={"Idempotency-Key": "k"}), 201) == receipt


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/documents?limit=5&limit=6", "limit"),
        ("/documents?project=a&truth=intent&truth=reference&project=b", "project"),
        ("/search?q=overtime&q=leave", "q"),
        ("/coverage/runs?offset=1&offset=2&offset=3", "offset"),
        ("/insights?limit=1&limit=1", "limit"),
    ],
)
def test_a_parameter_given_twice_is_refused_by_name(client: TestClient, address: str, name: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert f"'{name}'" in answer.json()["detail"] and "times" in answer.json()["detail"]


def test_a_list_may_be_given_as_often_as_one_likes(client: TestClient) -> None:
    for address in ("/documents?truth=intent&truth=reference", "/search?q=overtime&truths=intent&truths=regulatory"):
        assert client.get(address).status_code == 200, address
