"""Mails: a short head, the words, quoted replies, and attachments as files of their own – however they were saved."""

from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from core.domain.errors import BadFile, EmptyFile, EncryptedFile, UnreadableFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers import extract
from tests.ingestion.making import pdf_of
from tests.ingestion.making_office import compound_file, msg_of

BODY = "Hello Bo,\n\nplease see:\n- overtime starts after 40 hours\n- it is paid at 1.5\n\n"
BODY += "Bo wrote:\n> What about sick leave?\n"
SENT = datetime(2024, 3, 12, 9, 15, tzinfo=UTC)


def mail(body: str = BODY, subject: str = "RE: Überstunden", **attachments: bytes) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Cc"] = "Ana Petrov <ana@example.org>", "Bo <bo@example.org>", "Cy <cy@example.org>"
    made["Subject"], made["Date"] = subject, "Tue, 12 Mar 2024 10:15:00 +0100"
    made.set_content(body)
    for name, data in attachments.items():
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name.replace("_", "."))
    return made


def texts(extracted: ExtractedDocument) -> list[str]:
    return [extracted.pages[0].text[block.start : block.end] for block in extracted.blocks]


HEAD = "From: Ana Petrov <ana@example.org>\nTo: Bo <bo@example.org>\nCc: Cy <cy@example.org>\nDate: 2024-03-12 "
WORDS = ["Hello Bo,", "please see:", "- overtime starts after 40 hours", "- it is paid at 1.5"]
QUOTED = "Bo wrote:\n> What about sick leave?"


@pytest.mark.parametrize(
    ("name", "data", "hour"),
    [
        ("a.eml", mail().as_bytes(), "10:15 +0100"),
        ("a.eml", b"\xef\xbb\xbf" + mail().as_bytes().replace(b"\n", b"\r\n"), "10:15 +0100"),
        ("a.msg", msg_of("RE: Überstunden", BODY, sent=int(SENT.timestamp())), "09:15 +0000"),
    ],
)
def test_a_mail_is_a_head_its_words_and_what_it_quotes(name: str, data: bytes, hour: str) -> None:
    extracted = extract(name, data)
    assert texts(extracted) == ["RE: Überstunden", HEAD + hour, *WORDS, QUOTED]
    kinds = [block.kind for block in extracted.blocks]
    assert kinds[0] is BlockKind.HEADING
    assert kinds[4:6] == [BlockKind.ITEM] * 2
    assert (extracted.title, extracted.paged, extracted.warnings) == ("Überstunden", False, ())
    assert extracted.metadata == {"author": "Ana Petrov", "to": "Bo <bo@example.org>", "published": "2024-03-12"}


def test_plain_words_win_over_the_same_as_a_web_page_and_that_is_read_when_alone() -> None:
    both = mail()
    both.add_alternative("<p>Other <b>words</b>.</p>", subtype="html")
    assert WORDS[0] in texts(extract("a.eml", both.as_bytes()))
    alone = mail("")
    alone.set_content("<h2>Leave</h2><ul><li>one day</li></ul><script>x()</script>", subtype="html")
    assert texts(extract("a.eml", alone.as_bytes()))[2:] == ["Leave", "• one day"]
    assert texts(extract("a.msg", msg_of("Leave", "<p>Grüße</p>".encode())))[2:] == ["Grüße"]


def test_attachments_are_written_under_numbers_with_names_made_safe(tmp_path: Path) -> None:
    sheet, scan = b"a,b\n1,2\n", pdf_of("Leave is paid.")
    made = mail(x_csv=sheet)
    made.add_attachment(scan, maintype="application", subtype="pdf", filename="../../etc/Plan \u202egpj.pdf")
    inner = mail("Inner words stand here.", "Inner")
    made.add_attachment(inner)
    packed = msg_of("Hi", "Some words here.", {"x.csv": sheet, "..\\..\\Plan.pdf": scan}, {"Inner": "Inner words."})
    for name, data, second in (("a.eml", made.as_bytes(), "Plan gpj.pdf"), ("a.msg", packed, "Plan.pdf")):
        extracted = extract(name, data, tmp_path / name)
        assert [member.name for member in extracted.members] == ["x.csv", second, "Inner.eml"]
        assert all(Path(member.path).resolve().is_relative_to(tmp_path / name) for member in extracted.members)
        read = [extract(member.name, Path(member.path).read_bytes()) for member in extracted.members]
        assert [part.pages[0].text.split("\n")[-1] for part in read][:2] == ["a: 1; b: 2", "Leave is paid."]
        assert "Inner words" in read[2].pages[0].text
        assert f"Attachments: x.csv, {second}, Inner.eml" in extracted.pages[0].text


def test_without_a_folder_attachments_are_told() -> None:
    assert extract("a.eml", mail(x_csv=b"a,b").as_bytes()).warnings == ("1 attachment was not read (x.csv).",)


def test_pictures_of_the_text_are_left_out_and_counted(tmp_path: Path) -> None:
    made = mail()
    made.add_related(b"\x89PNG", maintype="image", subtype="png", cid="<logo>", disposition="inline")
    extracted = extract("a.eml", made.as_bytes(), tmp_path)
    assert (extracted.members, extracted.warnings) == ((), ("1 picture inside the mail's text was left out.",))


def test_a_mail_without_an_ending_is_known_by_its_fields_and_text_stays_text() -> None:
    made = mail()
    made["Message-ID"] = "<1@example.org>"
    assert extract("message", made.as_bytes()).media_type == "message/rfc822"
    assert extract("notes.txt", made.as_bytes()).media_type == "text/plain"
    assert extract("notes", b"From: here\nTo: there\n\nLeave is paid.").media_type == "text/plain"
    reported = extract("notes.eml", b"Leave is paid, always.")
    assert (reported.media_type, reported.warnings[0]) == (
        "text/plain",
        "The name says EML, but the file is plain text and was read as such.",
    )


@pytest.mark.parametrize("stated", ["iso-8859-1", "utf-8", "no-such-code", "us-ascii"])
def test_a_wrongly_stated_encoding_does_not_lose_the_words(stated: str) -> None:
    body = "Überstunden müssen bezahlt werden, so heißt es: täglich, für alle Ämter und Behörden.".encode("cp1252")
    data = f"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset={stated}\n\n".encode() + body
    assert "Überstunden müssen bezahlt" in extract("a.eml", data).pages[0].text


def multipart(kind: str, *parts: EmailMessage) -> EmailMessage:
    """Parts of a mail, or a mail, in one of the multipart kinds."""
    made = EmailMessage()
    made["Content-Type"] = f"multipart/{kind}"
    for part in parts:
        made.attach(part)
    return made


def part(text: str, subtype: str = "plain") -> EmailMessage:
    made = EmailMessage()
    made.set_content(text, subtype=subtype)
    return made


def between(kind: str, *parts: EmailMessage) -> bytes:
    made = multipart(kind, *parts)
    made["From"], made["Subject"] = "ana@example.org", "Plan"
    return made.as_bytes()


SHEET = EmailMessage()
SHEET.set_content(pdf_of("Leave is paid."), maintype="application", subtype="pdf", filename="plan.pdf")


@pytest.mark.parametrize("subtype", ["plain", "html"])
def test_text_before_and_after_an_attachment_is_read_in_order(subtype: str, tmp_path: Path) -> None:
    shown = [part("The first half is due on 3 May.", subtype), SHEET, part("The rest, 500, is due in June.", subtype)]
    alternative = [
        part("The first half is due on 3 May.\n\nThe rest, 500, is due in June."),
        multipart("mixed", *shown),
    ]
    for data in (between("mixed", *shown), between("alternative", *alternative)):
        extracted = extract("a.eml", data, tmp_path)
        assert texts(extracted)[2:] == ["The first half is due on 3 May.", "The rest, 500, is due in June."]
        assert [member.name for member in extracted.members] == ["plan.pdf"]


def test_plain_text_that_only_says_that_there_is_html_does_not_replace_it() -> None:
    page = "<p>The rate is 4.5 percent from 1 March on. " + "It was 4 percent before. " * 20 + "</p>"
    stub = between("alternative", part("Your e-mail program does not support HTML messages."), part(page, "html"))
    assert "The rate is 4.5 percent from 1 March on." in extract("a.eml", stub).pages[0].text
    short = between(
        "alternative", part("The rate is 4.5 percent."), part("<p>The rate is <b>4.5</b>&nbsp;%.</p>", "html")
    )
    assert texts(extract("a.eml", short))[2:] == ["The rate is 4.5 percent."]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_each_mail_of_a_mailbox_is_a_file_of_its_own(end: bytes, tmp_path: Path) -> None:
    made = []
    for day in (1, 2, 3):
        each = mail(f"We meet on {day} May.\n\nFrom that day on, leave is paid.\n", f"Day {day}")
        each["Message-ID"] = f"<{day}@example.org>"
        made.append(b"From ana@example.org Tue Mar 12 10:15:00 2024\n" + each.as_bytes() + b"\n")
    extracted = extract("box.mbox", b"".join(made).replace(b"\n", end), tmp_path)
    assert (extracted.title, extracted.warnings) == ("box.mbox", ())
    assert [member.name for member in extracted.members] == ["Day 1.eml", "Day 2.eml", "Day 3.eml"]
    read = [extract(member.name, Path(member.path).read_bytes()) for member in extracted.members]
    assert [texts(each)[2] for each in read] == ["We meet on 1 May.", "We meet on 2 May.", "We meet on 3 May."]
    assert extract("box.mbox", b"".join(made)).warnings[0].startswith("3 attachments were not read")
    assert texts(extract("box.mbox", made[0]))[2:] == ["We meet on 1 May.", "From that day on, leave is paid."]


SEALED = b"From: a@b.c\nSubject: x\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nAAAA"
BAD = [
    ("sealed.eml", SEALED, EncryptedFile, "encrypted"),
    ("sealed.msg", msg_of("x", "", {"smime.p7m": b"xx"}, kind="IPM.Note.SMIME"), EncryptedFile, "encrypted"),
    ("rights.msg", msg_of("x", "", {"message.rpmsg": b"xx"}), EncryptedFile, "encrypted"),
    ("cut.msg", msg_of("x", "words " * 2000)[:6000], UnreadableFile, "damaged"),
    ("bare.msg", compound_file({"__properties_version1.0": b""}), EmptyFile, "no text"),
]


@pytest.mark.parametrize(("name", "data", "error", "words"), BAD, ids=[case[0] for case in BAD])
def test_a_bad_mail_says_what_is_wrong(name: str, data: bytes, error: type[BadFile], words: str) -> None:
    with pytest.raises(error) as caught:
        extract(name, data)
    assert name in caught.value.message
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_mail_cut_anywhere_is_read_as_far_as_it_goes(share: float) -> None:
    data = mail(x_csv=b"a,b\n1,2\n" * 30).as_bytes()
    assert "Ana Petrov" in extract("a.eml", data[: int(len(data) * share)]).pages[0].text


def test_a_subject_too_long_to_be_one_is_read_in_part_and_said() -> None:
    data = b"From: a@example.org\nSubject: " + b"pay " * 25_000 + b"\n\nOvertime is paid at one and a half.\n"
    extracted = extract("a.eml", data)
    assert "Overtime is paid at one and a half." in texts(extracted)
    assert len(extracted.title) <= 10_000
    assert extracted.warnings == ("Of the field Subject the first 10,000 letters were read.",)
