"""Removes characters that stores refuse."""

__all__ = ["storable_text"]


def storable_text(text: str) -> str:
    """The text with characters that PostgreSQL refuses (NUL, lone surrogates) replaced, one for one.

    >>> storable_text("a" + chr(0) + "b"), storable_text("c" + chr(0xD800))
    ('a\ufffdb', 'c?')
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
