"""Signs of Word documents that are no letters: symbols of symbol fonts, and boxes and choices of form fields."""

from typing import Any

__all__ = ["field_text", "font_text", "symbol_text"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SIGNS = {
    "Symbol": {
        **{ord("A") + at: sign for at, sign in enumerate(_GREEK[0])},
        **{ord("a") + at: sign for at, sign in enumerate(_GREEK[1])},
        **dict(zip(range(0xA2, 0xA6), "′≤⁄∞", strict=True)),
        **dict(zip(range(0xAC, 0xC0), "←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵", strict=True)),
        0xD6: "√", 0xD7: "⋅", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫",
    },
    "Wingdings": {0x6F: "☐", 0x70: "☐", 0x71: "☐", 0x72: "☐", 0x78: "☒", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xE0: "→",
                  0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    "Wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
}  # fmt: skip
"""Of symbol fonts, by the byte of a character: the sign that it shows."""


def symbol_text(symbol: Any) -> str:
    """The sign of a `w:sym`; one of an unknown font or place as the character that it names.

    >>> symbol_text({f"{_W}font": "Wingdings", f"{_W}char": "F0FE"})
    '☑'
    """
    try:
        code = int(symbol.get(f"{_W}char", ""), 16)
    except ValueError:
        return ""
    signs = _SIGNS.get(symbol.get(f"{_W}font", ""), {})
    return signs.get(code & 0xFF, chr(code)) if 0x20 <= code <= 0xFFFF else ""


def font_text(text: str, font: str) -> str:
    """Letters in a symbol font as the signs that they show.

    >>> font_text("m", "Symbol"), font_text("m", "Arial")
    ('μ', 'm')
    """
    signs = _SIGNS.get(font)
    return text if signs is None else "".join(signs.get(ord(each) & 0xFF, each) for each in text)


def field_text(field: Any) -> str:
    """What a form field of Word 97 to 2003 shows beside its result: its box, or its choice. field: `w:fldChar`."""
    box, choices = field.find(f".//{_W}checkBox"), field.find(f".//{_W}ddList")
    if box is not None:
        state = box.find(f"{_W}checked")
        state = box.find(f"{_W}default") if state is None else state
        ticked = state is not None and state.get(f"{_W}val", "1") not in {"0", "false", "off"}
        return "☒" if ticked else "☐"
    if choices is not None and not _has_result(field):
        entries = [entry.get(f"{_W}val", "") for entry in choices.findall(f"{_W}listEntry")]
        chosen = choices.find(f"{_W}result")
        chosen = choices.find(f"{_W}default") if chosen is None else chosen
        place = "0" if chosen is None else chosen.get(f"{_W}val", "0")
        return entries[int(place)] if place.isdecimal() and int(place) < len(entries) else ""
    return ""


def _has_result(field: Any) -> bool:
    """Whether text follows that shows the value of the field."""
    kinds = (
        each.get(f"{_W}fldCharType") for run in field.getparent().itersiblings() for each in run.iter(f"{_W}fldChar")
    )
    return next(kinds, "") == "separate"
