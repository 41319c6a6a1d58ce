"""How the columns of an answer are called."""

from core.table_queries import Fold, Grouping, Measure, TableQuery
from core.tabular import ROW_COLUMN

__all__ = ["COUNTED", "group_name", "names_of", "written_measure"]

COUNTED = "groups"


def written_measure(measure: Measure) -> str:
    """A measure's column name in the answer.

    >>> written_measure(Measure(Fold.AVERAGE, Ref("employees", "pay_rate")))
    'average_pay_rate'
    """
    if measure.fold is Fold.COUNT and measure.ref is None:
        return "rows"
    if measure.ref is None:
        return "share"
    words = {Fold.DISTINCT: "different", Fold.SUM: "total", Fold.LEAST: "lowest", Fold.MOST: "highest"}
    return f"{words.get(measure.fold, measure.fold.value)}_{measure.ref.column.strip('_')}"[:63]


def names_of(query: TableQuery) -> tuple[str, ...]:
    """The columns of the answer.

    >>> names_of(TableQuery("employees", columns=(Ref("employees", "name"),)))
    ('_row', 'name')
    """
    if query.counted:
        return (COUNTED,)
    if query.groups or query.measures:
        return (*map(group_name, query.groups), *map(written_measure, query.measures))
    listed = tuple(ref.column for ref in query.columns)
    return listed if query.distinct else (ROW_COLUMN, *listed)


def group_name(group: Grouping) -> str:
    """What rows were put together by."""
    return group.ref.column if group.part is None else f"{group.part.value}_of_{group.ref.column}"
