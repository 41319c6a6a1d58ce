"""Settings of sign-in: what is accepted, what is refused and why, and what Streamlit is told."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.environment import Settings
from bootstrap.sign_in import SignIn, check_address, is_loopback, is_proxy, sign_in_settings, streamlit_secrets
from core.domain.errors import BadRequest


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "data")


@pytest.fixture
def oidc(settings: Settings) -> Settings:
    return replace(
        settings,
        sign_in="oidc",
        public_url="https://fivefold.example.com/",
        oidc_issuer="https://login.example.com/realms/team",
        oidc_client_id="fivefold",
        oidc_client_secret="open sesame",
    )


def test_without_settings_one_person_works_on_this_machine(settings: Settings) -> None:
    rules = sign_in_settings(settings)
    assert (rules.kind, rules.hosts) == (SignIn.NONE, ("localhost", "127.0.0.1", "::1"))
    for address in ("127.0.0.1", "127.8.9.1", "::1", "localhost", "::ffff:127.0.0.1"):
        check_address(rules, address)
    assert streamlit_secrets(settings) == {}


@pytest.mark.parametrize("address", [None, "0.0.0.0", "::", "192.168.1.20", "fivefold.example.com"])
def test_other_machines_are_served_with_sign_in_or_when_told_so(
    settings: Settings, oidc: Settings, address: str | None
) -> None:
    with pytest.raises(BadRequest, match="FIVEFOLD_ALLOW_ANYONE=true"):
        check_address(sign_in_settings(settings), address)
    check_address(sign_in_settings(replace(settings, allow_anyone=True)), address)
    check_address(sign_in_settings(oidc), address)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sign_in": "ldap"}, "must be none, oidc or proxy"),
        ({"public_url": ""}, "FIVEFOLD_PUBLIC_URL"),
        ({"public_url": "fivefold.example.com"}, "must be an address"),
        ({"public_url": "https://example.com/fivefold"}, "Leave out any path"),
        ({"oidc_issuer": ""}, "FIVEFOLD_OIDC_ISSUER"),
        ({"oidc_client_id": ""}, "FIVEFOLD_OIDC_CLIENT_ID"),
        ({"oidc_client_secret": ""}, "FIVEFOLD_OIDC_CLIENT_SECRET"),
        ({"oidc_client_secret_file": "/does/not/exist"}, "cannot be read"),
        ({"cookie_secret": "short"}, "too short"),
        ({"sign_in": "proxy"}, "FIVEFOLD_PROXY_ADDRESSES"),
        ({"sign_in": "proxy", "proxy_addresses": "the proxy"}, "neither an address nor a network"),
        ({"sign_in": "proxy", "proxy_addresses": "10.0.0.1", "proxy_login_header": ""}, "PROXY_LOGIN_HEADER"),
    ],
)
def test_a_setting_that_cannot_work_says_which(oidc: Settings, changes: dict[str, str], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        sign_in_settings(replace(oidc, **changes))  # type: ignore[arg-type]


def test_a_proxy_is_not_accepted_while_the_server_believes_forwarded_addresses(settings: Settings) -> None:
    proxied = replace(settings, sign_in="proxy", proxy_addresses="10.0.0.1")
    with pytest.raises(BadRequest, match="FORWARDED_ALLOW_IPS"):
        sign_in_settings(proxied, believes_forwarded=True)
    assert sign_in_settings(proxied).kind is SignIn.PROXY


def test_hosts_are_those_of_this_machine_the_public_address_and_the_setting(oidc: Settings) -> None:
    rules = sign_in_settings(replace(oidc, hosts="Search.Example.com, *.internal"))
    assert rules.hosts[3:] == ("fivefold.example.com", "search.example.com", "*.internal")
    assert rules.public_origin == "https://fivefold.example.com" and rules.over_tls


def test_the_proxy_is_known_by_address_or_network(settings: Settings) -> None:
    rules = sign_in_settings(replace(settings, sign_in="proxy", proxy_addresses="10.0.0.1, 172.20.0.0/16, fd00::/8"))
    assert all(is_proxy(rules, each) for each in ("10.0.0.1", "::ffff:10.0.0.1", "172.20.255.1", "fd00::7"))
    assert not any(is_proxy(rules, each) for each in ("10.0.0.2", "172.21.0.1", "127.0.0.1", "10.0.0.1.evil", ""))


def test_loopback_is_this_machine_only() -> None:
    assert not any(is_loopback(each) for each in ("", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", "::2"))


def test_streamlit_gets_the_provider_and_a_cookie_secret_of_the_data_folder(oidc: Settings) -> None:
    auth = streamlit_secrets(oidc)["auth"]
    assert auth["redirect_uri"] == "https://fivefold.example.com/oauth2callback"
    assert auth["server_metadata_url"] == "https://login.example.com/realms/team/.well-known/openid-configuration"
    assert (auth["client_id"], auth["client_secret"]) == ("fivefold", "open sesame")
    assert len(auth["cookie_secret"]) == 64
    assert streamlit_secrets(oidc)["auth"]["cookie_secret"] == auth["cookie_secret"]
    assert stat.S_IMODE((oidc.data_folder / "cookie-secret").stat().st_mode) == 0o600


def test_secrets_may_come_from_a_file_and_a_setting(oidc: Settings, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("from a file\n", "utf-8")
    configured = replace(
        oidc,
        oidc_client_secret="",
        oidc_client_secret_file=str(file),
        cookie_secret="c" * 32,
        oidc_issuer="https://login.example.com/.well-known/openid-configuration",
    )
    auth = streamlit_secrets(configured)["auth"]
    assert (auth["client_secret"], auth["cookie_secret"]) == ("from a file", "c" * 32)
    assert auth["server_metadata_url"] == configured.oidc_issuer


def test_no_secret_is_part_of_how_settings_are_shown(oidc: Settings) -> None:
    shown = repr(replace(oidc, cookie_secret="very secret cookie"))
    assert "open sesame" not in shown and "very secret cookie" not in shown
