"""Sends e-mail by SMTP, over TLS unless the setting says otherwise."""

import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid, parseaddr
from urllib.parse import parse_qs, unquote, urlsplit

from core.collaboration.delivery import Mail
from core.domain.errors import BadRequest, FetchFailed

__all__ = ["SmtpMailer", "SmtpServer", "smtp_server"]

_WAIT_SECONDS = 20.0  # for each network operation. Chosen by hand.
_HINT = "Write it as smtps://user:password@host:465, or smtp://user:password@host:587 for STARTTLS."


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A mail server. tls: "implicit" from the first byte on, "starttls", or "none" – only when the setting asks for
    it."""

    host: str
    port: int
    tls: str
    user: str = ""
    password: str = field(default="", repr=False)


def smtp_server(url: str) -> SmtpServer:
    """The server that FIVEFOLD_SMTP_URL names. Raises BadRequest.

    >>> smtp_server("smtp://ann%40example.org:pw@mail.example.org")
    SmtpServer(host='mail.example.org', port=587, tls='starttls', user='ann@example.org')
    >>> smtp_server("smtps://mail.example.org").port, smtp_server("smtp://localhost:25?tls=none").tls
    (465, 'none')
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadRequest("FIVEFOLD_SMTP_URL is not the address of a mail server.", _HINT) from error
    options = parse_qs(parts.query, keep_blank_values=True)
    tls_option = options.pop("tls", ["yes"])
    if parts.scheme not in ("smtp", "smtps") or not host or parts.path.strip("/") or options:
        raise BadRequest("FIVEFOLD_SMTP_URL is not the address of a mail server.", _HINT)
    if tls_option not in (["yes"], ["none"]) or (parts.scheme == "smtps" and tls_option == ["none"]):
        raise BadRequest("FIVEFOLD_SMTP_URL may only end with ?tls=none, and only with smtp://.", _HINT)
    tls = "implicit" if parts.scheme == "smtps" else "none" if tls_option == ["none"] else "starttls"
    usual = {"implicit": 465, "starttls": 587, "none": 25}[tls]
    return SmtpServer(host, port or usual, tls, unquote(parts.username or ""), unquote(parts.password or ""))


class SmtpMailer:
    """core.collaboration.delivery.Mailer over smtplib. sender: "Name <address>" or an address. context: for TLS; None:
    the system's certificates. Thread-safe: each e-mail has a connection of its own."""

    def __init__(
        self, server: SmtpServer, sender: str, now: Callable[[], datetime], context: ssl.SSLContext | None = None
    ) -> None:
        self._server, self._now, self._context = server, now, context
        self._sender = _address(sender, "FIVEFOLD_MAIL_FROM")

    def send(self, mail: Mail) -> None:
        """Send one. Raises FetchFailed when the mail server does not take it, BadRequest for an address that is
        none."""
        message = self._message(mail)
        try:
            with self._connected() as connection:
                if self._server.user:
                    connection.login(self._server.user, self._server.password)
                connection.send_message(message)
        except smtplib.SMTPException as failure:
            raise FetchFailed(
                f"The mail server {self._server.host} did not take an e-mail ({_words(failure)}).",
                "Check FIVEFOLD_SMTP_URL and FIVEFOLD_MAIL_FROM.",
            ) from failure
        except OSError as failure:
            raise FetchFailed(
                f"The mail server {self._server.host} could not be reached ({type(failure).__name__}).",
                "Check FIVEFOLD_SMTP_URL, and whether the server runs.",
            ) from failure

    def _connected(self) -> smtplib.SMTP:
        host, port = self._server.host, self._server.port
        context = self._context or ssl.create_default_context()
        if self._server.tls == "implicit":
            return smtplib.SMTP_SSL(host, port, timeout=_WAIT_SECONDS, context=context)
        connection = smtplib.SMTP(host, port, timeout=_WAIT_SECONDS)
        if self._server.tls == "starttls":
            try:
                connection.starttls(context=context)
            except (smtplib.SMTPException, OSError):
                connection.close()
                raise
        return connection

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage()
        message["From"], message["To"] = self._sender, _address(mail.to, "an e-mail address")
        message["Subject"] = " ".join(mail.subject.split())
        message["Date"] = format_datetime(self._now())
        message["Message-ID"] = make_msgid(domain=self._sender.domain)
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
        message.set_content(mail.text)
        return message


def _address(text: str, what: str) -> Address:
    name, spec = parseaddr(text)
    user, at, domain = spec.rpartition("@")
    try:
        if not (user and at and domain) or any(letter in text for letter in "\r\n"):
            raise ValueError(text)
        return Address(name, user, domain)
    except ValueError as error:
        raise BadRequest(f"'{text}' is not {_kind(what)}.", "Write it as name@example.org.") from error


def _kind(what: str) -> str:
    return what if what.startswith("an ") else f"an e-mail address ({what})"


def _words(failure: smtplib.SMTPException) -> str:
    """What the server answered, in one line."""
    if isinstance(failure, smtplib.SMTPResponseException):
        reply = failure.smtp_error
        return f"{failure.smtp_code} {reply.decode('utf-8', 'replace') if isinstance(reply, bytes) else reply}"[:200]
    return type(failure).__name__
