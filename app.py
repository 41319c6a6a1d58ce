"""The browser door: `streamlit run app.py` serves the pages, and /healthz beside them."""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from starlette.responses import FileResponse, HTMLResponse, JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

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


_PAGES = Path(__file__).parent / "pages"
_ADDRESS = "backend_address.js"
_PDFJS = _PAGES / "components" / "document" / "pdfjs"


def page_names() -> list[str]:
    """The address of every page but Home, which is at the root."""
    names = {path.stem for path in _PAGES.glob("*.py")} - {"__init__", "home", "inspection"}
    return sorted({*names, "inspect"})


async def page_document(_request: "Request") -> HTMLResponse:
    """Streamlit's document for a deep link, which first loads the script that names the server's address."""
    document = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    script = f'<head><script src="./{_ADDRESS}"></script>'
    return HTMLResponse(document.replace("<head>", script, 1), headers={"Cache-Control": "no-cache"})


async def backend_address(_request: "Request") -> FileResponse:
    """The script that names the server's address."""
    return FileResponse(_PAGES / "frame" / _ADDRESS, media_type="text/javascript")


app = st.App(
    "pages/frame/main.py",
    routes=[
        Route("/healthz", healthz),
        Route(f"/{_ADDRESS}", backend_address),
        Mount("/pdfjs", StaticFiles(directory=_PDFJS)),
        *(Route(f"/{name}", page_document) for name in page_names()),
    ],
    lifespan=lifespan,
    on_script_error=on_script_error,
)
