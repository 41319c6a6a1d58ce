"""What people with a role in one project see of others' work stays the same when the quoted documents are deleted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from core.domain.coverage import Topic
from core.domain.people import Door, Principal, Role
from core.domain.queries import SearchRequest
from core.workbench import Workbench
from tests.access.world import SECRET, World, opened_world
from tests.coverage.boards import citation

_BOB = Principal("bob@example.org", "Bob", (("Beta", Role.VIEWER),), Door.REST)


@pytest.fixture
def world(tmp_path: Path, models: Path, engine: Engine) -> Iterator[World]:
    """The library with its secret, not yet deleted."""
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with opened_world(tmp_path, models, url) as opened:
        yield opened


def _seen(workbench: Workbench) -> dict[str, list[str]]:
    """The notes, shortlists and topics somebody sees, and the notes that a search finds."""
    found = workbench.search.run(SearchRequest(f"{SECRET} turbine"), remember=False).hits
    board = workbench.coverage.board("Beta")
    return {
        "insights": [each.text for each in workbench.insights.insights().items],
        "episodes": [each.question for each in workbench.insights.episodes().items],
        "shortlists": [each.name for each in workbench.shortlists.all()],
        "topics": [each.name for each in workbench.coverage.topics(None)],
        "board": [each.name for each in board.topics] if board else [],
        "found": sorted({hit.candidate.passage.text for hit in found if hit.candidate.passage.sector}),
    }


def test_deleting_documents_for_good_neither_hides_nor_shows_what_quotes_them(world: World) -> None:
    quoted = citation(f"{SECRET} staff", document_id=world.hidden[0].id)
    world.whole.coverage.add_topics([Topic(f"{SECRET} staff", source=quoted)], "Ann")
    world.whole.coverage.runs.carry_out(world.whole.coverage.runs.start("Beta").id)
    bob, eve = world.library.for_principal(_BOB), world.eve
    before = _seen(bob), _seen(eve)
    assert all(before[0].values()) and not any(SECRET in str(each).lower() for each in before[1].values())
    ids = [each.id for each in world.hidden]
    for each in ids:
        world.whole.bulk_edit.delete(each, "Ann")
    assert (_seen(bob), _seen(eve)) == before
    world.whole.trash.purge(ids, "Ann")
    assert (_seen(bob), _seen(eve)) == before
