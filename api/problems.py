"""Errors as problem details (RFC 9457): the same message and hint as pages show."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from core.domain.errors import (
    AccessDenied,
    BadFile,
    BadFilters,
    BadRequest,
    BadTable,
    FetchFailed,
    FivefoldError,
    ModelUnavailable,
    NotFound,
    NotSignedIn,
    Outdated,
    StoreFailed,
    SynthesisFailed,
)

__all__ = ["PROBLEM_RESPONSES", "PROBLEM_TYPE", "Problem", "TooManyRequests", "handle_errors", "problem_response"]

_log = logging.getLogger(__name__)

PROBLEM_TYPE = "application/problem+json"


class TooManyRequests(FivefoldError):
    """The rate limit is used up. seconds: until the next request is accepted."""

    def __init__(self, seconds: int) -> None:
        super().__init__("Too many requests.", f"Wait {seconds} seconds, and send fewer at once.")
        self.seconds = seconds


class Problem(BaseModel):
    """What went wrong, and what to do (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "urn:fivefold:not-found",
                "title": "Not found",
                "status": 404,
                "detail": "There is no document 7.",
                "hint": "It may have been deleted.",
                "problems": [],
                "request_id": "3f0c9e6a4b1d4c0e",
            }
        }
    )

    type: str = Field(description="The kind of problem, as a URN.")
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="The HTTP status.", ge=400, le=599)
    detail: str = Field(description="What happened.")
    hint: str = Field(description="What to do about it; may be empty.")
    problems: list[str] = Field(description="Every single problem of an invalid request, in order.")
    request_id: str = Field(description="The request's id, as in the header X-Request-ID; the server's log has it too.")


_KINDS: tuple[tuple[type[FivefoldError], int, str], ...] = (
    (NotSignedIn, 401, "Not signed in"),
    (AccessDenied, 403, "Not allowed"),
    (NotFound, 404, "Not found"),
    (Outdated, 409, "Changed meanwhile"),
    (BadFilters, 400, "Invalid filters"),
    (BadRequest, 400, "Invalid request"),
    (BadTable, 400, "Invalid profile"),
    (BadFile, 422, "Unusable file"),
    (TooManyRequests, 429, "Too many requests"),
    (FetchFailed, 502, "Web address did not answer"),
    (SynthesisFailed, 502, "Language model failed"),
    (StoreFailed, 503, "Store did not answer"),
    (ModelUnavailable, 503, "Model unavailable"),
)
"""Error class → status and title; the first class that fits."""

_TITLES = {
    400: "Invalid request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    413: "Too large",
    415: "Unsupported media type",
}


def _documented(description: str) -> dict[str, Any]:
    return {"description": description, "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: _documented("The request is invalid; every problem is named."),
    401: _documented("The token is missing, unknown, expired or revoked."),
    403: _documented("The role does not allow this, or the request comes from another site's page."),
    404: _documented("The object does not exist, or is not visible with this token."),
    409: _documented("Someone else changed the object meanwhile, or the first request is still carried out."),
    413: _documented("The body is too large."),
    422: _documented("The file cannot be used."),
    429: _documented("The rate limit is used up; the header Retry-After says when to continue."),
    503: _documented("The database, an index or a model does not answer."),
}
"""Problems that every route may answer with."""


def problem_response(
    status: int,
    detail: str,
    *,
    request_id: str,
    hint: str = "",
    title: str = "",
    problems: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem+json response."""
    title = title or _TITLES.get(status, "Request failed")
    body = Problem(
        type=f"urn:fivefold:{title.lower().replace(' ', '-')}",
        title=title,
        status=status,
        detail=detail,
        hint=hint,
        problems=list(problems),
        request_id=request_id,
    )
    return Response(body.model_dump_json(), status, headers, PROBLEM_TYPE)


def handle_errors(app: FastAPI) -> None:
    """Register the handlers that turn errors into problems."""
    app.add_exception_handler(FivefoldError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _unexpected)


def _id_of(request: Request) -> str:
    return str(request.scope.get("fivefold.request_id", ""))


def error_response(error: FivefoldError, request_id: str) -> Response:
    """The problem of an error of the product."""
    status, title = next(((s, t) for kind, s, t in _KINDS if isinstance(error, kind)), (500, "Request failed"))
    if status >= 500:
        _log.warning("Request %s: %s", request_id, error)
    headers = {}
    if isinstance(error, NotSignedIn):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(error.seconds)
    problems = error.problems if isinstance(error, BadFilters) else ()
    return problem_response(
        status,
        error.message,
        hint=error.hint,
        title=title,
        problems=problems,
        request_id=request_id,
        headers=headers,
    )


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, FivefoldError)
    return error_response(error, _id_of(request))


async def _invalid(request: Request, error: Exception) -> Response:
    """A body, query or path that the schema does not allow: 400 with every problem."""
    assert isinstance(error, RequestValidationError)
    problems = [_in_words(each) for each in error.errors()]
    kind = request.headers.get("content-type", "").partition(";")[0].lower()
    sent_as = f"as {kind}" if kind else "without a content type"
    plain = request.method not in ("GET", "DELETE") and not kind.endswith("json") and kind != "multipart/form-data"
    wrong_kind = f"The body was sent {sent_as}; JSON needs 'Content-Type: application/json'. " if plain else ""
    return problem_response(
        400,
        "; ".join(problems[:3]) or "The request is invalid.",
        hint=f"{wrong_kind}Compare the request with /api/openapi.json.",
        problems=problems,
        request_id=_id_of(request),
    )


def _in_words(problem: Mapping[str, Any]) -> str:
    """One problem of the schema check: where it is, and what is wrong; never the value itself."""
    where, *rest = (str(each) for each in problem.get("loc", ()))
    name = ".".join(rest)
    return f"{where} '{name}': {problem['msg']}" if name else f"{where}: {problem['msg']}"


async def _refused(request: Request, error: Exception) -> Response:
    """404 and 405 of the router, and bodies that are too large or cannot be parsed."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    path = request.scope.get("path", "")
    detail, hint = str(error.detail), ""
    if error.status_code == 404:
        detail, hint = f"There is no route {path[:200]}.", "The routes are in /api/openapi.json."
    elif error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed(request))
        detail, hint = f"{request.method} is not possible on {path[:200]}.", f"Use {headers['Allow']}."
    elif error.status_code == 413:
        detail, hint = "The body of the request is too large.", "Send smaller files, or one at a time."
    return problem_response(error.status_code, detail, hint=hint, request_id=_id_of(request), headers=headers)


def _allowed(request: Request) -> list[str]:
    """The methods of all routes with the request's path."""
    path = str(request.scope["path"]).removeprefix(str(request.scope.get("root_path", "")))
    routes: Sequence[APIRoute] = request.app.state.routes
    return sorted({method for each in routes if each.path_regex.match(path) for method in each.methods or ()})


async def _unexpected(request: Request, error: Exception) -> Response:
    """An error that nobody expected: the log has it under the request's id."""
    request_id = _id_of(request)
    _log.error("Unexpected error in request %s: %s", request_id, type(error).__name__)
    return problem_response(
        500,
        "The server had an unexpected error.",
        title="Unexpected error",
        hint=f"Report the request id {request_id}; the log of the app says more.",
        request_id=request_id,
    )
