"""Benchmark of a million typed rows: parsed in a separate process, loaded with COPY, queried; against pandas to_sql."""

import csv
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from random import Random

from adapters.sandboxed_reader import SandboxedReader
from bench.measured import Headline, Report, clock, quantile
from bootstrap.environment import utc_now
from bootstrap.workbench import settings_from_environment
from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Grouping,
    TableQuery,
)
from core.domain.datasets import ColumnType, ReadTable, RealityTable
from core.domain.documents import Document, DocumentState
from core.formats.terminal import aligned
from storage.datasets.store import SqlTableStore
from storage.embedded_postgres.server import start_embedded
from storage.migrations import migrate
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for

__all__ = ["run"]

_SAMPLE = Path(__file__).parents[1] / "sample" / "library" / "employees.csv"
_COLUMNS = 10  # of the table that is made. Chosen by hand.
_PEER_ROWS = 50_000  # pandas takes too long for more; its time for all rows follows from these
_TIMES = 5  # runs of each question. Chosen by hand.
_SEED = 5  # any number: every run makes the same table


def run(files: Sequence[Path], *, rows: int = 1_000_000) -> Report:
    """Seconds and rows per second of the largest CSV among the files, or of the sample's employees, made so long; then
    the medians of queries on it. The peer reads and loads a part of the rows; its times are extrapolated."""
    source = max(
        (file for file in files if file.suffix == ".csv"), key=lambda file: file.stat().st_size, default=_SAMPLE
    )
    with tempfile.TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # as root, the server runs as the owner of its folder and must get there
        limits = settings_from_environment()
        reader = SandboxedReader(limits.file_seconds, limits.file_megabytes)
        lines = _lines(reader, source, folder, rows)
        data = "".join(lines).encode()
        with clock() as reading:
            [table] = reader.read("made.csv", data, folder).tables
        reader.close()
        with _database(folder / "data") as database:
            store = SqlTableStore(database)
            with clock() as loading:
                [stored] = store.load(_document(database), [table], utc_now())
            timed = [(words, *_timed(store, query)) for words, query in _queries(stored)]
            part = min(rows, _PEER_ROWS)
            peer = _peer_seconds(database, "".join(lines[: part + 1])) * rows / part
    total = reading.seconds + loading.seconds
    measured = [
        ("read and type, in a process apart", reading.seconds, rows / reading.seconds, peer / reading.seconds),
        ("load with COPY", loading.seconds, rows / loading.seconds, peer / loading.seconds),
        ("both", total, rows / total, peer / total),
        (f"pandas and to_sql, told from {part} rows", peer, rows / peer, 1.0),
    ]
    details = (
        _summary(source, table, len(data)),
        aligned(("way", "seconds", "rows/s", "times the peer"), measured),
        aligned((f"question, median of {_TIMES}", "ms", "rows in the answer"), timed),
    )
    headline = Headline(f"read and load {rows} rows", "s", total, "pandas and to_sql", peer)
    return Report([headline], "\n".join(details))


def _summary(source: Path, table: ReadTable, size: int) -> str:
    kinds = ", ".join(column.type for column in table.columns)
    return f"{source.name} made {size / 1e6:.0f} MB: {table.rows} rows loaded, {table.rejected} rejected; {kinds}"


def _lines(reader: SandboxedReader, source: Path, folder: Path, rows: int) -> list[str]:
    """The header and so many lines: real rows, shuffled anew each time they are used up. Of the columns those with a
    type of their own come first, ten in all."""
    [table] = reader.read(source.name, source.read_bytes(), folder).tables
    ranked = sorted(range(len(table.columns)), key=lambda at: table.columns[at].type is ColumnType.TEXT)
    chosen = sorted(ranked[:_COLUMNS])
    with source.open(encoding="utf-8-sig", newline="") as file:
        real = [_line([row[at] for at in chosen]) for row in csv.reader(file) if len(row) > max(chosen)]
    header, real = real[0], real[1:]
    random, made = Random(_SEED), [header]
    while len(made) <= rows:
        random.shuffle(real)
        made += real[: rows + 1 - len(made)]
    return made


def _line(cells: Sequence[str]) -> str:
    out = StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


@contextmanager
def _database(folder: Path) -> Iterator[Database]:
    """A library of its own on a fresh embedded server."""
    server = start_embedded(folder)
    engine = engine_for(server.url())
    try:
        migrate(engine)
        database = Database(engine, "bench")
        SqlCatalogue(database).register()
        yield database
    finally:
        engine.dispose()
        server.close()


def _document(database: Database) -> Document:
    made = Document(0, "made.csv", "0" * 64, 1, DocumentState.PENDING, utc_now())
    return SqlCatalogue(database).add_document(made)


def _queries(table: RealityTable) -> list[tuple[str, TableQuery]]:
    """A count with two conditions and an average by group, of columns that sort rows into few groups."""
    texts = [column for column in table.columns if column.type is ColumnType.TEXT and column.distinct > 1]
    group = min(texts or table.columns, key=lambda column: column.distinct)
    number = max((column for column in table.columns if column.type.numeric), key=lambda column: column.distinct)
    one, many = ColumnRef(table.name, group.name), ColumnRef(table.name, number.name)
    where = (
        AnyOf((Condition(one, Comparison.IS, (group.top[0][0],)),)),
        AnyOf((Condition(many, Comparison.MORE, (number.top[0][0],)),)),
    )
    count = TableQuery(table.name, where=where, measures=(AggregateMeasure(Aggregation.COUNT),))
    average = TableQuery(table.name, groups=(Grouping(one),), measures=(AggregateMeasure(Aggregation.AVERAGE, many),))
    return [
        (f"how many of one {group.name} above a {number.name}", count),
        (f"average {number.name} by {group.name}", average),
    ]


def _timed(store: SqlTableStore, query: TableQuery) -> tuple[float, int]:
    """Median milliseconds from the question's value to its rows, connecting included; how many rows."""
    spent = []
    for _ in range(_TIMES):
        with clock() as taken:
            answer = store.answer(query, 100)
        spent.append(1000 * taken.seconds)
    return quantile(spent, 0.5), len(answer.rows)


def _peer_seconds(database: Database, text: str) -> float:
    import pandas as pd

    with clock() as taken:
        frame = pd.read_csv(StringIO(text))
        frame.to_sql("peer", database.engine, index=False, method="multi", chunksize=1000)
    return taken.seconds
