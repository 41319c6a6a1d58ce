"""Cleans text: decodes bytes, removes control characters, rejoins hyphenated words, detects garbled text.

Encoding: as declared, else the only one that fits, else the most likely. pdfium marks a word broken at a line end with
U+FFFE; its hyphen is kept if the document writes the word with one elsewhere.
"""

# Over 300 lines: how bytes become text, and what is wrong with text, share their knowledge of encodings.

import codecs
import re
import unicodedata
from collections import Counter

from core.domain.errors import UnreadableFile
from core.domain.extraction import LayoutLine
from core.text.symbol_fonts import PLAIN_SYMBOLS

__all__ = ["clean", "decoded", "garbled", "mended", "mojibake", "to_encoding", "wide_encoding", "windows_signs"]

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_REFUSED = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff\u200b\u2060\xad]"
)

_SYMBOL_FONT = re.compile("[\uf0a7-\uf0fe]")

_GARBLED_SHARE = 0.2  # Chosen by hand, not fitted.

_GARBLED_LEAST = 40  # Chosen by hand, not fitted.

_LETTERS_LEAST = 200  # Chosen by hand, not fitted.

_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")

_VOWELS = re.compile(r"[aeiouyAEIOUYÀ-ÆÈ-ÏÒ-ÖØ-Üà-æè-ïò-öø-ü]")

_MOST_VOWELS, _FEW_VOWELS, _HARDLY_VOWELS = 0.62, 0.27, 0.2
"""Shares of vowels in Latin letters. Measured: 0.36 to 0.49 on English pages, 0.35 to 0.48 in other languages; 0.13 to
0.2 where a font's character map is shifted by a typical glyph offset."""

_WORDLESS = 0.12
"""Share of words of four or more letters without a vowel; at most 0.03 on English pages."""

_WORDS_LEAST = 25  # Chosen by hand, not fitted.

_SUSPECT = re.compile(r"[ÂÃâÐÑÎÏÅÄåæèéãä][^\x00-\x7f]")
"""UTF-8 bytes decoded in another encoding; a match is checked with ftfy."""

_MOJIBAKE_LEAST = 3  # Chosen by hand, not fitted.

_MOJIBAKE_SHARE = 1 / 1000  # Chosen by hand, not fitted.


def clean(text: str) -> str:
    """Text that PostgreSQL accepts: uniform line ends, no control characters, no lone surrogates.

    Removes soft hyphens and zero-width spaces, turns no-break spaces into spaces and bullets of symbol fonts into
    bullets; nothing else changes.

    >>> clean("a\\x00b\\r\\nc\\ud800\\u00a0d\\u00ade"), clean("\\uf0b7 paid")
    ('ab\\nc de', '• paid')
    """
    text = _LINE_ENDS.sub("\n", text)
    if _SYMBOL_FONT.search(text):
        text = text.translate(PLAIN_SYMBOLS)
    return _REFUSED.sub("", text).replace("\u00a0", " ").replace("\u202f", " ").replace("\u2007", " ")


def garbled(text: str) -> bool:
    """Whether a page's extracted text differs from what is printed: characters outside any language (a font without
    character map), or letters that form no words (a font with a wrong map).

    >>> garbled("\\ue001\\ue002\\ufffd" * 30), garbled("Überstunden – 加班 – сверхурочные " * 3)
    (True, False)
    >>> garbled("(PSOR\\\\HHV DFFUXH OHDYH HYHU\\\\ PRQWK LQ WKH PRQWK\\n" * 12)
    True
    """
    visible = Counter(text)
    total = sum(count for character, count in visible.items() if not character.isspace())
    if total < _GARBLED_LEAST:
        return False
    odd = sum(count for character, count in visible.items() if _is_odd(character))
    return odd / total > _GARBLED_SHARE or _is_shifted(text, visible)


def _is_odd(character: str) -> bool:
    return not character.isspace() and (character == "\ufffd" or unicodedata.category(character) in {"Co", "Cn", "Cc"})


def _is_shifted(text: str, visible: Counter[str]) -> bool:
    """Whether Latin letters have an implausible share of vowels, in text long enough to judge."""
    letters = sum(count for character, count in visible.items() if _LATIN.match(character))
    vowels = sum(count for character, count in visible.items() if _VOWELS.match(character))
    if letters < _LETTERS_LEAST or _FEW_VOWELS * letters <= vowels <= _MOST_VOWELS * letters:
        return False
    words = re.findall(r"[^\W\d_]{4,}", text)
    if len(words) < _WORDS_LEAST:
        return False
    wordless = sum(not _VOWELS.search(word) for word in words) / len(words)
    return wordless > _WORDLESS or not _HARDLY_VOWELS * letters <= vowels <= _MOST_VOWELS * letters


def mojibake(text: str) -> bool:
    """Whether text was decoded with the wrong encoding, so that "ü" appears as "Ã¼".

    >>> mojibake("Ãœberstunden mÃ¼ssen bezahlt werden, sagt das MÃ¤rchen."), mojibake("Überstunden müssen, fair.")
    (True, False)
    """
    from ftfy.badness import badness

    if text.isascii() or len(_SUSPECT.findall(text)) < _MOJIBAKE_LEAST:
        return False
    found = badness(text)
    return found >= _MOJIBAKE_LEAST and found / len(text) >= _MOJIBAKE_SHARE


_BROKEN_IN_CELL = re.compile(r"([^\W\d_]+)\ufffe ([^\W\d_]+)")

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def mended(pages: list[list[LayoutLine]]) -> list[list[LayoutLine]]:
    """Rejoins words broken at line ends; the second half moves up to the first."""
    known = Counter(word.lower() for page in pages for line in page for word in _WORD.findall(line.text))
    return [_mended_page(page, known) for page in pages]


def _mended_page(lines: list[LayoutLine], known: Counter[str]) -> list[LayoutLine]:
    mended: list[LayoutLine] = []
    for line in lines:
        text = clean(line.text.replace("\ufffe", "\ue0ff")).replace("\ue0ff", "\ufffe")
        if mended and mended[-1].text.endswith("\ufffe") and line.row is None:
            head, _, rest = text.lstrip().partition(" ")
            mended[-1] = mended[-1].with_text(_joined(mended[-1].text[:-1], head, known))
            if not rest.strip():
                continue
            text = rest
        mended.append(line.with_text(text.rstrip()))
    if mended and mended[-1].text.endswith("\ufffe"):
        mended[-1] = mended[-1].with_text(mended[-1].text[:-1] + "-")
    return [line.with_text(_mended_inside(line.text, known)) for line in mended]


def _mended_inside(text: str, known: Counter[str]) -> str:
    """Rejoins words broken at line ends within a cell, and turns other marks into hyphens."""
    if "\ufffe" not in text:
        return text
    return _BROKEN_IN_CELL.sub(lambda word: _joined(word[1], word[2], known), text).replace("\ufffe", "-")


def _joined(before: str, after: str, known: Counter[str]) -> str:
    """Two halves of a word, with or without hyphen, as written in the rest of the document."""
    left = re.search(r"[^\W\d_]+$", before)
    right = re.match(r"[^\W\d_]+", after)
    if left is None or right is None or right.group()[0].isupper():
        return f"{before}-{after}"
    joined, hyphened = f"{left.group()}{right.group()}".lower(), f"{left.group()}-{right.group()}".lower()
    both_words = known[left.group().lower()] > 1 and known[right.group().lower()] > 1
    keep = known[hyphened] > known[joined] or (not known[joined] and both_words)
    return f"{before}-{after}" if keep else f"{before}{after}"


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)

_GUESS_BYTES = 100_000  # Chosen by hand, not fitted.

_STATED = re.compile(rb"<(?:\?xml[^>]*?encoding|meta[^>]*?charset)\s*=\s*[\"']?\s*([\w-]{2,30})", re.I)

_STATED_BYTES = 4_096  # Chosen by hand, not fitted.

_WEB_ENCODINGS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
"""What a declared encoding stands for, by Python's names, where they differ: the WHATWG Encoding Standard."""

_CONTROLS = re.compile("[\x80-\x9f]")

_JAPANESE = re.compile(rb"\x1b\$[@B]")

_STRAY = re.compile("[\udc80-\udcff]")

_MOST_STRAY = 0.1
"""Limit, in non-ASCII characters, for bytes of another encoding pasted into UTF-8 text. Chosen by hand."""

_ONE_SCRIPT = 0.8  # Chosen by hand, not fitted.

_EAST_ASIAN = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef \r\n]")

_HIGH = re.compile(rb"[A-Za-z]?[\x80-\xff]+[A-Za-z]?")

_NEIGHBOURS = re.compile(rb"[\x80-\xff]{2}")

_UNWRITTEN = re.compile(r"(?<![^\W\d_])[^\W\d_a-zA-Z]{2,}(?![^\W\d_])|[^\W\d_a-zA-Z]{3,}")
"""Words without an ASCII letter, and three others in a row: no language in Latin letters has many."""

_LANGUAGE_BYTES = 20_000  # Chosen by hand, not fitted.

_WESTERN = "àáâãäåæçèéêëìíîïñòóôõöøùúûüÿßœšž"

_LATIN_ENCODINGS: dict[str, dict[str, str]] = {
    "cp1252 iso8859_15 cp850 mac_roman": {
        **dict.fromkeys("en de fr es it pt nl sv da no nb nn fi ca gl eu ga lb".split(), _WESTERN),
        "is": f"{_WESTERN}ýþð",
    },
    "cp1250 iso8859_2 cp852 mac_latin2": {
        "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "hr": "čćđšž",
        "bs": "čćđšž", "sl": "čćđšž", "ro": "ăâîşţ", "sq": "ëç",
    },
    "cp1257 iso8859_13 cp775": {"lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "et": "äöõüšž"},
    "cp1254 cp857": {"tr": "çğıİöşüâîû"},
}  # fmt: skip
"""Latin encodings, the likeliest first, with the languages written in them and their letters beyond ASCII."""

_SIGNS = "€£¢¥§°–—‘’“”„‚«»‹›…•·¶©®™½¼¾¹²³±×÷¬¦¨¯´¸µªº¿¡‰†\xa0\xad"

_INSIDE_WORDS, _NOT_AFTER_LETTERS, _NOT_BEFORE_LETTERS = "’–—·´\xad", "„‚¿¡£½¼¾±‰", "™‰†¹²³ªº"

_ODD_SHARE = 0.25  # of the characters beyond ASCII. Chosen by hand, not fitted.


def decoded(name: str, data: bytes) -> tuple[str, str]:
    """The decoded text and a warning ("" if the encoding is certain).

    Order: byte order mark, UTF-8, UTF-16 by zero bytes, declaration in an HTML or XML head, most likely encoding.
    Raises UnreadableFile if nothing fits.

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
    if stated and (text := _fits(data, to_encoding(stated[1].decode("ascii")))) is not None:
        return text, ""
    return _pasted(data) or _guessed(name, data)


def to_encoding(label: str) -> str:
    """The encoding that a declared one stands for, as in a browser: files labelled with a standard hold the signs of
    its Windows superset. "" if it is unknown.

    >>> b"10\\x9620 days, \\x80 5".decode(to_encoding("ISO-8859-1")), to_encoding("UTF-8"), to_encoding("no-such-code")
    ('10–20 days, € 5', 'utf-8', '')
    """
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    return _WEB_ENCODINGS.get(name, name)


def windows_signs(text: str) -> str:
    """The text with control characters of ISO 8859-1 as the signs that they are in Windows.

    >>> windows_signs("10\\x9620 days")
    '10–20 days'
    """
    return _CONTROLS.sub(lambda sign: sign.group().encode("latin-1").decode("cp1252", "ignore"), text)


def _fits(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def wide_encoding(data: bytes) -> str:
    """UTF-16 or UTF-32 without byte order mark, detected by zero bytes: most characters share one or two high bytes, or
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
    """Whether non-UTF-8 bytes decode almost entirely to Chinese, Japanese or Korean characters."""
    text = _fits(head[: len(head) // 2 * 2], encoding)
    if not text or _fits(head, "utf-8") is not None:
        return False
    return len(_EAST_ASIAN.findall(text)) >= _ONE_SCRIPT * len(text)


def _pasted(data: bytes) -> tuple[str, str] | None:
    """UTF-8 with a few bytes of another encoding, pasted or appended; None if it is not that."""
    text = data.decode("utf-8", "surrogateescape")
    stray = len(_STRAY.findall(text))
    beyond = sum(letter > "\x7f" for letter in text) - stray
    if stray > _MOST_STRAY * (beyond + stray):
        return None
    letters = "1 letter that is" if stray == 1 else f"{stray} letters that are"
    decoded = _STRAY.sub(lambda letter: bytes([ord(letter.group()) - 0xDC00]).decode("cp1252", "replace"), text)
    return decoded, f"The text holds {letters} not in its encoding (UTF-8). Look whether accents and signs are right."


def _guessed(name: str, data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_GUESS_BYTES]).best()
    if best is None:
        raise UnreadableFile(f"'{name}' is not text in any known encoding.", "Save it as UTF-8 text and upload that.")
    encoding = _latin(data[:_GUESS_BYTES], best.encoding) or best.encoding
    text = data.decode(encoding, "replace")
    return text, f"The encoding was guessed: {encoding}. Look whether accents and signs are right."


def _latin(head: bytes, guess: str) -> str:
    """The Latin encoding with the fewest odd characters, of equal ones that of the text's language, whatever Latin
    encoding was guessed: in tables, the guess is often wrong. "" for other scripts and where each has many."""
    from py3langid import classify

    latin = _is_latin(guess)
    if not latin and _NEIGHBOURS.search(head):
        return ""
    rows = []
    for encodings, alphabets in _LATIN_ENCODINGS.items():
        language = str(classify(head[:_LANGUAGE_BYTES].decode(encodings.split()[0], "replace"))[0])
        letters = alphabets.get(language) or "".join(alphabets.values())
        rows.append((language not in alphabets, encodings.split(), letters))
    pieces = Counter(_HIGH.findall(head))
    odd = {
        encoding: sum(count * _odd(piece.decode(encoding, "replace"), letters) for piece, count in pieces.items())
        for _, encodings, letters in sorted(rows, key=lambda row: row[0])
        for encoding in encodings
    }
    best = min(odd, key=odd.__getitem__)
    high = len(head.translate(None, bytes(range(128))))
    return best if odd[best] <= (_ODD_SHARE * high if latin else 0) else ""


def _is_latin(encoding: str) -> bool:
    """Whether most letters of an encoding beyond ASCII are Latin."""
    letters = [sign for sign in bytes(range(128, 256)).decode(encoding, "ignore") if sign.isalpha()]
    return sum(bool(_LATIN.match(letter)) for letter in letters) > len(letters) / 2


def _odd(piece: str, letters: str) -> int:
    """How many characters beyond ASCII are no sign or letter for their place, if a language has these letters.

    >>> _odd("tät", _WESTERN), _odd("t„t", _WESTERN), _odd("cÉ", _WESTERN), _odd("Да", _WESTERN)
    (0, 1, 1, 4)
    """
    odd = 0
    for before, sign, after in zip(f" {piece}", piece, f"{piece[1:]} ", strict=False):
        if sign.isalpha():
            odd += not sign.isascii() and (
                not {sign, sign.lower()} & {*letters} or (sign.isupper() and before.islower())
            )
        elif before.isalpha():
            odd += sign not in _SIGNS or sign in _NOT_AFTER_LETTERS or (after.isalpha() and sign not in _INSIDE_WORDS)
        else:
            odd += sign not in _SIGNS or (after.isalpha() and sign in _NOT_BEFORE_LETTERS)
    return odd + sum(map(len, _UNWRITTEN.findall(piece)))
