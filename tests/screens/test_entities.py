"""The browser of entities: found by part of a name and by type, with the documents that name the chosen one."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from core.domain.documents import Document
from core.domain.entities import Entity, EntityType
from tests.screens.conftest import Opened, Stack, listed, words

TEXTS = {
    "law.md": "# Act\nThe Department of Labor enforces the act. Form W-2 is filed each year.\n"
    "The Department of Labor reads it.\n",
    "note.md": "# Note\nAsk the Department of Labor about it.\n",
    "مرسوم العمل.md": "# Decree\nThe Department of Labor signs it. Nobody else may.\n",
}
ODD = Entity('50% "Acme" *Tools*', EntityType.ORGANIZATION, ("Acme's",))


@pytest.fixture
def naming(library: Stack) -> Stack:
    """Three documents that name a department, one of them a form and a company with signs in its name."""
    for name, text in TEXTS.items():
        library.add(name, text)
    return library


def _document(library: Stack, name: str) -> Document:
    return next(each for each in library.workbench.documents.list() if each.name == name)


def _department(library: Stack) -> Entity:
    return library.workbench.search.entities("department of labor", None, 1, 0).entries[0].entity


def _of(opened: Opened, entity: Entity, **params: Any) -> Any:
    return opened("library.py", view="entities", entity=entity.name, entity_type=str(entity.type), **params)


def test_entities_are_found_by_part_of_a_name_and_by_type(naming: Stack, opened: Opened) -> None:
    department = _department(naming).name
    screen = opened("library.py", view="entities")
    shown = {row["full"]: row["cells"] for row in listed(screen, "Entities")}
    assert shown[department]["passages"] == "3" and shown["Form W-2"]["type"] == "Form"
    screen.text_input(key="entities.part").set_value("MENT OF LAB").run()
    assert [row["full"] for row in listed(screen, "Entities")] == [department]
    assert screen.query_params["part"] in ("MENT OF LAB", ["MENT OF LAB"])
    screen.selectbox(key="entities.kind").set_value(EntityType.FORM).run()
    assert not listed(screen, "Entities") and "No entity matches" in words(screen)


def test_the_earlier_address_opens_the_same_view(naming: Stack, opened: Opened) -> None:
    assert listed(opened("library.py", view="names"), "Entities")


def test_the_documents_that_name_an_entity_open_where_they_do(naming: Stack, opened: Opened) -> None:
    department = _department(naming)
    screen = _of(opened, department)
    rows = listed(screen, f"Documents that name {department.name}")
    assert {row["full"] for row in rows} == set(TEXTS) and {row["cells"]["mentions"] for row in rows} == {"1"}
    law = next(row for row in rows if row["full"] == "law.md")
    requested = parse_qs(urlsplit(law["address"]).query)
    number = _document(naming, "law.md").id
    assert requested["id"] == [str(number)] and int(requested["mark"][0]) in {
        each.id for each in naming.workbench.documents.passages(number)
    }
    assert "".join(text for text, _ in law["sentence"]).startswith("The Department of Labor enforces")
    assert requested["find"][0].casefold() == "department of labor"
    opened("document.py", **{name: values[0] for name, values in requested.items()})


def test_a_deleted_document_names_nothing_any_more(naming: Stack, opened: Opened) -> None:
    department = _department(naming)
    naming.workbench.documents.delete(_document(naming, "note.md").id)
    rows = listed(_of(opened, department), f"Documents that name {department.name}")
    assert {row["full"] for row in rows} == set(TEXTS) - {"note.md"}
    for name in ("law.md", "مرسوم العمل.md"):
        naming.workbench.documents.delete(_document(naming, name).id)
    assert "No document contains this name" in words(_of(opened, department))


@pytest.mark.parametrize("part", ['50% "A', "%", "*Tools*", "acme's"])
def test_signs_in_names_and_in_what_is_asked_are_letters(
    naming: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    graph = naming.workbench.search._graph
    assert graph is not None
    number = _document(naming, "note.md").id
    passages = naming.workbench.documents.passages(number)
    monkeypatch.setattr(graph, "_stored", {number: {ODD.name: (ODD, frozenset({passages[0].id}))}})
    screen = opened("library.py", view="entities", part=part)
    assert [row["full"] for row in listed(screen, "Entities")] == [ODD.name]
    screen = _of(opened, ODD, part=part)
    assert [row["full"] for row in listed(screen, f"Documents that name {ODD.name}")] == ["note.md"]
    assert '#### 50\\% \\"Acme\\" \\*Tools\\*' in words(screen)


def test_an_entity_or_type_that_is_none_lists_all(naming: Stack, opened: Opened) -> None:
    screen = opened("library.py", view="entities", entity="zebra", entity_type="animal", type="animal")
    assert listed(screen, "Entities") and "entity" not in screen.query_params
    assert "No document contains this name" in words(_of(opened, Entity("zebra", EntityType.LAW)))


def test_a_long_list_has_pages(library: Stack, opened: Opened) -> None:
    forms = " ".join(f"Send Form W-{number}." for number in range(10, 50))
    library.add("forms.md", f"# Forms\n{forms}\n")
    screen = opened("library.py", view="entities", type="form")
    assert len(listed(screen, "Entities")) == 30 and "1–30 of 40 entities" in words(screen)
    screen.session_state["entities.page.form."] = 9
    screen.run()
    assert len(listed(screen, "Entities")) == 10


def test_a_library_that_names_nothing_says_what_will_be_here(library: Stack, opened: Opened) -> None:
    assert "No entities yet" in words(opened("library.py", view="entities"))
