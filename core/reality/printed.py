"""An answer from tables as text for a terminal."""

from core.printed import aligned
from core.reality.spoken import cell_in_words
from core.table_answers import TableAnswer

__all__ = ["table_answer_text"]

_SHOWN_ROWS = 20


def table_answer_text(answer: TableAnswer) -> str:
    """The answer, how the question was read, its first rows, where they stand, and the SQL; or why there is none."""
    if answer.rows is None:
        return f"No answer: {answer.refusal}"
    rows = [tuple(cell_in_words(cell) for cell in row) for row in answer.rows.rows[:_SHOWN_ROWS]]
    more = answer.rows.total - len(rows)
    parts = [answer.headline, f"Read as: {answer.reading}", *answer.notes, ""]
    parts += [aligned(answer.rows.columns, rows), *([f"… and {more:,} more"] if more > 0 else []), ""]
    parts += [answer.citation, "", answer.rows.sql]
    parts += [f"Or: {other.reading}" for other in answer.others]
    return "\n".join(parts)
