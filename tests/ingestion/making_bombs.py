"""Small files that promise, nest or repeat more than any real one, made by hand."""

import zlib
from collections.abc import Sequence

__all__ = ["pdf_bomb", "pdf_of_objects", "pdf_of_pages", "xml_bomb"]

_PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>"


def pdf_of_objects(*objects: bytes) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its root."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(out)


def pdf_of_pages(count: int) -> bytes:
    """A PDF of so many empty pages."""
    kids = b" ".join(b"%d 0 R" % (number + 3) for number in range(count))
    pages = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, count)
    return pdf_of_objects(b"<< /Type /Catalog /Pages 2 0 R >>", pages, *[_PAGE] * count)


def pdf_bomb(megabytes: int) -> bytes:
    """A PDF of one page whose content, packed twice, unpacks to so many megabytes."""
    packer = zlib.compressobj(9)
    once = b"".join([*(packer.compress(b"0" * (1 << 20)) for _ in range(megabytes)), packer.flush()])
    content = zlib.compress(once, 9)
    head = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>" % len(content)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>"
    return pdf_of_objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        head + b"\nstream\n" + content + b"\nendstream",
    )


def xml_bomb(root: bytes, depth: int = 10) -> bytes:
    """An XML text that would expand to ten to the power of `depth` words."""
    names: Sequence[int] = range(depth)
    entities = b"".join(b'<!ENTITY a%d "%b">' % (n + 1, b"&a%d;" % n * 10) for n in names)
    return b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a0 "lol">%b]><%b>&a%d;</%b>' % (entities, root, depth, root)
