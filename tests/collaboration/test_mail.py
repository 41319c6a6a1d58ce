"""E-mail goes through a real mail server on this machine, over TLS with a certificate that is checked."""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from adapters.mail import SmtpMailer, SmtpServer, smtp_server
from core.collaboration.delivery import Mail
from core.domain.errors import BadRequest, FetchFailed

AT = datetime(2026, 11, 23, 9, tzinfo=UTC)
MAIL = Mail("bo@example.org", "Fivefold – 2 things\r\nBcc: eve@example.org", "Größe: 残業\nhttps://five.example/")


@dataclass
class Inbox:
    """Takes every e-mail, unless told otherwise. answer: what it says to an e-mail."""

    envelopes: list[Envelope] = field(default_factory=list)
    answer: str = "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        """One e-mail."""
        self.envelopes.append(envelope)
        return self.answer

    def messages(self) -> list[EmailMessage]:
        """What arrived."""
        parsed = (message_from_bytes(bytes(each.content or b""), policy=policy.default) for each in self.envelopes)
        return [each for each in parsed if isinstance(each, EmailMessage)]


def _may_in(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    known = isinstance(data, LoginPassword) and (data.login, data.password) == (b"ann@example.org", b"p w/1")
    return AuthResult(success=known, handled=known)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1 and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    own = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(own + made.public_bytes(serialization.Encoding.PEM))
    return path


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture(params=["implicit", "starttls", "none"])
def server(request: pytest.FixtureRequest, inbox: Inbox, certificate: Path) -> Iterator[SmtpServer]:
    """A mail server of each kind."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    options: dict[str, dict[str, Any]] = {
        "implicit": {"ssl_context": context},
        "starttls": {"tls_context": context, "require_starttls": True},
        "none": {},
    }
    signed_in = {"authenticator": _may_in, "auth_require_tls": request.param == "starttls"}
    port = free_port()
    controller = Controller(inbox, hostname="127.0.0.1", port=port, **options[request.param], **signed_in)
    controller.start()
    yield SmtpServer("127.0.0.1", port, request.param)
    controller.stop()


def mailer(server: SmtpServer, certificate: Path | None) -> SmtpMailer:
    """One that trusts this certificate; None: only what the system trusts."""
    context = ssl.create_default_context(cafile=certificate) if certificate else None
    return SmtpMailer(server, "Fivefold <fivefold@example.org>", lambda: AT, context)


def test_a_mail_arrives_whole_and_its_subject_adds_no_header(
    server: SmtpServer, inbox: Inbox, certificate: Path
) -> None:
    mailer(server, certificate).send(MAIL)
    [message], [envelope] = inbox.messages(), inbox.envelopes
    assert envelope.rcpt_tos == ["bo@example.org"] and message["Bcc"] is None
    assert message["From"] == "Fivefold <fivefold@example.org>" and message["To"] == "bo@example.org"
    assert message["Subject"] == "Fivefold – 2 things Bcc: eve@example.org"
    assert message["Auto-Submitted"] == "auto-generated" and message["Message-ID"].endswith("@example.org>")
    assert message.get_content().splitlines() == MAIL.text.splitlines()


def test_a_name_and_password_are_used(server: SmtpServer, inbox: Inbox, certificate: Path) -> None:
    if server.tls == "none":
        pytest.skip("no password goes over an open line in this test")
    known = SmtpServer(server.host, server.port, server.tls, "ann@example.org", "p w/1")
    mailer(known, certificate).send(MAIL)
    with pytest.raises(FetchFailed, match="535"):
        mailer(SmtpServer(server.host, server.port, server.tls, "ann@example.org", "wrong"), certificate).send(MAIL)
    assert len(inbox.envelopes) == 1


def test_an_unknown_certificate_is_not_trusted(server: SmtpServer, inbox: Inbox) -> None:
    if server.tls == "none":
        pytest.skip("no certificate without TLS")
    with pytest.raises(FetchFailed, match="could not be reached"):
        mailer(server, None).send(MAIL)
    assert inbox.envelopes == []


def test_what_the_server_refuses_is_said(server: SmtpServer, inbox: Inbox, certificate: Path) -> None:
    inbox.answer = "452 The disk is full"
    with pytest.raises(FetchFailed, match="452 The disk is full"):
        mailer(server, certificate).send(MAIL)


def test_a_line_that_should_be_secret_is_not_used_openly(inbox: Inbox) -> None:
    port = free_port()
    controller = Controller(inbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        with pytest.raises(FetchFailed):
            mailer(smtp_server(f"smtp://127.0.0.1:{port}"), None).send(MAIL)
    finally:
        controller.stop()
    assert inbox.envelopes == []


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(FetchFailed, match=r"127\.0\.0\.1 could not be reached"):
        mailer(SmtpServer("127.0.0.1", 1, "none"), None).send(MAIL)


@pytest.mark.parametrize(
    "url",
    ["", "mail.example.org", "http://mail.example.org", "smtp://", "smtp://a:99999", "smtp://a?tls=off",
     "smtps://a?tls=none", "smtp://a/inbox", "smtp://a?x=1"],
)  # fmt: skip
def test_a_setting_that_is_no_mail_server_is_refused(url: str) -> None:
    with pytest.raises(BadRequest) as refused:
        smtp_server(url)
    assert "smtps://" in refused.value.hint


@pytest.mark.parametrize("sender", ["", "Fivefold", "a@", "a@b\r\nBcc: c@d"])
def test_a_sender_that_is_no_address_is_refused(sender: str) -> None:
    with pytest.raises(BadRequest, match="FIVEFOLD_MAIL_FROM"):
        SmtpMailer(SmtpServer("a", 25, "none"), sender, lambda: AT)


def test_the_password_is_never_shown() -> None:
    assert "secret" not in repr(smtp_server("smtp://ann:secret@example.org"))
