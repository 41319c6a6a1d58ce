"""Evaluation: question sets, pools to judge, judgments, and experiments in the background."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field

from api.inputs import CHOICE, Body, FilterBody, Id, Project, Question, ShortText, filters_of, with_example
from api.paging import PageOf, Paging, paged_list
from api.route import AtWork, Reply, guarded_router
from api.shapes.evaluation import (
    ExperimentShape,
    JudgedQuestionShape,
    JudgmentShape,
    MeasuredExperimentShape,
    PooledShape,
    QuestionSetShape,
)
from core.domain.evaluation import Level
from core.evaluation.judgments.validation import DEFAULT_KIND

__all__ = ["routes"]

routes = guarded_router("evaluation")

SetId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The set's number.")]
QuestionId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The question's number.")]


@routes.get("/evaluation/sets", response_model=PageOf[QuestionSetShape], summary="List question sets")
def list_sets(
    caller: AtWork,
    paging: Paging,
    project: Annotated[ShortText | None, Query(description="A project's sets and those of the whole library.")] = None,
) -> dict[str, Any]:
    """The active question sets, oldest first."""
    sets = caller.workbench.evaluation.judging.sets(project or None)
    return paged_list(paging, sets, lambda each: each.id, QuestionSetShape.model_validate)


class NewSet(Body):
    """level: what is graded."""

    model_config = with_example({"name": "Payroll", "level": "passage"})

    name: Annotated[ShortText, Field(min_length=1)]
    project: Project = None
    level: Annotated[Level, CHOICE] = Level.PASSAGE
    note: ShortText = ""


@routes.post("/evaluation/sets", status_code=201, response_model=QuestionSetShape, summary="Add a question set")
def add_set(caller: AtWork, new: NewSet) -> QuestionSetShape:
    """A new, empty set."""
    judging = caller.workbench.evaluation.judging
    added = judging.add_set(new.name, new.project or None, new.level, caller.name, new.note)
    return QuestionSetShape.model_validate(added)


@routes.get("/evaluation/sets/{set_id}", response_model=QuestionSetShape, summary="Get a question set")
def get_set(caller: AtWork, set_id: SetId) -> QuestionSetShape:
    """A set without its questions."""
    return QuestionSetShape.model_validate(caller.workbench.evaluation.judging.question_set(set_id))


@routes.get(
    "/evaluation/sets/{set_id}/questions", response_model=PageOf[JudgedQuestionShape], summary="Questions of a set"
)
def list_questions(caller: AtWork, set_id: SetId, paging: Paging) -> dict[str, Any]:
    """The active questions of a set, in the order they were added."""
    judging = caller.workbench.evaluation.judging
    judging.question_set(set_id)
    return paged_list(paging, judging.questions(set_id), lambda each: each.id, JudgedQuestionShape.model_validate)


class NewQuestion(Body):
    """kind: groups questions in reports; `none` for one that nothing in the library answers."""

    model_config = with_example({"question": "When must overtime be paid?"})

    question: Question
    kind: ShortText = DEFAULT_KIND
    filters: FilterBody = Field(default_factory=FilterBody)
    key: ShortText = Field(default="", description="Its name in files; empty: the next of q1, q2 …")


@routes.post(
    "/evaluation/sets/{set_id}/questions", status_code=201, response_model=JudgedQuestionShape, summary="Add a question"
)
def add_question(caller: AtWork, set_id: SetId, new: NewQuestion) -> JudgedQuestionShape:
    """Add a question; if the set has it already with the same filters, that one is returned unchanged."""
    judging = caller.workbench.evaluation.judging
    judging.question_set(set_id)
    added = judging.add_question(set_id, new.question, new.kind, filters_of(new.filters), new.key)
    return JudgedQuestionShape.model_validate(added)


@routes.get(
    "/evaluation/sets/{set_id}/questions/{question_id}/pool", response_model=list[PooledShape], summary="What to judge"
)
def get_pool(
    caller: AtWork,
    set_id: SetId,
    question_id: QuestionId,
    profile: Annotated[list[ShortText], Query(max_length=5, description="Profiles; none: the default.")] = [],  # noqa: B006 - FastAPI copies it
    depth: Annotated[int, Query(ge=1, le=50, description="First results of each profile.")] = 10,
) -> list[PooledShape]:
    """The first results of a question under each profile, without scores, so that they can be judged blind."""
    evaluation = caller.workbench.evaluation
    evaluation.judging.question_set(set_id)
    refs = profile or [evaluation.profiles.default(None).ref]
    pool = evaluation.judging.pool(set_id, question_id, refs, depth=depth, who=caller.name, blind=True)
    return [
        PooledShape(unit=each.unit, document=each.passage.document_name, text=each.passage.text) for each in pool.items
    ]


@routes.get("/evaluation/sets/{set_id}/judgments", response_model=PageOf[JudgmentShape], summary="Judgments of a set")
def list_judgments(caller: AtWork, set_id: SetId, paging: Paging) -> dict[str, Any]:
    """The current judgments: the latest per question, result and judge."""
    judging = caller.workbench.evaluation.judging
    judging.question_set(set_id)
    return paged_list(paging, judging.judgments(set_id), lambda each: each.id, JudgmentShape.model_validate)


class NewJudgment(Body):
    """grade: 0 irrelevant, 1 related, 2 answers in part, 3 answers; null: can't judge. units: as in the pool."""

    model_config = with_example({"question_id": 1, "units": ["3f0c…#12"], "grade": 3, "blind": True})

    question_id: Id
    units: list[Annotated[ShortText, Field(min_length=1)]] = Field(min_length=1, max_length=100)
    grade: Annotated[int, Field(ge=0, le=3)] | None
    blind: bool = False


@routes.post(
    "/evaluation/sets/{set_id}/judgments", status_code=201, response_model=list[JudgmentShape], summary="Judge results"
)
def judge(caller: AtWork, set_id: SetId, new: NewJudgment) -> list[JudgmentShape]:
    """Grade one or several results of a question. Judge again to correct a grade."""
    judging = caller.workbench.evaluation.judging
    judging.question(set_id, new.question_id)
    given = judging.judge(set_id, new.question_id, new.units, new.grade, caller.name, blind=new.blind)
    return [JudgmentShape.model_validate(each) for each in given]


# Experiments


@routes.get("/evaluation/experiments", response_model=PageOf[ExperimentShape], summary="List experiments")
def list_experiments(
    caller: AtWork,
    paging: Paging,
    set_id: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="Of one set; without: all.")] = None,
) -> dict[str, Any]:
    """Measurements, newest first."""
    experiments = caller.workbench.evaluation.experiments.experiments(set_id)
    return paged_list(paging, experiments, lambda each: each.id, lambda each: ExperimentShape.of(each, caller))


class NewExperiment(Body):
    """profile: empty for the default."""

    model_config = with_example({"set_id": 1, "profile": "balanced"})

    set_id: Id
    profile: ShortText = ""
    note: ShortText = ""


@routes.post("/evaluation/experiments", status_code=202, response_model=ExperimentShape, summary="Measure a profile")
def start_experiment(caller: AtWork, new: NewExperiment) -> Reply:
    """Ask every question of a set under a profile, in the background. Ask for it while its state is running."""
    evaluation = caller.workbench.evaluation
    evaluation.judging.question_set(new.set_id)
    profile = new.profile or evaluation.profiles.default(None).ref
    begun = evaluation.experiments.begin(new.set_id, profile, caller.name, note=new.note)
    name = f"experiment {begun.id}"
    caller.work.start(name, lambda stop: evaluation.experiments.carry_out(begun.id, stop=stop))
    return Reply(ExperimentShape.of(begun, caller), headers={"Location": f"/api/evaluation/experiments/{begun.id}"})


@routes.get(
    "/evaluation/experiments/{experiment_id}", response_model=MeasuredExperimentShape, summary="Get an experiment"
)
def get_experiment(caller: AtWork, experiment_id: Annotated[int, Path(ge=1, le=2**63 - 1)]) -> MeasuredExperimentShape:
    """A measurement with its measures, and the outcome of every question."""
    return MeasuredExperimentShape.of(caller.workbench.evaluation.experiments.experiment(experiment_id), caller)
