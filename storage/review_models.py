"""The tables of kept coverage: topics, runs with their cells, decisions. `data` holds the whole value as JSON; the
columns beside it are what is looked for."""

from datetime import datetime
from typing import Any, cast

from sqlalchemy import ForeignKeyConstraint, Index, Integer, Sequence, Table, text
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["CELLS", "DECISIONS", "RUNS", "TOPICS", "Base", "CellRow", "CoverageRun", "DecisionRow", "TopicRow"]


class TopicRow(Base):
    """One topic; `data` is the whole value, the columns are what is looked for. A name lives once per project."""

    __tablename__ = "topics"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index(
            "topics_living_names",
            "tenant_id",
            "project",
            text("lower(name)"),
            unique=True,
            postgresql_where=text("NOT retired"),
            postgresql_nulls_not_distinct=True,
        ),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("topics_id_seq"), primary_key=True)
    project: Mapped[str | None]
    name: Mapped[str]
    retired: Mapped[bool]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[dict[str, Any]]


class CoverageRun(Base):
    """One run; `data` is the value without `corpus`, which only the next run reads."""

    __tablename__ = "coverage_runs"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("coverage_runs_newest", "tenant_id", "project", text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("coverage_runs_id_seq"), primary_key=True)
    project: Mapped[str | None]
    state: Mapped[str]
    finished_at: Mapped[datetime | None]
    data: Mapped[dict[str, Any]]
    corpus: Mapped[dict[str, Any]]


class CellRow(Base):
    """One judged cell of a run."""

    __tablename__ = "cells"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "run_id"], ["coverage_runs.tenant_id", "coverage_runs.id"], ondelete="CASCADE"
        ),
        Index("cells_of_topic", "tenant_id", "topic_id", "kind"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str]
    score: Mapped[float]
    data: Mapped[dict[str, Any]]


class DecisionRow(Base):
    """One line of the decision log. Rows are added, never changed; `number` continues the count of its cell."""

    __tablename__ = "decisions"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index(
            "decisions_count",
            "tenant_id",
            "project",
            "topic_id",
            "kind",
            "number",
            unique=True,
            postgresql_nulls_not_distinct=True,
        ),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("decisions_id_seq"), primary_key=True)
    project: Mapped[str | None]
    topic_id: Mapped[int]
    kind: Mapped[str]
    number: Mapped[int] = mapped_column(Integer())
    at: Mapped[datetime]
    data: Mapped[dict[str, Any]]


TOPICS = cast(Table, TopicRow.__table__)
RUNS = cast(Table, CoverageRun.__table__)
CELLS = cast(Table, CellRow.__table__)
DECISIONS = cast(Table, DecisionRow.__table__)
