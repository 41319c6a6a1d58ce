"""How bytes become text: what a file says of its encoding, what only one fits, then the likeliest."""

import re
from collections import Counter

from core.errors import UnreadableFile

__all__ = ["decoded", "wide_encoding"]

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_GUESS_BYTES = 100_000
_STATED = re.compile(rb"<(?:\?xml[^>]*?encoding|meta[^>]*?charset)\s*=\s*[\"']?\s*([\w-]{2,30})", re.I)
_STATED_BYTES = 4_096
_JAPANESE = re.compile(rb"\x1b\$[@B]")
_STRAY = re.compile("[\udc80-\udcff]")
_MOST_STRAY = 0.1
"""Of the letters beyond ASCII in a text of UTF-8 into which bytes of another encoding were pasted."""
_ONE_SCRIPT = 0.8
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef \r\n]")
_WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")
_WESTERN = frozenset("en de fr es it pt nl sv da no nb nn fi ca gl eu is ga lb".split())
_CENTRAL = {
    "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "hr": "čćđšž",
    "bs": "čćđšž", "sl": "čšž", "ro": "ăâîşţ", "sq": "ëç",
}  # fmt: skip
"""The letters beyond ASCII of languages written in the encodings of Central Europe."""
_LATIN_GUESSES = re.compile(r"cp125[02478]|latin_?1|iso8859_(?:1|2|3|4|9|10|13|14|15|16)$|hp_roman8|cp1140|cp500|cp037")


def decoded(name: str, data: bytes) -> tuple[str, str]:
    """The text of bytes and a warning ("" when its encoding is certain).

    A byte order mark decides, then UTF-8, then UTF-16 by its zero bytes, then what an HTML or XML head states, then the
    likeliest encoding. Raises UnreadableFile when nothing fits.

    >>> decoded("a.txt", "Лист ждёт".encode("utf-16-le"))[0], decoded("b.txt", "Grüße aus Köln".encode("cp1252"))[0]
    ('Лист ждёт', 'Grüße aus Köln')
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").lstrip("\ufeff"), ""
    if _JAPANESE.search(data[:_GUESS_BYTES]) and (text := _fits(data, "iso2022_jp")) is not None:
        return text, ""
    wide = wide_encoding(data)
    if wide:
        return data.decode(wide, "replace"), ""
    if (text := _fits(data, "utf-8")) is not None:
        return text, ""
    stated = _STATED.search(data[:_STATED_BYTES])
    if stated and (text := _fits(data, stated[1].decode("ascii"))) is not None:
        return text, ""
    return _pasted(data) or _guessed(name, data)


def _fits(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def wide_encoding(data: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, told by its zero bytes: most characters share one or two high bytes, or
    are East Asian. Else ""."""
    head = data[: _GUESS_BYTES // 4 * 4]
    if b"\x00" not in head or len(head) < 4:
        return ""
    if head[1::4].count(0) == head[2::4].count(0) == len(head) // 4 and len(data) % 4 == 0:
        return "utf-32-le" if head[3::4].count(0) > head[::4].count(0) else "utf-32-be"
    shares = []
    for high, encoding in ((head[1::2], "utf-16-le"), (head[::2], "utf-16-be")):
        usual = sum(count for _, count in Counter(high).most_common(2))
        shares.append((high.count(0) > 0 and usual / len(high), encoding))
    best, encoding = max(shares)
    if best >= _ONE_SCRIPT and head.count(0) >= len(head) / 100:
        return encoding
    return next((wide for wide in ("utf-16-le", "utf-16-be") if _is_east_asian(head, wide)), "")


def _is_east_asian(head: bytes, encoding: str) -> bool:
    """Whether bytes that are no UTF-8 are nearly all Chinese, Japanese or Korean signs in an encoding."""
    text = _fits(head[: len(head) // 2 * 2], encoding)
    if not text or _fits(head, "utf-8") is not None:
        return False
    return len(_EAST_ASIAN.findall(text)) >= _ONE_SCRIPT * len(text)


def _pasted(data: bytes) -> tuple[str, str] | None:
    """UTF-8 in which a few letters are in another encoding, because something was pasted or appended."""
    text = data.decode("utf-8", "surrogateescape")
    stray = len(_STRAY.findall(text))
    beyond = sum(letter > "\x7f" for letter in text) - stray
    if stray > _MOST_STRAY * (beyond + stray):
        return None
    letters = "1 letter that is" if stray == 1 else f"{stray} letters that are"
    whole = _STRAY.sub(lambda letter: bytes([ord(letter.group()) - 0xDC00]).decode("cp1252", "replace"), text)
    return whole, f"The text holds {letters} not in its encoding (UTF-8). Look whether accents and signs are right."


def _guessed(name: str, data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_GUESS_BYTES]).best()
    if best is None:
        raise UnreadableFile(f"'{name}' is not text in any known encoding.", "Save it as UTF-8 text and upload that.")
    encoding = _by_language(data) or best.encoding if _LATIN_GUESSES.match(best.encoding) else best.encoding
    text = data.decode(encoding, "replace")
    return text, f"The encoding was guessed: {encoding}. Look whether accents and signs are right."


def _by_language(data: bytes) -> str:
    """Which of the encodings of Latin letters a text is in, told by its language, which is known by its plain letters
    too. "" for languages in none of them."""
    from py3langid import classify

    head = data[:_GUESS_BYTES]
    languages = [str(classify(head.decode(encoding, "replace"))[0]) for encoding in ("cp1252", "iso8859_2")]
    central = next((language for language in languages if language in _CENTRAL), "")
    if languages[0] in _WESTERN:
        return "cp1252"
    if central:
        order = ("cp1250", "iso8859_2") if _WINDOWS_ONLY.search(data) else ("iso8859_2", "cp1250")
        return max(order, key=lambda encoding: _letters(data, encoding, _CENTRAL[central]))
    return "cp1254" if languages[0] == "tr" else ""


def _letters(data: bytes, encoding: str, alphabet: str) -> int:
    """How many signs are letters of an alphabet when bytes are read in an encoding."""
    text = data[:_GUESS_BYTES].decode(encoding, "replace").lower()
    return sum(map(text.count, alphabet))
