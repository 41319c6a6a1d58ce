"""Mail as most programs save it (.eml): its fields, its words – plain ones rather than HTML – and its attachments."""

from datetime import datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from core.errors import EncryptedFile, UnreadableFile
from core.ingest.extract.encodings import decoded
from core.ingest.extract.kinds import FileKind
from core.ingest.extract.message import Attachment, Message, extracted_mail, html_body, text_body
from core.ingest.extract.values import Extracted

__all__ = ["read_eml"]

_FIELDS = ("From", "To", "Cc")
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"})
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_LEAST_TEXT = 10
_LONGEST_FIELD = 10_000  # letters: the time the parser takes grows with the square of them


def read_eml(name: str, data: bytes, folder: Path | None) -> Extracted:
    """Raises EncryptedFile or UnreadableFile."""
    from email import message_from_bytes
    from email.errors import MessageError
    from email.policy import EmailPolicy

    class Bounded(EmailPolicy):
        """No field is longer than any that somebody wrote."""

        def header_fetch_parse(self, name: str, value: str) -> Any:
            return super().header_fetch_parse(name, value[:_LONGEST_FIELD])

    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        mail = message_from_bytes(data, policy=Bounded())
        assert isinstance(mail, EmailMessage)
        _refuse_sealed(name, mail)
        message = _message(name, mail)
    except (MessageError, ValueError, LookupError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise UnreadableFile(
            f"'{name}' is damaged: its parts cannot be read ({type(error).__name__}).", "Save the mail again."
        ) from error
    return extracted_mail(message, FileKind.EML, folder)


def _refuse_sealed(name: str, mail: EmailMessage) -> None:
    sealed = mail.get_content_type() in _SEALED and mail.get_param("smime-type") != "signed-data"
    if sealed or any(part.get_filename() == "message.rpmsg" for part in mail.walk()):
        raise EncryptedFile(
            f"'{name}' is an encrypted mail.", "Open it in your mail program, and save its text as a file."
        )


def _message(name: str, mail: EmailMessage) -> Message:
    body = mail.get_body(("plain",))
    html = mail.get_body(("html",))
    text, warning = _decoded(name, body) if body is not None else ("", "")
    chosen = None
    if len(text.strip()) >= _LEAST_TEXT or (html is None and text.strip()):
        chosen = text_body(name, text)
    elif html is not None:
        text, warning = _decoded(name, html)
        chosen = html_body(name, text)
    long = [field for field, value in mail.raw_items() if len(value) > _LONGEST_FIELD]
    cut = [f"Of the field {field} the first {_LONGEST_FIELD:,} letters were read." for field in long]
    shown = _decoded(name, html)[0] if html is not None else ""
    attachments, left_out = _attachments(mail, [part for part in (body, html) if part is not None], shown)
    return Message(
        _field(mail, "Subject"),
        [(field, _field(mail, field)) for field in _FIELDS],
        _sent(mail),
        chosen,
        attachments,
        left_out,
        tuple(filter(None, (warning, *cut))),
    )


def _field(mail: Any, field: str) -> str:
    """Every value of a field; "" where it is so damaged that it cannot be parsed."""
    try:
        return ", ".join(str(value) for value in mail.get_all(field, []))
    except (ValueError, LookupError, TypeError, AttributeError, IndexError):
        return ""


def _sent(mail: Any) -> datetime | None:
    try:
        date = mail["Date"]
        return getattr(date, "datetime", None)
    except (ValueError, LookupError, TypeError, AttributeError, IndexError, OverflowError):
        return None


def _decoded(name: str, part: Any) -> tuple[str, str]:
    """The words of a part: in the encoding it states, else in the one that fits."""
    data = part.get_payload(decode=True) or b""
    stated = part.get_content_charset("")
    if stated and stated != "unknown-8bit":
        try:
            return data.decode(stated), ""
        except (LookupError, UnicodeDecodeError):
            pass
    return decoded(name, data)


def _attachments(mail: EmailMessage, bodies: list[Any], page: str) -> tuple[list[Attachment], int]:
    """What came with the mail, and how many pictures were left out because its text, or its web page, shows them."""
    found: list[Attachment] = []
    left_out = 0
    stack: list[Any] = [mail]
    while stack:
        part = stack.pop()
        if part in bodies or part.get_content_type() in _SIGNATURES:
            continue
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0)
            found.append(Attachment(part.get_filename() or f"{_field(inner, 'Subject') or 'mail'}.eml", bytes(inner)))
        elif part.is_multipart():
            stack += reversed(part.get_payload())
        elif part.get_content_maintype() == "image" and _is_shown(part, page):
            left_out += 1
        elif part.get_filename() or part.is_attachment() or part.get_content_maintype() not in {"text", "multipart"}:
            data = part.get_payload(decode=True) or b""
            guessed = f"attachment {len(found) + 1}{_ending(part.get_content_type())}"
            found.append(Attachment(part.get_filename() or guessed, data))
        elif part.get_content_type() == "text/calendar":
            found.append(Attachment("invitation.ics", part.get_payload(decode=True) or b""))
    return found, left_out


def _is_shown(picture: Any, page: str) -> bool:
    named = str(picture["Content-ID"] or "").strip(" <>")
    return bool(named) and (not picture.is_attachment() or f"cid:{named}" in page)


def _ending(media_type: str) -> str:
    from mimetypes import guess_extension

    return guess_extension(media_type) or ""
