"""A question in words → a query → its rows; deterministic, and silent rather than guessing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from core.matching import stem
from core.reality.composing import composed, variants
from core.reality.items import Unclear
from core.reality.lexicon import Values, entity_stems, values_of
from core.reality.reach import reach_from
from core.reality.reading import Words, read, taken_apart
from core.reality.spelling import corrections
from core.reality.spoken import headline_of, place_of, query_in_words, tables_of
from core.reality.store import TableStore
from core.reality.words import Token, value_words
from core.table_answers import OtherReading, TableAnswer
from core.table_queries import TableQuery
from core.tables.asking import asking
from core.tabular import ColumnType, RealityTable

__all__ = ["LONGEST_QUESTION", "MOST_ROWS", "Asker"]

LONGEST_QUESTION = 1_000
MOST_ROWS = 500
_OTHERS = 3
_NEAR = 1.0
_LONGEST_PHRASE = 4
_PERSONS = frozenset(stem(word) for word in ("employee", "staff", "worker", "person", "people", "customer", "manager"))
_REFUSALS = {
    "future": "The tables say what is, not what will be.",
    "advice": "The tables say what is, not what should be; ask the guidance and the rules on Search.",
    "reason": "The tables say what is, not why; ask the documents on Search.",
}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One whole reading, and how sure it is."""

    query: TableQuery
    score: float
    unexplained: tuple[Token, ...]


class Asker:
    """Answers questions over one tenant's tables. Thread-safe; what it keeps can be worked out again."""

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._values: dict[int, Values] = {}

    def ask(self, question: str, tables: Sequence[RealityTable], today: date) -> TableAnswer:
        """Answer one question from these tables. Raises StoreFailed."""
        if not tables:
            return TableAnswer(question, refusal="There is no table to ask.")
        if len(question) > LONGEST_QUESTION:
            return TableAnswer(
                question, refusal=f"The question has more than {LONGEST_QUESTION:,} letters; ask briefly."
            )
        refusal = _refused(question)
        if refusal:
            return TableAnswer(question, refusal=refusal)
        words = taken_apart(question, today)
        if not words.said:
            return TableAnswer(question, refusal="The question is empty.")
        found, corrected, problems = self._candidates(words, tables, today)
        if not found:
            return TableAnswer(question, refusal=problems)
        return self._answer(question, found, tables, corrected)

    def follow(self, question: str, query: TableQuery, tables: Sequence[RealityTable]) -> TableAnswer:
        """The rows of one reading that was chosen by hand."""
        return self._answer(question, [_Candidate(query, 0.0, ())], tables, ())

    # Reading

    def _candidates(
        self, words: Words, tables: Sequence[RealityTable], today: date
    ) -> tuple[list[_Candidate], tuple[str, ...], str]:
        """Whole readings, the surest first; misspelt words are read as the nearest known one, and told so."""
        found, problems = self._readings(words, tables, {})
        if found:
            return found, (), ""
        looked = self._looked_up(words, tables)
        if looked:
            found, problems = self._readings(words, tables, looked)
            if found:
                return found, (), ""
        corrected = corrections(problems[1], tables)
        if corrected:
            rest = words.question
            for token, word in sorted(corrected, key=lambda pair: -pair[0].start):
                rest = rest[: token.start] + word + rest[token.end :]
            again, others = self._readings(taken_apart(rest, today), tables, looked)
            if again:
                return again, tuple(f"'{token.word}' was read as '{word}'." for token, word in corrected), ""
            problems = others if not others[1] else problems
        return [], (), _no_answer(problems)

    def _readings(
        self, words: Words, tables: Sequence[RealityTable], looked: Mapping[str, Sequence[tuple[str, str]]]
    ) -> tuple[list[_Candidate], tuple[str, tuple[Token, ...]]]:
        """Readings that leave no word unexplained; and of those that do, the best: its problem and the words."""
        found: list[_Candidate] = []
        failed: list[tuple[float, str, tuple[Token, ...]]] = []
        for base in tables:
            reach = reach_from(base, tables)
            values = {alias: self._values_of(way.table, looked) for alias, way in reach.ways.items()}
            got = read(words, reach, values)
            if not any(item.meaning or item.kind == "rows" for item in got.items):
                failed.append((got.score - 5, "", got.unexplained))
                continue
            for variant in variants(got):
                try:
                    query, loose = composed(words, variant.items, reach)
                except Unclear as problem:
                    failed.append((got.score, str(problem), got.unexplained))
                    continue
                if got.unexplained:
                    failed.append((variant.score, "", got.unexplained))
                else:
                    asks_who = words.said[0].word in ("who", "whose", "whom") and bool(entity_stems(base) & _PERSONS)
                    found.append(_Candidate(query, variant.score - loose + asks_who, ()))
        found.sort(key=lambda candidate: -candidate.score)
        distinct = list({repr(candidate.query): candidate for candidate in reversed(found)}.values())
        distinct.sort(key=lambda candidate: -candidate.score)
        failed.sort(key=lambda failure: (len(failure[2]), -failure[0]))
        return distinct, (failed[0][1], failed[0][2]) if failed else ("", ())

    def _values_of(self, table: RealityTable, looked: Mapping[str, Sequence[tuple[str, str]]]) -> Values:
        if table.id not in self._values:
            self._values[table.id] = values_of(table)
        known = self._values[table.id]
        if table.name not in looked:
            return known
        more = Values(dict(known.whole), known.holding, known.columns)
        for name, value in looked[table.name]:
            column = table.column(name)
            if column is not None:
                key = value_words(value)
                more.whole[key] = [*more.whole.get(key, []), (column, value)]
        return more

    def _looked_up(self, words: Words, tables: Sequence[RealityTable]) -> dict[str, list[tuple[str, str]]]:
        """Values of columns that hold too many to be listed, found where they stand."""
        phrases = _phrases(words)
        found: dict[str, list[tuple[str, str]]] = {}
        for table in tables:
            for column in table.columns:
                if column.type is ColumnType.TEXT and not column.values and column.distinct and phrases:
                    for value in self._store.find(table.name, column.name, phrases):
                        found.setdefault(table.name, []).append((column.name, value))
        return found

    # Answering

    def _answer(
        self, question: str, found: Sequence[_Candidate], tables: Sequence[RealityTable], notes: tuple[str, ...]
    ) -> TableAnswer:
        by_name = {table.name: table for table in tables}
        best = found[0]
        rows = self._store.answer(best.query, MOST_ROWS)
        read_tables = tables_of(best.query)
        others = [
            OtherReading(query_in_words(each.query, by_name), each.query)
            for each in found[1:]
            if each.score >= best.score - _NEAR
        ]
        reading = query_in_words(best.query, by_name)
        distinct = {other.reading: other for other in others if other.reading != reading}
        return TableAnswer(
            question=question,
            reading=reading,
            headline=headline_of(best.query, rows),
            query=best.query,
            rows=rows,
            tables=read_tables,
            citation=place_of(best.query, rows, by_name[best.query.table]),
            others=tuple(distinct.values())[:_OTHERS],
            notes=(*notes, *_left_out(read_tables, by_name)),
        )


def _refused(question: str) -> str:
    """Why no table can answer, whatever it holds; "" when one might."""
    said = f" {' '.join(question.lower().split()).strip('?!. ')} "
    for name, phrases in asking().refuse.items():
        for phrase in phrases:
            if f" {phrase} " in said and (name != "reason" or said.startswith(f" {phrase} ")):
                return _REFUSALS[name]
    return ""


def _no_answer(problems: tuple[str, tuple[Token, ...]]) -> str:
    problem, unexplained = problems
    if unexplained:
        words = ", ".join(dict.fromkeys(f"'{token.word}'" for token in unexplained))
        return f"The tables hold nothing called {words}."
    return problem or "No table is about this."


def _phrases(words: Words) -> list[str]:
    """Runs of up to four words that may be a value, small."""
    said = words.said
    runs = [
        said[first:last]
        for first in range(len(said))
        for last in range(first + 1, min(first + _LONGEST_PHRASE, len(said)) + 1)
    ]
    telling = [run for run in runs if len(run) > 1 or not (run[0].little or run[0].stem in asking().ignorable)]
    told = (words.question[run[0].start : run[-1].end].lower().strip("\"'“”") for run in telling)
    return list(dict.fromkeys(told))


def _left_out(names: Sequence[str], tables: Mapping[str, RealityTable]) -> tuple[str, ...]:
    return tuple(
        f"{tables[name].rejected:,} of the rows of {tables[name].document_name} could not be read and are not counted."
        for name in names
        if tables[name].rejected
    )
