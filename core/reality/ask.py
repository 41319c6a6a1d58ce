"""A question in words → a query → its rows; deterministic, and silent rather than guessing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from core.matching import STOP_WORDS, stem
from core.reality.conditions import Unclear, conditions_of
from core.reality.lexicon import Meaning, Values, entity_stems, values_of
from core.reality.reach import Reach, reach_from
from core.reality.reading import Item, Read, Words, read, taken_apart
from core.reality.shape import refs_of, shaped
from core.reality.spelling import corrections
from core.reality.spoken import headline_of, place_of, query_in_words, tables_of
from core.reality.store import TableStore
from core.reality.words import Token, value_words
from core.table_answers import OtherReading, TableAnswer
from core.table_queries import AnyOf, Fold, Measure, Ref, TableQuery, Test
from core.tables.asking import asking
from core.tabular import ColumnType, RealityTable

__all__ = ["MOST_ROWS", "Asker"]

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
            for variant in _variants(got):
                try:
                    query, loose = _composed(words, variant.items, reach)
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


def _composed(words: Words, items: Sequence[Item], reach: Reach) -> tuple[TableQuery, float]:
    """The query of a reading, and what to take off its score for items that came to nothing."""
    told = list(items)
    found = conditions_of(words, told, reach)
    items = told
    query, doubt = shaped(words, items, reach, found)
    doubt += _picked(query, reach)
    spoken_of = {ref.table for ref in refs_of(query)} | set(tables_of(query))
    loose = [
        item
        for place, item in enumerate(items)
        if place not in found.used and not _little(words, item) and not _on_the_way(item, reach, spoken_of)
    ]
    counted = [item for item in loose if item.kind in ("number", "date", "value", "not", "more", "less", "column")]
    if any(item.kind in _MEANT for item in loose):
        raise Unclear(
            "A part of the question could not be put together: " + ", ".join(_phrase(words, i) for i in counted)
        )
    return query, 1.0 * len(counted) + doubt


_MEANT = frozenset(
    ("number", "date", "value", "not", "empty", "column", "more", "less", "at_least", "at_most", "between", "or")
)


def _on_the_way(item: Item, reach: Reach, spoken_of: Collection[str]) -> bool:
    """Whether a name only says which way a condition goes: "requests of people in Sales"."""
    if item.meaning is None or item.kind not in ("table", "column"):
        return False
    if item.kind == "table":
        return item.meaning.way.alias in spoken_of
    target = reach.target(item.meaning.way.alias, item.meaning.ref.column)
    return target is not None and target.alias in spoken_of


def _little(words: Words, item: Item) -> bool:
    """Whether a name was read into words that may as well mean nothing: "paid", "made"."""
    if item.kind == "between":
        return words.said[item.first].word == "from"
    return item.kind in ("column", "table") and all(
        token.stem in asking().ignorable for token in words.said[item.first : item.last]
    )


def _picked(query: TableQuery, reach: Reach) -> float:
    """Counting the one row a name picks out of a code table is hardly what was asked, when other tables use its codes."""
    pointed = any(way.back is not None for way in reach.ways.values())
    counts = query.measures == (Measure(Fold.COUNT),) and not query.groups
    names = {column.name for column in reach.base.columns if column.distinct == reach.base.rows}
    picked = any(
        isinstance(clause, AnyOf)
        and any(
            each.test is Test.IS and each.ref == Ref(reach.base.name, each.ref.column) and each.ref.column in names
            for each in clause.conditions
        )
        for clause in query.where
    )
    return 1.5 if pointed and counts and picked else 0.0


def _phrase(words: Words, item: Item) -> str:
    return f"'{words.question[words.said[item.first].start : words.said[item.last - 1].end]}'"


def _variants(got: Read) -> list[Read]:
    """The reading itself, and one for each rival of each name in it."""
    variants = [got]
    for place, item in enumerate(got.items):
        for rival in item.rivals:
            if not _same(rival, item.meaning):
                items = list(got.items)
                items[place] = replace(item, kind=rival.kind, meaning=rival, rivals=())
                variants.append(Read(tuple(items), got.unexplained, got.score - 0.5))
    return variants[:8]


def _same(one: Meaning, other: Meaning | None) -> bool:
    return (
        other is not None and one.kind == other.kind and one.way.alias == other.way.alias and one.column == other.column
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
        words = ", ".join(f"'{token.word}'" for token in unexplained)
        return f"The tables hold nothing called {words}."
    return problem or "No table is about this."


def _phrases(words: Words) -> list[str]:
    said = words.said
    found = []
    for first in range(len(said)):
        for last in range(first + 1, min(first + _LONGEST_PHRASE, len(said)) + 1):
            if not (last - first == 1 and (said[first].word in STOP_WORDS or said[first].stem in asking().ignorable)):
                found.append(words.question[said[first].start : said[last - 1].end].lower().strip("\"'“”"))
    return list(dict.fromkeys(found))


def _left_out(names: Sequence[str], tables: Mapping[str, RealityTable]) -> tuple[str, ...]:
    return tuple(
        f"{tables[name].rejected:,} of the rows of {tables[name].document_name} could not be read and are not counted."
        for name in names
        if tables[name].rejected
    )
