"""Small, valid files of every kind the product reads: what the fuzzer damages."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.ingestion.making import docx_of, drawn, pdf_of, scan_of, workbook_of
from tests.ingestion.making_office import (
    msg_of,
    odp_of,
    ods_of,
    odt_of,
    pptx_of,
    rtf_of,
    xls_of,
)
from tests.library.packing import tar_of, zip_of
from tests.library.test_decrypt import SECRET as PASSWORD
from tests.library.test_decrypt import locked_office, locked_pdf

__all__ = ["PASSWORD", "SEEDS", "Seed"]

_SAMPLE = Path(__file__).parents[2] / "sample" / "library"
_SENTENCES = "Employees accrue leave each month. It is paid at the regular rate; see Pub. 15-A, section 7.\n"


@dataclass(frozen=True, slots=True)
class Seed:
    """A sample file. shape: how its inside is changed, a key of `mutations.SHAPES`."""

    name: str
    shape: str
    make: Callable[[], tuple[bytes, ...]]


def _samples(pattern: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(_SAMPLE.glob(pattern)))


def _pdf() -> tuple[bytes, ...]:
    small = pdf_of("# Leave\nEmployees accrue leave.", _SENTENCES * 8, title="Leave", header="Handbook", footer=True)
    return small, *_samples("*.pdf")


def _picture(kind: str) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    picture = Image.open(io.BytesIO(drawn(pdf_of("Overtime is paid."), dots=60)))
    picture.convert("L").save(out, kind, dpi=(60, 60), **({"compression": "tiff_deflate"} if kind == "TIFF" else {}))
    return out.getvalue()


def _parquet() -> tuple[bytes, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain, nested = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.table({"code": ["REG", "OT"] * 50, "hours": list(range(100))}), plain)
    pq.write_table(pa.table({"rate": [{"base": 1.5, "steps": [1, 2]}] * 20, "paid": [True, None] * 10}), nested)
    return plain.getvalue(), nested.getvalue()


def _json() -> tuple[bytes, ...]:
    rows = [{"code": "REG", "rate": {"base": 1.5}}, {"code": "OT", "active": True, "steps": [1, None, "x"]}]
    lines = "\n".join(map(json.dumps, rows))
    return json.dumps(rows).encode(), json.dumps({"codes": rows, "by": "Ada"}).encode(), lines.encode()


_HTML = (
    b"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Leave</title></head><body><nav>Home</nav><h1>Leave"
    b"</h1><p>It is <b>paid</b> &amp; due.</p><ul><li>one<li>two</ul><table><tr><th>code<th>told</tr><tr><td>REG"
    b"<td>Regular</tr></table><pre>a  b</pre></body></html>"
)
_XML = (
    b'<?xml version="1.0" encoding="UTF-8"?><act id="1"><title>Leave</title><section n="1"><p>It is <i>paid</i>.</p>'
    b"</section><section n='2'><p>Overtime &amp; rest.</p><![CDATA[a < b]]></section></act>"
)
_MARKDOWN = (
    b"---\ntitle: Leave\ntags: [a, b]\n---\n# Leave\n\n- one\n  1. two\n\n> It is paid.\n\n| a | b |\n|---|---|\n"
    b"| 1 | 2 |\n\n```\ncode\n```\n\n[link](http://x.example)\n"
)
_MAIL = (
    b"From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Leave_=C3=BC?=\r\n"
    b"Date: Tue, 05 Mar 2024 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n"
    b"--B\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    b"Leave is paid.=\r\n Always.\r\n> quoted\r\n--B\r\nContent-Type: text/html\r\n\r\n<p>Leave</p>\r\n--B\r\n"
    b"Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n"
    b"Content-Disposition: attachment; filename*=utf-8''a%20b.txt\r\n\r\nT3ZlcnRpbWUgaXMgcGFpZC4=\r\n--B--\r\n"
)
_RSS = (
    b'<?xml version="1.0"?><rss version="2.0"><channel><title>Rules</title><link>http://x.example/</link><item>'
    b"<title>One</title><link>http://x.example/1</link><guid>1</guid><pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate>"
    b"<description>&lt;p&gt;It is paid.&lt;/p&gt;</description></item></channel></rss>"
)
_ATOM = (
    b'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Rules</title><entry><id>urn:1</id>'
    b'<title>One</title><link href="http://x.example/1"/><updated>2024-03-05T10:00:00Z</updated>'
    b'<content type="html">&lt;p&gt;It is paid.&lt;/p&gt;</content></entry></feed>'
)


def _locked() -> tuple[bytes, ...]:
    pdf = pdf_of("Leave is paid.")
    locked = (locked_pdf(pdf, PASSWORD, each) for each in ("RC4-128", "AES-256"))
    return *locked, locked_office(docx_of("Leave is paid."))


_CELLS: list[list[object]] = [["Name", "Pay", "Since"], ["Ada", 10.5, "2024-03-05"], ["Bob", 12, ""]]
_ODT = '<text:h text:outline-level="1">Leave</text:h><text:p>It is <text:span>paid</text:span>.</text:p>'
_ODP = "<draw:frame><draw:text-box><text:p>Leave is paid.</text:p></draw:text-box></draw:frame>"
_MEMBERS = (("x/a.txt", b"Leave is paid."), ("b.csv", b"a,b\n1,2\n"), ("c.html", _HTML))

# The two last are no kinds of files: a feed's answer, and a file with a password.
SEEDS: dict[str, Seed] = {
    "pdf": Seed("a.pdf", "pdf", _pdf),
    "docx": Seed("a.docx", "zip", lambda: (docx_of("# Leave", "- one", _SENTENCES, table=[["a", "b"], ["1", "2"]]),)),
    "pptx": Seed("a.pptx", "zip", lambda: (pptx_of("Leave", "It is paid."),)),
    "xlsx": Seed("a.xlsx", "zip", lambda: (workbook_of(Pay=_CELLS, Codes=_CELLS),)),
    "xls": Seed("a.xls", "compound", lambda: (xls_of(Pay=[["Name", "Pay"], ["Ada", 10.5]]),)),
    "odt": Seed("a.odt", "zip", lambda: (odt_of(_ODT),)),
    "ods": Seed("a.ods", "zip", lambda: (ods_of([["Name", "Pay"], ["Ada", "10"]]),)),
    "odp": Seed("a.odp", "zip", lambda: (odp_of(_ODP, _ODP),)),
    "rtf": Seed("a.rtf", "rtf", lambda: (rtf_of(r"\s1\b Leave\b0\par It is paid.\par\trowd a\cell b\cell\row"),)),
    "eml": Seed("a.eml", "lines", lambda: (_MAIL,)),
    "msg": Seed(
        "a.msg", "compound", lambda: (msg_of("Leave", "It is paid.", {"a.txt": b"x"}, {"Fw": "Deep."}, 10**9),)
    ),
    "html": Seed("a.html", "xml", lambda: (_HTML,)),
    "xml": Seed("a.xml", "xml", lambda: (_XML,)),
    "md": Seed("a.md", "lines", lambda: (_MARKDOWN, *_samples("*.md"))),
    "csv": Seed("a.csv", "lines", lambda: (b'code,told\nREG,"x, ""y"""\nOT,z\n', *_samples("*codes.csv"))),
    "tsv": Seed("a.tsv", "lines", lambda: (b"code\ttold\nREG\tx\nOT\tz\n",)),
    "json": Seed("a.json", "json", _json),
    "parquet": Seed("a.parquet", "bytes", _parquet),
    "txt": Seed("a.txt", "lines", lambda: (_SENTENCES.encode(), ("1. Größe\n\n" + _SENTENCES).encode("utf-16"))),
    "png": Seed("a.png", "bytes", lambda: (_picture("PNG"),)),
    "jpeg": Seed("a.jpg", "bytes", lambda: (_picture("JPEG"),)),
    "tiff": Seed("a.tif", "bytes", lambda: (_picture("TIFF"),)),
    "scan": Seed("scan.pdf", "pdf", lambda: (scan_of(drawn(pdf_of("Overtime is paid."), dots=60)),)),
    "zip": Seed("a.zip", "zip", lambda: (zip_of(*_MEMBERS),)),
    "tar": Seed("a.tar", "bytes", lambda: (tar_of(*_MEMBERS),)),
    "gz": Seed("a.tgz", "gzip", lambda: (tar_of(*_MEMBERS, mode="w:gz"),)),
    "feed": Seed("http://x.example/feed", "xml", lambda: (_RSS, _ATOM)),
    "password": Seed("locked.bin", "bytes", _locked),
}
