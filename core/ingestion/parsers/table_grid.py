"""Places the cells of a table in its columns, with those that span rows or columns."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["GridCell", "TableGrid"]

_MOST_COLUMNS = 50  # that a cell spans. This and the limits below were chosen by hand, not fitted.
_REPEATED_LETTERS = 200  # of a cell; a longer one is read once
_MOST_REPEATED = 1_000_000  # letters in a table
_SEPARATOR_LETTERS = 3


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell as its row holds it. columns, rows: how many it spans."""

    text: str
    columns: int = 1
    rows: int = 1
    header: bool = False


class TableGrid:
    """Repeats a cell that spans rows in each. One that spans columns is repeated in a header, and followed by empty
    cells elsewhere; a row of one cell is a title and stays one. Expects rows in order.

    >>> grid = TableGrid()
    >>> grid.place([GridCell("Austria", rows=2), GridCell("2023"), GridCell("6 %")])
    ['Austria', '2023', '6 %']
    >>> grid.place([GridCell("2024"), GridCell("7 %")])
    ['Austria', '2024', '7 %']
    """

    def __init__(self) -> None:
        self._above: dict[int, tuple[int, str | None]] = {}  # by column: rows still to fill, text
        self._letters = _MOST_REPEATED

    def end_group(self) -> None:
        """Ends all cells, as the end of a table's head or body does."""
        self._above.clear()

    def place(self, cells: Sequence[GridCell]) -> list[str]:
        """The texts of a row by column; empty for a row without any text of its own."""
        row = {column: text for column, (_, text) in self._above.items()}
        self._above = {column: (left - 1, text) for column, (left, text) in self._above.items() if left > 1}
        column = 0
        is_title = len(cells) == 1 and not row
        for cell in cells:
            while column in row:
                column += 1
            width = 1 if is_title or self._letters <= 0 else min(max(cell.columns, 1), _MOST_COLUMNS)
            short = cell.text if len(cell.text) <= _REPEATED_LETTERS else ""
            for at in range(width):
                again = short if at == 0 or cell.header else None
                row[column + at] = again if at else cell.text
                self._letters -= len(again or "") + _SEPARATOR_LETTERS if at else 0
                if cell.rows > 1:
                    self._above[column + at] = (cell.rows - 1, again)
            column += width
        self._letters -= sum(len(text or "") + _SEPARATOR_LETTERS for _, text in self._above.values())
        if self._letters <= 0:
            self._above.clear()
        last = max((at for at, text in row.items() if text is not None), default=-1)
        return [row.get(at) or "" for at in range(last + 1)] if any(cell.text for cell in cells) else []
