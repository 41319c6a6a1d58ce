"""How people sign in, and under which addresses the app may be opened: the settings, checked."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bootstrap.environment import Settings
from core.domain.errors import BadRequest

__all__ = [
    "LOOPBACK_NAMES",
    "ProxyHeaders",
    "SignIn",
    "SignInSettings",
    "check_address",
    "is_loopback",
    "is_proxy",
    "sign_in_settings",
    "streamlit_secrets",
]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
"""The names of this machine; the app may always be opened under them."""

_WELL_KNOWN = "/.well-known/openid-configuration"
_CALLBACK = "/oauth2callback"  # where Streamlit expects the provider's answer
_COOKIE_SECRET_FILE = "cookie-secret"


class SignIn(StrEnum):
    """How people sign in."""

    NONE = "none"
    OIDC = "oidc"
    PROXY = "proxy"


@dataclass(frozen=True, slots=True)
class ProxyHeaders:
    """The headers in which the proxy says who somebody is; names in lower case."""

    login: str
    name: str
    email: str
    groups: str

    def names(self) -> tuple[str, ...]:
        """All four, without empty ones."""
        return tuple(each for each in (self.login, self.name, self.email, self.groups) if each)


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """Who may reach the app, and how they sign in.

    public_origin: scheme and host of the public address, "" when there is none. hosts: allowed host names, lower case,
    "*.example.com" for all below a domain. proxies: networks from which the proxy's headers are accepted.
    """

    kind: SignIn = SignIn.NONE
    session_hours: int = 12
    allow_anyone: bool = False
    public_origin: str = ""
    hosts: tuple[str, ...] = LOOPBACK_NAMES
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    headers: ProxyHeaders = field(default_factory=lambda: ProxyHeaders("", "", "", ""))
    login_claim: str = "email"
    groups_claim: str = "groups"
    sign_out_url: str = ""

    @property
    def over_tls(self) -> bool:
        """Whether people open the app by https."""
        return self.public_origin.startswith("https://")


def sign_in_settings(settings: Settings, *, believes_forwarded: bool = False) -> SignInSettings:
    """The rules of these settings. believes_forwarded: the web server replaces client addresses by those that requests
    name, so that a proxy cannot be told from somebody else. Raises BadRequest."""
    kinds = [each.value for each in SignIn]
    if settings.sign_in not in kinds:
        raise BadRequest(
            f"FIVEFOLD_SIGN_IN must be none, oidc or proxy, not '{settings.sign_in}'.", "Correct FIVEFOLD_SIGN_IN."
        )
    kind = SignIn(settings.sign_in)
    origin = _origin(settings.public_url)
    if kind is SignIn.OIDC:
        _check_oidc(settings)
    if kind is SignIn.PROXY:
        _check_proxy(settings, believes_forwarded=believes_forwarded)
    named = [each.strip().lower().rstrip(".") for each in settings.hosts.split(",") if each.strip()]
    public = [urlsplit(origin).hostname or ""] if origin else []
    return SignInSettings(
        kind=kind,
        session_hours=settings.session_hours,
        allow_anyone=settings.allow_anyone,
        public_origin=origin,
        hosts=tuple(dict.fromkeys([*LOOPBACK_NAMES, *public, *named])),
        proxies=tuple(_network(each.strip()) for each in settings.proxy_addresses.split(",") if each.strip()),
        headers=ProxyHeaders(
            settings.proxy_login_header.lower(),
            settings.proxy_name_header.lower(),
            settings.proxy_email_header.lower(),
            settings.proxy_groups_header.lower(),
        ),
        login_claim=settings.oidc_login_claim,
        groups_claim=settings.oidc_groups_claim,
        sign_out_url=settings.proxy_sign_out_url,
    )


def check_address(rules: SignInSettings, address: str | None) -> None:
    """Refuse to serve other machines without sign-in. address: what the server listens on, None for every address.

    Raises BadRequest.
    """
    if rules.kind is not SignIn.NONE or rules.allow_anyone:
        return
    if address is None or not is_loopback(address):
        raise BadRequest(
            f"Fivefold would listen on {address or 'every address'}, and sign-in is off: everyone who can reach this"
            " machine could read and change the library.",
            "Set FIVEFOLD_SIGN_IN=oidc or proxy (see docs/team.md), listen on 127.0.0.1 only, or set"
            " FIVEFOLD_ALLOW_ANYONE=true to serve everyone.",
        )


def is_loopback(address: str) -> bool:
    """Whether a host name or address means this machine."""
    if address.lower().rstrip(".") == "localhost":
        return True
    found = _address(address)
    return found is not None and found.is_loopback


def is_proxy(rules: SignInSettings, address: str) -> bool:
    """Whether requests from this address come from the proxy."""
    found = _address(address)
    return found is not None and any(found in network for network in rules.proxies)


def streamlit_secrets(settings: Settings) -> Mapping[str, Any]:
    """What Streamlit's sign-in reads instead of a secrets.toml; empty unless people sign in by OpenID Connect.

    Raises BadRequest, OSError where the data folder cannot be written.
    """
    if settings.sign_in != SignIn.OIDC:
        return {}
    origin = sign_in_settings(settings).public_origin
    issuer = settings.oidc_issuer
    return {
        "auth": {
            "redirect_uri": origin + _CALLBACK,
            "cookie_secret": settings.cookie_secret or _stored_cookie_secret(settings.data_folder),
            "client_id": settings.oidc_client_id,
            "client_secret": _client_secret(settings),
            "server_metadata_url": issuer if issuer.endswith(_WELL_KNOWN) else issuer.rstrip("/") + _WELL_KNOWN,
            "client_kwargs": {"scope": settings.oidc_scopes},
        }
    }


def _check_oidc(settings: Settings) -> None:
    needed = {
        "FIVEFOLD_PUBLIC_URL": settings.public_url,
        "FIVEFOLD_OIDC_ISSUER": settings.oidc_issuer,
        "FIVEFOLD_OIDC_CLIENT_ID": settings.oidc_client_id,
        "FIVEFOLD_OIDC_CLIENT_SECRET or FIVEFOLD_OIDC_CLIENT_SECRET_FILE": settings.oidc_client_secret
        or settings.oidc_client_secret_file,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise BadRequest(f"FIVEFOLD_SIGN_IN=oidc also needs {', '.join(missing)}.", "See docs/team.md.")
    _client_secret(settings)
    if settings.cookie_secret and len(settings.cookie_secret) < 32:  # 32 characters: 128 bits even when written in hex
        raise BadRequest(
            "FIVEFOLD_COOKIE_SECRET is too short.", "Use at least 32 random characters, or leave it empty."
        )


def _check_proxy(settings: Settings, *, believes_forwarded: bool) -> None:
    if not settings.proxy_addresses.strip():
        raise BadRequest(
            "FIVEFOLD_SIGN_IN=proxy also needs FIVEFOLD_PROXY_ADDRESSES.",
            "Name the proxy's address or network, for example 172.20.0.2 or 172.20.0.0/16.",
        )
    if not settings.proxy_login_header:
        raise BadRequest("FIVEFOLD_PROXY_LOGIN_HEADER is empty.", "Name the header that holds the login.")
    if believes_forwarded:
        raise BadRequest(
            "FIVEFOLD_SIGN_IN=proxy also needs FORWARDED_ALLOW_IPS to be set, and empty.",
            "Otherwise the web server believes the client address that a request names, and a request could pretend to"
            " come from the proxy. `make run`, the image and the compose files set it.",
        )


def _origin(url: str) -> str:
    """Scheme and host of the public address."""
    if not url:
        return ""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise BadRequest(
            f"FIVEFOLD_PUBLIC_URL must be an address such as https://fivefold.example.com, not '{url}'.",
            "Leave out any path.",
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError as problem:
        raise BadRequest(
            f"FIVEFOLD_PROXY_ADDRESSES: '{text}' is neither an address nor a network.",
            "Write, for example, 172.20.0.2 or 172.20.0.0/16.",
        ) from problem


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """The address of a text; None when it is a name. An IPv4 address in IPv6 form is the IPv4 address."""
    try:
        found = ip_address(text.strip("[]"))
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def _client_secret(settings: Settings) -> str:
    if not settings.oidc_client_secret_file:
        return settings.oidc_client_secret
    try:
        secret = Path(settings.oidc_client_secret_file).expanduser().read_text("utf-8").strip()
    except OSError as problem:
        raise BadRequest(
            f"FIVEFOLD_OIDC_CLIENT_SECRET_FILE cannot be read: {problem.strerror}.", "Correct its path or its rights."
        ) from problem
    if not secret:
        raise BadRequest("FIVEFOLD_OIDC_CLIENT_SECRET_FILE is empty.", "Write the client secret into it.")
    return secret


def _stored_cookie_secret(data_folder: Path) -> str:
    """The secret of this data folder, generated at the first start. Only its owner may read the file."""
    path = data_folder / _COOKIE_SECRET_FILE
    data_folder.mkdir(parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(32))
    except FileExistsError:
        pass
    return path.read_text("utf-8").strip()
