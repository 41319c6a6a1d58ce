"""The trash of a whole library on disk: out at once, back as it was, and for good – nothing of it is left anywhere."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from bootstrap.environment import Settings, utc_now
from bootstrap.workbench import OpenWorkbench, open_workbench
from core.domain.coverage import Topic
from core.domain.documents import Document
from core.domain.errors import BadRequest, NotFound, StoreFailed
from core.domain.evaluation import Level
from core.domain.queries import SearchRequest
from core.insights.service import link_of
from core.library import trash as trash_module
from core.library.shortlists import ShortlistItem
from core.library.trash import REDACTED
from core.workbench import Workbench
from storage.datasets.access import TableAccess
from storage.postgres.database import Database
from storage.postgres.trash import quoting_columns

WORD = "quibblezandrium"
"""In no other file, and long enough that it is in no word vector by chance."""
POLICY = f"""# {WORD.capitalize()} allowance

Every keeper must write each {WORD} into the green book before {WORD} Harbour Ltd. may ship it on 3 May 2024.

The {WORD} fee is 20 dollars, and Ann {WORD.capitalize()} approves it within 5 days.
""".encode()
TABLE = f"name,fee\n{WORD} one,10\n{WORD} two,20\nplain,30\n".encode()
OTHER = b"# Travel\n\nEvery traveller must ask for approval before booking a flight.\n"


_TENANTS = count(1)


@pytest.fixture
def settings(tmp_path: Path, models: Path, engine: Engine) -> Iterator[Settings]:
    """An empty data folder, and a tenant nobody has used on the tests' own server. Nothing stays: an original is in use
    while any tenant of the database has the file."""
    (tmp_path / "models").symlink_to(models.resolve(), target_is_directory=True)
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    made = Settings(tmp_path, database_url=url, worker=False, tenant=f"trash-{next(_TENANTS)}")
    yield made
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM tenants WHERE tenant_id LIKE :own"), {"own": f"{made.tenant}%"})


@pytest.fixture
def library(settings: Settings) -> Iterator[OpenWorkbench]:
    """An open library with a policy, a table and another file."""
    opened = open_workbench(settings)
    for name, data in (("policy.md", POLICY), ("fees.csv", TABLE), ("travel.md", OTHER)):
        _ingest(opened.workbench, name, data)
    yield opened
    opened.close()


def _ingest(workbench: Workbench, name: str, data: bytes, project: str | None = None) -> int:
    receipt = workbench.documents.upload(name, data, project=project)
    workbench.ingestion.ingest(receipt.document_id)
    return receipt.document_id


def _named(workbench: Workbench, name: str) -> Document:
    return next(each for each in workbench.documents.list(archived=None) if each.name == name)


def _found(workbench: Workbench, question: str = WORD) -> set[str]:
    result = workbench.search.run(SearchRequest(question), remember=False)
    return {result.documents[each.candidate.passage.document_id].name for each in result.hits}


def _quote_everywhere(workbench: Workbench) -> None:
    """Quotes of the policy in everything that people can keep: a note, a shortlist, a decision, coverage, a comment."""
    result = workbench.search.run(SearchRequest(f"Who approves the {WORD} fee?"), remember=False)
    best = next(each for each in result.hits if each.candidate.passage.document_name == "policy.md")
    citation, passage = best.citations[0], best.candidate.passage
    workbench.insights.save("The fee is approved in time.", links=[link_of(citation)], who="Ann", question="")
    made = workbench.shortlists.create("Fees", "Ann")
    item = ShortlistItem("fee", passage.document_id, "policy.md", passage.id, "", citation.quote, "p. 1", utc_now())
    workbench.shortlists.add(made.id, item)
    workbench.coverage.add_topics([Topic("fee approval")])
    run = workbench.coverage.runs.start(None)
    workbench.coverage.runs.carry_out(run.id)
    workbench.enrichment.enrich(passage.document_id)
    judging = workbench.evaluation.judging
    made = judging.add_set("Fees", None, Level.PASSAGE, "Ann")
    answer = {"sha256": _named(workbench, "policy.md").sha256, "must_contain": [f"{WORD} fee"], "grade": 3}
    asked = json.dumps({"question": "Who approves the fee?", "relevant": [answer]})
    judging.accept(judging.preview(made.id, asked.encode(), "fees.jsonl", "Ann"))
    workbench.evaluation.experiments.carry_out(workbench.evaluation.experiments.begin(made.id, "balanced", "Ann").id)
    workbench.bulk_edit.set_labels([(passage.document_id, "truth", "compliance")], "Ann")
    workbench.active_learning.learn()


def _rows_with(engine: Engine, tenant: str, word: str) -> Mapping[str, int]:
    """Table → rows that hold the word: the tenant's in every table of the database, seen by its owner."""
    found: dict[str, int] = {}
    own = TableAccess(Database(engine, tenant)).schema
    with engine.connect() as connection:
        tables = text("SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', :own)")
        for schema, table in connection.execute(tables, {"own": own}).all():
            query = f"""SELECT count(*) FROM "{schema}"."{table}" AS row WHERE row::text ILIKE :word
                AND coalesce(to_jsonb(row) ->> 'tenant_id', :tenant) = :tenant"""
            number = connection.scalar(text(query), {"word": f"%{word}%", "tenant": tenant})
            if number:
                found[f"{schema}.{table}"] = number
    return found


def _files_with(folder: Path, word: str) -> list[str]:
    """Files that hold the word, in small letters or as a title, in UTF-8."""
    needles = {word.encode(), word.capitalize().encode()}
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "models" not in path.parts]
    return [str(path) for path in files if any(needle in path.read_bytes() for needle in needles)]


def test_a_deleted_document_is_out_of_everything_at_once(library: OpenWorkbench) -> None:
    workbench = library.workbench
    policy, fees = _named(workbench, "policy.md"), _named(workbench, "fees.csv")
    assert _found(workbench) >= {"policy.md", "fees.csv"} and [t.name for t in workbench.tables.tables()] == ["fees"]
    workbench.bulk_edit.delete(policy.id, "Ann")
    workbench.bulk_edit.delete(fees.id, "Bo")
    assert _found(workbench) == {"travel.md"} and not workbench.tables.tables()
    assert workbench.documents.statistics().documents == 1
    assert [each.name for each in workbench.documents.list(archived=None)] == ["travel.md"]
    with pytest.raises(NotFound):
        workbench.documents.get(policy.id)
    with pytest.raises(BadRequest):
        workbench.tables.run_sql("SELECT * FROM fees")
    with pytest.raises(BadRequest):
        workbench.tables.run_sql(f'SELECT * FROM "trash${1}"')
    first, second = workbench.trash.listed()
    assert (first.name, first.who, dict(first.contents)) == ("fees.csv", "Bo", {"passage": fees.passages, "table": 1})
    assert (second.name, second.size_bytes) == ("policy.md", len(POLICY))
    assert second.days_left(workbench.trash.days, utc_now()) == 30
    assert workbench.check.run().ok


def test_a_restored_document_is_as_it_was(library: OpenWorkbench, monkeypatch: pytest.MonkeyPatch) -> None:
    workbench = library.workbench
    monkeypatch.setattr(library.stores.vectors._cache._look, "seconds", 600.0)  # it must not be found by waiting
    _quote_everywhere(workbench)
    before = _named(workbench, "policy.md")
    passages = workbench.documents.passages(before.id)
    vectors = library.stores.vectors.vectors([each.id for each in passages])
    keywords = workbench.enrichment.of(before.id)
    ids = [before.id, _named(workbench, "fees.csv").id]
    for each in ids:
        workbench.bulk_edit.delete(each, "Ann")
    workbench.trash.restore(ids, "Bo")
    assert workbench.documents.get(before.id) == before
    assert workbench.documents.passages(before.id) == passages
    after = library.stores.vectors.vectors([each.id for each in passages])
    assert {i: v.tolist() for i, v in after.items()} == {i: v.tolist() for i, v in vectors.items()}
    assert workbench.enrichment.of(before.id) == keywords
    assert _found(workbench) >= {"policy.md", "fees.csv"}
    assert workbench.tables.run_sql("SELECT fee FROM fees ORDER BY 1").rows[0][0] == 10
    assert not workbench.trash.listed()
    deleted = [each for each in workbench.history.newest() if each.what == "Deleted"]
    assert [(each.undone_by, each.can_undo) for each in deleted] == [("Bo", False)] * 2
    assert workbench.check.run().ok


def test_nothing_is_left_of_a_document_deleted_for_good(
    library: OpenWorkbench, settings: Settings, engine: Engine
) -> None:
    workbench = library.workbench
    _quote_everywhere(workbench)
    library.stores.vectors.passage_ids()
    workbench.search.warm()
    assert library.stores.vectors.count() and (settings.data_folder / "mirror" / settings.tenant).is_dir()
    ids = [_named(workbench, name).id for name in ("policy.md", "fees.csv")]
    for each in ids:
        workbench.bulk_edit.delete(each, "Ann")
    assert _rows_with(engine, settings.tenant, WORD) and _files_with(settings.data_folder, WORD)
    workbench.trash.purge(ids, "Ann")
    assert _rows_with(engine, settings.tenant, WORD) == {}
    assert _files_with(settings.data_folder, WORD) == []
    assert not workbench.trash.listed()
    assert [each.what for each in workbench.history.newest() if each.what.startswith("Deleted")] == [
        "Deleted for good",
        "Deleted for good",
        "Deleted",
        "Deleted",
    ]
    assert not any(each.can_undo for each in workbench.history.newest() if each.what.startswith("Deleted"))
    assert workbench.check.run().ok
    assert _found(workbench, "approval before booking") >= {"travel.md"}


STEPS: Mapping[str, Callable[[OpenWorkbench], Any]] = {
    "vectors": lambda opened: (opened.stores.vectors, "vacuum"),
    "keywords": lambda opened: (opened.stores.sparse, "vacuum"),
    "words": lambda opened: (opened.stores.words, "discard"),
    "rows": lambda opened: (opened.stores.trash, "_redact"),
    "tables": lambda opened: (opened.stores.trash, "forget"),
    "originals": lambda opened: (opened.stores.originals, "delete"),
    "entry": lambda opened: (opened.stores.trash, "finish"),
}
"""Step → the call before which the program dies."""


class _Killed(BaseException):
    """As a signal would end the program: nothing catches it."""


@pytest.mark.parametrize("step", STEPS)
def test_a_purge_that_was_killed_is_completed(
    library: OpenWorkbench, settings: Settings, engine: Engine, step: str
) -> None:
    workbench = library.workbench
    _quote_everywhere(workbench)
    ids = [_named(workbench, name).id for name in ("policy.md", "fees.csv")]
    for each in ids:
        workbench.bulk_edit.delete(each, "Ann")
    store, name = STEPS[step](library)

    def die(*given: object, **named: object) -> None:
        raise _Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(store), name, die)
        with pytest.raises(_Killed):
            workbench.trash.purge(ids, "Ann")
    with pytest.raises(NotFound):  # what is partly gone does not come back
        workbench.trash.restore(ids[:1], "Ann")
    assert not workbench.check.run().ok
    workbench.trash.purge_due()
    assert not workbench.trash.listed() and workbench.check.run().ok
    assert _rows_with(engine, settings.tenant, WORD) == {} and _files_with(settings.data_folder, WORD) == []


def test_an_original_stays_while_any_tenant_or_project_has_the_same_file(
    library: OpenWorkbench, settings: Settings
) -> None:
    workbench, originals = library.workbench, library.stores.originals
    policy = _named(workbench, "policy.md")
    other = open_workbench(replace(settings, tenant=f"{settings.tenant}-other"))
    try:
        theirs = other.workbench.documents.upload("copy.md", POLICY).document_id
        ours = workbench.documents.upload("again.md", POLICY, project="North").document_id
        for each in (policy.id, ours):
            workbench.bulk_edit.delete(each, "Ann")
            workbench.trash.purge([each], "Ann")
            assert originals.get(policy.sha256) == POLICY
        assert other.workbench.check.run().ok
        other.workbench.bulk_edit.delete(theirs, "Eve")
        assert workbench.check.run().ok and originals.exists(policy.sha256)  # the other tenant's trash counts, too
        other.workbench.trash.purge([theirs], "Eve")
        assert not originals.exists(policy.sha256)
    finally:
        other.close()


def test_an_upload_while_the_same_file_is_purged_keeps_its_original(library: OpenWorkbench) -> None:
    workbench, originals = library.workbench, library.stores.originals
    policy = _named(workbench, "policy.md")
    workbench.bulk_edit.delete(policy.id, "Ann")
    put, uploaded = type(originals).put, []

    def put_and_be_purged(self: Any, data: bytes) -> str:
        """The bytes are there, nobody refers to them yet, and just now the purge looks."""
        name = str(put(self, data))
        if not uploaded:
            uploaded.append(name)
            workbench.trash.purge([policy.id], "Ann")
            assert not originals.exists(name)
        return name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(originals), "put", put_and_be_purged)
        new = _ingest(workbench, "policy.md", POLICY)
    assert originals.get(policy.sha256) == POLICY and workbench.documents.get(new).state == "ready"


def test_what_stayed_long_enough_is_deleted_by_one_program_only(library: OpenWorkbench, settings: Settings) -> None:
    later = utc_now() + timedelta(days=29, hours=23)
    workbench = library.workbench
    policy = _named(workbench, "policy.md")
    workbench.bulk_edit.delete(policy.id, "Ann")
    trash = workbench.trash
    trash._now = lambda: later
    assert trash.purge_due() == () and len(trash.listed()) == 1
    trash._now = lambda: later + timedelta(hours=2)
    with library.stores.trash.alone() as alone:
        assert alone and trash.purge_due() == ()
    trash.days = 0
    assert trash.purge_due() == ()
    trash.days = 30
    assert [each.name for each in trash.purge_due()] == ["policy.md"]
    assert workbench.history.newest()[0].who == "retention"


def _delete_all(workbench: Workbench) -> list[int]:
    """Move the three documents to the trash, one after the other; returns their ids."""
    ids = [_named(workbench, name).id for name in ("policy.md", "fees.csv", "travel.md")]
    for each in ids:
        workbench.bulk_edit.delete(each, "Ann")
    return ids


def test_each_look_deletes_a_slice_for_good_and_the_next_one_goes_on(
    library: OpenWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_module, "_SLICE", 1)
    workbench, trash = library.workbench, library.workbench.trash
    _, fees, _ = _delete_all(workbench)
    library.stores.trash.begin_purge(fees)  # a purge of it was interrupted
    trash._now = lambda: utc_now() + timedelta(days=31)
    gone = [[each.name for each in trash.purge_due()] for _ in range(4)]
    assert gone == [["fees.csv"], ["policy.md"], ["travel.md"], []]
    assert not trash.listed() and workbench.check.run().ok


def test_by_hand_all_that_was_chosen_is_deleted_however_many_slices_it_takes(
    library: OpenWorkbench, settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_module, "_SLICE", 2)
    workbench = library.workbench
    _quote_everywhere(workbench)
    ids = _delete_all(workbench)
    assert [each.document_id for each in workbench.trash.purge(ids, "Ann")] == ids
    assert not workbench.trash.listed() and workbench.check.run().ok
    assert _rows_with(engine, settings.tenant, WORD) == {} and _files_with(settings.data_folder, WORD) == []


def test_a_purge_by_hand_that_was_killed_is_completed_slice_by_slice(
    library: OpenWorkbench, settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_module, "_SLICE", 1)
    workbench, store = library.workbench, type(library.stores.trash)
    _quote_everywhere(workbench)
    first, *rest = _delete_all(workbench)
    finish = store.finish

    def finish_first(self: Any, document_id: int) -> None:
        if document_id != first:
            raise _Killed
        finish(self, document_id)

    with monkeypatch.context() as patch:
        patch.setattr(store, "finish", finish_first)
        with pytest.raises(_Killed):
            workbench.trash.purge([first, *rest], "Ann")
    assert {each.document_id: each.purging for each in workbench.trash.listed()} == dict.fromkeys(rest, True)
    assert [[each.document_id for each in workbench.trash.purge_due()] for _ in rest] == [[each] for each in rest]
    assert not workbench.trash.listed() and workbench.check.run().ok
    assert _rows_with(engine, settings.tenant, WORD) == {} and _files_with(settings.data_folder, WORD) == []


def test_an_original_that_cannot_be_deleted_holds_up_no_other_document(library: OpenWorkbench) -> None:
    workbench, originals = library.workbench, type(library.stores.originals)
    stuck = _named(workbench, "policy.md")
    ids = _delete_all(workbench)
    delete = originals.delete

    def delete_others(self: Any, sha256: str) -> None:
        if sha256 == stuck.sha256:
            raise StoreFailed("The file is in use.", "Try again.")
        delete(self, sha256)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(originals, "delete", delete_others)
        with pytest.raises(StoreFailed, match="in use"):
            workbench.trash.purge(ids, "Ann")
    assert [each.document_id for each in workbench.trash.listed()] == [stuck.id]
    assert [each.document_id for each in workbench.trash.purge_due()] == [stuck.id]


def test_quotes_of_a_slice_are_looked_for_once_in_each_table(library: OpenWorkbench) -> None:
    ids = _delete_all(library.workbench)
    searched: list[str] = []

    def watch(connection: object, cursor: object, statement: str, *given: object) -> None:
        searched.extend(re.findall(r"FROM (\w+)\s+WHERE .* ~ ", statement, re.DOTALL))

    with _watching(library, "before_cursor_execute", watch):
        library.workbench.trash.purge(ids, "Ann")
    assert sorted(searched) == sorted(table.name for table in quoting_columns())


def test_a_change_made_while_quotes_are_looked_for_stays(library: OpenWorkbench) -> None:
    workbench = library.workbench
    _quote_everywhere(workbench)
    policy = _named(workbench, "policy.md").id
    workbench.bulk_edit.delete(policy, "Ann")
    (shortlist,) = workbench.shortlists.all()
    store, noted = library.stores.shortlists, replace(shortlist.items[0], note="Ask Bo.")

    def change(connection: object, cursor: object, statement: str, *given: object) -> None:
        if re.search(r"FROM shortlists\s+WHERE .* ~ ", statement, re.DOTALL):
            store.change_shortlist(replace(shortlist, items=(noted,)))

    with _watching(library, "after_cursor_execute", change):
        workbench.trash.purge([policy], "Ann")
    (item,) = workbench.shortlists.get(shortlist.id).items
    assert (item.note, item.quote) == ("Ask Bo.", REDACTED)


@contextmanager
def _watching(library: OpenWorkbench, moment: str, watch: Callable[..., None]) -> Iterator[None]:
    """Call something at each statement of the library."""
    engine = library.stores.trash._database.engine
    event.listen(engine, moment, watch)
    try:
        yield
    finally:
        event.remove(engine, moment, watch)


def test_a_file_uploaded_again_keeps_the_deleted_one_in_the_trash(library: OpenWorkbench) -> None:
    workbench = library.workbench
    policy, fees = _named(workbench, "policy.md"), _named(workbench, "fees.csv")
    for each in (policy, fees):
        workbench.bulk_edit.delete(each.id, "Ann")
    _ingest(workbench, "policy.md", POLICY)
    again = _ingest(workbench, "fees.csv", TABLE + b"new,40\n")
    message = (
        r"^1 of 2 documents were restored\. 'policy\.md' cannot be restored: the same file is in the library again\.$"
    )
    with pytest.raises(BadRequest) as refused:
        workbench.trash.restore([policy.id, fees.id])
    assert re.match(message, refused.value.message)
    assert {each.version for each in workbench.tables.versions("fees")} == {1, 2}
    assert [each.document_id for each in workbench.tables.tables()] == [fees.id]
    assert workbench.documents.get(again).archived
    assert workbench.check.run().ok


def test_check_finds_and_deletes_what_nobody_uses(library: OpenWorkbench) -> None:
    workbench, originals = library.workbench, library.stores.originals
    left = originals.put(b"an upload that ended before its document was stored")
    report = workbench.check.run()
    assert [each.message for each in report.differences] == [
        "1 original of no document, in the library or in the trash."
    ]
    assert workbench.check.run(repair=True).ok and not originals.exists(left) and workbench.check.run().ok


def test_the_originals_of_another_database_are_not_deleted(library: OpenWorkbench, settings: Settings) -> None:
    workbench = library.workbench
    for each in workbench.documents.list():
        workbench.bulk_edit.delete(each.id, "Ann")
        workbench.trash.purge([each.id], "Ann")
    left = library.stores.originals.put(b"somebody else's")
    (found,) = workbench.check.run(repair=True).differences
    assert not found.repairable and library.stores.originals.exists(left)


def test_a_version_that_is_restored_is_the_newest_again(library: OpenWorkbench) -> None:
    workbench = library.workbench
    old, new = _named(workbench, "policy.md"), _named(workbench, "travel.md")
    workbench.versions.accept(old.id, new.id, "Ann")
    workbench.bulk_edit.delete(new.id, "Ann")
    assert not workbench.documents.get(old.id).archived
    workbench.trash.restore([new.id])
    assert workbench.documents.get(old.id).archived and workbench.documents.get(new.id).version_of == old.id
