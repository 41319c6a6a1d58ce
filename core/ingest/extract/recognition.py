"""What a reader is told about pages that were read by text recognition, or could not be."""

from collections.abc import Sequence

from core.ingest.extract.counted import which
from core.ingest.extract.ocr import INSTALL, Recognition

__all__ = ["recognition_warnings"]

_SURE = 70.0
_HOLD, _WERE = ("holds", "hold"), ("was", "were")
_LATE = (
    "only pictures whose text could not be read in the time one file may take; raise FIVEFOLD_FILE_SECONDS, "
    "or split the file."
)


def recognition_warnings(
    found: Recognition | None, texts: Sequence[str], odd: Sequence[int], pictured: Sequence[int] = ()
) -> list[str]:
    """One sentence for each kind of doubt, with pages counted and named; `texts` are those of all pages.

    found: None where no text recognition was at work. odd: pages whose letters make no sense. pictured: pages that are
    pictures, as far as can be told without looking, with no text of their own or hardly any.

    >>> [told] = recognition_warnings(None, ["", "Leave", ""], [], [1])
    >>> told.split(". ")[0]
    '1 of 3 pages (1) holds no text that could be read, only pictures'
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
    told = (
        (empty, _HOLD, f"no text that could be read, only pictures.{remedy}"),
        (covered, _HOLD, "a picture whose text, if it shows any, could not be read."),
        (late, _HOLD, _LATE),
        (odd, _HOLD, "garbled text: the file lacks the letters of its fonts."),
        (read, _WERE, "read by text recognition (OCR); look whether letters and figures are right."),
        (doubtful, _HOLD, "text so unclear that part of it could not be read."),
    )
    return [f"{which(numbers, total, 'page', *verb)} {words}" for numbers, verb, words in told if numbers]
