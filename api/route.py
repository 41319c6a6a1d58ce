"""The class of every route: it resolves the caller before the body is read, and works in a thread."""

from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from pydantic import ConfigDict, TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive

from api.access import Caller, Gate
from core.domain.errors import BadRequest

__all__ = ["AtWork", "GuardedRoute", "Reply", "guarded_router", "in_thread", "response_of"]

_AT_ONCE = 16
"""Requests worked on at once; the others wait. Fewer than the server's 28 threads for files, so that pages load."""
_JSON = TypeAdapter[Any](Any, config=ConfigDict(ser_json_inf_nan="null"))
_LIMITER = CapacityLimiter(_AT_ONCE)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with another status than its route's, or with headers. value: a shape, or JSON data."""

    value: Any
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


async def in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result of blocking work, done in one of the threads of the API."""
    return await to_thread.run_sync(work, *arguments, limiter=_LIMITER)


def response_of(value: Any, status: int) -> Response:
    """A value as JSON; what is not a number becomes null."""
    if isinstance(value, Response):
        return value
    reply = value if isinstance(value, Reply) else Reply(value)
    status = reply.status or status
    if reply.value is None:
        return Response(status_code=status, headers=dict(reply.headers))
    return Response(_JSON.dump_json(reply.value), status, dict(reply.headers), "application/json")


class GuardedRoute(APIRoute):
    """A route whose endpoint is an ordinary function: it runs in a thread, and so does the writing of its JSON.

    most_bytes: of a body. The largest but for uploads are query vectors and lists of filters."""

    most_bytes = 4 * 1024**2

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        status = options.get("status_code") or 200

        @wraps(endpoint)
        async def worked(*arguments: Any, **named: Any) -> Response:
            response: Response = await in_thread(lambda: response_of(endpoint(*arguments, **named), status))
            return response

        super().__init__(path, worked, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, which first finds out who calls: a stranger's body is not even read."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            request.state.caller = await in_thread(partial(gate.caller, request))
            self._refuse_repeated(request)
            return await handle(Request(request.scope, _limited(request, self.most_bytes)))

        return guarded

    def _refuse_repeated(self, request: Request) -> None:
        """Raise BadRequest for a parameter that is given twice and is no list: the first would be ignored unseen."""
        counts = Counter(name for name, _ in request.query_params.multi_items())
        repeated = [name for name, count in counts.items() if count > 1]
        if not repeated:
            return
        described = request.app.openapi()["paths"][self.path_format][request.method.lower()].get("parameters", ())
        lists = {each["name"] for each in described if "array" in str(each["schema"])}
        for name in repeated:
            if name not in lists:
                raise BadRequest(f"The parameter '{name}' was given {counts[name]} times.", "Give it once.")


def _limited(request: Request, most_bytes: int) -> Receive:
    """The request's body up to a size. Raises HTTPException 413 beyond it, before reading when its size is declared."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > most_bytes:
        raise HTTPException(413)
    read = 0

    async def receive() -> Message:
        nonlocal read
        message = await request.receive()
        read += len(message.get("body", b""))
        if read > most_bytes:
            raise HTTPException(413)
        return message

    return receive


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


AtWork = Annotated[Caller, Depends(_caller)]
"""The caller, as every route asks for it."""


def guarded_router(tag: str) -> APIRouter:
    """A router whose routes need a caller. tag: its group in the documentation."""
    return APIRouter(tags=[tag], route_class=GuardedRoute)
