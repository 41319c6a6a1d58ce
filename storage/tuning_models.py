"""The tables of kept tunings: profiles, question sets with their questions and judgments, experiments. `data` holds the
whole value as JSON; the columns beside it are what is looked for, and hold where both say something.

`data` is json, not jsonb: nothing looks inside, and mappings (weights, measures) keep the order they were written in.
Names are one without regard to capitals, so their columns hold them in lower case.
"""

from typing import Annotated, Any, cast

from sqlalchemy import ForeignKeyConstraint, Index, Integer, Sequence, Table, text
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = [
    "DEFAULTS",
    "EXPERIMENTS",
    "JUDGMENTS",
    "PROFILES",
    "QUESTIONS",
    "SETS",
    "Base",
    "DefaultProfileRow",
    "ExperimentRow",
    "JudgmentRow",
    "ProfileVersionRow",
    "QuestionRow",
    "QuestionSetRow",
]

_Value = Annotated[dict[str, Any], mapped_column(JSON())]
_Values = Annotated[list[dict[str, Any]], mapped_column(JSON())]


class ProfileVersionRow(Base):
    """One version of a workspace's own profile. Rows are added, never changed; the key decides who saved it first."""

    __tablename__ = "score_profiles"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(Integer(), primary_key=True)
    data: Mapped[_Value]


class DefaultProfileRow(Base):
    """One choice of a default profile. Rows are added, never changed: the latest per project holds."""

    __tablename__ = "default_profiles"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("default_profiles_latest", "tenant_id", "project", text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("default_profiles_id_seq"), primary_key=True)
    project: Mapped[str | None]
    data: Mapped[_Value]


class QuestionSetRow(Base):
    """One set of questions. A name lives once per project."""

    __tablename__ = "question_sets"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index(
            "question_sets_living_names",
            "tenant_id",
            "project",
            "name",
            unique=True,
            postgresql_where=text("NOT retired"),
            postgresql_nulls_not_distinct=True,
        ),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("question_sets_id_seq"), primary_key=True)
    project: Mapped[str | None]
    name: Mapped[str]
    retired: Mapped[bool]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[_Value]


class QuestionRow(Base):
    """One question of a set. A key lives once per set."""

    __tablename__ = "questions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "set_id"], ["question_sets.tenant_id", "question_sets.id"], ondelete="CASCADE"
        ),
        Index("questions_of_set", "tenant_id", "set_id", "id", unique=True),
        Index(
            "questions_living_keys",
            "tenant_id",
            "set_id",
            "key",
            unique=True,
            postgresql_where=text("NOT retired"),
        ),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("questions_id_seq"), primary_key=True)
    set_id: Mapped[int]
    key: Mapped[str]
    retired: Mapped[bool]
    data: Mapped[_Value]


class JudgmentRow(Base):
    """One judgment, of a question of its set. Rows are added, never changed: the latest per question, unit and judge
    holds."""

    __tablename__ = "judgments"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "set_id", "question_id"],
            ["questions.tenant_id", "questions.set_id", "questions.id"],
            ondelete="CASCADE",
        ),
        Index("judgments_latest", "tenant_id", "set_id", "question_id", "unit", "who", text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("judgments_id_seq"), primary_key=True)
    set_id: Mapped[int]
    question_id: Mapped[int]
    unit: Mapped[str]
    who: Mapped[str]
    data: Mapped[_Value]


class ExperimentRow(Base):
    """One experiment; `data` is the value without `outcomes`, which lists do not read."""

    __tablename__ = "experiments"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("experiments_newest", "tenant_id", "set_id", text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("experiments_id_seq"), primary_key=True)
    set_id: Mapped[int]
    data: Mapped[_Value]
    outcomes: Mapped[_Values]


PROFILES = cast(Table, ProfileVersionRow.__table__)
DEFAULTS = cast(Table, DefaultProfileRow.__table__)
SETS = cast(Table, QuestionSetRow.__table__)
QUESTIONS = cast(Table, QuestionRow.__table__)
JUDGMENTS = cast(Table, JudgmentRow.__table__)
EXPERIMENTS = cast(Table, ExperimentRow.__table__)
