"""What a mail becomes, whatever program kept it: a short head, the words, and the files that came with it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import getaddresses
from pathlib import Path, PurePosixPath

from core.ingest.extract.clean import clean
from core.ingest.extract.kinds import FileKind
from core.ingest.extract.package import kept
from core.ingest.extract.values import BlockKind, Extracted, Member, PageWriter, write_blocks

__all__ = ["Attachment", "Message", "extracted_mail", "html_body", "text_body"]

_NAME_LETTERS = 150
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"|?*]")
_SUBJECT_MARK = re.compile(r"^(?:(?:re|aw|fw|fwd|wg|sv|tr|rv)\s*(?:\[\d+\])?:\s*)+", re.I)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a mail, as its sender named it."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One mail. fields: From, To, Cc … in the order they are told, as a reader sees them. sent: None = unknown.
    left_out: how many pictures of its text or signature were left out."""

    subject: str
    fields: Sequence[tuple[str, str]]
    sent: datetime | None
    body: Extracted | None
    attachments: Sequence[Attachment] = ()
    left_out: int = 0
    warnings: tuple[str, ...] = ()


def extracted_mail(message: Message, kind: FileKind, folder: Path | None) -> Extracted:
    """The mail as one page, its attachments written below `folder`; without one they are only counted."""
    writer = PageWriter(1)
    subject = " ".join(clean(message.subject).split())
    writer.add(subject, BlockKind.HEADING, level=1)
    told = [(name, " ".join(clean(value).split())) for name, value in message.fields]
    if message.sent is not None:
        told.append(("Date", f"{message.sent:%Y-%m-%d %H:%M %z}".strip()))
    told = [(name, value) for name, value in told if value]
    named = [_safe_name(each.name, number) for number, each in enumerate(message.attachments, start=1)]
    if named:
        told.append(("Attachments", ", ".join(named)))
    writer.add("\n".join(f"{name}: {value}" for name, value in told), BlockKind.PARAGRAPH)
    if message.body is not None:
        write_blocks(writer, message.body)
    warnings = [*message.warnings, *(message.body.warnings if message.body else ())]
    if message.body is None or not message.body.blocks:
        warnings.append("The mail holds no text of its own.")
    if message.left_out:
        pictures = _counted(message.left_out, "picture")
        warnings.append(f"{pictures[0]} inside the mail's text {pictures[1]} left out.")
    if named and folder is None:
        files = _counted(len(named), "attachment")
        warnings.append(f"{files[0]} {files[1]} not read ({', '.join(named)}).")
    members = _written(message.attachments, named, folder) if folder is not None else ()
    return Extracted(
        (writer.page(),),
        tuple(writer.blocks),
        kind,
        title=_SUBJECT_MARK.sub("", subject),
        metadata=_metadata(dict(told), message.sent),
        warnings=tuple(warnings),
        members=tuple(members),
    )


def _counted(count: int, noun: str) -> tuple[str, str]:
    return (f"1 {noun}", "was") if count == 1 else (f"{count} {noun}s", "were")


def _metadata(fields: dict[str, str], sent: datetime | None) -> dict[str, str]:
    author = next(((name or address) for name, address in getaddresses([fields.get("From", "")])), "")
    published = sent.date().isoformat() if sent is not None else ""
    return kept(author=author, to=fields.get("To", ""), published=published)


def _safe_name(name: str, number: int) -> str:
    """A name without folders and signs that no system takes; "attachment 3" when nothing is left.

    >>> _safe_name("..\\\\..\\\\etc/passwd", 1), _safe_name("pay\\u202efdp.exe", 1), _safe_name("..", 3)
    ('passwd', 'payfdp.exe', 'attachment 3')
    """
    last = PurePosixPath(clean(name).replace("\\", "/")).name
    plain = _UNSAFE.sub("", "".join(letter for letter in last if letter.isprintable())).strip(" .")
    stem, dot, ending = plain.rpartition(".")
    if len(plain) > _NAME_LETTERS:
        plain = f"{stem[: _NAME_LETTERS - 10]}{dot}{ending[:9]}" if dot else plain[:_NAME_LETTERS]
    return plain or f"attachment {number}"


def _written(attachments: Sequence[Attachment], names: Iterable[str], folder: Path) -> list[Member]:
    """Each attachment in a file of its own whose name is a number: what the sender called it is never a path."""
    place = folder / "attachments"
    place.mkdir(parents=True, exist_ok=True)
    members = []
    for number, (attachment, name) in enumerate(zip(attachments, names, strict=True), start=1):
        path = place / f"{number:04}"
        path.write_bytes(attachment.data)
        note = "" if name == attachment.name else "Its name was made safe."
        members.append(Member(name, str(path), note))
    return members


def text_body(name: str, text: str) -> Extracted:
    """Plain words of a mail: paragraphs, lists, quoted replies – kept, with their marks."""
    from core.ingest.extract.text import read_text

    return read_text(name, text)


def html_body(name: str, text: str) -> Extracted:
    """The words of a mail written as a web page."""
    from core.ingest.extract.html import read_html

    return read_html(name, text)
