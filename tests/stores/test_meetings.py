"""What watching a meeting asks of PostgreSQL, every second in every browser."""

from datetime import timedelta

from sqlalchemy import Engine, event

from storage.postgres.meetings import SqlMeetingStore
from tests.database import new_tenant
from tests.stores.contracts.test_meeting_store import AT, LOST, meeting_of


def test_watching_reads_one_number_and_reporting_writes_one_row(engine: Engine) -> None:
    store = SqlMeetingStore(new_tenant(engine))
    number = store.add_meeting(meeting_of()).id
    store.beat(number, "Ann", AT, LOST)
    requests: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "meeting" in statement:
            requests.append(" ".join(statement.split()))

    event.listen(engine, "before_cursor_execute", note)
    try:
        store.version(number)
        watched, requests[:] = list(requests), []
        store.beat(number, "Ann", AT + timedelta(seconds=2), LOST)
    finally:
        event.remove(engine, "before_cursor_execute", note)
    (read,) = watched
    assert read.startswith("SELECT meetings.version FROM meetings WHERE meetings.tenant_id =")
    assert [each for each in requests if each.startswith("UPDATE meetings")] == [], "nobody else has to look again"
    assert len([each for each in requests if each.startswith("UPDATE meeting_attendees")]) == 2, "here, and who is lost"
