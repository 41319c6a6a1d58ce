"""Parquet: typed columns, shown as a reader would write them."""

from io import BytesIO

from core.errors import EmptyFile, UnreadableFile
from core.ingest.extract.clean import clean
from core.ingest.extract.shown import shown
from core.ingest.extract.tables import Table

__all__ = ["parquet_tables"]


def parquet_tables(name: str, data: bytes) -> list[Table]:
    """The one table of a file. Raises EmptyFile, UnreadableFile."""
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        read = parquet.read_table(BytesIO(data))
        columns = [[shown(value) for value in column.to_pylist()] for column in read.columns]
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        told = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise UnreadableFile(f"'{name}' is damaged: {told}.", "Export it again.") from error
    if not read.num_rows or not read.num_columns:
        raise EmptyFile(f"'{name}' holds no row.", "Export the table again.")
    headers = tuple(clean(header).strip() or f"Column {at}" for at, header in enumerate(read.column_names, 1))
    return [Table("Table", headers, tuple(zip(*columns, strict=True)))]
