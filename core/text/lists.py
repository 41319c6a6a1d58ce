"""Names in a sentence."""

from collections.abc import Sequence

__all__ = ["listed"]


def listed(names: Sequence[str], conjunction: str = "and") -> str:
    """One or more names as a sentence lists them.

    >>> listed(["a", "b", "c"], "or"), listed(["a", "b"]), listed(["a"])
    ('a, b or c', 'a and b', 'a')
    """
    return f" {conjunction} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
