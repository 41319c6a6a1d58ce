"""Usage of documents, counts of the library, and health."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from api.access import Gate
from api.inputs import CHOICE, Body, DocumentId, Id, Question, with_example
from api.route import AtWork, guarded_router, in_thread, response_of
from api.shapes.insights import HealthShape, IndexShape, StatisticsShape, UsageShape, UsedShape
from core.domain.errors import FivefoldError

__all__ = ["health_routes", "routes"]

routes = guarded_router("usage")
health_routes = APIRouter(tags=["health"])


@routes.get("/usage/documents/{document_id}", response_model=UsageShape, summary="How a document was used")
def document_usage(caller: AtWork, document_id: DocumentId) -> UsageShape:
    """How often a document was shown, opened and cited, by question."""
    caller.workbench.documents.get(document_id)
    return UsageShape.model_validate(caller.workbench.usage.of_document(document_id))


@routes.get("/usage/recent", response_model=list[UsedShape], summary="Documents used lately")
def recently_used(
    caller: AtWork, limit: Annotated[int, Query(ge=1, le=100, description="At most so many.")] = 10
) -> list[UsedShape]:
    """The documents opened, cited or marked last; the latest first."""
    found = caller.workbench.usage.last_used(limit)
    return [UsedShape(document_id=document_id, at=at) for document_id, at in found]


class Use(StrEnum):
    """What was done with a passage."""

    OPENED = "opened"
    CITED = "cited"
    HELPFUL = "helpful"
    NOT_HELPFUL = "not helpful"
    UNMARKED = "unmarked"


_MARKS = {Use.HELPFUL: True, Use.NOT_HELPFUL: False, Use.UNMARKED: None}


class UseReport(Body):
    """One use of a passage. unmarked: takes a mark back."""

    model_config = with_example({"kind": "helpful", "passage_id": 12, "question": "When must overtime be paid?"})

    kind: Annotated[Use, CHOICE]
    passage_id: Id
    question: Question = Field(default="", min_length=0)


@routes.post("/usage", status_code=204, summary="Report a use")
def report_use(caller: AtWork, report: UseReport) -> None:
    """Opened, cited and helpful count as use, which the factor `utility` reads."""
    usage, passage = caller.workbench.usage, caller.workbench.documents.passage(report.passage_id)
    if report.kind is Use.OPENED:
        usage.opened(passage, report.question, caller.name)
    elif report.kind is Use.CITED:
        usage.cited(passage, report.question, caller.name)
    else:
        usage.mark(passage, report.question, caller.name, helpful=_MARKS[report.kind])


@routes.get("/statistics", response_model=StatisticsShape, summary="Counts of the library")
def statistics(caller: AtWork) -> StatisticsShape:
    """Documents by truth and state, passages, and waiting jobs."""
    counts = caller.workbench.documents.statistics()
    return StatisticsShape(
        documents=counts.documents,
        passages=counts.passages,
        by_truth={truth.value if truth else "unknown": number for truth, number in counts.by_truth.items()},
        by_state=dict(counts.by_state),
        unsure=counts.unsure,
        waiting_jobs=counts.waiting_jobs,
        notices=list(caller.workbench.notices()),
    )


@health_routes.get("/", response_model=IndexShape, summary="Where to begin")
async def index() -> IndexShape:
    """The addresses of the description and of the health check. Needs no token."""
    return IndexShape(name="Fivefold", version="1", openapi="/api/openapi.json", health="/api/health")


@health_routes.get(
    "/health",
    response_model=HealthShape,
    responses={503: {"model": HealthShape, "description": "The library does not answer."}},
    summary="Whether the library answers",
)
async def health(request: Request) -> Response:
    """For load balancers: 200 when the database answers, else 503. Needs no token, and says nothing else."""
    gate: Gate = request.app.state.gate

    def readiness() -> Response:
        try:
            gate.open_library().workbench.documents.has_passages()
        except FivefoldError:
            return response_of(HealthShape(status="failed"), 503)
        return response_of(HealthShape(status="ok"), 200)

    response: Response = await in_thread(readiness)
    return response
