"""Warnings about pages: read by OCR, or not readable."""

from collections.abc import Sequence

from core.ports.reader import INSTALL, OcrRun

__all__ = ["recognition_warnings", "which"]

_MOST_NAMED = 12  # Chosen by hand, not fitted.


def which(numbers: Sequence[int | str], total: int, noun: str, one: str = "contains", many: str = "contain") -> str:
    """The start of a sentence that counts and lists pages or sheets; the caller completes it.

    >>> which([2, 5, 9], 12, "page"), which([4], 4, "slide", "is", "are"), which([1], 1, "page")
    ('3 of 12 pages (2, 5, 9) contain', '1 of 4 slides (4) is', 'The only page contains')
    """
    if total == 1:
        return f"The only {noun} {one}"
    named = ", ".join(map(str, numbers[:_MOST_NAMED])) + (" …" if len(numbers) > _MOST_NAMED else "")
    return f"{len(numbers)} of {total:,} {noun}s ({named}) {one if len(numbers) == 1 else many}"


_SURE = 70.0  # Chosen by hand, not fitted.

_CONTAIN, _WERE = ("contains", "contain"), ("was", "were")

_LATE = (
    "only pictures whose text could not be read in the time one file may take; raise FIVEFOLD_FILE_SECONDS, "
    "or split the file."
)


def recognition_warnings(
    found: OcrRun | None, texts: Sequence[str], odd: Sequence[int], pictured: Sequence[int] = ()
) -> list[str]:
    """One warning per kind of problem, with page numbers; `texts`: the texts of all pages.

    found: None if OCR did not run. odd: pages with garbled text. pictured: pages that appear to be pictures with little
    or no text of their own.

    >>> [told] = recognition_warnings(None, ["", "Leave", ""], [], [1])
    >>> told.split(". ")[0]
    '1 of 3 pages (1) contains no text that could be read, only pictures'
    """
    total = len(texts)
    pages = found.pages if found is not None else {}
    late = found.late if found is not None else ()
    read = sorted(at for at, page in pages.items() if page.lines)
    unread = [at for at in pictured if at not in late and at not in read]
    empty = [at for at in unread if not texts[at - 1].strip()]
    covered = [at for at in unread if at not in empty] if found is None else []
    remedy = "" if found is not None else f" {INSTALL}."
    doubtful = [at for at in read if pages[at].sure < _SURE]
    notices = (
        (empty, _CONTAIN, f"no text that could be read, only pictures.{remedy}"),
        (covered, _CONTAIN, "a picture whose text, if it shows any, could not be read."),
        (late, _CONTAIN, _LATE),
        (odd, _CONTAIN, "garbled text: the file lacks the letters of its fonts."),
        (read, _WERE, "read by text recognition (OCR); look whether letters and figures are right."),
        (doubtful, _CONTAIN, "text so unclear that part of it could not be read."),
    )
    return [f"{which(numbers, total, 'page', *verb)} {words}" for numbers, verb, words in notices if numbers]
