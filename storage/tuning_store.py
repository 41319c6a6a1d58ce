"""Profiles, question sets, judgments and experiments in PostgreSQL. Values travel as JSON, written and read by their
own types."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.exc import IntegrityError

from core.experiments import Experiment
from core.judged import JudgedQuestion, Judgment, QuestionSet
from core.profiles import DefaultProfile, ProfileVersion
from core.tuning.store import no_experiment, no_question, no_set, outdated_profile, outdated_set, set_name_taken
from storage.database import Database
from storage.json_values import read, written
from storage.rows import storable_text
from storage.tuning_models import DEFAULTS, EXPERIMENTS, JUDGMENTS, PROFILES, QUESTIONS, SETS

__all__ = ["SqlTuningStore"]


class SqlTuningStore:
    """core.tuning.store.TuningStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    # Profiles

    def profile_versions(self) -> Sequence[ProfileVersion]:
        """Every version of every profile, by name and then version."""
        # "C" sorts alike on every server, whatever the language it was set up in.
        order = (PROFILES.c.name.collate("C"), PROFILES.c.version)
        query = select(PROFILES.c.data).where(PROFILES.c.tenant_id == self._tenant).order_by(*order)
        with self._database.transaction("reading profiles") as connection:
            found = connection.scalars(query).all()
        return [read(ProfileVersion, data) for data in found]

    def save_profile(self, version: ProfileVersion) -> None:
        """Add a version. Raises Outdated when its number does not follow the newest of its name."""
        number = version.profile.version
        key = {"tenant_id": self._tenant, "name": _lower(version.profile.name), "version": number}
        add = pg_insert(PROFILES).values(**key, data=written(version)).on_conflict_do_nothing()
        with self._database.transaction("storing a profile") as connection:
            newest = self._newest(connection, version.profile.name)
            follows = number == (newest.profile.version if newest else 0) + 1
            # The key decides a race: the slower of two inserts waits for the faster, and then adds nothing.
            if not follows or connection.scalar(add.returning(PROFILES.c.version)) is None:
                raise outdated_profile(version, self._newest(connection, version.profile.name))

    def _newest(self, connection: Connection, name: str) -> ProfileVersion | None:
        own = (PROFILES.c.tenant_id == self._tenant, PROFILES.c.name == _lower(name))
        query = select(PROFILES.c.data).where(*own).order_by(PROFILES.c.version.desc()).limit(1)
        data = connection.scalar(query)
        return None if data is None else read(ProfileVersion, data)

    def defaults(self) -> Sequence[DefaultProfile]:
        """The choice that holds for each project and for the whole library (first); given back: absent."""
        order = (DEFAULTS.c.project, DEFAULTS.c.id.desc())
        own = DEFAULTS.c.tenant_id == self._tenant
        query = select(DEFAULTS.c.data).ext(distinct_on(DEFAULTS.c.project)).where(own).order_by(*order)
        with self._database.transaction("reading the default profiles") as connection:
            latest = [read(DefaultProfile, data) for data in connection.scalars(query)]
        held = [default for default in latest if default.name]
        return sorted(held, key=lambda default: (default.project is not None, default.project or ""))

    def set_default(self, default: DefaultProfile) -> None:
        """Add a choice."""
        row = {"tenant_id": self._tenant, "project": _text(default.project), "data": written(default)}
        with self._database.transaction("storing a default profile") as connection:
            connection.execute(insert(DEFAULTS).values(row))

    # Question sets

    def sets(self, project: str | None, *, retired: bool = False) -> Sequence[QuestionSet]:
        """Living (or retired) sets of a project and those of the whole library; None: every set. In order of age."""
        scope = [] if project is None else [(SETS.c.project == _text(project)) | SETS.c.project.is_(None)]
        own = (SETS.c.tenant_id == self._tenant, SETS.c.retired.is_(retired), *scope)
        with self._database.transaction("reading question sets") as connection:
            found = connection.scalars(select(SETS.c.data).where(*own).order_by(SETS.c.id)).all()
        return [read(QuestionSet, data) for data in found]

    def question_set(self, set_id: int) -> QuestionSet:
        """Raises NotFound."""
        with self._database.transaction("reading a question set") as connection:
            known = self._set(connection, set_id)
        if known is None:
            raise no_set(set_id)
        return known

    def _set(self, connection: Connection, set_id: int) -> QuestionSet | None:
        own = (SETS.c.tenant_id == self._tenant, SETS.c.id == set_id)
        data = connection.scalar(select(SETS.c.data).where(*own))
        return None if data is None else read(QuestionSet, data)

    def add_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a new set. Raises BadRequest when a living set of its project has its name."""
        with self._database.transaction("storing a question set") as connection:
            (set_id,) = _ids(connection, "question_sets_id_seq", 1)
            new = replace(questions, id=set_id, version=1)
            add = pg_insert(SETS).values(tenant_id=self._tenant, id=set_id, **_set_row(new)).on_conflict_do_nothing()
            if connection.scalar(add.returning(SETS.c.id)) is None:
                raise set_name_taken(new.name)
        return new

    def change_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a changed set; gives it with its new version. Raises Outdated, BadRequest when the name is taken,
        NotFound."""
        new = replace(questions, version=questions.version + 1)
        own = (SETS.c.tenant_id == self._tenant, SETS.c.id == new.id, SETS.c.version == questions.version)
        with self._database.transaction("storing a question set") as connection:
            try:
                if connection.execute(update(SETS).where(*own).values(_set_row(new))).rowcount:
                    return new
            except IntegrityError as error:
                raise set_name_taken(new.name) from error
            known = self._set(connection, new.id)
            raise no_set(new.id) if known is None else outdated_set(known)

    def _lock_sets(self, connection: Connection, set_ids: Collection[int]) -> None:
        """Keep others from adding to these sets until the transaction ends: what is added to a set gets ids in the
        order it becomes seen, and nobody waits for somebody who waits for him. Raises NotFound."""
        own = (SETS.c.tenant_id == self._tenant, SETS.c.id.in_(set_ids))
        locked = connection.scalars(
            select(SETS.c.id).where(*own).order_by(SETS.c.id).with_for_update(key_share=True)
        ).all()
        missing = set(set_ids) - set(locked)
        if missing:
            raise no_set(min(missing))

    def questions(self, set_id: int) -> Sequence[JudgedQuestion]:
        """The living questions of a set, in the order they were added."""
        own = (QUESTIONS.c.tenant_id == self._tenant, QUESTIONS.c.set_id == set_id, ~QUESTIONS.c.retired)
        query = select(QUESTIONS.c.id, QUESTIONS.c.data).where(*own).order_by(QUESTIONS.c.id)
        with self._database.transaction("reading questions") as connection:
            rows = connection.execute(query).all()
        return [replace(read(JudgedQuestion, row.data), id=row.id) for row in rows]

    def add_questions(self, questions: Sequence[JudgedQuestion]) -> Sequence[JudgedQuestion]:
        """Store new questions, all or none; one whose key lives already in its set replaces that one. Raises NotFound
        for an unknown set."""
        with self._database.transaction("storing questions") as connection:
            self._lock_sets(connection, {question.set_id for question in questions})
            ids = _ids(connection, "questions_id_seq", len(questions))
            return [self._added(connection, replace(each, id=new)) for each, new in zip(questions, ids, strict=True)]

    def _added(self, connection: Connection, question: JudgedQuestion) -> JudgedQuestion:
        row = {"tenant_id": self._tenant, "id": question.id, "set_id": question.set_id}
        row |= {"key": storable_text(question.key), "retired": question.retired, "data": written(question)}
        fresh = pg_insert(QUESTIONS).values(row)
        kept = fresh.on_conflict_do_update(
            index_elements=["tenant_id", "set_id", "key"],
            index_where=~QUESTIONS.c.retired,
            set_={"data": fresh.excluded.data},
        )
        return replace(question, id=connection.execute(kept.returning(QUESTIONS.c.id)).scalar_one())

    def retire_question(self, question_id: int) -> None:
        """Take a question out of its set; its judgments stay. Raises NotFound."""
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
        asked = select(QUESTIONS.c.set_id, QUESTIONS.c.id).where(
            QUESTIONS.c.tenant_id == self._tenant, QUESTIONS.c.set_id.in_(set_ids)
        )
        with self._database.transaction("storing judgments") as connection:
            self._lock_sets(connection, set_ids)
            known = {(row.set_id, row.id) for row in connection.execute(asked)}
            for judgment in judgments:
                if (judgment.set_id, judgment.question_id) not in known:
                    raise no_question(judgment.question_id)
            ids = _ids(connection, "judgments_id_seq", len(judgments))
            new = [replace(judgment, id=number) for judgment, number in zip(judgments, ids, strict=True)]
            connection.execute(insert(JUDGMENTS), [self._judgment_row(judgment) for judgment in new])
        return new

    def _judgment_row(self, judgment: Judgment) -> dict[str, Any]:
        row = {"tenant_id": self._tenant, "id": judgment.id, "set_id": judgment.set_id}
        row |= {"question_id": judgment.question_id, "unit": storable_text(judgment.unit)}
        return row | {"who": storable_text(judgment.who), "data": written(judgment)}

    def judgments(self, set_id: int) -> Sequence[Judgment]:
        """Those that hold: the latest per question, unit and judge, by id ascending."""
        about = (JUDGMENTS.c.question_id, JUDGMENTS.c.unit, JUDGMENTS.c.who)
        latest = (
            select(JUDGMENTS.c.id, JUDGMENTS.c.data)
            .ext(distinct_on(*about))
            .where(JUDGMENTS.c.tenant_id == self._tenant, JUDGMENTS.c.set_id == set_id)
            .order_by(*about, JUDGMENTS.c.id.desc())
            .subquery()
        )
        with self._database.transaction("reading judgments") as connection:
            found = connection.scalars(select(latest.c.data).order_by(latest.c.id)).all()
        return [read(Judgment, data) for data in found]

    # Experiments

    def add_experiment(self, experiment: Experiment) -> Experiment:
        """Store a new experiment."""
        with self._database.transaction("storing an experiment") as connection:
            (new_id,) = _ids(connection, "experiments_id_seq", 1)
            new = replace(experiment, id=new_id)
            connection.execute(insert(EXPERIMENTS).values(tenant_id=self._tenant, id=new_id, **_experiment_row(new)))
        return new

    def change_experiment(self, experiment: Experiment) -> None:
        """Store its progress, end or note. Raises NotFound."""
        own = (EXPERIMENTS.c.tenant_id == self._tenant, EXPERIMENTS.c.id == experiment.id)
        with self._database.transaction("storing an experiment") as connection:
            if connection.execute(update(EXPERIMENTS).where(*own).values(_experiment_row(experiment))).rowcount == 0:
                raise no_experiment(experiment.id)

    def experiment(self, experiment_id: int) -> Experiment:
        """With its outcomes. Raises NotFound."""
        own = (EXPERIMENTS.c.tenant_id == self._tenant, EXPERIMENTS.c.id == experiment_id)
        with self._database.transaction("reading an experiment") as connection:
            row = connection.execute(select(EXPERIMENTS.c.data, EXPERIMENTS.c.outcomes).where(*own)).first()
        if row is None:
            raise no_experiment(experiment_id)
        return read(Experiment, {**row.data, "outcomes": row.outcomes})

    def experiments(self, set_id: int | None = None) -> Sequence[Experiment]:
        """Those of a set, or all, newest first, `outcomes` left empty."""
        scope = [] if set_id is None else [EXPERIMENTS.c.set_id == set_id]
        own = (EXPERIMENTS.c.tenant_id == self._tenant, *scope)
        with self._database.transaction("reading experiments") as connection:
            found = connection.scalars(select(EXPERIMENTS.c.data).where(*own).order_by(EXPERIMENTS.c.id.desc())).all()
        return [read(Experiment, data) for data in found]

    def delete_experiment(self, experiment_id: int) -> None:
        """Forget an experiment."""
        own = (EXPERIMENTS.c.tenant_id == self._tenant, EXPERIMENTS.c.id == experiment_id)
        with self._database.transaction("deleting an experiment") as connection:
            connection.execute(delete(EXPERIMENTS).where(*own))


def _ids(connection: Connection, sequence: str, count: int) -> list[int]:
    """The next ids, ascending."""
    rows = func.generate_series(1, count).table_valued("number")
    return sorted(connection.scalars(select(Ids(sequence).next_value()).select_from(rows)).all())


def _text(value: str | None) -> str | None:
    return None if value is None else storable_text(value)


def _lower(name: str) -> str:
    """What makes two names one. Lowered here rather than by the server, whose own rule depends on its locale."""
    return storable_text(name).lower()


def _set_row(questions: QuestionSet) -> dict[str, Any]:
    own = {"project": _text(questions.project), "name": _lower(questions.name), "retired": questions.retired}
    return own | {"version": questions.version, "data": written(questions)}


def _experiment_row(experiment: Experiment) -> dict[str, Any]:
    data = written(experiment)
    return {"set_id": experiment.set_id, "outcomes": data.pop("outcomes"), "data": data}
