"""Pages counted and named in the sentences of a document's warnings."""

from collections.abc import Sequence

__all__ = ["which"]

_MOST_NAMED = 12


def which(numbers: Sequence[int], total: int, noun: str, one: str = "holds", many: str = "hold") -> str:
    """The beginning of a sentence that counts pages and names them; the verb is the caller's.

    >>> which([2, 5, 9], 12, "page"), which([4], 4, "slide", "is", "are")
    ('3 of 12 pages (2, 5, 9) hold', '1 of 4 slides (4) is')
    """
    named = ", ".join(map(str, numbers[:_MOST_NAMED])) + (" …" if len(numbers) > _MOST_NAMED else "")
    plural = noun if total == 1 else f"{noun}s"
    return f"{len(numbers)} of {total:,} {plural} ({named}) {one if len(numbers) == 1 else many}"
