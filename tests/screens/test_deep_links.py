"""The addresses of pages: each is served, and its document names the server before Streamlit starts."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import app
from tests.screens.conftest import MAIN


def test_every_page_of_the_menu_has_its_address() -> None:
    files = set(re.findall(r'_PAGES / "(\w+)\.py"', MAIN.read_text("utf-8"))) - {"home"}
    assert set(app.page_names()) == {"inspect" if name == "inspection" else name for name in files}


def test_the_document_of_a_deep_link_loads_the_address_first() -> None:
    with ThreadPoolExecutor(1) as apart:  # a browser test in this process may have an event loop running
        response = apart.submit(lambda: asyncio.run(app.page_document(None))).result()  # type: ignore[arg-type]
    document = bytes(response.body).decode()
    first = re.search(r"<script[^>]*>", document)
    assert first is not None and "./start.js" in first.group()
    assert document.count("start.js") == 1
