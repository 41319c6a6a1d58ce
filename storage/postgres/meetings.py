"""Review meetings, who attends them and what they put on record, in PostgreSQL."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, ForeignKeyConstraint, Index, Integer, func, select, text, update
from sqlalchemy.orm import Mapped, mapped_column

from core.coverage.meetings.meeting import Attendee, Contribution, Meeting, attendee_key
from core.coverage.meetings.store import no_contribution, no_meeting
from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.document_projects import redact_purged
from storage.postgres.json_records import JsonRecords, from_json, insert_row, next_id, to_json
from storage.postgres.tables import BY_OWN_PROJECT, Base, JsonValue, allow, id_column, of_tenant, table_of

__all__ = [
    "ATTENDEES",
    "CONTRIBUTIONS",
    "MEETINGS",
    "AttendeeRow",
    "ContributionRow",
    "MeetingRow",
    "SqlMeetingStore",
]


_SEEN = "meeting_id IN (SELECT id FROM meetings)"
"""Who sees a meeting sees what belongs to it."""


def _of_meeting() -> ForeignKeyConstraint:
    """Foreign key to the meeting: rows are deleted with it."""
    return ForeignKeyConstraint(["tenant_id", "meeting_id"], ["meetings.tenant_id", "meetings.id"], ondelete="CASCADE")


class MeetingRow(Base):
    """One meeting. `version` counts changes of the meeting, its attendees and its contributions; `data` is the rest."""

    __tablename__ = "meetings"
    __table_args__ = (
        of_tenant(),
        Index("meetings_newest", "tenant_id", "project", text("id DESC")),
        allow("SELECT, INSERT, UPDATE (version, data)", seen=BY_OWN_PROJECT),
    )

    id: Mapped[int] = id_column("meetings_id_seq")
    project: Mapped[str | None]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]


class AttendeeRow(Base):
    """One person in a meeting. `person` is the name without case."""

    __tablename__ = "meeting_attendees"
    __table_args__ = (_of_meeting(), allow("SELECT, INSERT, UPDATE (beat_at, present)", seen=_SEEN))

    meeting_id: Mapped[int] = mapped_column(primary_key=True)
    person: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    joined_at: Mapped[datetime]
    beat_at: Mapped[datetime]
    present: Mapped[bool]


class ContributionRow(Base):
    """One proposal, comment or open point."""

    __tablename__ = "meeting_contributions"
    __table_args__ = (
        _of_meeting(),
        Index("meeting_contributions_of_meeting", "tenant_id", "meeting_id", "id"),
        allow("SELECT, INSERT, UPDATE (data)", seen=_SEEN),
    )

    id: Mapped[int] = id_column("meeting_contributions_id_seq")
    meeting_id: Mapped[int]
    data: Mapped[JsonValue]


MEETINGS = table_of(MeetingRow)
ATTENDEES = table_of(AttendeeRow)
CONTRIBUTIONS = table_of(ContributionRow)


class SqlMeetingStore:
    """Implements core.coverage.meetings.store.MeetingStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._meetings = JsonRecords(MEETINGS, Meeting, database.tenant)
        self._contributions = JsonRecords(CONTRIBUTIONS, Contribution, database.tenant)

    def add_meeting(self, meeting: Meeting) -> Meeting:
        """Store a new meeting."""
        with self._database.transaction("storing a meeting") as connection:
            new = replace(meeting, id=next_id(connection, MEETINGS), version=1)
            self._meetings.add(connection, {"id": new.id, "project": new.project, "version": 1}, new)
        return new

    def meeting(self, meeting_id: int) -> Meeting:
        """One meeting. Raises NotFound."""
        with self._database.transaction("reading a meeting") as connection:
            return self._one(connection, meeting_id)

    def meetings(self, project: str | None) -> Sequence[Meeting]:
        """The meetings of exactly this project, newest first."""
        query = (
            select(MEETINGS.c.version, MEETINGS.c.data)
            .where(MEETINGS.c.tenant_id == self._tenant, MEETINGS.c.project.is_not_distinct_from(project))
            .order_by(MEETINGS.c.id.desc())
        )
        with self._database.transaction("reading meetings") as connection:
            return [_meeting(row) for row in connection.execute(query)]

    def version(self, meeting_id: int) -> int:
        """The version of a meeting. Raises NotFound."""
        with self._database.transaction("reading a meeting") as connection:
            found: int | None = connection.scalar(select(MEETINGS.c.version).where(*self._own(meeting_id)))
        if found is None:
            raise no_meeting(meeting_id)
        return found

    def change_meeting(self, meeting_id: int, change: Callable[[Meeting], Meeting]) -> Meeting:
        """Store what `change` makes of the meeting, one change after the other, without quotes of documents that were
        deleted for good. Raises NotFound."""
        with self._database.transaction("storing a meeting") as connection:
            before = self._one(connection, meeting_id, lock=True)
            (known,) = redact_purged(self._database, connection, [change(before)])
            after = replace(known, id=before.id, version=before.version + 1)
            values = {"version": after.version, "data": to_json(after)}
            connection.execute(update(MEETINGS).where(*self._own(meeting_id)).values(values))
        return after

    def beat(self, meeting_id: int, name: str, at: datetime, lost_before: datetime) -> int:
        """Note that a person is there and who is away; gives the version. Raises NotFound."""
        of_meeting, person = self._attendees_of(meeting_id), storable_text(attendee_key(name))
        own, others = ATTENDEES.c.person == person, ATTENDEES.c.person != person
        with self._database.transaction("noting who is there") as connection:
            # The meeting is locked first: reports of the same meeting wait for each other, never in a circle.
            meeting = self._one(connection, meeting_id, lock=True)
            was_present = connection.scalar(select(ATTENDEES.c.present).where(*of_meeting, own))
            if was_present is None:
                row = {
                    "tenant_id": self._tenant, "meeting_id": meeting_id, "person": person,
                    "name": storable_text(name), "joined_at": at, "beat_at": at, "present": True,
                }  # fmt: skip
                insert_row(connection, ATTENDEES, row)
            else:
                here = update(ATTENDEES).where(*of_meeting, own)
                connection.execute(here.values(present=True, beat_at=func.greatest(ATTENDEES.c.beat_at, at)))
            is_lost = (others, ATTENDEES.c.present, ATTENDEES.c.beat_at < lost_before)
            lost = connection.execute(update(ATTENDEES).where(*of_meeting, *is_lost).values(present=False)).rowcount
            return meeting.version if was_present and not lost else self._raise_version(connection, meeting_id)

    def leave(self, meeting_id: int, name: str, at: datetime) -> None:
        """Note that a person has left. Raises NotFound."""
        own = (*self._attendees_of(meeting_id), ATTENDEES.c.person == storable_text(attendee_key(name)))
        with self._database.transaction("noting who is there") as connection:
            self._one(connection, meeting_id, lock=True)
            absence = update(ATTENDEES).where(*own, ATTENDEES.c.present).values(present=False, beat_at=at)
            if connection.execute(absence).rowcount:
                self._raise_version(connection, meeting_id)

    def attendees(self, meeting_id: int) -> Sequence[Attendee]:
        """Everyone who ever came, in order of arrival."""
        columns = (ATTENDEES.c.name, ATTENDEES.c.joined_at, ATTENDEES.c.beat_at, ATTENDEES.c.present)
        query = (
            select(*columns).where(*self._attendees_of(meeting_id)).order_by(ATTENDEES.c.joined_at, ATTENDEES.c.person)
        )
        with self._database.transaction("reading who is there") as connection:
            return [Attendee(meeting_id, *row) for row in connection.execute(query)]

    def add_contribution(self, contribution: Contribution) -> Contribution:
        """Store a new contribution. Raises NotFound for an unknown meeting."""
        with self._database.transaction("storing a contribution") as connection:
            meeting = self._one(connection, contribution.meeting_id, lock=True)
            new = replace(contribution, id=next_id(connection, CONTRIBUTIONS))
            self._contributions.add(connection, {"id": new.id, "meeting_id": new.meeting_id}, new)
            self._raise_version(connection, meeting.id)
        return new

    def contributions(self, meeting_id: int) -> Sequence[Contribution]:
        """Everything put on record in a meeting, oldest first."""
        with self._database.transaction("reading contributions") as connection:
            of_meeting = CONTRIBUTIONS.c.meeting_id == meeting_id
            return self._contributions.all(connection, of_meeting, order=CONTRIBUTIONS.c.id)

    def change_contribution(
        self, meeting_id: int, contribution_id: int, change: Callable[[Contribution], Contribution]
    ) -> Contribution:
        """Store what `change` makes of a contribution. Raises NotFound."""
        own = (CONTRIBUTIONS.c.meeting_id == meeting_id, CONTRIBUTIONS.c.id == contribution_id)
        with self._database.transaction("storing a contribution") as connection:
            self._one(connection, meeting_id, lock=True)
            before = self._contributions.first(connection, *own)
            if before is None:
                raise no_contribution(contribution_id)
            after = replace(change(before), id=before.id, meeting_id=meeting_id)
            self._contributions.change(connection, {}, after, *own)
            self._raise_version(connection, meeting_id)
        return after

    def _own(self, meeting_id: int) -> tuple[Any, ...]:
        return MEETINGS.c.tenant_id == self._tenant, MEETINGS.c.id == meeting_id

    def _attendees_of(self, meeting_id: int) -> tuple[Any, ...]:
        return ATTENDEES.c.tenant_id == self._tenant, ATTENDEES.c.meeting_id == meeting_id

    def _one(self, connection: Connection, meeting_id: int, *, lock: bool = False) -> Meeting:
        query = select(MEETINGS.c.version, MEETINGS.c.data).where(*self._own(meeting_id))
        row = connection.execute(query.with_for_update() if lock else query).first()
        if row is None:
            raise no_meeting(meeting_id)
        return _meeting(row)

    def _raise_version(self, connection: Connection, meeting_id: int) -> int:
        raised = update(MEETINGS).where(*self._own(meeting_id)).values(version=MEETINGS.c.version + 1)
        version: int = connection.execute(raised.returning(MEETINGS.c.version)).scalar_one()
        return version


def _meeting(row: Any) -> Meeting:
    return replace(from_json(Meeting, row.data), version=row.version)
