"""Files that were damaged at random, or made to hurt: each is read or gets its one clear error, in a warm reader."""

import csv
import io
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adapters.sandboxed_reader import SandboxedReader
from core.domain.errors import BadFile
from core.domain.extraction import ExtractedDocument
from tests.ingestion.making import docx_of, pdf_of, workbook_of
from tests.ingestion.making_bombs import pdf_bomb, pdf_of_objects, pdf_of_pages, xml_bomb
from tests.library.packing import tar_of, zip_of

VARIANTS = 30
COST = ("crashed its reader", "seconds and was stopped", "needs more memory")
MAIL = (
    b"From: ann@example.org\r\nTo: bob@example.org\r\nSubject: Leave\r\nDate: Tue, 05 Mar 2024 10:00:00 +0000\r\n"
    b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\nContent-Type: text/plain\r\n\r\n"
    b"Leave is paid.\r\n--B\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nOvertime is paid.\r\n--B--\r\n"
)
HTML = b"<html><head><title>T</title></head><body><h1>Leave</h1><p>It is <b>paid</b>.</p><table><tr><th>a</th></tr>"


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"code": ["REG", "OT"] * 50, "hours": list(range(100))}), out)
    return out.getvalue()


SEEDS: dict[str, bytes] = {
    "a.pdf": pdf_of("# Leave\nEmployees accrue leave.", "It is paid. " * 40, title="Leave", footer=True),
    "a.docx": docx_of("# Leave", "- one", "It is paid.", table=[["a", "b"], ["1", "2"]]),
    "a.xlsx": workbook_of(Pay=[["Name", "Pay"], ["Ada", 10], ["Bob", 12]]),
    "a.zip": zip_of(("x/a.txt", b"Leave is paid."), ("b.csv", b"a,b\n1,2\n")),
    "a.tgz": tar_of(("a.txt", b"Leave is paid."), mode="w:gz"),
    "a.tar": tar_of(("a.txt", b"Leave is paid.")),
    "a.parquet": parquet(),
    "a.html": HTML,
    "a.json": b'[{"code": "REG", "rate": {"base": 1.5}}, {"code": "OT", "active": true}]',
    "a.csv": b'code,told\nREG,"x, y"\nOT,z\n',
    "a.md": b"---\ntitle: T\n---\n# Leave\n\n- a\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "a.txt": "Größe. Leave is paid.".encode("utf-16"),
    "a.eml": MAIL,
    "a.rtf": rb"{\rtf1\ansi{\fonttbl\f0 Arial;}\f0 Leave is \b paid\b0.\par Second.}",
}


@pytest.fixture(scope="module")
def reader() -> Iterator[SandboxedReader]:
    reader = SandboxedReader(30, 1024)
    yield reader
    reader.close()


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The same file cut, with bits turned, or with a stretch replaced, doubled or gone."""
    changed, place = bytearray(data), chance.randrange(len(data))
    match chance.randrange(3):
        case 0:
            return data[:place]
        case 1:
            for _ in range(chance.randint(1, 12)):
                changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case _:
            length, other = chance.randint(1, 60), chance.randrange(len(data))
            changed[place : place + length] = chance.choice(
                [data[other : other + length], bytes(length), b"\xff" * length, chance.randbytes(length), b""]
            )
    return bytes(changed)


@pytest.mark.parametrize("name", list(SEEDS))
def test_a_damaged_file_is_read_or_refused_by_name_and_its_reader_stays_well(
    reader: SandboxedReader, name: str, tmp_path: Path
) -> None:
    chance = random.Random(name)
    for _ in range(VARIANTS):
        try:
            found = reader.read(name, damaged(SEEDS[name], chance), tmp_path)
        except BadFile as error:
            assert f"'{name}'" in error.message and error.hint
            assert not any(words in error.message for words in COST), error.message
        else:
            assert found.members or any(page.text.strip() for page in found.pages)
    assert reader.read("well.txt", b"Leave is paid.").pages[0].text == "Leave is paid."


def text_of(found: ExtractedDocument) -> str:
    return "\n".join(page.text for page in found.pages)


HURTING: list[tuple[str, str, Callable[[], bytes]]] = [
    ("a hundred thousand pages", "a.pdf", lambda: pdf_of_pages(100_000)),
    (
        "pages that hold themselves",
        "a.pdf",
        lambda: pdf_of_objects(
            b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000 >>"
        ),
    ),
    (
        "objects nested without end",
        "a.pdf",
        lambda: pdf_of_objects(
            b"<< /Type /Catalog /Pages 2 0 R /X %b%b >>" % (b"[" * 100_000, b"]" * 100_000),
            b"<< /Type /Pages /Kids [] /Count 0 >>",
        ),
    ),
    ("JSON nested 100,000 deep", "a.json", lambda: b"[" * 100_000 + b"]" * 100_000),
    ("JSON objects nested 100,000 deep", "a.json", lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    ("a number of a million digits", "a.json", lambda: b'[{"a": ' + b"9" * 1_000_000 + b"}]"),
    ("one line of 11 MB", "a.csv", lambda: b"a,b\n" + b"x" * 11_000_000),
    ("a hundred thousand columns", "a.csv", lambda: b",".join([b"c"] * 100_000) + b"\n" + b",".join([b"1"] * 100_000)),
    ("a quotation mark never closed", "a.csv", lambda: b'a,b\n"' + b"x,y\n" * 2_600_000),
    ("elements nested 100,000 deep", "a.html", lambda: b"<div>" * 100_000 + b"Leave is paid."),
    ("entities that expand", "a.xml", lambda: xml_bomb(b"l")),
    ("entities that expand, as a web page", "a.html", lambda: xml_bomb(b"html")),
    ("entities that expand, in SVG", "a.svg", lambda: xml_bomb(b"svg")),
    ("brackets without end", "a.md", lambda: b"[" * 100_000),
    ("quotes without end", "a.md", lambda: b">" * 100_000 + b"x"),
    ("groups nested 100,000 deep", "a.rtf", lambda: rb"{\rtf1 " + b"{" * 100_000 + b"Leave." + b"}" * 100_000),
    ("dots without end", "a.txt", lambda: b"." * 300_000 + b" 7"),
    ("blank lines without end", "a.txt", lambda: b"a" + b"\n \n" * 300_000 + b"b"),
]


@pytest.mark.parametrize(("name", "make"), [case[1:] for case in HURTING], ids=[case[0] for case in HURTING])
def test_a_file_made_to_hurt_ends_within_its_limits_and_the_next_one_is_read(
    reader: SandboxedReader, name: str, make: Callable[[], bytes]
) -> None:
    try:
        assert reader.read(name, make()).pages
    except BadFile as error:
        assert f"'{name}'" in error.message and error.hint
    assert reader.read("well.txt", b"Leave is paid.").pages[0].text == "Leave is paid."


@pytest.mark.slow
def test_a_page_that_unpacks_to_gigabytes_costs_its_reader_its_life_and_nothing_else() -> None:
    reader = SandboxedReader(60, 1024)
    with pytest.raises(BadFile, match=r"'bomb\.pdf'"):
        reader.read("bomb.pdf", pdf_bomb(1200))
    assert reader.read("well.txt", b"Leave is paid.").pages
    reader.close()


@pytest.mark.slow
def test_a_million_columns_and_fifty_megabytes_of_text_are_read() -> None:
    reader = SandboxedReader(300, 4096)
    row = b",".join([b"1"] * 1_000_000)
    assert "more than" in reader.read("wide.csv", row + b"\n" + row).warnings[0]
    found = reader.read("long.txt", (b"Leave is paid every month. " * 40 + b"\n\n") * 47_000)
    assert len(text_of(found)) > 50_000_000
    reader.close()


@pytest.mark.parametrize("name", ["a.xml", "a.html", "a.svg"])
def test_no_file_of_this_machine_gets_into_a_text(reader: SandboxedReader, name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret of this machine")
    data = f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY x SYSTEM "{secret.as_uri()}">]><l><p>Text &x;</p></l>'
    try:
        found = reader.read(name, data.encode())
    except BadFile:
        return
    assert "the secret" not in text_of(found)


def test_nothing_that_runs_or_styles_gets_into_the_text_of_a_web_page(reader: SandboxedReader) -> None:
    page = (
        b"<html><head><style>p {color: STYLED}</style><script>SCRIPTED()</script></head><body onload='LOADED()'>"
        b"<p onclick='CLICKED()'>Leave is <script>SCRIPTED()</script >paid.</p>"
        b"<SCRIPT/x>SCRIPTED()</SCRIPT><noscript>NOSCRIPT</noscript>"
        b"<iframe srcdoc='FRAMED'></iframe><svg><script>SCRIPTED()</script></svg><a href='javascript:LINKED()'>link</a>"
        b"<img src=x onerror='FAILED()'><template>TEMPLATE</template></body></html>"
    )
    text = text_of(reader.read("a.html", page))
    assert "Leave is" in text and "link" in text
    for word in ("STYLED", "LOADED", "CLICKED", "FRAMED", "LINKED", "FAILED", "TEMPLATE", "SCRIPTED"):
        assert word not in text


def test_cells_that_a_spreadsheet_would_run_are_text_and_leave_as_text() -> None:
    from core.formats.csv import restored
    from core.formats.spreadsheet import Sheet, csv_bytes, workbook_bytes

    cells = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", '=HYPERLINK("http://x")')
    reported = csv_bytes(("quote",), [(cell,) for cell in cells]).decode("utf-8-sig")
    written_cells = [row[0] for row in csv.reader(io.StringIO(reported, newline=""))][1:]
    assert all(cell.startswith("'") for cell in written_cells) and tuple(map(restored, written_cells)) == cells
    book = workbook_bytes((Sheet("A", ("quote",), tuple((cell,) for cell in cells), (20,)),))
    import openpyxl

    written = [row[0] for row in openpyxl.load_workbook(io.BytesIO(book))["A"].iter_rows(min_row=2)]
    assert all(cell.data_type != "f" for cell in written)


NAMES = [
    "../../x.txt",
    "nul\x00.txt",
    "‮txt.exe",
    "🧾 receipts 👩‍💻.txt",
    "a" * 4096 + ".txt",
    "CON",
    "aux.txt",
    " ",
    "половина.txt",
]


@pytest.mark.parametrize("name", [*NAMES, "half\ud83d.txt"], ids=lambda name: ascii(name)[:24])
def test_a_hostile_name_does_not_matter_to_the_reader(reader: SandboxedReader, name: str) -> None:
    assert reader.read(name, b"Leave is paid.").pages[0].text == "Leave is paid."


def test_nothing_is_left_behind(reader: SandboxedReader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No folder, no file and no open file stays, whether a file was read, refused or cost its reader its life."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    reader.read("warm.txt", b"Warm.")
    before = psutil.Process().num_fds() if sys.platform != "win32" else 0
    for name in ("a.pdf", "a.zip", "a.xlsx", "a.eml"):
        for data in (SEEDS[name], SEEDS[name][:100]):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    reader.take_out(name, data, Path(folder))
                    reader.read(name, data, Path(folder))
                except BadFile:
                    continue
    dying = SandboxedReader(30, 300)
    with pytest.raises(BadFile):
        dying.read("a.txt", b"word. " * 20_000_000)
    dying.close()
    assert list(tmp_path.iterdir()) == []
    if before:
        assert psutil.Process().num_fds() <= before
