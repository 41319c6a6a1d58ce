"""The compose files: valid YAML that sets only what exists, and starts under the rules of sign-in."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bootstrap.environment import Settings
from bootstrap.sign_in import SignIn, check_address, sign_in_settings

FILES = ("compose.yaml", "compose.team.yaml")


def read(root: Path, name: str) -> dict[str, Any]:
    """A compose file."""
    found: dict[str, Any] = yaml.safe_load((root / name).read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_variable_of_a_compose_file_is_a_setting(root: Path, name: str) -> None:
    known = {"DATABASE_URL", "POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB"}
    known |= {f"FIVEFOLD_{each.name.upper()}" for each in fields(Settings)}
    for service in read(root, name)["services"].values():
        assert set(service.get("environment", {})) - {"<<"} <= known


def test_the_app_of_one_machine_is_published_to_this_machine_only(root: Path, tmp_path: Path) -> None:
    app = read(root, "compose.yaml")["services"]["app"]
    assert app["ports"] == ["127.0.0.1:8501:8501"]
    assert app["environment"]["FIVEFOLD_ALLOW_ANYONE"] == "true"
    check_address(sign_in_settings(Settings(tmp_path, allow_anyone=True)), "0.0.0.0")


def test_the_team_signs_in(root: Path, tmp_path: Path) -> None:
    app = read(root, "compose.team.yaml")["services"]["app"]["environment"]
    secret = tmp_path / "secret"
    secret.write_text("secret", "utf-8")
    settings = replace(
        Settings(tmp_path),
        sign_in=app["FIVEFOLD_SIGN_IN"],
        public_url="https://fivefold.example.com",
        oidc_issuer="https://login.example.com",
        oidc_client_id="fivefold",
        oidc_client_secret_file=str(secret),
    )
    assert app["FIVEFOLD_ALLOW_ANYONE"] == "false"
    assert sign_in_settings(settings).kind is SignIn.OIDC
