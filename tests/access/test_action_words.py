"""What the audit log calls its actions: every recorded one has words of its own, also in the CSV and the search."""

from datetime import UTC, datetime

import pytest

from core.access import action_words as table
from core.access.action_words import action_words, actions_with
from core.access.audit import AuditQuery, AuditService
from core.access.rights import NESTED, RIGHTS
from core.domain.people import Door, Role
from tests.fakes import FakeAuditLog

RECORDED = sorted(action for action, right in RIGHTS.items() if right.audited)
READ = sorted(RIGHTS.keys() - set(RECORDED))


@pytest.mark.parametrize("action", RECORDED)
def test_a_recorded_action_has_words_of_its_own(action: str) -> None:
    words = action_words(action)
    assert words[0].isupper() and not set("._:") & set(words)
    assert [each for each in RIGHTS if action_words(each) == words] == [action]


@pytest.mark.parametrize("action", READ)
def test_a_refused_look_has_words_too(action: str) -> None:
    words = action_words(action)
    assert words[0].isupper() and not set("._:") & set(words)
    assert RIGHTS[action].role is Role.VIEWER or not words.startswith("Read ") or action.startswith("audit.")


def test_the_table_names_no_action_that_is_gone() -> None:
    assert table._ACTIONS.keys() - RIGHTS.keys() == {"sign in", "sign out"}
    assert table._AREAS.keys() <= {each.partition(".")[0] for each in {*RIGHTS, *NESTED}}


def test_an_action_that_a_later_version_wrote_is_still_shown() -> None:
    assert action_words("new_service.do_it") == "New service: do it"


def test_entries_are_found_and_exported_in_words() -> None:
    audit = AuditService(FakeAuditLog(), lambda: datetime(2026, 1, 2, tzinfo=UTC))
    for action in ("upload_queue.take_in", "bulk_edit.delete"):
        audit.record(login="ann", name="Ann", door=Door.BROWSER, action=action, object="policy.pdf")
    assert [each.action for each in audit.page(AuditQuery(words="UPLOADED")).entries] == ["upload_queue.take_in"]
    assert [each.action for each in audit.page(AuditQuery(words="bulk_edit")).entries] == ["bulk_edit.delete"]
    head, row = audit.csv(AuditQuery(words="deleted a")).decode("utf-8-sig").splitlines()
    assert '"action"' in head and '"Deleted a document"' in row and '"bulk_edit.delete"' in row
    assert "upload_queue.take_in" in actions_with("uploaded files") and not actions_with("no such words")
