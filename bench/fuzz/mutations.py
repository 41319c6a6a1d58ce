"""Changes a valid file into a damaged or hostile one: at random, but within its own structure where that is cheap.

A ZIP is unpacked, one member changed and packed again, so that its checksums hold and the damage reaches the reader of
that member; a PDF is changed object by object, its streams unpacked; XML by elements; JSON as a tree; mail and tables
by lines. Everything follows from the random generator it is given.
"""
# Over 300 lines: one function per shape of files, each with the signs of that shape.

import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

__all__ = ["SHAPES", "damaged"]

_NUMBERS = (0, 1, -1, 7, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63, 10**20)
_WORDS = (
    *(str(number).encode() for number in _NUMBERS),
    *(
        b"",
        b"\x00",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"NaN",
        b"1e999",
        b"-0.0",
        b"null",
        b"\r",
        b"\n\n\n",
        b"\t",
        b'"',
        b"'",
    ),
    *(
        "\u202e\u200b\ufeff\u0301\U0001f9fe".encode(),
        b"&lt;",
        b"&#0;",
        b"&#xD800;",
        b"%s%n",
        b"../../x",
        b"http://[::1",
    ),
    *(
        b"9999-99-99",
        b"0000-00-00T99:99:99Z",
        b"=1+1",
        b"{",
        b"}",
        b"[",
        b"]",
        b"<",
        b">",
        b"(",
        b")",
        b"\\",
        b"<<",
        b">>",
    ),
)
_MOST_BYTES = 2_000_000  # of a changed file: it is damage that is looked for, not size
_MOST_CHANGES = 4


def damaged(shape: str, data: bytes, chance: Random) -> bytes:
    """A changed file: one to four changes of its shape, and now and then plain damage of its bytes on top."""
    changed = data
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        changed = SHAPES[shape](changed, chance)[:_MOST_BYTES] or changed
    return of_bytes(changed, chance) if chance.random() < 0.1 else changed


def of_bytes(data: bytes, chance: Random) -> bytes:
    """Cut, with bits turned, with a stretch moved, doubled, gone, or replaced by a telling word or number."""
    changed, length = bytearray(data), len(data)
    if not length:
        return data
    position, other = chance.randrange(length), chance.randrange(length)
    long = chance.choice((1, 2, 4, 8, chance.randint(1, 200)))
    match chance.randrange(7):
        case 0:
            return data[:position]
        case 1:
            for _ in range(chance.randint(1, 12)):
                changed[chance.randrange(length)] ^= 1 << chance.randrange(8)
        case 2:
            changed[position : position + long] = data[other : other + long]
        case 3:
            changed[position:position] = data[other : other + long] * chance.choice((1, 2, 50))
        case 4:
            del changed[position : position + long]
        case 5:
            changed[position : position + long] = chance.choice((bytes(long), b"\xff" * long, chance.randbytes(long)))
        case _:
            changed[position : position + chance.randint(0, long)] = chance.choice(_WORDS)
    return bytes(changed)


def of_compound(data: bytes, chance: Random) -> bytes:
    """A compound file, BIFF or other binary tables: whole numbers at their places become extreme."""
    if len(data) < 16 or chance.random() < 0.4:
        return of_bytes(data, chance)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        size = chance.choice((2, 4, 8))
        position = chance.randrange(len(data) // size) * size
        number = chance.choice(_NUMBERS) & ((1 << 8 * size) - 1)
        changed[position : position + size] = number.to_bytes(size, "little")
    return bytes(changed)


def of_zip(data: bytes, chance: Random) -> bytes:
    """One member changed, renamed, left out or doubled, and all packed again."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            members = [(each.filename, old.read(each)) for each in old.infolist()]
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError, zlib.error):
        return of_bytes(data, chance)
    if not members or chance.random() < 0.1:
        return of_bytes(data, chance)
    index = chance.randrange(len(members))
    name, content = members[index]
    match chance.randrange(10):
        case 0:
            members[index] = (chance.choice(("../x", "/x", "", name * 50, "a\\b", chance.choice(members)[0])), content)
        case 1:
            del members[index]
        case 2:
            members.append((name, of_bytes(content, chance)))
        case _:
            markup = content[:1] == b"<" or name.endswith((".xml", ".rels"))
            members[index] = (name, (of_xml if markup else of_bytes)(content, chance))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for each, member_data in members:
            info = zipfile.ZipInfo(each[:60_000] or "x")
            info.compress_type = zipfile.ZIP_DEFLATED
            new.NameToInfo.pop(info.filename, None)  # a name may come twice
            new.writestr(info, member_data[:_MOST_BYTES])
    return out.getvalue()


def of_gzip(data: bytes, chance: Random) -> bytes:
    """The content changed and packed again."""
    try:
        return gzip.compress(of_bytes(gzip.decompress(data), chance))
    except (OSError, EOFError, zlib.error):
        return of_bytes(data, chance)


_TAG = re.compile(rb"<[^<>]{1,2000}>")
_VALUE = re.compile(rb"=\s*(?:\"[^\"<>]*\"|'[^'<>]*')|>[^<>]+<")
_DOCTYPE = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


def of_xml(data: bytes, chance: Random) -> bytes:
    """A tag doubled, gone, moved, renamed or nested deep; a value replaced; a declaration put in front."""
    tags = list(_TAG.finditer(data))
    if not tags or chance.random() < 0.1:
        return of_bytes(data, chance)
    tag, other = chance.choice(tags), chance.choice(tags)
    match chance.randrange(7):
        case 0:
            return data[: tag.start()] + data[tag.end() :]
        case 1:
            return data[: tag.end()] + tag.group() * chance.choice((1, 3, 500, 5_000)) + data[tag.end() :]
        case 2:
            return data[: tag.start()] + other.group() + data[tag.end() :]
        case 3:
            first, last = sorted((tag.start(), other.end()))
            return data[:last] + data[first:last] * chance.choice((1, 2, 40)) + data[last:]
        case 4 if values := list(_VALUE.finditer(data)):
            value = chance.choice(values)
            inner = chance.choice((*_WORDS, value.group()[1:-1] * 3))
            return data[: value.start()] + value.group()[:2] + inner + value.group()[-1:] + data[value.end() :]
        case 5:
            name = re.match(rb"</?([\w:.-]+)", tag.group())
            return data.replace(name[1], chance.choice((b"x", b"w:p", b"table", b"a:b:c")), 1) if name else data
        case _:
            head = data.find(b"?>") + 2 if data.startswith(b"<?") else 0
            return data[:head] + _DOCTYPE + data[head:].replace(b">", b">&b;", chance.choice((0, 1)))


_OBJECT = re.compile(rb"\d+ \d+ obj\b.*?\bendobj", re.DOTALL)
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?")
_NAME = re.compile(rb"/[A-Za-z]+")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)


def of_pdf(data: bytes, chance: Random) -> bytes:
    """A number, name or reference replaced, an object doubled or gone, or a stream changed inside its packing."""
    objects = list(_OBJECT.finditer(data))
    if not objects or chance.random() < 0.15:
        return of_bytes(data, chance)
    each = chance.choice(objects)
    content = each.group()
    match chance.randrange(6):
        case 0:
            content = b""
        case 1:
            content = content + b"\n" + content
        case 2 if stream := _STREAM.search(content):
            content = content[: stream.start(1)] + _packed_again(stream[1], chance) + content[stream.end(1) :]
        case 3 if names := list(_NAME.finditer(content)):
            name, other = chance.choice(names), chance.choice(list(_NAME.finditer(data)))
            content = content[: name.start()] + other.group() + content[name.end() :]
        case _:
            head = content.find(b"stream") if b"stream" in content else len(content)
            if numbers := list(_NUMBER.finditer(content, 0, head)):
                number = chance.choice(numbers)
                replacement = chance.choice(
                    (str(chance.choice(_NUMBERS)).encode(), str(chance.randint(0, 30)).encode())
                )
                content = content[: number.start()] + replacement + content[number.end() :]
    return data[: each.start()] + content + data[each.end() :]


def _packed_again(stream: bytes, chance: Random) -> bytes:
    try:
        return zlib.compress(of_words(zlib.decompress(stream), chance))
    except zlib.error:
        return of_bytes(stream, chance)


def of_words(data: bytes, chance: Random) -> bytes:
    """A number or word replaced, as in a page's drawing commands."""
    words = list(re.finditer(rb"\S+", data[:200_000]))
    if not words or chance.random() < 0.3:
        return of_bytes(data, chance)
    word, new = chance.choice(words), chance.choice((*_WORDS, chance.choice(words).group()))
    return data[: word.start()] + new + data[word.end() :]


def of_rtf(data: bytes, chance: Random) -> bytes:
    """A control word's number made extreme, a control word or group doubled, moved or gone."""
    marks = list(re.finditer(rb"\\[a-z]+(-?\d+)?|[{}]", data))
    if not marks or chance.random() < 0.2:
        return of_bytes(data, chance)
    mark, other = chance.choice(marks), chance.choice(marks)
    word = re.match(rb"\\[a-z]+", mark.group())
    new = chance.choice(
        (b"", other.group(), mark.group() * chance.choice((2, 1_000)), rb"\u-3913?", rb"\'ff", rb"\bin9")
    )
    if word and chance.random() < 0.5:
        new = word.group() + str(chance.choice(_NUMBERS)).encode()
    return data[: mark.start()] + new + data[mark.end() :]


def of_lines(data: bytes, chance: Random) -> bytes:
    """A line doubled, moved, gone, joined, or made long; or a word replaced."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or chance.random() < 0.25:
        return of_bytes(data, chance)
    if chance.random() < 0.4:
        return of_words(data, chance)
    lines = data.split(b"\n")
    position, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            lines[position:position] = [lines[other]] * chance.choice((1, 2, 300))
        case 1:
            del lines[position]
        case 2:
            lines[position], lines[other] = lines[other], lines[position]
        case 3:
            lines[position] = (
                chance.choice((b",", b">", b"#", b" ", b"=", b"a", b"\t", lines[position] or b"-")) * 20_000
            )
        case _:
            lines[position : position + 2] = [b"".join(lines[position : position + 2])]
    return b"\n".join(lines)


def of_json(data: bytes, chance: Random) -> bytes:
    """A value, key or list changed within the tree; else as lines."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return of_lines(data, chance)
    if chance.random() < 0.2:
        return of_bytes(data, chance)
    try:
        return json.dumps(_changed(tree, chance)).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError):  # nested too deep, or a number of more digits than Python writes
        return of_lines(data, chance)


_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 10**400, 1e308, float("inf"), float("nan"), "", "\ud83d", "\x00", "x" * 5_000),
    *([], {}, [[]], [{}], {"": 1}, {"a": {"b": {"c": {"d": {"e": 1}}}}}, [None] * 300, "2024-99-99"),
)


def _changed(tree: Any, chance: Random) -> Any:
    if isinstance(tree, dict) and tree and chance.random() < 0.8:
        key = chance.choice(list(tree))
        new = chance.choice((key, "", "a.b", "\x00", key * 200)) if chance.random() < 0.2 else key
        return {**{each: value for each, value in tree.items() if each != key}, new: _changed(tree[key], chance)}
    if isinstance(tree, list) and tree and chance.random() < 0.8:
        index = chance.randrange(len(tree))
        more = [tree[index]] * chance.choice((0, 1, 1, 1, 200))
        return [*tree[:index], *more, _changed(tree[index], chance), *tree[index + 1 :]]
    return chance.choice(_VALUES)


SHAPES: dict[str, Callable[[bytes, Random], bytes]] = {
    "bytes": of_bytes,
    "compound": of_compound,
    "zip": of_zip,
    "gzip": of_gzip,
    "xml": of_xml,
    "pdf": of_pdf,
    "rtf": of_rtf,
    "lines": of_lines,
    "json": of_json,
}
