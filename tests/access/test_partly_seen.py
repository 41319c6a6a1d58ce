"""A change of which somebody sees only a part is not undone by them: it would be called undone as a whole."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from core.domain.coverage import Topic
from core.domain.documents import Document
from core.domain.errors import BadRequest
from core.domain.people import Door, Principal, Role
from core.library.bulk_edit.store import LabelEdit
from core.library.history import HistoryEntry, HistoryKind
from core.workbench import Workbench
from tests.access.world import World, opened_world

_ADA = Principal("ada@example.org", "Ada", (("Alpha", Role.REVIEWER),), Door.REST)
_BOTH = Principal("ada@example.org", "Ada", (("Alpha", Role.REVIEWER), ("Beta", Role.REVIEWER)), Door.REST)


@pytest.fixture
def world(tmp_path: Path, models: Path, engine: Engine) -> Iterator[World]:
    """A library with documents of two projects."""
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with opened_world(tmp_path, models, url) as opened:
        yield opened


def _documents(world: World) -> tuple[Document, Document]:
    """A document of Alpha, and one of Beta."""
    alpha = next(each for each in world.whole.documents.list() if each.project == "Alpha")
    return alpha, world.hidden[2]


def _newest(workbench: Workbench, kind: HistoryKind) -> HistoryEntry:
    return next(each for each in workbench.history.newest() if each.kind is kind)


@pytest.mark.parametrize("editor", ["Ann", "Ada"])
def test_an_edit_of_two_projects_is_undone_by_somebody_who_sees_both(world: World, editor: str) -> None:
    edited = world.whole if editor == "Ann" else world.library.for_principal(_BOTH)
    changes = [LabelEdit(each.id, each.name, "owner", "", "Grace") for each in _documents(world)]
    edited.bulk_edit.apply(changes, "Owner Grace")
    ada = world.library.for_principal(_ADA)
    entry = _newest(ada, HistoryKind.DOCUMENTS)
    assert not entry.can_undo
    with pytest.raises(BadRequest, match="more documents than you can see"):
        ada.bulk_edit.undo(int(entry.reference))
    assert [world.whole.documents.get(each.id).owner for each in _documents(world)] == ["Grace", "Grace"]
    both = world.library.for_principal(_BOTH)
    assert both.history.undo(_newest(both, HistoryKind.DOCUMENTS), "Ada") == ()
    assert [world.whole.documents.get(each.id).owner for each in _documents(world)] == ["", ""]


def test_a_change_of_topics_of_two_projects_is_undone_by_somebody_who_sees_both(world: World) -> None:
    topics = [Topic(f"{project} overtime", project=project) for project in ("Alpha", "Beta")]
    stored = world.whole.coverage.add_topics(topics, "Ann")
    world.whole.coverage.change_topics([replace(each, owner="Grace") for each in stored], "Ann")
    ada = world.library.for_principal(_ADA)
    entry = _newest(ada, HistoryKind.TOPICS)
    assert not entry.can_undo
    with pytest.raises(BadRequest, match="more topics than you can see"):
        ada.coverage.undo_topic_edit(int(entry.reference), "Ada")
    both = world.library.for_principal(_BOTH)
    both.history.undo(_newest(both, HistoryKind.TOPICS), "Ada")
    now = {each.id: each.owner for each in world.whole.coverage.topics(None)}
    assert [now[each.id] for each in stored] == ["", ""]
