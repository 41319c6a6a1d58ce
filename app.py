"""The server: `streamlit run app.py` serves the pages, the API under /api, MCP under /mcp, feeds, and /healthz."""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import FileResponse, HTMLResponse, JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from adapters.native_heap import limit_free_memory
from api.app import ApiMount, create_app
from api.mcp.http import McpDoor
from bootstrap.environment import settings_from_environment
from pages.frame.feeds import saved_search_feed
from pages.frame.request_guard import DETAILS, RequestGuard
from pages.frame.return_address import ReturnAddress

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from fastapi import FastAPI
    from starlette.requests import Request

    from bootstrap.sign_in import SignInSettings
    from bootstrap.workbench import OpenWorkbench

__all__ = ["app"]


async def healthz(request: "Request") -> JSONResponse:
    """200 when the library answers, 503 when it does not. The database is really asked.

    This machine and administrators see the details too.
    """
    from anyio import to_thread

    from pages.components import session

    health = await to_thread.run_sync(session.health)
    data = health.as_data()
    if not request.scope.get(DETAILS, False):
        data = {"status": data["status"]}
    return JSONResponse(data, status_code=200 if health.ok else 503)


@asynccontextmanager
async def lifespan(_app: st.App) -> "AsyncGenerator[None, None]":
    """Open the library while the first browser is still connecting; close it when the server stops."""
    from anyio import to_thread

    from pages.components import session

    session.open_early()
    async with mcp_door.run():
        yield
    await to_thread.run_sync(session.close)


def on_script_error(problem: Exception) -> bool:
    """Show an error that no page handled as a notice with a reference number; the log has the details."""
    from pages.components import notices

    return notices.unexpected(problem)


def rules() -> "SignInSettings":
    """How people sign in, and which hosts may be asked. Raises BadRequest."""
    from pages.components import sign_in

    return sign_in.rules()


def secrets() -> "Mapping[str, Any]":
    """What Streamlit's sign-in needs to know. Wrong settings are reported when the server starts."""
    from bootstrap.sign_in import streamlit_secrets
    from core.domain.errors import BadRequest

    try:
        return streamlit_secrets(settings_from_environment())
    except BadRequest:
        return {}


def listens_on() -> str | None:
    """The address the server listens on; None for every address."""
    address: str | None = st.get_option("server.address")
    return address or None


def is_administrator(token: str) -> bool:
    """Whether an API token belongs to an administrator. Raises StoreFailed."""
    from pages.components import session

    return session.is_administrator(token)


def api() -> "FastAPI":
    """The API. Without sign-in, one person on this machine needs no token."""
    from bootstrap.sign_in import SignIn

    return create_app(
        opened_library, local=lambda: rules().kind is SignIn.NONE, rate=lambda: settings_from_environment().api_rate
    )


def opened_library() -> "OpenWorkbench":
    """The library that pages use, for the API and the MCP server."""
    from pages.components import session

    return session.library()


limit_free_memory()  # before the server starts its threads
mcp_door = McpDoor(opened_library, rules, lambda: settings_from_environment().api_rate)
_PAGES = Path(__file__).parent / "pages"
_START = "start.js"
_PDFJS = _PAGES / "components" / "document" / "pdfjs"


def page_names() -> list[str]:
    """The address of every page but Home, which is at the root."""
    names = {path.stem for path in _PAGES.glob("*.py")} - {"__init__", "home", "inspection"}
    return sorted({*names, "inspect"})


async def page_document(_request: "Request") -> HTMLResponse:
    """Streamlit's document, which first loads the script that names the server's address and sets the theme."""
    document = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    script = f'<head><script src="./{_START}"></script>'
    return HTMLResponse(document.replace("<head>", script, 1), headers={"Cache-Control": "no-cache"})


async def start_script(_request: "Request") -> FileResponse:
    """The script that every page runs before Streamlit."""
    return FileResponse(_PAGES / "frame" / _START, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


app = st.App(
    "pages/frame/main.py",
    routes=[
        Route("/healthz", healthz),
        Route("/mcp", mcp_door),
        Route("/feeds/saved-search/{number}", saved_search_feed),
        Route(f"/{_START}", start_script),
        ApiMount(api()),
        Mount("/pdfjs", StaticFiles(directory=_PDFJS)),
        *(Route(f"/{name}", page_document) for name in ["", *page_names()]),
    ],
    middleware=[
        Middleware(RequestGuard, rules=rules, address=listens_on, is_administrator=is_administrator),
        Middleware(ReturnAddress),
    ],
    secrets=secrets(),
    lifespan=lifespan,
    on_script_error=on_script_error,
)
