"""Equations of Office files as a line of text: 1/2, x^2, √(a + b)."""

import re
from typing import Any

__all__ = ["MATH", "equation_text", "term"]

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_APART = "\x00"  # a blank if letters or digits stand on both sides ("2 1/2")
_SIGNS = {
    "f": (("num", ""), ("den", "/")),
    "sSup": (("e", ""), ("sup", "^")),
    "sSub": (("e", ""), ("sub", "_")),
    "sSubSup": (("e", ""), ("sub", "_"), ("sup", "^")),
    "rad": (("e", "√"),),
    "nary": (("sub", "_"), ("sup", "^"), ("e", " ")),
}
_CELLS = frozenset({"eqArr", "mr"})


def equation_text(node: Any) -> str:
    """The text of an `m:oMath` element."""
    return re.sub(rf"(?<=\w){_APART}+(?=\w)", " ", _linear(node)).replace(_APART, "")


def term(text: str) -> str:
    """A part of an equation, in parentheses unless it is a number or a name.

    >>> term("2.5"), term("a + b")
    ('2.5', '(a + b)')
    """
    text = text.strip()
    return text if re.fullmatch(r"[\w.,%°]*", text) else f"({text})"


def _linear(node: Any) -> str:
    return "".join(_part(child) for child in node.iterchildren() if isinstance(child.tag, str))


def _part(node: Any) -> str:
    kind = node.tag.rpartition("}")[2]
    if kind == "t":
        return node.text or ""
    if kind.endswith("Pr") or kind in {"instrText", "delText"}:
        return ""
    if kind in _SIGNS:
        parts = ((sign, node.find(MATH + name)) for name, sign in _SIGNS[kind])
        texts = [(sign, equation_text(part).strip()) for sign, part in parts if part is not None]
        text = "".join(sign + term(text) for sign, text in texts if text)
        return {"f": f"{_APART}{text}{_APART}", "nary": _sign(node, "chr", "∫") + text}.get(kind, text)
    if kind == "d":
        inner = _sign(node, "sepChr", "|").join(_linear(part) for part in node.findall(f"{MATH}e"))
        return _sign(node, "begChr", "(") + inner + _sign(node, "endChr", ")")
    if kind in _CELLS:
        return " ".join(_linear(part) for part in node.findall(f"{MATH}e"))
    return _linear(node)


def _sign(node: Any, name: str, usual: str) -> str:
    found = node.find(f"{node.tag}Pr/{MATH}{name}")
    return usual if found is None else str(found.get(f"{MATH}val", ""))
