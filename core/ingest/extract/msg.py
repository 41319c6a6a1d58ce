"""Mail as Outlook saves it (.msg): the same as any other mail. A mail inside a mail is an attachment of its own."""

import struct
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from core.errors import EncryptedFile, UnreadableFile
from core.ingest.extract.encodings import decoded
from core.ingest.extract.kinds import FileKind
from core.ingest.extract.message import Attachment, Message, extracted_mail, html_body, text_body
from core.ingest.extract.values import Extracted

__all__ = ["read_msg"]

_ROOT_HEADER_BYTES, _INNER_HEADER_BYTES = 32, 24
_EMBEDDED = "__substg1.0_3701000D"
_RTF_COMPRESSED, _DISPLAY_TO, _DISPLAY_CC = 0x1009, 0x0E04, 0x0E03
_MOST_DEPTH = 10


def read_msg(name: str, data: bytes, folder: Path | None) -> Extracted:
    """Raises EncryptedFile or UnreadableFile."""
    from olefile import OleFileIO
    from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError
    from oxmsg.storage import Storage

    try:
        with OleFileIO(BytesIO(data)) as package:
            storage = Storage.from_ole(package)
        message = _message(name, storage, _ROOT_HEADER_BYTES, 0)
    except (
        OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError, struct.error, LookupError,
        RecursionError,
        UnrecognizedCodePageError, UnsupportedEncodingError,
    ) as error:  # fmt: skip
        raise UnreadableFile(
            f"'{name}' is damaged: its parts cannot be read ({type(error).__name__}).", "Save the mail again."
        ) from error
    return extracted_mail(message, FileKind.MSG, folder)


def _message(name: str, storage: Any, header_bytes: int, depth: int) -> Message:
    from oxmsg import Message as Outlook
    from oxmsg.domain import constants
    from oxmsg.properties import Properties

    outlook = Outlook(storage)
    known = Properties(storage, properties_header_offset=header_bytes)
    attachments, left_out = _attachments(name, storage, depth)
    sealed = ".smime" in (known.str_prop_value(constants.PID_MESSAGE_CLASS) or "").lower()
    if any(each.name == "message.rpmsg" for each in attachments) or (sealed and _is_sealed(attachments)):
        raise EncryptedFile(f"'{name}' is an encrypted mail.", "Open it in Outlook, and save its text as a file.")
    named = {
        "From": _sender(known),
        "To": _people(outlook, 1) or known.str_prop_value(_DISPLAY_TO) or "",
        "Cc": _people(outlook, 2) or known.str_prop_value(_DISPLAY_CC) or "",
    }
    sent = known.date_prop_value(constants.PID_CLIENT_SUBMIT_TIME)
    subject = known.str_prop_value(constants.PID_SUBJECT) or ""
    return Message(subject, list(named.items()), sent, _body(name, known), attachments, left_out)


def _is_sealed(attachments: list[Attachment]) -> bool:
    """Whether the mail is only a sealed envelope; a signed one shows its words, too."""
    return [each.name for each in attachments] == ["smime.p7m"] and b"multipart/signed" not in attachments[0].data


def _sender(known: Any) -> str:
    from oxmsg.domain import constants

    name = (known.str_prop_value(constants.PID_SENDER_NAME) or "").strip()
    address = known.str_prop_value(constants.PID_SENDER_SMTP_ADDRESS) or ""
    address = address or known.str_prop_value(constants.PID_SENDER_EMAIL_ADDRESS) or ""
    if "@" not in address or address == name:
        return name or address
    return f"{name} <{address}>".strip()


def _people(outlook: Any, kind: int) -> str:
    """Names and addresses of the recipients of one kind: 1 = to, 2 = copy."""
    from oxmsg.domain.constants import PID_RECIPIENT_TYPE

    told = []
    for each in outlook.recipients:
        if each.properties.int_prop_value(PID_RECIPIENT_TYPE) == kind:
            address = each.email_address if "@" in each.email_address and each.email_address != each.name else ""
            told.append(f"{each.name} <{address}>" if address and each.name else each.name or address)
    return ", ".join(told)


def _body(name: str, known: Any) -> Extracted | None:
    """The plain words; without them the web page, or the rich text, that holds them."""
    from oxmsg.domain import constants

    if text := (known.str_prop_value(constants.PID_BODY) or "").strip():
        return text_body(name, text)
    if data := known.binary_prop_value(constants.PID_HTML):
        return html_body(name, decoded(name, data)[0])
    if html := known.str_prop_value(constants.PID_BODY_HTML):
        return html_body(name, html)
    if packed := known.binary_prop_value(_RTF_COMPRESSED):
        from compressed_rtf import decompress

        from core.ingest.extract.rtf import read_rtf

        return read_rtf(name, decompress(packed))
    return None


def _attachments(name: str, storage: Any, depth: int) -> tuple[list[Attachment], int]:
    found: list[Attachment] = []
    left_out = 0
    for part in storage.iter_attachment_storages():
        for attachment, shown in _attached(name, part, len(found) + 1, depth):
            if shown:
                left_out += 1
            else:
                found.append(attachment)
    return found, left_out


def _attached(name: str, part: Any, number: int, depth: int) -> Iterator[tuple[Attachment, bool]]:
    """The file of one part, and whether it is a picture that the text shows; nothing for a mere link to a file."""
    from oxmsg.attachment import Attachment as Outlook
    from oxmsg.domain import constants

    known = Outlook(part)
    inner = next((each for each in part.storages if each.name == _EMBEDDED), None)
    called = known.file_name or known.properties.str_prop_value(constants.PID_ATTACH_FILENAME)
    if inner is not None and depth < _MOST_DEPTH:
        message = _message(name, inner, _INNER_HEADER_BYTES, depth + 1)
        yield Attachment(f"{message.subject or called or f'mail {number}'}.eml", _as_eml(message)), False
    elif known.file_bytes is not None:
        called = called or f"attachment {number}"
        shown = known.properties.str_prop_value(constants.PID_ATTACH_CONTENT_ID) is not None
        picture = (known.mime_type or "").startswith("image/") or called.lower().endswith((".png", ".jpg", ".gif"))
        yield Attachment(called, known.file_bytes), shown and picture


def _as_eml(message: Message) -> bytes:
    """A mail inside a mail, as a file that is read like any other mail."""
    from email.message import EmailMessage
    from email.utils import format_datetime

    mail = EmailMessage()
    for field, value in (("Subject", message.subject), *message.fields):
        mail[field] = " ".join(value.split())
    if message.sent is not None:
        mail["Date"] = format_datetime(message.sent)
    mail.set_content("\n\n".join(page.text for page in message.body.pages) if message.body else "")
    for each in message.attachments:
        mail.add_attachment(each.data, maintype="application", subtype="octet-stream", filename=each.name)
    return mail.as_bytes()
