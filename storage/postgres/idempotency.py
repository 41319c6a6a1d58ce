"""Idempotency keys in PostgreSQL."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Integer, delete, select, update
from sqlalchemy.orm import Mapped, mapped_column

from core.library.idempotency import IdempotentRequest
from storage.postgres.database import Database
from storage.postgres.json_records import insert_row, storable
from storage.postgres.tables import BY_LOGIN, Base, JsonValue, allow, of_tenant, table_of

__all__ = ["IDEMPOTENT_REQUESTS", "IdempotentRequestRow", "SqlIdempotencyStore"]


class IdempotentRequestRow(Base):
    """One claimed key of one person. status: 0 while its request is carried out."""

    __tablename__ = "idempotent_requests"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE, DELETE", seen=BY_LOGIN))

    login: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str]
    at: Mapped[datetime]
    status: Mapped[int] = mapped_column(Integer())
    reply: Mapped[JsonValue]


IDEMPOTENT_REQUESTS = table_of(IdempotentRequestRow)
_COLUMNS = IDEMPOTENT_REQUESTS.c


class SqlIdempotencyStore:
    """Implements core.library.idempotency.IdempotencyStore."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, request: IdempotentRequest, *, retained_since: datetime) -> IdempotentRequest | None:
        """Store a new key, or return the request that has it. Keys claimed before `retained_since` are deleted."""
        with self._database.transaction("claiming an idempotency key") as connection:
            old = (_COLUMNS.tenant_id == self._database.tenant, _COLUMNS.at < retained_since)
            connection.execute(delete(IDEMPOTENT_REQUESTS).where(*old))
            if insert_row(connection, IDEMPOTENT_REQUESTS, self._row(request)):
                return None
            own = self._own(request.login, request.key)
            known = connection.execute(select(IDEMPOTENT_REQUESTS).where(*own)).one_or_none()
        return None if known is None else _request(known)

    def reclaim(self, request: IdempotentRequest, before: IdempotentRequest) -> bool:
        """Replace an abandoned claim; False when another process did so first, or the reply has arrived."""
        same = (*self._own(before.login, before.key), _COLUMNS.at == before.at, _COLUMNS.status == 0)
        with self._database.transaction("claiming an idempotency key") as connection:
            replaced = connection.execute(update(IDEMPOTENT_REQUESTS).where(*same).values(at=request.at))
        return bool(replaced.rowcount)

    def finish(self, request: IdempotentRequest) -> None:
        """Store the reply of a claimed request."""
        own = self._own(request.login, request.key)
        values = {"status": request.status, "reply": storable(request.reply)}
        with self._database.transaction("storing a reply") as connection:
            connection.execute(update(IDEMPOTENT_REQUESTS).where(*own).values(**values))

    def release(self, login: str, key: str) -> None:
        """Delete a claim that has no reply, so that the request can be repeated."""
        own = (*self._own(login, key), _COLUMNS.status == 0)
        with self._database.transaction("releasing an idempotency key") as connection:
            connection.execute(delete(IDEMPOTENT_REQUESTS).where(*own))

    def _own(self, login: str, key: str) -> tuple[ColumnElement[bool], ...]:
        return _COLUMNS.tenant_id == self._database.tenant, _COLUMNS.login == login, _COLUMNS.key == key

    def _row(self, request: IdempotentRequest) -> dict[str, Any]:
        return {
            "tenant_id": self._database.tenant,
            "login": request.login,
            "key": request.key,
            "fingerprint": request.fingerprint,
            "at": request.at,
            "status": request.status,
            "reply": storable(request.reply),
        }


def _request(row: Any) -> IdempotentRequest:
    return IdempotentRequest(row.login, row.key, row.fingerprint, row.at, row.status, row.reply)
