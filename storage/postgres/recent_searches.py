"""What each person searched for last."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Index, Integer, delete, func, select, text
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.tables import BY_LOGIN, Base, allow, id_column, login_column, of_tenant, table_of

__all__ = ["SEARCHES", "SearchedQuestionRow", "delete_searches", "last_searches", "save_search"]

_REMEMBERED = 2000  # newest searches of a person; older ones are deleted. Chosen by hand, not fitted.
_DELETED_EVERY = 64  # searches


class SearchedQuestionRow(Base):
    """A question that was searched, and its number of hits."""

    __tablename__ = "searches"
    __table_args__ = (
        of_tenant(),
        Index("searches_of_person", "tenant_id", "login", text("id DESC")),
        allow("SELECT, INSERT, DELETE", seen=BY_LOGIN),
    )

    id: Mapped[int] = id_column("searches_id_seq")
    question: Mapped[str]
    hits: Mapped[int] = mapped_column(Integer())
    at: Mapped[datetime]
    login: Mapped[str] = login_column()


SEARCHES = table_of(SearchedQuestionRow)


def save_search(database: Database, question: str, hits: int, at: datetime, login: str) -> None:
    """Add to a person's searches, and now and then delete the oldest of them. Raises StoreFailed."""
    query = """INSERT INTO searches (tenant_id, question, hits, at, login)
        VALUES (%(tenant)s, %(question)s, %(hits)s, %(at)s, %(person)s) RETURNING id"""
    values = {"question": storable_text(question), "hits": hits, "at": at, "person": login}  # %(login)s is the scope's
    # A question stored twice does no harm.
    ((number,),) = database.read("remembering a question", query, values)
    if number % _DELETED_EVERY == 0:
        newest = select(SEARCHES.c.id).where(_own(database, login)).order_by(SEARCHES.c.id.desc()).limit(_REMEMBERED)
        oldest = select(func.min(newest.subquery().c.id)).scalar_subquery()
        with database.transaction("deleting old questions") as connection:
            connection.execute(delete(SEARCHES).where(_own(database, login), SEARCHES.c.id < oldest))


def last_searches(database: Database, limit: int, login: str) -> Sequence[tuple[str, int, datetime]]:
    """(question, hits, when) of a person's searches, newest first, each question once. Raises StoreFailed."""
    newest = select(SEARCHES).where(_own(database, login)).order_by(SEARCHES.c.id.desc()).limit(_REMEMBERED).subquery()
    once = select(newest).ext(distinct_on(newest.c.question)).order_by(newest.c.question, newest.c.id.desc()).subquery()
    query = select(once.c.question, once.c.hits, once.c.at).order_by(once.c.id.desc()).limit(limit)
    with database.transaction("reading the last searches") as connection:
        return [(row.question, row.hits, row.at) for row in connection.execute(query)]


def delete_searches(database: Database, login: str) -> None:
    """Delete a person's searches. Raises StoreFailed."""
    with database.transaction("deleting questions") as connection:
        connection.execute(delete(SEARCHES).where(_own(database, login)))


def _own(database: Database, login: str) -> ColumnElement[bool]:
    return (SEARCHES.c.tenant_id == database.tenant) & (SEARCHES.c.login == login)
