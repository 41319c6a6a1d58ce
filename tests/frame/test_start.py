"""The app starts only where its settings say who may use it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.running import START_SECONDS, RunningApp, running_app

REFUSED: list[tuple[Mapping[str, str], str]] = [
    ({"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, "FIVEFOLD_ALLOW_ANYONE=true"),
    ({"FIVEFOLD_SIGN_IN": "oidc"}, "FIVEFOLD_OIDC_ISSUER"),
    (
        {"FIVEFOLD_SIGN_IN": "proxy", "FIVEFOLD_PROXY_ADDRESSES": "10.0.0.1"},
        "FORWARDED_ALLOW_IPS to be set, and empty",
    ),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_a_start_that_would_let_strangers_in_is_refused_with_the_reason(
    tmp_path: Path, settings: Mapping[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    app = RunningApp(tmp_path / "data", **settings)
    try:
        assert app.process.wait(START_SECONDS) != 0
    finally:
        if app.process.poll() is None:
            app.kill()
    assert message in app.printed() and "Traceback" not in app.printed()


@pytest.mark.slow
def test_it_serves_every_address_when_told_so(data_folder: Path) -> None:
    values = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "FIVEFOLD_ALLOW_ANYONE": "true"}
    with running_app(data_folder, **values) as app:
        assert app.health()["status"] == "ok"
