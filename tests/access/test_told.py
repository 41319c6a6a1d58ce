"""What reaches people of itself: a followed search finds for each person what that person may see, and no more."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from bootstrap.environment import Settings
from bootstrap.workbench import OpenWorkbench, open_workbench
from core.collaboration.target import on_document
from core.domain.documents import Document
from core.domain.errors import NotFound
from core.domain.people import Door, Identity, Principal, Role
from core.domain.queries import SearchRequest
from core.library.bulk_edit.store import LabelEdit

RULE = "# {0}\nOvertime must be paid at {1} times the regular rate, as {0} says.\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, models: object, engine: Engine) -> Iterator[OpenWorkbench]:
    """An open library in PostgreSQL without a worker."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "models").symlink_to(str(models), target_is_directory=True)
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    opened = open_workbench(Settings(folder, database_url=url, worker=False, tenant="told"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def people(library: OpenWorkbench) -> dict[str, Principal]:
    """Ann sees everything, Eve only Alpha."""
    service = library.workbench.people
    ann = service.sign_in(Identity("ann", "Ann", "ann@example.org"), Door.BROWSER)
    service.invite("eve", Role.REVIEWER, "Alpha")
    return {"ann": ann, "eve": service.sign_in(Identity("eve", "Eve", "eve@example.org"), Door.BROWSER)}


def add(library: OpenWorkbench, name: str, rate: str, project: str | None) -> Document:
    """A document that the followed search finds."""
    whole = library.workbench
    number = whole.documents.upload(f"{name}.md", RULE.format(name, rate).encode(), project=project).document_id
    whole.ingestion.ingest(number)
    return whole.documents.get(number)


def check(library: OpenWorkbench) -> None:
    """What the worker does after a document was read."""
    for alert in library.stores.alerts.alerts():
        library.workbench.alerts.check(alert.id)


def test_a_followed_search_tells_each_person_what_they_may_see(
    library: OpenWorkbench, people: dict[str, Principal]
) -> None:
    ann, eve = people["ann"], people["eve"]
    add(library, "first rule", "one", None)
    request = SearchRequest("At how many times the regular rate must overtime be paid?")
    view = library.for_principal(ann).saved_searches.save("Overtime", request, "results", ann, shared=True)
    for person in (ann, eve):
        library.for_principal(person).alerts.follow(view.id, person)

    add(library, "beta secret", "two", "Beta")
    check(library)
    assert library.for_principal(eve).notifications.listed(eve) == []
    [reported] = library.for_principal(ann).notifications.listed(ann)
    assert reported.title == "“Overtime”: 1 new result" and "beta secret.md" in reported.text
    feed = library.for_principal(eve).alerts.feed(view.id, eve, "https://five.example/")
    assert b"first rule" in feed and b"secret" not in feed

    add(library, "alpha law", "three", "Alpha")
    check(library)
    [reported] = library.for_principal(eve).notifications.listed(eve)
    assert reported.title == "“Overtime”: 1 new result" and reported.text == "In alpha law.md"


def test_what_was_told_of_a_document_is_forgotten_when_it_moves_away(
    library: OpenWorkbench, people: dict[str, Principal]
) -> None:
    ann, eve = people["ann"], people["eve"]
    theirs, stays = library.for_principal(eve).notifications, add(library, "north act", "five", "Alpha")
    moves = add(library, "south act", "six", "Alpha")
    check(library)
    [reported] = theirs.listed(eve)
    assert stays.name in reported.text and moves.name in reported.text and theirs.unread(eve) == 1

    def move(*documents: Document) -> None:
        edits = [LabelEdit(each.id, each.name, "project", "Alpha", "Beta") for each in documents]
        library.for_principal(ann).bulk_edit.apply(edits, "project")

    move(moves)
    [reported] = theirs.listed(eve)
    assert stays.name in reported.text and moves.name not in reported.text
    move(*(each for each in library.workbench.documents.list() if each.project == "Alpha"))
    assert theirs.listed(eve) == [] and theirs.unread(eve) == 0


def test_what_is_said_about_a_document_is_seen_where_the_document_is(
    library: OpenWorkbench, people: dict[str, Principal]
) -> None:
    ann, eve = people["ann"], people["eve"]
    on = on_document(add(library, "alpha rule", "four", "Alpha"))
    library.for_principal(ann).comments.write(on, "Look, @eve", ann)
    seen = library.for_principal(eve)
    assert [each.text for each in seen.comments.on(on, eve)] == ["Look, @eve"]
    before = seen.notifications.unread(eve)
    moved = LabelEdit(on.document_id or 0, on.name, "project", "Alpha", "Beta")
    library.for_principal(ann).bulk_edit.apply([moved], "project")
    assert seen.notifications.unread(eve) == before - 1
    with pytest.raises(NotFound):
        seen.comments.on(on, eve)


def test_somebody_who_is_blocked_is_not_told(library: OpenWorkbench, people: dict[str, Principal]) -> None:
    service = library.workbench.people
    person = service.by_login("eve")
    assert person is not None
    service.block(person.id, blocked=True)
    check(library)
    assert library.stores.alerts.alerts("eve") == []
