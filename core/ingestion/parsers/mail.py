"""Parses mails, MIME (.eml) and Outlook (.msg): header fields and body as text, attachments as separate files.

Of alternatives, prefers plain text to HTML; a mail inside a mail, and each mail of a mailbox, is an attachment.
"""

# Over 300 lines: two file formats produce the same kind of document and share its construction.

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import getaddresses
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from core.domain.errors import EncryptedFile, UnreadableFile
from core.domain.extraction import BlockKind, ContainedFile, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter, write_blocks
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.ooxml import clean_metadata
from core.ingestion.parsers.text_cleaning import clean, decoded, to_encoding, windows_signs

__all__ = ["Attachment", "Message", "extracted_mail", "html_body", "read_eml", "read_msg", "text_body"]

_NAME_LETTERS = 150  # Chosen by hand, not fitted.

_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"|?*]")

_SUBJECT_MARK = re.compile(r"^(?:(?:re|aw|fw|fwd|wg|sv|tr|rv)\s*(?:\[\d+\])?:\s*)+", re.I)


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attached file under the name the sender gave it."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One mail. fields: From, To, Cc … in display order. sent: None if unknown. left_out: number of skipped inline
    pictures."""

    subject: str
    fields: Sequence[tuple[str, str]]
    sent: datetime | None
    body: ExtractedDocument | None
    attachments: Sequence[Attachment] = ()
    left_out: int = 0
    warnings: tuple[str, ...] = ()


def extracted_mail(message: Message, kind: FileKind, folder: Path | None) -> ExtractedDocument:
    """The mail as one page, attachments written below `folder`; without a folder they are only counted."""
    writer = PageWriter(1)
    subject = " ".join(clean(message.subject).split())
    writer.add(subject, BlockKind.HEADING, level=1)
    header = [(name, " ".join(clean(value).split())) for name, value in message.fields]
    if message.sent is not None:
        header.append(("Date", f"{message.sent:%Y-%m-%d %H:%M %z}".strip()))
    header = [(name, value) for name, value in header if value]
    named = [_safe_name(each.name, number) for number, each in enumerate(message.attachments, start=1)]
    if named:
        header.append(("Attachments", ", ".join(named)))
    writer.add("\n".join(f"{name}: {value}" for name, value in header), BlockKind.PARAGRAPH)
    if message.body is not None:
        write_blocks(writer, message.body)
    warnings = [*message.warnings, *(message.body.warnings if message.body else ())]
    if message.body is None or not message.body.blocks:
        warnings.append("The mail contains no text of its own.")
    if message.left_out:
        pictures = _counted(message.left_out, "picture")
        warnings.append(f"{pictures[0]} inside the mail's text {pictures[1]} left out.")
    if named and folder is None:
        files = _counted(len(named), "attachment")
        warnings.append(f"{files[0]} {files[1]} not read ({', '.join(named)}).")
    members = _written(message.attachments, named, folder) if folder is not None else ()
    return ExtractedDocument(
        (writer.page(),),
        tuple(writer.blocks),
        kind,
        title=_SUBJECT_MARK.sub("", subject),
        metadata=_metadata(dict(header), message.sent),
        warnings=tuple(warnings),
        members=tuple(members),
    )


def _counted(count: int, noun: str) -> tuple[str, str]:
    return (f"1 {noun}", "was") if count == 1 else (f"{count} {noun}s", "were")


def _metadata(fields: dict[str, str], sent: datetime | None) -> dict[str, str]:
    author = next(((name or address) for name, address in getaddresses([fields.get("From", "")])), "")
    published = sent.date().isoformat() if sent is not None else ""
    return clean_metadata(author=author, to=fields.get("To", ""), published=published)


def _safe_name(name: str, number: int) -> str:
    """A name without folders and unsafe characters; "attachment 3" if nothing is left.

    >>> _safe_name("..\\\\..\\\\etc/passwd", 1), _safe_name("pay\\u202efdp.exe", 1), _safe_name("..", 3)
    ('passwd', 'payfdp.exe', 'attachment 3')
    """
    last = PurePosixPath(clean(name).replace("\\", "/")).name
    plain = _UNSAFE.sub("", "".join(letter for letter in last if letter.isprintable())).strip(" .")
    stem, dot, ending = plain.rpartition(".")
    if len(plain) > _NAME_LETTERS:
        plain = f"{stem[: _NAME_LETTERS - 10]}{dot}{ending[:9]}" if dot else plain[:_NAME_LETTERS]
    return plain or f"attachment {number}"


def _written(attachments: Sequence[Attachment], names: Iterable[str], folder: Path) -> list[ContainedFile]:
    """Writes each attachment under a number; the sender's name is never used as a path."""
    attachments_folder = folder / "attachments"
    attachments_folder.mkdir(parents=True, exist_ok=True)
    members = []
    for number, (attachment, name) in enumerate(zip(attachments, names, strict=True), start=1):
        path = attachments_folder / f"{number:04}"
        path.write_bytes(attachment.data)
        note = "" if name == attachment.name else "Its name was made safe."
        members.append(ContainedFile(name, str(path), note))
    return members


def text_body(name: str, text: str) -> ExtractedDocument:
    """A plain-text body: paragraphs, lists and quoted replies with their marks."""
    from core.ingestion.parsers.plain_text import read_text

    return read_text(name, text)


def html_body(name: str, text: str) -> ExtractedDocument:
    """The text of an HTML body."""
    from core.ingestion.parsers.html import read_html

    return read_html(name, text)


_FIELDS = ("From", "To", "Cc")

_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"})

_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})

_LEAST_TEXT = 10  # Chosen by hand, not fitted.

_STUB_LETTERS, _STUB_SHARE = 400, 0.25
"""Plain text of at most so many letters, and of less than this share of the HTML's text, only stands in for it ("Your
program does not show HTML"). Chosen by hand, not fitted."""

_MAIL_START = re.compile(rb"(?:\A|\r?\n\r?\n)From [^\r\n]*\r?\n(?=[!-9;-~]{1,80}:)")

_LONGEST_FIELD = 10_000  # characters; the parser's time grows quadratically. Chosen by hand, not fitted.


def read_eml(name: str, data: bytes, folder: Path | None) -> ExtractedDocument:
    """The text and attachments of a MIME mail; of a mailbox (.mbox) with several mails, these as attachments.

    Raises EncryptedFile or UnreadableFile.
    """
    from email import message_from_bytes
    from email.errors import MessageError
    from email.parser import BytesHeaderParser
    from email.policy import EmailPolicy

    class Bounded(EmailPolicy):
        """Truncates over-long header fields before parsing."""

        def header_fetch_parse(self, name: str, value: str) -> Any:
            return super().header_fetch_parse(name, value[:_LONGEST_FIELD])

    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        starts = [start.end() for start in _MAIL_START.finditer(data)] if data.startswith(b"From ") else []
        if len(starts) > 1:
            mails = [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
            subjects = [_field(BytesHeaderParser(policy=Bounded()).parsebytes(each), "Subject") for each in mails]
            message = _mailbox(name, subjects, mails)
        else:
            mail = message_from_bytes(data, policy=Bounded())
            assert isinstance(mail, EmailMessage)
            _refuse_sealed(name, mail)
            message = _mime_message(name, mail)
    except damage(MessageError) as error:
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


def _mime_message(name: str, mail: EmailMessage) -> Message:
    parts = _shown_parts(name, mail)
    bodies, warnings = [], []
    for part in parts:
        text, warning = _decoded(name, part)
        bodies.append(html_body(name, text) if part.get_content_subtype() == "html" else text_body(name, text))
        warnings += [warning] if warning and warning not in warnings else []
    html = mail.get_body(("html",))
    long = [field for field, value in mail.raw_items() if len(value) > _LONGEST_FIELD]
    cut = [f"Of the field {field} the first {_LONGEST_FIELD:,} letters were read." for field in long]
    html_text = _decoded(name, html)[0] if html is not None else ""
    attachments, left_out = _mime_attachments(mail, [*parts, *([html] if html is not None else [])], html_text)
    return Message(
        _field(mail, "Subject"),
        [(field, _field(mail, field)) for field in _FIELDS],
        _sent(mail),
        _joined(bodies),
        attachments,
        left_out,
        (*warnings, *cut),
    )


def _mailbox(name: str, subjects: Sequence[str], mails: Sequence[bytes]) -> Message:
    """A mailbox as a mail without fields, its mails attached."""
    names = [f"{subject or f'mail {number}'}.eml" for number, subject in enumerate(subjects, start=1)]
    body = text_body(name, f"A mailbox with {len(mails)} mails.")
    return Message(name, (), None, body, list(map(Attachment, names, mails)))


def _shown_parts(name: str, part: Any) -> list[Any]:
    """The text parts that a mail program shows, in order; of alternatives the plain text, unless it is a stub."""
    if part.is_attachment() or part.get_content_maintype() == "message":
        return []
    if part.get_content_type() in {"text/plain", "text/html"}:
        return [part]
    shown = list(filter(None, (_shown_parts(name, each) for each in part.iter_parts())))
    if part.get_content_type() == "multipart/related":
        return shown[0] if shown else []
    if part.get_content_type() == "multipart/alternative":
        plain: list[Any] = next((parts for parts in shown if _is_plain(parts)), [])
        html: list[Any] = next((parts for parts in shown if not _is_plain(parts)), [])
        return html if html and _is_stub(name, plain, html) else plain
    flat = [each for parts in shown for each in parts]
    return [each for each in flat if each is flat[0] or not each.get_filename()]


def _is_plain(parts: list[Any]) -> bool:
    return all(part.get_content_subtype() == "plain" for part in parts)


def _is_stub(name: str, plain: list[Any], html: list[Any]) -> bool:
    """Whether the plain text of a mail only stands in for its HTML."""
    letters = sum(len(_decoded(name, each)[0].strip()) for each in plain)
    if letters < _LEAST_TEXT or letters > _STUB_LETTERS:
        return letters < _LEAST_TEXT
    pages = [page for each in html for page in html_body(name, _decoded(name, each)[0]).pages]
    return letters < _STUB_SHARE * sum(len(page.text) for page in pages)


def _joined(bodies: Sequence[ExtractedDocument]) -> ExtractedDocument | None:
    """Several bodies as one; None if there is none."""
    if len(bodies) < 2:
        return bodies[0] if bodies else None
    writer = PageWriter(1)
    for body in bodies:
        write_blocks(writer, body)
    warnings = tuple(warning for body in bodies for warning in body.warnings)
    return ExtractedDocument((writer.page(),), tuple(writer.blocks), FileKind.EML, warnings=warnings)


def _field(mail: Any, field: str) -> str:
    """All values of a field; "" if it is too damaged to parse."""
    try:
        return windows_signs(", ".join(str(value) for value in mail.get_all(field, [])))
    except (ValueError, LookupError, TypeError, AttributeError, IndexError):
        return ""


def _sent(mail: Any) -> datetime | None:
    try:
        date = mail["Date"]
        return getattr(date, "datetime", None)
    except (ValueError, LookupError, TypeError, AttributeError, IndexError, OverflowError):
        return None


def _decoded(name: str, part: Any) -> tuple[str, str]:
    """The text of a part: in its declared encoding, else in a detected one. Latin-1 is declared by habit."""
    data = part.get_payload(decode=True) or b""
    stated = to_encoding(part.get_content_charset(""))
    for encoding in ("utf-8", stated) if stated == "cp1252" else (stated,):
        try:
            return data.decode(encoding), ""
        except (LookupError, UnicodeError):
            pass
    return decoded(name, data)


def _mime_attachments(mail: EmailMessage, bodies: list[Any], page: str) -> tuple[list[Attachment], int]:
    """Attachments, and the number of pictures skipped because the body shows them."""
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
        elif part.get_content_maintype() == "image" and _is_inline(part, page):
            left_out += 1
        elif part.get_filename() or part.is_attachment() or part.get_content_maintype() not in {"text", "multipart"}:
            data = part.get_payload(decode=True) or b""
            guessed = f"attachment {len(found) + 1}{_ending(part.get_content_type())}"
            found.append(Attachment(part.get_filename() or guessed, data))
        elif part.get_content_type() == "text/calendar":
            found.append(Attachment("invitation.ics", part.get_payload(decode=True) or b""))
    return found, left_out


def _is_inline(picture: Any, page: str) -> bool:
    named = str(picture["Content-ID"] or "").strip(" <>")
    return bool(named) and (not picture.is_attachment() or f"cid:{named}" in page)


def _ending(media_type: str) -> str:
    from mimetypes import guess_extension

    return guess_extension(media_type) or ""


_ROOT_HEADER_BYTES, _INNER_HEADER_BYTES = 32, 24  # [MS-OXMSG] 2.4.1: header of the property stream

_EMBEDDED = "__substg1.0_3701000D"

_RTF_COMPRESSED, _DISPLAY_TO, _DISPLAY_CC = 0x1009, 0x0E04, 0x0E03  # MAPI property ids, [MS-OXPROPS]

_MOST_DEPTH = 10  # Chosen by hand, not fitted.


def read_msg(name: str, data: bytes, folder: Path | None) -> ExtractedDocument:
    """The text and attachments of an Outlook message. Raises EncryptedFile or UnreadableFile."""
    from olefile import OleFileIO
    from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError
    from oxmsg.storage import Storage

    try:
        with OleFileIO(BytesIO(data)) as package:
            if sum(map(package.get_size, package.listdir())) > len(data):
                raise ValueError("its streams claim more bytes than the file has")
            storage = Storage.from_ole(package)
        message = _outlook_message(name, storage, _ROOT_HEADER_BYTES, 0)
    except damage(UnrecognizedCodePageError, UnsupportedEncodingError) as error:
        raise UnreadableFile(
            f"'{name}' is damaged: its parts cannot be read ({type(error).__name__}).", "Save the mail again."
        ) from error
    return extracted_mail(message, FileKind.MSG, folder)


def _outlook_message(name: str, storage: Any, header_bytes: int, depth: int) -> Message:
    from oxmsg import Message as Outlook
    from oxmsg.domain import constants
    from oxmsg.properties import Properties

    outlook = Outlook(storage)
    known = Properties(storage, properties_header_offset=header_bytes)
    attachments, left_out = _outlook_attachments(name, storage, depth)
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
    """Whether the mail is encrypted as a whole; a signed mail is not."""
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
    """Names and addresses of the recipients of one kind: 1 = To, 2 = Cc."""
    from oxmsg.domain.constants import PID_RECIPIENT_TYPE

    people = []
    for each in outlook.recipients:
        if each.properties.int_prop_value(PID_RECIPIENT_TYPE) == kind:
            address = each.email_address if "@" in each.email_address and each.email_address != each.name else ""
            people.append(f"{each.name} <{address}>" if address and each.name else each.name or address)
    return ", ".join(people)


def _body(name: str, known: Any) -> ExtractedDocument | None:
    """The plain-text body, else the HTML or rich-text body."""
    from oxmsg.domain import constants

    if text := (known.str_prop_value(constants.PID_BODY) or "").strip():
        return text_body(name, text)
    if data := known.binary_prop_value(constants.PID_HTML):
        return html_body(name, decoded(name, data)[0])
    if html := known.str_prop_value(constants.PID_BODY_HTML):
        return html_body(name, html)
    if packed := known.binary_prop_value(_RTF_COMPRESSED):
        from compressed_rtf import decompress

        from core.ingestion.parsers.rtf import read_rtf

        return read_rtf(name, decompress(packed))
    return None


def _outlook_attachments(name: str, storage: Any, depth: int) -> tuple[list[Attachment], int]:
    found: list[Attachment] = []
    left_out = 0
    for part in storage.iter_attachment_storages():
        for attachment, inline in _attached(name, part, len(found) + 1, depth):
            if inline:
                left_out += 1
            else:
                found.append(attachment)
    return found, left_out


def _attached(name: str, part: Any, number: int, depth: int) -> Iterator[tuple[Attachment, bool]]:
    """The file of one part, and whether it is an inline picture; nothing for a link to a file."""
    from oxmsg.attachment import Attachment as Outlook
    from oxmsg.domain import constants

    known = Outlook(part)
    inner = next((each for each in part.storages if each.name == _EMBEDDED), None)
    called = known.file_name or known.properties.str_prop_value(constants.PID_ATTACH_FILENAME)
    if inner is not None and depth < _MOST_DEPTH:
        message = _outlook_message(name, inner, _INNER_HEADER_BYTES, depth + 1)
        yield Attachment(f"{message.subject or called or f'mail {number}'}.eml", _as_eml(message)), False
    elif known.file_bytes is not None:
        called = called or f"attachment {number}"
        inline = known.properties.str_prop_value(constants.PID_ATTACH_CONTENT_ID) is not None
        picture = (known.mime_type or "").startswith("image/") or called.lower().endswith((".png", ".jpg", ".gif"))
        yield Attachment(called, known.file_bytes), inline and picture


def _as_eml(message: Message) -> bytes:
    """An embedded mail as an .eml file, to be parsed like any other mail."""
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
