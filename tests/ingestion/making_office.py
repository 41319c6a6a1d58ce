"""Files of office programs for the tests, those that no library writes made byte by byte."""

import struct
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

__all__ = ["compound_file", "msg_of", "odp_of", "ods_of", "odt_of", "pptx_of", "rtf_of", "xls_of"]

_SECTOR, _SMALL, _CUTOFF = 512, 64, 4096
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


class _Compound:
    """A compound file while it is written: its sectors with their chain, and the entries of its directory."""

    def __init__(self, tree: Mapping[str, object]) -> None:
        self.sectors: list[bytes] = []
        self.chain: list[int] = []
        self.small = b""
        self.small_chain: list[int] = []
        self.entries = [("Root Entry", 5, b"")]
        self.child: dict[int, int] = {}
        self.next: dict[int, int] = {}
        self.child[0] = self.add(tree)

    def add(self, folder: Mapping[str, object]) -> int:
        """Entries of a storage, then of those in it; the index of its first."""
        first = len(self.entries)
        for name, stored in folder.items():
            self.entries.append((name, 2, stored) if isinstance(stored, bytes) else (name, 1, b""))
        self.next |= {at: at + 1 for at in range(first, first + len(folder) - 1)}
        for at, stored in enumerate(folder.values(), start=first):
            if isinstance(stored, Mapping) and stored:
                self.child[at] = self.add(stored)
        return first

    def store(self, data: bytes) -> int:
        """Write a stream; the number of its first sector."""
        first, count = len(self.sectors), -(-len(data) // _SECTOR)
        self.sectors += [data[at * _SECTOR :][:_SECTOR].ljust(_SECTOR, b"\0") for at in range(count)]
        self.chain += [*range(first + 1, first + count), _END][:count]
        return first if count else _END

    def store_small(self, data: bytes) -> int:
        """Write a stream of less than 4,096 bytes among those of its size."""
        first, count = len(self.small) // _SMALL, -(-len(data) // _SMALL)
        self.small += data.ljust(count * _SMALL, b"\0")
        self.small_chain += [*range(first + 1, first + count), _END][:count]
        return first if count else _END

    def directory(self, places: Mapping[int, int]) -> bytes:
        out = b""
        for at, (name, kind, data) in enumerate(self.entries):
            title = f"{name}\0".encode("utf-16-le")
            links = (_FREE, self.next.get(at, _FREE), self.child.get(at, _FREE))
            size = len(self.small) if at == 0 else len(data)
            out += title.ljust(64, b"\0") + struct.pack("<HBBIII36xIQ", len(title), kind, 1, *links, places[at], size)
        return out

    def written(self) -> bytes:
        places = {
            at: self.store_small(data) if len(data) < _CUTOFF else self.store(data)
            for at, (_, kind, data) in enumerate(self.entries)
        }
        places[0] = self.store(self.small)
        small_at, small_count = self.store(_numbers(self.small_chain)), -(-len(self.small_chain) // 128)
        directory_at = self.store(self.directory(places))
        tables = 1 + len(self.sectors) // 127
        at = len(self.sectors)
        head = struct.pack("<8s16xHHHHH10x", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6)
        head += struct.pack("<9I", tables, directory_at, 0, _CUTOFF, small_at, small_count, _END, 0, at)
        head += _numbers([*range(at + 1, at + tables)]).ljust(432, b"\xff")
        table = _numbers([*self.chain, *[_FAT] * tables]).ljust(tables * _SECTOR, b"\xff")
        return head + b"".join(self.sectors) + table


def _numbers(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values) + b"\xff" * (-4 * len(values) % _SECTOR if values else 0)


def compound_file(tree: Mapping[str, object]) -> bytes:
    """A compound file (MS-CFB, version 3): storages are mappings, streams bytes; all of it below 7 MB."""
    return _Compound(tree).written()


def _properties(header: int, texts: Mapping[int, str | bytes], numbers: Mapping[int, int]) -> dict[str, bytes]:
    """The streams of an Outlook object: property → text or bytes; numbers of 32 bits, and one time (0x0039)."""
    streams: dict[str, bytes] = {}
    listed = bytes(header)
    for key, value in texts.items():
        kind = 0x1F if isinstance(value, str) else 0x102
        data = value.encode("utf-16-le") if isinstance(value, str) else value
        listed += struct.pack("<HHIQ", kind, key, 6, len(data) + (2 if kind == 0x1F else 0))
        streams[f"__substg1.0_{key:04X}{kind:04X}"] = data
    for key, number in numbers.items():
        listed += struct.pack("<HHIQ", 0x40 if key == 0x39 else 3, key, 6, number)
    return {"__properties_version1.0": listed, **streams}


def msg_of(
    subject: str,
    body: str | bytes,
    attachments: Mapping[str, bytes] | None = None,
    inner: Mapping[str, str] | None = None,
    sent: int = 0,
    kind: str = "IPM.Note",
) -> bytes:
    """An Outlook message from Ana to Bo and, in copy, Cy; a body of bytes is HTML. inner: subjects and bodies of mails
    attached to it. sent: seconds since 1970."""
    texts: dict[int, str | bytes] = {0x1A: kind, 0x37: subject, 0xC1A: "Ana Petrov", 0x5D01: "ana@example.org"}
    texts[0x1000 if isinstance(body, str) else 0x1013] = body
    tree: dict[str, object] = dict(_properties(32, texts, {0x39: (sent + 11_644_473_600) * 10**7} if sent else {}))
    for at, (name, address, role) in enumerate([("Bo", "bo@example.org", 1), ("Cy", "cy@example.org", 2)]):
        person = {0x3001: name, 0x39FE: address}
        tree[f"__recip_version1.0_#{at:08X}"] = _properties(8, person, {0xC15: role})
    for at, (name, data) in enumerate((attachments or {}).items()):
        tree[f"__attach_version1.0_#{at:08X}"] = _properties(8, {0x3707: name, 0x3701: data}, {0x3705: 1})
    for at, (title, text) in enumerate((inner or {}).items(), start=len(attachments or {})):
        within = _properties(24, {0x37: title, 0x1000: text, 0xC1A: "Dee"}, {})
        place = f"__attach_version1.0_#{at:08X}"
        tree[place] = {**_properties(8, {0x3001: title}, {0x3705: 5}), "__substg1.0_3701000D": within}
    return compound_file(tree)


def xls_of(**sheets: Sequence[Sequence[str | float]]) -> bytes:
    """A workbook of the old kind (BIFF8), with one sheet per name."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    def begin(kind: int) -> bytes:
        return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 6))

    bodies = []
    for rows in sheets.values():
        cells = b""
        for at, row in enumerate(rows):
            for column, value in enumerate(row):
                if isinstance(value, str):
                    text = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
                    cells += record(0x204, struct.pack("<HHH", at, column, 0) + text)
                else:
                    cells += record(0x203, struct.pack("<HHHd", at, column, 0, value))
        bodies.append(begin(0x10) + cells + record(0x0A, b""))
    names = [name.encode("utf-16-le") for name in sheets]
    offset = len(begin(5)) + sum(4 + 8 + len(name) for name in names) + 4
    book = begin(5)
    for name, body in zip(names, bodies, strict=True):
        book += record(0x85, struct.pack("<IHBB", offset, 0, len(name) // 2, 1) + name)
        offset += len(body)
    return compound_file({"Workbook": book + record(0x0A, b"") + b"".join(bodies)})


_NAMESPACES = " ".join(
    f'xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for each, name in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "style": "style",
        "presentation": "presentation",
        "svg": "svg-compatible",
        "meta": "meta",
    }.items()
)


def _open_document(kind: str, body: str, styles: str = "", meta: str = "") -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}", zipfile.ZIP_STORED)
        reported = f"<office:automatic-styles>{styles}</office:automatic-styles><office:body>{body}</office:body>"
        content = f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_NAMESPACES}>{reported}'
        package.writestr("content.xml", f"{content}</office:document-content>")
        dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
        head = f"<office:document-meta {_NAMESPACES} {dc}><office:meta>{meta}</office:meta></office:document-meta>"
        package.writestr("meta.xml", head)
        entry = f'<m:file-entry m:full-path="/" m:media-type="application/vnd.oasis.opendocument.{kind}"/>'
        spaces = 'xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
        package.writestr("META-INF/manifest.xml", f"<m:manifest {spaces}>{entry}</m:manifest>")
    return out.getvalue()


def odt_of(body: str, styles: str = "", meta: str = "") -> bytes:
    """An OpenDocument text with this XML between its `office:text` tags."""
    return _open_document("text", f"<office:text>{body}</office:text>", styles, meta)


def odp_of(*slides: str) -> bytes:
    """An OpenDocument presentation; a slide is the XML inside a `draw:page`."""
    pages = "".join(f"<draw:page>{slide}</draw:page>" for slide in slides)
    return _open_document("presentation", f"<office:presentation>{pages}</office:presentation>")


def ods_of(*sheets: Sequence[Sequence[str]]) -> bytes:
    """An OpenDocument spreadsheet of text cells, one table per sheet."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'.format
    tables = [
        "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in sheet) for sheet in sheets
    ]
    named = (f'<table:table table:name="S{at}">{rows}</table:table>' for at, rows in enumerate(tables, 1))
    return _open_document("spreadsheet", f"<office:spreadsheet>{''.join(named)}</office:spreadsheet>")


def pptx_of(title: str, *lines: str) -> bytes:
    """A presentation of one slide with a title and a text box."""
    import pptx

    deck, out = pptx.Presentation(), BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = title, "\n".join(lines)
    deck.save(out)
    return out.getvalue()


def rtf_of(body: str, head: str = "") -> bytes:
    """Rich text as Word writes it, in code page 1252."""
    styles = r"{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2\b heading 2;}}"
    return (r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Calibri;}}" + styles + head + body + "}").encode("cp1252")
