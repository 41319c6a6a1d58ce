"""Nothing leaves the machine: app, worker and readers connect to no other one, and ask for no other's name."""

from pathlib import Path

import httpx
import pytest

from tests.running import running_app

_WATCH = """
import os, sys

def note(event, arguments):
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "localhost"
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in (None, "", "localhost", "::1") and not str(host).startswith("127."):
        with open(os.environ["CONNECTIONS"], "a") as file:
            file.write(f"{host} by {sys.argv}\\n")

sys.addaudithook(note)
"""
"""Python runs a module of this name in every process that starts; forked ones keep the hook."""


@pytest.mark.slow
def test_a_library_is_read_and_searched_without_a_word_to_the_network(data_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_WATCH)
    connections = tmp_path / "connections"
    # Some libraries send usage statistics unless they run in CI.
    settings = {"PYTHONPATH": str(tmp_path), "CONNECTIONS": str(connections), "CI": "", "HF_HUB_OFFLINE": "0"}
    with (
        running_app(data_folder, **settings) as app,
        httpx.Client(base_url=f"{app.url}/api", headers={"X-Requested-With": "tests"}, timeout=120) as api,
    ):
        pages = {
            "leave.md": b"# Leave\nEmployees must get sick leave after ninety days.",
            "pay.csv": b"name,pay\nAnn,1\n",
        }
        for name, data in pages.items():
            api.post("/documents", files={"file": (name, data)}).raise_for_status()
        app.read_by_now(len(pages))
        found = api.get("/search", params={"q": "When must sick leave be given?"}).raise_for_status().json()
        assert found["hits"]
        httpx.get(app.url).raise_for_status()
    assert not connections.exists(), connections.read_text("utf-8")
