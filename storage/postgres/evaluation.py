"""Score profiles, question sets, judgments and experiments in PostgreSQL."""
# More than 300 lines: six tables and their queries are one port, and share locks and keys.

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Connection,
    ForeignKeyConstraint,
    Index,
    Integer,
    delete,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.evaluation import Experiment, JudgedQuestion, Judgment, QuestionSet
from core.domain.profiles import DefaultProfile, ProfileVersion, with_current_factor_names
from core.domain.sanitize import storable_text
from core.evaluation.store import no_experiment, no_question, no_set, outdated_profile, outdated_set, set_name_taken
from storage.postgres.database import Database
from storage.postgres.json_records import JsonRecords, from_json, insert_row, next_id, next_ids, storable, to_json
from storage.postgres.tables import (
    BY_OWN_PROJECT,
    BY_PROJECT,
    Base,
    JsonValue,
    JsonValues,
    allow,
    id_column,
    of_tenant,
    table_of,
)

__all__ = [
    "DEFAULTS",
    "EXPERIMENTS",
    "JUDGMENTS",
    "PROFILES",
    "QUESTIONS",
    "SETS",
    "DefaultProfileRow",
    "ExperimentRow",
    "JudgmentRow",
    "ProfileVersionRow",
    "QuestionRow",
    "QuestionSetRow",
    "SqlEvaluationStore",
]


class ProfileVersionRow(Base):
    """One version of a custom score profile. Rows are only added; the primary key rejects a second save of the same
    version."""

    __tablename__ = "score_profiles"
    __table_args__ = (
        of_tenant(),
        CheckConstraint("version > 0", name="score_profiles_version_check"),
        allow("SELECT, INSERT"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(Integer(), primary_key=True)
    data: Mapped[JsonValue]


class DefaultProfileRow(Base):
    """One choice of a default profile. Rows are only added; the latest per project is valid."""

    __tablename__ = "default_profiles"
    __table_args__ = (
        of_tenant(),
        Index("default_profiles_latest", "tenant_id", "project", text("id DESC")),
        allow("SELECT, INSERT", seen=BY_PROJECT),
    )

    id: Mapped[int] = id_column("default_profiles_id_seq")
    project: Mapped[str | None]
    data: Mapped[JsonValue]


class QuestionSetRow(Base):
    """One set of questions. A name is unique per project among sets in use."""

    __tablename__ = "question_sets"
    __table_args__ = (
        of_tenant(),
        Index(
            "question_sets_living_names",
            "tenant_id",
            "project",
            "name",
            unique=True,
            postgresql_where=text("NOT retired"),
            postgresql_nulls_not_distinct=True,
        ),
        allow("SELECT, INSERT, UPDATE (project, name, retired, version, data)", seen=BY_OWN_PROJECT),
    )

    id: Mapped[int] = id_column("question_sets_id_seq")
    project: Mapped[str | None]
    name: Mapped[str]
    retired: Mapped[bool]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]


class QuestionRow(Base):
    """One question of a set. A key is unique per set among questions in use."""

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
        allow("SELECT, INSERT, UPDATE (retired, data)", seen="set_id IN (SELECT id FROM question_sets)"),
    )

    id: Mapped[int] = id_column("questions_id_seq")
    set_id: Mapped[int]
    key: Mapped[str]
    retired: Mapped[bool]
    data: Mapped[JsonValue]


class JudgmentRow(Base):
    """One relevance judgment for a question of its set. Rows are only added; the latest per question, unit and judge
    is valid."""

    __tablename__ = "judgments"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "set_id", "question_id"],
            ["questions.tenant_id", "questions.set_id", "questions.id"],
            ondelete="CASCADE",
        ),
        Index("judgments_latest", "tenant_id", "set_id", "question_id", "unit", "who", text("id DESC")),
        allow("SELECT, INSERT", seen="set_id IN (SELECT id FROM question_sets)"),
    )

    id: Mapped[int] = id_column("judgments_id_seq")
    set_id: Mapped[int]
    question_id: Mapped[int]
    unit: Mapped[str]
    who: Mapped[str]
    data: Mapped[JsonValue]


class ExperimentRow(Base):
    """One experiment; `data` is the value without `outcomes`, which lists do not read."""

    __tablename__ = "experiments"
    __table_args__ = (
        of_tenant(),
        Index("experiments_newest", "tenant_id", "set_id", text("id DESC")),
        allow(
            "SELECT, INSERT, UPDATE (set_id, data, outcomes), DELETE", seen="set_id IN (SELECT id FROM question_sets)"
        ),
    )

    id: Mapped[int] = id_column("experiments_id_seq")
    set_id: Mapped[int]
    data: Mapped[JsonValue]
    outcomes: Mapped[JsonValues]


PROFILES = table_of(ProfileVersionRow)
DEFAULTS = table_of(DefaultProfileRow)
SETS = table_of(QuestionSetRow)
QUESTIONS = table_of(QuestionRow)
JUDGMENTS = table_of(JudgmentRow)
EXPERIMENTS = table_of(ExperimentRow)


class SqlEvaluationStore:
    """Implements core.evaluation.store.EvaluationStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._sets = JsonRecords(SETS, QuestionSet, database.tenant)

    # Profiles

    def profile_versions(self) -> Sequence[ProfileVersion]:
        """Every version of every profile, ordered by name, then version."""
        # The collation "C" sorts alike on every server, whatever its locale.
        order = (PROFILES.c.name.collate("C"), PROFILES.c.version)
        query = select(PROFILES.c.data).where(PROFILES.c.tenant_id == self._tenant).order_by(*order)
        with self._database.transaction("reading profiles") as connection:
            rows_found = connection.scalars(query).all()
        return [_profile_version(data) for data in rows_found]

    def save_profile(self, version: ProfileVersion) -> None:
        """Add a version. Raises Outdated when its number is not the next one for its name."""
        number = version.profile.version
        key = {"tenant_id": self._tenant, "name": _lower(version.profile.name), "version": number}
        with self._database.transaction("storing a profile") as connection:
            newest = self._newest(connection, version.profile.name)
            follows = number == (newest.profile.version if newest else 0) + 1
            if not follows or not insert_row(connection, PROFILES, {**key, "data": to_json(version)}):
                raise outdated_profile(version, self._newest(connection, version.profile.name))

    def _newest(self, connection: Connection, name: str) -> ProfileVersion | None:
        own = (PROFILES.c.tenant_id == self._tenant, PROFILES.c.name == _lower(name))
        query = select(PROFILES.c.data).where(*own).order_by(PROFILES.c.version.desc()).limit(1)
        data = connection.scalar(query)
        return None if data is None else _profile_version(data)

    def defaults(self) -> Sequence[DefaultProfile]:
        """The valid choice for the whole library (first) and for each project; withdrawn ones are absent."""
        order = (DEFAULTS.c.project, DEFAULTS.c.id.desc())
        own = DEFAULTS.c.tenant_id == self._tenant
        query = select(DEFAULTS.c.data).ext(distinct_on(DEFAULTS.c.project)).where(own).order_by(*order)
        with self._database.transaction("reading the default profiles") as connection:
            latest = [from_json(DefaultProfile, data) for data in connection.scalars(query)]
        chosen = [default for default in latest if default.is_set]
        return sorted(chosen, key=lambda default: (default.project is not None, default.project or ""))

    def set_default(self, default: DefaultProfile) -> None:
        """Add a choice."""
        row = {"tenant_id": self._tenant, "project": storable(default.project), "data": to_json(default)}
        with self._database.transaction("storing a default profile") as connection:
            connection.execute(insert(DEFAULTS).values(row))

    # Question sets

    def sets(self, project: str | None, *, retired: bool = False) -> Sequence[QuestionSet]:
        """Sets in use (or retired) of a project and those of the whole library, oldest first; None: every set."""
        scope = [] if project is None else [(SETS.c.project == storable(project)) | SETS.c.project.is_(None)]
        with self._database.transaction("reading question sets") as connection:
            return self._sets.all(connection, SETS.c.retired.is_(retired), *scope, order=SETS.c.id)

    def question_set(self, set_id: int) -> QuestionSet:
        """One set. Raises NotFound."""
        with self._database.transaction("reading a question set") as connection:
            known = self._sets.first(connection, SETS.c.id == set_id)
        if known is None:
            raise no_set(set_id)
        return known

    def add_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a new set. Raises BadRequest when a set in use of its project has the same name."""
        with self._database.transaction("storing a question set") as connection:
            set_id = next_id(connection, SETS)
            new = replace(questions, id=set_id, version=1)
            if not self._sets.add(connection, {"id": set_id, **_set_row(new)}, new):
                raise set_name_taken(new.name)
        return new

    def change_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a changed set; returns it with its new version. Raises Outdated, NotFound, and BadRequest when the
        name is in use."""
        new = replace(questions, version=questions.version + 1)
        own = SETS.c.id == new.id
        with self._database.transaction("storing a question set") as connection:
            try:
                if self._sets.change(connection, _set_row(new), new, own, SETS.c.version == questions.version):
                    return new
            except IntegrityError as error:
                raise set_name_taken(new.name) from error
            known = self._sets.first(connection, own)
            raise no_set(new.id) if known is None else outdated_set(known)

    def _lock_sets(self, connection: Connection, set_ids: Collection[int]) -> None:
        """Lock these sets until the transaction ends, so that ids are committed in ascending order; always locked in
        the same order, which avoids deadlocks. Raises NotFound."""
        own = (SETS.c.tenant_id == self._tenant, SETS.c.id.in_(set_ids))
        locked = connection.scalars(
            select(SETS.c.id).where(*own).order_by(SETS.c.id).with_for_update(key_share=True)
        ).all()
        missing = set(set_ids) - set(locked)
        if missing:
            raise no_set(min(missing))

    def questions(self, set_id: int) -> Sequence[JudgedQuestion]:
        """The questions of a set that are in use, oldest first."""
        own = (QUESTIONS.c.tenant_id == self._tenant, QUESTIONS.c.set_id == set_id, ~QUESTIONS.c.retired)
        query = select(QUESTIONS.c.id, QUESTIONS.c.data).where(*own).order_by(QUESTIONS.c.id)
        with self._database.transaction("reading questions") as connection:
            rows = connection.execute(query).all()
        return [replace(from_json(JudgedQuestion, row.data), id=row.id) for row in rows]

    def add_questions(self, questions: Sequence[JudgedQuestion]) -> Sequence[JudgedQuestion]:
        """Store new questions, all or none; a question replaces the one with the same key in its set. Raises NotFound
        for an unknown set."""
        with self._database.transaction("storing questions") as connection:
            self._lock_sets(connection, {question.set_id for question in questions})
            ids = next_ids(connection, QUESTIONS, len(questions))
            return [self._added(connection, replace(each, id=new)) for each, new in zip(questions, ids, strict=True)]

    def _added(self, connection: Connection, question: JudgedQuestion) -> JudgedQuestion:
        row = {"tenant_id": self._tenant, "id": question.id, "set_id": question.set_id}
        row |= {"key": storable_text(question.key), "retired": question.retired, "data": to_json(question)}
        fresh = pg_insert(QUESTIONS).values(row)
        statement = fresh.on_conflict_do_update(
            index_elements=["tenant_id", "set_id", "key"],
            index_where=~QUESTIONS.c.retired,
            set_={"data": fresh.excluded.data},
        )
        return replace(question, id=connection.execute(statement.returning(QUESTIONS.c.id)).scalar_one())

    def retire_question(self, question_id: int) -> None:
        """Retire a question; its judgments stay. Raises NotFound."""
        own = (QUESTIONS.c.tenant_id == self._tenant, QUESTIONS.c.id == question_id)
        with self._database.transaction("retiring a question") as connection:
            if connection.execute(update(QUESTIONS).where(*own).values(retired=True)).rowcount == 0:
                raise no_question(question_id)

    # Judgments

    def judge(self, judgments: Sequence[Judgment]) -> Sequence[Judgment]:
        """Append judgments, all or none. Raises NotFound for an unknown set or question."""
        if not judgments:
            return []
        set_ids = {judgment.set_id for judgment in judgments}
        of_sets = select(QUESTIONS.c.set_id, QUESTIONS.c.id).where(
            QUESTIONS.c.tenant_id == self._tenant, QUESTIONS.c.set_id.in_(set_ids)
        )
        with self._database.transaction("storing judgments") as connection:
            self._lock_sets(connection, set_ids)
            known = {(row.set_id, row.id) for row in connection.execute(of_sets)}
            for judgment in judgments:
                if (judgment.set_id, judgment.question_id) not in known:
                    raise no_question(judgment.question_id)
            ids = next_ids(connection, JUDGMENTS, len(judgments))
            new = [replace(judgment, id=number) for judgment, number in zip(judgments, ids, strict=True)]
            connection.execute(insert(JUDGMENTS), [self._judgment_row(judgment) for judgment in new])
        return new

    def _judgment_row(self, judgment: Judgment) -> dict[str, Any]:
        row = {"tenant_id": self._tenant, "id": judgment.id, "set_id": judgment.set_id}
        row |= {"question_id": judgment.question_id, "unit": storable_text(judgment.unit)}
        return row | {"who": storable_text(judgment.who), "data": to_json(judgment)}

    def judgments(self, set_id: int) -> Sequence[Judgment]:
        """The valid judgments: the latest per question, unit and judge, ids ascending."""
        about = (JUDGMENTS.c.question_id, JUDGMENTS.c.unit, JUDGMENTS.c.who)
        latest = (
            select(JUDGMENTS.c.id, JUDGMENTS.c.data)
            .ext(distinct_on(*about))
            .where(JUDGMENTS.c.tenant_id == self._tenant, JUDGMENTS.c.set_id == set_id)
            .order_by(*about, JUDGMENTS.c.id.desc())
            .subquery()
        )
        with self._database.transaction("reading judgments") as connection:
            rows_found = connection.scalars(select(latest.c.data).order_by(latest.c.id)).all()
        return [from_json(Judgment, data) for data in rows_found]

    # Experiments

    def add_experiment(self, experiment: Experiment) -> Experiment:
        """Store a new experiment."""
        with self._database.transaction("storing an experiment") as connection:
            new_id = next_id(connection, EXPERIMENTS)
            new = replace(experiment, id=new_id)
            connection.execute(insert(EXPERIMENTS).values(tenant_id=self._tenant, id=new_id, **_experiment_row(new)))
        return new

    def change_experiment(self, experiment: Experiment) -> None:
        """Store an experiment's progress, end or note. Raises NotFound."""
        own = (EXPERIMENTS.c.tenant_id == self._tenant, EXPERIMENTS.c.id == experiment.id)
        with self._database.transaction("storing an experiment") as connection:
            if connection.execute(update(EXPERIMENTS).where(*own).values(_experiment_row(experiment))).rowcount == 0:
                raise no_experiment(experiment.id)

    def experiment(self, experiment_id: int) -> Experiment:
        """One experiment with its outcomes. Raises NotFound."""
        own = (EXPERIMENTS.c.tenant_id == self._tenant, EXPERIMENTS.c.id == experiment_id)
        with self._database.transaction("reading an experiment") as connection:
            row = connection.execute(select(EXPERIMENTS.c.data, EXPERIMENTS.c.outcomes).where(*own)).first()
        if row is None:
            raise no_experiment(experiment_id)
        return _experiment(row.data, row.outcomes)

    def experiments(self, set_id: int | None = None) -> Sequence[Experiment]:
        """Experiments of a set, or all, newest first; `outcomes` is left empty."""
        scope = [] if set_id is None else [EXPERIMENTS.c.set_id == set_id]
        own = (EXPERIMENTS.c.tenant_id == self._tenant, *scope)
        with self._database.transaction("reading experiments") as connection:
            rows_found = connection.scalars(
                select(EXPERIMENTS.c.data).where(*own).order_by(EXPERIMENTS.c.id.desc())
            ).all()
        return [_experiment(data) for data in rows_found]

    def delete_experiment(self, experiment_id: int) -> None:
        """Delete an experiment."""
        own = (EXPERIMENTS.c.tenant_id == self._tenant, EXPERIMENTS.c.id == experiment_id)
        with self._database.transaction("deleting an experiment") as connection:
            connection.execute(delete(EXPERIMENTS).where(*own))


def _profile_version(data: Mapping[str, Any]) -> ProfileVersion:
    return from_json(ProfileVersion, with_current_factor_names(data))


def _experiment(data: Mapping[str, Any], outcomes: Sequence[Any] = ()) -> Experiment:
    return from_json(Experiment, with_current_factor_names(data) | {"outcomes": outcomes})


def _lower(name: str) -> str:
    """A name in lower case, for comparing names. Python lowers it, because the server's rule depends on its locale."""
    return storable_text(name).lower()


def _set_row(questions: QuestionSet) -> dict[str, Any]:
    own = {"project": storable(questions.project), "name": _lower(questions.name), "retired": questions.retired}
    return own | {"version": questions.version}


def _experiment_row(experiment: Experiment) -> dict[str, Any]:
    data = to_json(experiment)
    return {"set_id": experiment.set_id, "outcomes": data.pop("outcomes"), "data": data}
