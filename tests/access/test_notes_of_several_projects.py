"""Notes that cite documents of several projects, by somebody with a role in each of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from core.domain.people import Door, Principal, Role
from core.domain.queries import SearchRequest
from core.insights.service import links_to
from core.insights.store import EvidenceLink
from core.workbench import Workbench
from tests.access.world import World, opened_world

_IDA = Principal("ida@example.org", "Ida", (("Alpha", Role.ANALYST), ("Beta", Role.ANALYST)), Door.REST)
_NOTE = "Zebras deposit their stripes quarterly."


@pytest.fixture
def world(tmp_path: Path, models: Path, engine: Engine) -> Iterator[World]:
    """A library with documents of two projects."""
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with opened_world(tmp_path, models, url) as opened:
        yield opened


def _of_both(world: World) -> tuple[EvidenceLink, ...]:
    """A sentence of each project."""
    alpha = next(each for each in world.whole.documents.list() if each.project == "Alpha")
    passages = [world.whole.documents.passages(each.id)[0].id for each in (alpha, world.hidden[0])]
    return tuple(links_to(world.whole.documents._catalogue, passages))


def _found(workbench: Workbench) -> bool:
    hits = workbench.search.run(SearchRequest("How often do zebras deposit stripes?"), remember=False).hits
    return any("stripes" in hit.candidate.passage.text for hit in hits)


def test_a_note_on_documents_of_two_projects_is_saved_changed_and_deleted_by_somebody_of_both(world: World) -> None:
    ida = world.library.for_principal(_IDA)
    note = ida.insights.save(_NOTE, links=_of_both(world), project="Alpha")
    assert ida.insights.insight(note.id) == note
    assert _found(world.whole) and not _found(world.eve)
    changed = ida.insights.change(replace(note, text=f"{_NOTE} They never forget.", tags=("herd",)))
    assert world.whole.insights.insight(note.id) == changed
    assert world.whole.documents.get(changed.document_id).tags == ("herd",)
    ida.insights.delete(changed)
    assert not _found(world.whole)
    ida.insights.restore(ida.insights.insight(note.id))
    assert _found(world.whole) and not _found(world.eve)
