"""What an analyst changed, laid over what was found."""

from core.enrich.keywords import MOST_KEYWORDS
from core.enrich.values import DocumentType, Edit, Keywords, Questions, Result, Summary

__all__ = ["edited"]


def edited(result: Result, edit: Edit | None) -> Result:
    """A result as it is shown: with keywords added and removed, the summary rewritten, the type corrected, questions
    taken out. Citations and dates cannot be edited.

    >>> from datetime import UTC, datetime
    >>> from core.enrich.values import Operation
    >>> edit = Edit(1, Operation.KEYWORDS, "Ann", datetime(2026, 1, 1, tzinfo=UTC), added=("leave",), removed=("Pay",))
    >>> edited(Keywords(("pay", "overtime")), edit)
    Keywords(words=('overtime', 'leave'))
    """
    if edit is None:
        return result
    match result:
        case Keywords(words=words):
            removed = {each.casefold() for each in edit.removed}
            added = {each.casefold() for each in edit.added}
            found = [each for each in words if each.casefold() not in removed | added]
            return Keywords((*found[: max(0, MOST_KEYWORDS - len(edit.added))], *edit.added))
        case Summary() if edit.value is not None:
            return Summary(result.sentences, edit.value)
        case DocumentType() if edit.value is not None:
            return DocumentType(edit.value, (), result.value, by_hand=True)
        case Questions(questions=questions):
            return Questions(tuple(each for each in questions if each.question not in edit.removed))
    return result
