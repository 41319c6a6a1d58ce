"""Requests that never reach the app, and the headers of every answer."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_network

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from bootstrap.sign_in import ProxyHeaders, SignIn, SignInSettings
from pages.frame.request_guard import DETAILS, RequestGuard

HEADERS = ProxyHeaders("x-forwarded-user", "x-forwarded-name", "x-forwarded-email", "x-forwarded-groups")
LOCAL = SignInSettings()
TEAM = SignInSettings(
    kind=SignIn.OIDC,
    public_origin="https://fivefold.example.com",
    hosts=(*LOCAL.hosts, "fivefold.example.com", "*.internal"),
)
PROXIED = SignInSettings(kind=SignIn.PROXY, proxies=(ip_network("10.0.0.0/24"),), headers=HEADERS)


async def answer(request: Request) -> Response:
    """What a route of the app answers."""
    values = {"details": request.scope.get(DETAILS), "user": request.headers.get("x-forwarded-user")}
    response = JSONResponse(values)
    response.set_cookie("session", "x")
    return response


async def talk(socket: WebSocket) -> None:
    """A WebSocket of the app."""
    await socket.accept()
    await socket.send_text("hello")
    await socket.close()


def client(
    rules: SignInSettings = LOCAL, peer: str = "127.0.0.1", base_url: str = "http://localhost:8501"
) -> TestClient:
    """A client whose requests come from `peer`."""
    app = Starlette(
        routes=[Route("/{path:path}", answer, methods=["GET", "POST", "PUT", "DELETE"]), WebSocketRoute("/ws", talk)]
    )
    guard = RequestGuard(app, lambda: rules, lambda: "127.0.0.1", lambda token: token == "ff_administrator")
    return TestClient(guard, base_url=base_url, client=(peer, 50000))


def opens(rules: SignInSettings, headers: Mapping[str, str], peer: str = "127.0.0.1") -> bool:
    """Whether a WebSocket with these headers is opened."""
    try:
        with client(rules, peer).websocket_connect("/ws", headers={"host": "localhost:8501", **headers}) as socket:
            return socket.receive_text() == "hello"
    except WebSocketDisconnect as closed:
        assert closed.code == 1008
        return False


HOSTS = [
    ("localhost", LOCAL, True),
    ("LOCALHOST:8501", LOCAL, True),
    ("127.0.0.1:8501", LOCAL, True),
    ("[::1]:8501", LOCAL, True),
    ("localhost.", LOCAL, True),
    ("fivefold.example.com", TEAM, True),
    ("a.internal", TEAM, True),
    ("rebound.example", LOCAL, False),
    ("fivefold.example.com", LOCAL, False),
    ("localhost.evil.example", LOCAL, False),
    ("evil.example:8501", LOCAL, False),
    ("192.168.1.20", LOCAL, False),
    ("internal", TEAM, False),
    ("ainternal", TEAM, False),
    ("localhost@evil.example", LOCAL, False),
    ("localhost/evil.example", LOCAL, False),
    ("localhost:8501:1", LOCAL, False),
    ("", LOCAL, False),
]


@pytest.mark.parametrize(("host", "rules", "allowed"), HOSTS)
def test_only_allowed_hosts_are_served_on_http_and_websocket_alike(
    host: str, rules: SignInSettings, allowed: bool
) -> None:
    assert client(rules).get("/library", headers={"host": host}).status_code == (200 if allowed else 400)
    assert opens(rules, {"host": host}) is allowed


def test_a_refused_host_says_which_setting_allows_it() -> None:
    reported = client().get("/library", headers={"host": "rebound.example"}).text
    assert "FIVEFOLD_HOSTS: rebound.example" in reported


@pytest.mark.parametrize("path", ["/api/documents", "/mcp"])
def test_a_refused_program_reads_problem_details(path: str) -> None:
    answer = client().get(path, headers={"host": "rebound.example"})
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["status"], answer.status_code) == (400, 400) and "FIVEFOLD_HOSTS" in problem["detail"]


def test_two_host_headers_are_refused() -> None:
    sent = [("host", "localhost"), ("host", "evil.example")]
    assert client().get("/library", headers=sent).status_code == 400


ORIGINS = [
    ("http://localhost:8501", LOCAL, True),
    ("http://127.0.0.1:8501", LOCAL, False),  # this page was opened as localhost
    ("http://localhost:9999", LOCAL, False),
    ("http://localhost", LOCAL, False),
    ("http://evil.example", LOCAL, False),
    ("null", LOCAL, False),
    ("", LOCAL, False),
    ("https://fivefold.example.com", TEAM, True),
    ("http://fivefold.example.com", TEAM, False),
    ("https://fivefold.example.com.evil.example", TEAM, False),
]


@pytest.mark.parametrize(("origin", "rules", "allowed"), ORIGINS)
def test_pages_of_another_origin_can_neither_read_nor_write_nor_open_the_socket(
    origin: str, rules: SignInSettings, allowed: bool
) -> None:
    here = client(rules)
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        status = here.request(method, "/_stcore/upload_file/a/b", headers={"origin": origin}).status_code
        assert (status != 403) is allowed, method
    assert opens(rules, {"origin": origin}) is allowed


def test_programs_send_no_origin_and_are_served() -> None:
    assert client().post("/api/search").status_code == 200
    assert opens(LOCAL, {})


FETCHES = [
    ("GET", "/library", "same-origin", "cors", "empty", True),
    ("GET", "/library", "none", "navigate", "document", True),
    ("GET", "/library", "cross-site", "navigate", "document", True),
    ("GET", "/library", "same-site", "navigate", "document", True),
    ("GET", "/library", "cross-site", "navigate", "iframe", False),
    ("GET", "/library", "cross-site", "no-cors", "script", False),
    ("GET", "/media/1.png", "cross-site", "no-cors", "image", False),
    ("GET", "/media/1.png", "same-site", "no-cors", "image", False),
    ("POST", "/library", "cross-site", "navigate", "document", False),
    ("GET", "/auth/logout", "cross-site", "navigate", "document", False),
    ("GET", "/auth/logout", "same-origin", "navigate", "document", True),
]


@pytest.mark.parametrize(("method", "path", "site", "mode", "destination", "allowed"), FETCHES)
def test_another_site_may_link_here_and_nothing_else(
    method: str, path: str, site: str, mode: str, destination: str, allowed: bool
) -> None:
    sent = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}
    assert client().request(method, path, headers=sent).status_code == (200 if allowed else 403)


def test_identity_headers_are_the_proxys_alone() -> None:
    forged = {"X-Forwarded-User": "alice"}
    assert client(PROXIED, "10.0.0.7").get("/library", headers=forged).json()["user"] == "alice"
    assert client(PROXIED, "10.0.1.7").get("/library", headers=forged).status_code == 403
    assert client(PROXIED).get("/library", headers={"X-FORWARDED-GROUPS": "administrators"}).status_code == 403
    claimed = {**forged, "X-Forwarded-For": "10.0.0.7", "Forwarded": "for=10.0.0.7"}
    assert client(PROXIED).get("/library", headers=claimed).status_code == 403
    assert client(PROXIED).get("/library").json()["user"] is None
    assert opens(PROXIED, forged, "10.0.0.7")
    assert not opens(PROXIED, forged, "10.0.1.7")


def test_an_identity_header_that_came_twice_is_refused() -> None:
    sent = [("X-Forwarded-User", "alice"), ("X-Forwarded-User", "mallory")]
    assert client(PROXIED, "10.0.0.7").get("/library", headers=sent).status_code == 400


DETAILED = [
    ("127.0.0.1", {}, True),
    ("::1", {}, True),
    ("127.0.0.1", {"x-forwarded-for": "203.0.113.9"}, False),
    ("127.0.0.1", {"forwarded": "for=203.0.113.9"}, False),
    ("127.0.0.1", {"host": "fivefold.example.com"}, False),
    ("203.0.113.9", {}, False),
    ("203.0.113.9", {"authorization": "Bearer ff_administrator"}, True),
    ("203.0.113.9", {"authorization": "Bearer ff_viewer"}, False),
    ("203.0.113.9", {"authorization": "Basic ff_administrator"}, False),
]


@pytest.mark.parametrize(("peer", "headers", "allowed"), DETAILED)
def test_metrics_and_details_are_for_this_machine_and_administrators(
    peer: str, headers: dict[str, str], allowed: bool
) -> None:
    here = client(TEAM, peer)
    for path in ("/_stcore/metrics", "/_stcore/metrics/"):
        assert here.get(path, headers=headers).status_code == (200 if allowed else 403)
    assert here.get("/healthz", headers=headers).json()["details"] is allowed


def test_without_sign_in_a_request_that_came_over_the_network_is_refused() -> None:
    reached = client(base_url="http://192.168.1.20:8501")
    assert reached.get("/", headers={"host": "localhost"}).status_code == 403
    anyone = client(replace(LOCAL, allow_anyone=True), base_url="http://192.168.1.20:8501")
    assert anyone.get("/", headers={"host": "localhost"}).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded"])
def test_without_sign_in_a_proxy_on_this_machine_is_refused(header: str) -> None:
    sent = {header: "203.0.113.9"}
    assert client().get("/", headers=sent).status_code == 403
    assert not opens(LOCAL, sent)
    assert client(replace(LOCAL, allow_anyone=True)).get("/", headers=sent).status_code == 200
    assert client(TEAM).get("/", headers=sent).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_every_answer_has_the_security_headers_refusals_too(host: str) -> None:
    headers = client().get("/", headers={"host": host}).headers
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy and "object-src 'none'" in policy and "base-uri 'self'" in policy
    scripts = next(rule for rule in policy.split("; ") if rule.startswith("script-src"))
    assert "unsafe-inline" not in scripts and "'unsafe-eval'" not in scripts and "http" not in scripts
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "strict-transport-security" not in headers


def test_over_tls_browsers_are_told_to_stay_there_and_cookies_are_secure() -> None:
    reported = client(TEAM).get("/", headers={"host": "fivefold.example.com"}).headers
    assert reported["strict-transport-security"].startswith("max-age=31536000")
    assert reported["set-cookie"].endswith("; Secure")
    plain = client(TEAM).get("/").headers
    assert "strict-transport-security" not in plain and "Secure" not in plain["set-cookie"]
    direct = client(LOCAL, base_url="https://localhost:8501").get("/").headers
    assert "strict-transport-security" in direct and direct["set-cookie"].endswith("; Secure")
