"""The browser door: `streamlit run app.py` serves the pages, and /healthz beside them."""

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import streamlit as st
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request

__all__ = ["app"]


async def healthz(_request: "Request") -> JSONResponse:
    """200 when the library answers, 503 with the reason when it does not. The database is really asked."""
    from anyio import to_thread

    from pages.components import session

    health = await to_thread.run_sync(session.health)
    return JSONResponse(health.as_data(), status_code=200 if health.ok else 503)


@asynccontextmanager
async def lifespan(_app: st.App) -> "AsyncGenerator[None, None]":
    """Open the library while the first browser is still connecting; close it when the server stops."""
    from anyio import to_thread

    from pages.components import session

    session.open_early()
    yield
    await to_thread.run_sync(session.close)


def on_script_error(problem: Exception) -> bool:
    """Show an error that no page handled as a notice with a reference number; the log has the details."""
    from pages.components import notices

    return notices.unexpected(problem)


app = st.App(
    "pages/frame/main.py", routes=[Route("/healthz", healthz)], lifespan=lifespan, on_script_error=on_script_error
)
