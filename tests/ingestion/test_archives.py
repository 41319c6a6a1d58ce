"""Archives: what comes out of them, what does not, and what is refused before it is unpacked."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.domain.errors import BadFile, Cure, EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile, UnsupportedFile
from core.ingestion.file_names import clean_name
from core.ingestion.parsers import extract
from core.ingestion.parsers.archive import MOST_DEPTH, MOST_ENTRIES, MOST_UNPACKED_BYTES
from tests.ingestion.making import docx_of, pdf_of, workbook_of
from tests.library.packing import tar_of, zip_of

TEXT = b"Leave is paid."
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(60)


def names_in(data: bytes, folder: Path, name: str = "share.zip") -> list[str]:
    return [member.name for member in extract(name, data, folder).members]


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def with_flag(data: bytes, flag: int) -> bytes:
    """The same ZIP with a general purpose flag set in every head."""
    changed = bytearray(data)
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            (flags,) = struct.unpack_from("<H", data, at + place)
            struct.pack_into("<H", changed, at + place, flags | flag)
            at = data.find(signature, at + 4)
    return bytes(changed)


def promising(data: bytes, size: int) -> bytes:
    """The same ZIP of one entry, whose directory says it unpacks to `size` bytes."""
    changed = bytearray(data)
    struct.pack_into("<I", changed, data.index(b"PK\x01\x02") + 24, size)
    return bytes(changed)


def nested(depth: int) -> bytes:
    data = zip_of(("a.txt", TEXT))
    for number in range(depth - 1):
        data = zip_of((f"{number}.zip", data))
    return data


def test_what_the_files_hold_lies_below_the_folder_under_numbers(tmp_path: Path) -> None:
    data = zip_of(("../../escape.txt", TEXT), ("/etc/passwd", TEXT + b"1"), ("C:\\x\\y.txt", TEXT + b"2"))
    found = extract("share.zip", data, tmp_path).members
    assert [each.name for each in found] == ["escape.txt", "etc/passwd", "x/y.txt"]
    assert {Path(each.path).parent for each in found} == {tmp_path}
    assert [Path(each.path).read_bytes() for each in found] == [TEXT, TEXT + b"1", TEXT + b"2"]
    assert not list(tmp_path.parent.glob("escape*"))


def test_files_within_archives_within_archives_keep_the_way_to_them(tmp_path: Path) -> None:
    inner = tar_of(("b/c.txt", TEXT), mode="w:gz")
    data = zip_of(("a.txt", TEXT), ("in/inner.tgz", inner), ("in/rates.csv.gz", gzip.compress(b"a,b\n1,2\n")))
    assert names_in(data, tmp_path) == ["a.txt", "in/inner.tgz/b/c.txt", "in/rates.csv"]


def test_office_files_in_an_archive_are_documents_not_archives(tmp_path: Path) -> None:
    data = zip_of(("a.docx", docx_of("Leave.")), ("b.xlsx", workbook_of(A=[["x"], [1]])), ("c.pdf", pdf_of("Leave.")))
    assert names_in(data, tmp_path) == ["a.docx", "b.xlsx", "c.pdf"]


def test_an_archive_that_begins_with_a_stored_pdf_is_still_an_archive(tmp_path: Path) -> None:
    assert names_in(zip_of(("a.pdf", pdf_of("Leave.")), stored=True), tmp_path) == ["a.pdf"]
    assert names_in(tar_of(("a.pdf", pdf_of("Leave."))), tmp_path, "share.tar") == ["a.pdf"]


def test_what_systems_leave_behind_is_passed_over_in_silence(tmp_path: Path) -> None:
    junk = ("__MACOSX/._a.txt", "docs/.DS_Store", "Thumbs.db", "docs/~$a.docx", ".git/config", "desktop.ini")
    extracted = extract("share.zip", zip_of(*((name, b"junk") for name in junk), ("a.txt", TEXT)), tmp_path)
    assert [each.name for each in extracted.members] == ["a.txt"] and extracted.warnings == ()


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ((link("link.txt"), b"/etc/passwd"), "'link.txt' was left out: it is a link"),
        (("logo.png", PICTURE[:8] + b"broken"), "logo.png"),
        (("tool.exe", b"MZ" + bytes(100)), "'tool.exe' was left out: it is a program"),
        (("more.rar", b"Rar!\x1a\x07\x00"), "'more.rar' was left out: it is an archive (RAR)"),
        (("none.txt", b""), "'none.txt' was left out: it is empty"),
    ],
)
def test_what_cannot_be_read_is_left_out_and_said(
    tmp_path: Path, entry: tuple[str | zipfile.ZipInfo, bytes], expected: str
) -> None:
    extracted = extract("share.zip", zip_of(entry, ("a.txt", TEXT)), tmp_path)
    text = " ".join((*extracted.warnings, *(each.name for each in extracted.members)))
    assert expected in text and "a.txt" in text


def test_links_and_devices_of_a_tar_are_left_out(tmp_path: Path) -> None:
    entries = []
    for name, kind in (("hard", tarfile.LNKTYPE), ("soft", tarfile.SYMTYPE), ("device", tarfile.CHRTYPE)):
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        entries.append((entry, b""))
    extracted = extract("share.tar", tar_of(*entries, ("a.txt", TEXT)), tmp_path)
    assert [each.name for each in extracted.members] == ["a.txt"]
    assert len(extracted.warnings) == 3 and all("link or a device" in each for each in extracted.warnings)


def test_a_damaged_entry_is_left_out_and_the_others_are_whole(tmp_path: Path) -> None:
    data = bytearray(zip_of(("a.txt", TEXT), ("b.txt", b"Other words."), stored=True))
    data[data.index(TEXT)] ^= 0xFF
    extracted = extract("share.zip", bytes(data), tmp_path)
    assert [each.name for each in extracted.members] == ["b.txt"]
    assert "'a.txt' was left out: it is damaged" in extracted.warnings[0]


def test_names_in_other_code_pages_and_scripts_are_read(tmp_path: Path) -> None:
    data = zip_of(("résumé.txt", TEXT), ("残業.txt", TEXT + b"1"), ("🧾.txt", TEXT + b"2"))
    unflagged = with_flag(zip_of(("x.txt", TEXT)), 0).replace(b"x.txt", b"\x81.txt")
    assert names_in(data, tmp_path) == ["résumé.txt", "残業.txt", "🧾.txt"]
    assert names_in(unflagged, tmp_path) == ["ü.txt"]


def test_entries_under_a_password_are_said_and_an_archive_of_nothing_else_is_refused(tmp_path: Path) -> None:
    locked = with_flag(zip_of(("a.txt", TEXT)), 1)
    with pytest.raises(EncryptedFile, match="protected by a password"):
        extract("share.zip", locked, tmp_path)
    both = zip_of(("open.txt", TEXT), ("inner.zip", locked))
    extracted = extract("share.zip", both, tmp_path)
    assert [each.name for each in extracted.members] == ["open.txt"]
    assert "'inner.zip/a.txt' was left out: it is protected by a password" in extracted.warnings[0]


# Made when they are needed: three of them pack 150 MB.
REFUSED: list[tuple[str, Callable[[], bytes], type[BadFile], str]] = [
    ("ratio", lambda: zip_of(("zeros.txt", bytes(150_000_000))), FileTooCostly, "times its size"),
    (
        "promised",
        lambda: promising(zip_of(("a.txt", TEXT)), MOST_UNPACKED_BYTES + 1),
        FileTooCostly,
        "would unpack to more",
    ),
    (
        "count",
        lambda: zip_of(*((f"{n}.txt", b"") for n in range(MOST_ENTRIES + 1))),
        FileTooCostly,
        "more than 20,000 files",
    ),
    ("depth", lambda: nested(MOST_DEPTH + 1), FileTooCostly, "archives within archives"),
    (
        "bomb in a bomb",
        lambda: zip_of(("in.zip", zip_of(("zeros.txt", bytes(150_000_000))))),
        FileTooCostly,
        "times its size",
    ),
    ("gzip", lambda: gzip.compress(bytes(150_000_000)), FileTooCostly, "times its size"),
    ("empty", lambda: b"PK\x05\x06" + bytes(18), EmptyFile, "without a file"),
    ("folders only", lambda: zip_of(("a/", b""), ("a/b/", b"")), EmptyFile, "without a file"),
    (
        "pictures only",
        lambda: zip_of(("a.gif", b"GIF89a" + bytes(40))),
        UnsupportedFile,
        "without a file this product reads",
    ),
    ("cut", lambda: zip_of(("a.txt", TEXT))[:-20], UnreadableFile, "cut short or damaged"),
    ("cut gzip", lambda: gzip.compress(TEXT * 100)[:-12], UnreadableFile, "cut short or damaged"),
    ("cut tar", lambda: tar_of(("a.txt", TEXT * 100))[:700], BadFile, "damaged"),
]


@pytest.mark.parametrize(("make", "error", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_is_no_use_or_a_bomb_is_refused_whole(
    tmp_path: Path, make: Callable[[], bytes], error: type[BadFile], words: str
) -> None:
    data = make()
    with pytest.raises(error) as caught:
        extract("share.zip", data, tmp_path)
    assert words in caught.value.message and "'share.zip'" in caught.value.message and caught.value.hint
    assert caught.value.cure is Cure.OTHER_FILE
    if not data.startswith(
        b"\x1f\x8b"
    ):  # of a bomb little is on the disk; gzip promises no size, and is measured there
        assert sum(path.stat().st_size for path in tmp_path.rglob("*")) < 1_000_000


def test_an_archive_that_holds_itself_ends(tmp_path: Path) -> None:
    """As deep as archives may lie in one another, and one deeper; a real archive that holds itself goes on for ever."""
    assert len(names_in(nested(MOST_DEPTH), tmp_path)) == 1
    with pytest.raises(FileTooCostly):
        extract("share.zip", nested(MOST_DEPTH + 40), tmp_path)


def test_without_a_folder_an_archive_is_refused() -> None:
    with pytest.raises(UnsupportedFile, match="no folder to unpack it in"):
        extract("share.zip", zip_of(("a.txt", TEXT)))


def test_names_that_are_too_long_still_differ_at_their_ends() -> None:
    cleaned = [clean_name(f"share/{'statement_of_work_' * 15}{version}.docx") for version in ("v1", "v2")]
    assert [name[-8:] for name in cleaned] == ["_v1.docx", "_v2.docx"]
    assert all(name.startswith("share/statement_of_work_") and len(name) == 206 for name in cleaned)


@example(" A:")
@example("/A:/B:/plan.txt")
@given(st.text(max_size=600))
def test_a_cleaned_name_leads_nowhere_else_and_is_clean_for_good(name: str) -> None:
    cleaned = clean_name(name)
    assert cleaned and clean_name(cleaned) == cleaned
    assert not cleaned.startswith("/") and ".." not in cleaned.split("/") and len(cleaned) <= 400
    assert not any(letter < " " or "\u202a" <= letter <= "\u202e" for letter in cleaned)
    cleaned.encode("utf-8")


@given(st.lists(st.tuples(st.text(min_size=1, max_size=30), st.binary(max_size=40)), max_size=8))
def test_any_zip_gives_its_files_or_one_error(entries: list[tuple[str, bytes]]) -> None:
    import warnings

    with warnings.catch_warnings(action="ignore"):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in entries:
                archive.writestr(name.replace("\x00", "_").encode("utf-8", "replace").decode(), data)
    try:
        found = extract("share.zip", out.getvalue()).members
    except BadFile as error:
        assert "'share.zip'" in error.message
    else:
        assert len({each.name.casefold() for each in found}) == len(found) <= len(entries)
