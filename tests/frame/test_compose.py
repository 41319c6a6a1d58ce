"""The files for containers: valid YAML that sets only what exists, and starts under the rules of sign-in."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import make_url

from bootstrap.environment import Settings
from bootstrap.sign_in import SignIn, check_address, sign_in_settings

FILES = ("compose.yaml", "compose.team.yaml", "compose.chroma.yaml", "compose.scale.yaml")


class _Loader(yaml.SafeLoader):
    """YAML with Compose's own tag, which takes back what another file says."""


_Loader.add_constructor("!reset", lambda loader, node: None)


def read(root: Path, name: str) -> dict[str, Any]:
    """A compose file."""
    found: dict[str, Any] = yaml.load((root / name).read_text("utf-8"), _Loader)
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_variable_of_a_compose_file_is_a_setting(root: Path, name: str) -> None:
    known = {"DATABASE_URL", "POSTGRES_USER", "POSTGRES_PASSWORD_FILE", "POSTGRES_DB", "AWS_REGION", "FIVEFOLD_DOMAIN"}
    settings = {f"FIVEFOLD_{each.name.upper()}" for each in fields(Settings)}
    known |= settings | {f"{each}_FILE" for each in settings}
    for service in read(root, name)["services"].values():
        assert set(service.get("environment", {})) - {"<<"} <= known


def test_the_app_of_one_machine_is_published_to_this_machine_only(root: Path, tmp_path: Path) -> None:
    app = read(root, "compose.yaml")["services"]["app"]
    assert app["ports"] == ["127.0.0.1:8501:8501"]
    assert app["environment"]["FIVEFOLD_ALLOW_ANYONE"] == "true"
    check_address(sign_in_settings(Settings(tmp_path, allow_anyone=True)), "0.0.0.0")


def test_several_apps_share_their_cookies_and_only_the_balancer_is_published(root: Path) -> None:
    scaled = read(root, "compose.scale.yaml")
    app, balancer = scaled["services"]["app"], scaled["configs"]["balancer"]["content"]
    assert app["ports"] is None and "cookie-secret" in app["secrets"]
    assert "lb_policy cookie" in balancer and "dynamic a app 8501" in balancer
    alone = [each["secrets"] for each in (read(root, "compose.team.yaml")["services"]["app"], app)]
    assert set(alone[0]) < set(alone[1]) and set(app["secrets"]) > set(scaled["services"]["worker"]["secrets"])


def test_kubernetes_sets_what_exists_and_confines_every_container(root: Path) -> None:
    items = yaml.safe_load((root / "deploy/kubernetes.yaml").read_text("utf-8"))["items"]
    assert [each["kind"] for each in items] == ["ConfigMap", "Deployment", "Deployment", "Service", "Ingress"]
    named = set(items[0]["data"])
    for deployment in items[1:3]:
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        named |= {each["name"] for each in container.get("env", ())}
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        assert container["securityContext"]["readOnlyRootFilesystem"] and container["resources"]["limits"]["memory"]
        assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    settings = {f"FIVEFOLD_{each.name.upper()}" for each in fields(Settings)}
    assert named <= settings | {f"{each}_FILE" for each in settings} | {"DATABASE_URL", "AWS_REGION"}
    assert items[4]["metadata"]["annotations"]["nginx.ingress.kubernetes.io/affinity"] == "cookie"


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
    assert app["FIVEFOLD_SEARCH_PROCESSES"] == "${FIVEFOLD_SEARCH_PROCESSES:-2}"


SERVICES = [(name, service) for name in FILES for service in read(Path(__file__).parents[2], name)["services"]]
CONFINED = [each for each in SERVICES if "image" in read(Path(__file__).parents[2], each[0])["services"][each[1]]]
"""Services that a file defines; the others only add to one of compose.yaml."""


@pytest.mark.parametrize(("name", "service"), CONFINED)
def test_every_container_is_confined(root: Path, name: str, service: str) -> None:
    found = read(root, name)["services"][service]
    assert found["cap_drop"] == ["ALL"] and found["security_opt"] == ["no-new-privileges:true"]
    assert found["read_only"] is True and found["mem_limit"]
    assert set(found.get("cap_add", ())) <= {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID", "NET_BIND_SERVICE"}
    assert not found.get("privileged") and not found.get("network_mode")


@pytest.mark.parametrize(("name", "service"), CONFINED)
def test_every_image_of_others_can_be_pinned_by_digest(root: Path, name: str, service: str) -> None:
    image = read(root, name)["services"][service]["image"]
    assert image == "fivefold" or re.fullmatch(r"\$\{([A-Z]+_IMAGE):-[^}]+\}", image)
    documented = (root / "docs/database.md").read_text("utf-8")
    assert image == "fivefold" or image.partition(":")[0].removeprefix("${") in documented


@pytest.mark.parametrize("name", FILES)
def test_no_password_is_in_a_file_or_in_the_environment(root: Path, name: str) -> None:
    described = read(root, name)
    for service in described["services"].values():
        for variable, value in service.get("environment", {}).items():
            assert "PASSWORD" not in variable or variable.endswith("_FILE")
            assert variable != "FIVEFOLD_CHROMA_TOKEN" and not re.search(r"://[^/@]+:[^/@]+@", str(value))
            if variable.endswith("_FILE"):
                assert str(value).removeprefix("/run/secrets/") in service["secrets"]
    for each in described.get("secrets", {}).values():
        assert each["file"].startswith("./secrets/")


def test_the_pool_has_another_login_than_the_owner_and_only_the_app_knows_the_owner(root: Path) -> None:
    services = read(root, "compose.yaml")["services"]
    app, worker = services["app"]["environment"], services["worker"]["environment"]
    pool, owner = (make_url(app[name]).username for name in ("DATABASE_URL", "FIVEFOLD_MIGRATION_DATABASE_URL"))
    assert pool != owner == services["database"]["environment"]["POSTGRES_USER"]
    assert worker["DATABASE_URL"] == app["DATABASE_URL"] and "FIVEFOLD_MIGRATION_DATABASE_URL" not in worker
    assert "database-owner-password" not in services["worker"]["secrets"]


def test_chroma_is_reached_through_the_gate_only_and_the_gate_asks_for_the_token(root: Path) -> None:
    described = read(root, "compose.chroma.yaml")
    chroma, gate = described["services"]["chroma"], described["services"]["chroma-gate"]
    assert chroma["networks"] == ["vectors"] and described["networks"]["vectors"]["internal"] is True
    assert "ports" not in chroma and "ports" not in gate
    assert (
        'header Authorization "Bearer {$$CHROMA_TOKEN}"' in gate["command"][2] and "respond 401" in gate["command"][2]
    )
    for service in ("app", "worker"):
        environment = described["services"][service]["environment"]
        assert environment["FIVEFOLD_CHROMA_URL"] == "http://chroma-gate:8000"
        assert environment["FIVEFOLD_CHROMA_TOKEN_FILE"] == "/run/secrets/chroma-token"
