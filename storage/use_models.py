"""The tables of use tracking: what people did, and per document what it comes to."""

from datetime import datetime
from typing import cast

from sqlalchemy import ForeignKeyConstraint, Index, Integer, Sequence, Table, text
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["DOCUMENT_USES", "USE_EVENTS", "Base", "DocumentUseRow", "UseEventRow"]

_NOT_SHOWN = "kind <> 'shown'"


class UseEventRow(Base):
    """One event. Rows are added, never changed, and go only with their document.

    `document_id` names no row of `documents`: insights and episodes are used as well. Most events are `shown`, which
    nothing looks up, so the indexes leave them out.
    """

    __tablename__ = "use_events"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("use_events_of_document", "tenant_id", "document_id", "kind"),
        Index("use_events_of_question", "tenant_id", "question", "id", postgresql_where=text(_NOT_SHOWN)),
        Index("use_events_of_passage", "tenant_id", "passage_id", "id", postgresql_where=text(_NOT_SHOWN)),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("use_events_id_seq"), primary_key=True)
    kind: Mapped[str]
    document_id: Mapped[int]
    passage_id: Mapped[int]
    question: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]


class DocumentUseRow(Base):
    """How much a document was used; made anew from its events, in the transaction that adds them, whenever one of them
    can change it. uses 0: every mark of it was taken back."""

    __tablename__ = "document_uses"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    uses: Mapped[int] = mapped_column(Integer())
    last: Mapped[datetime | None]
    questions: Mapped[list[str]]


USE_EVENTS = cast(Table, UseEventRow.__table__)
DOCUMENT_USES = cast(Table, DocumentUseRow.__table__)
