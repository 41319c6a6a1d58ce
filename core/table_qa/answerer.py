"""Natural-language question → query → rows. Deterministic; refuses rather than guesses."""
# Over 300 lines: readings are ranked, answered, chosen and refused by the same scores.

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from core.domain.dataset_queries import OtherReading, Rows, TableAnswer, TableQuery
from core.domain.datasets import ColumnType, RealityTable
from core.knowledge.question_lexicon import asking
from core.table_qa.currencies import currency_notes
from core.table_qa.guided import GuidedForm, form_of_items, form_of_query
from core.table_qa.join_paths import reachable_tables
from core.table_qa.parsing.column_values import ColumnValues, index_values
from core.table_qa.parsing.items import Unclear, Undecided
from core.table_qa.parsing.lexicon import entity_stems
from core.table_qa.parsing.misspellings import corrections
from core.table_qa.parsing.reader import QuestionItem, QuestionWords, ambiguous_date, read_question, split_question
from core.table_qa.parsing.tokens import Token, plain_header, value_words
from core.table_qa.query_builder import aggregates_of, build_query, variants
from core.table_qa.query_description import citation_of, describe_query, headline, tables_of
from core.table_qa.store import TableStore
from core.text.tokenize import stem

__all__ = ["LONGEST_QUESTION", "MOST_ROWS", "TableAnswerer"]

LONGEST_QUESTION = 1_000
"""Characters of a question; parsing takes time quadratic in its words."""
MOST_ROWS = 500
"""Rows an answer holds; a page shows fewer, and the downloads ask for all."""
_MOST_TABLES = 128  # whose values are kept, unless there are more. Chosen by hand.
_MOST_OTHERS = 3  # other readings offered with an answer; chosen by hand
_OTHERS_MARGIN = 1.0
"""How much lower the score of another reading may be for it to be offered. Chosen by hand; not fitted."""
_TIE_MARGIN = 0.15
"""Readings whose scores differ by less are equally likely; when their answers differ, the question is not answered but
handed back with the choice. A little more than the least cost of a rival meaning."""
_ALTERNATIVE_COST = 0.001
"""Keeps alternatives that are as likely in their order."""
_UNNAMED_COST = 5
"""Keeps tables no word names behind all others when a refusal is worded."""
_LONGEST_PHRASE = 4
"""Words of a value that is looked up in the database, at most."""
_PERSONS = frozenset(stem(word) for word in ("employee", "staff", "worker", "person", "people", "customer", "manager"))
_YES_OR_NO = frozenset("is are was were do does did has have had can could".split())
"""First words of questions that ask for yes or no."""
_REFUSALS = {
    "yes or no": "Ask for a number or a list; questions for yes or no are not answered.",
    "future": "The tables say what is, not what will be.",
    "advice": "The tables say what is, not what should be; ask the guidance and the rules on Search.",
    "reason": "The tables say what is, not why; ask the documents on Search.",
}

_CHOOSE = "Choose what you meant."
_AMBIGUOUS = f"The question can be read in more than one way. {_CHOOSE}"

ValuesByTable = Mapping[str, Sequence[tuple[str, str]]]
"""Table → (column, value)s."""


@dataclass(frozen=True, slots=True)
class _ReadingCandidate:
    """A possible query for the question; a higher score is more certain."""

    query: TableQuery
    score: float
    unused: tuple[str, ...] = ()
    one_row: bool = False


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a reading gives no query. problem: in words, or "" when tokens are left unexplained. table, items: what was
    recognised of the question in which table. undecided: it is understood, but means more than one thing."""

    score: float = 0.0
    problem: str = ""
    unexplained: tuple[Token, ...] = ()
    table: RealityTable | None = None
    items: tuple[QuestionItem, ...] = ()
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Candidates, most certain first; without any, the failure that explains most words. notes: corrected spellings."""

    readings: Sequence[_ReadingCandidate] = ()
    failure: _Failure = field(default_factory=_Failure)
    notes: tuple[str, ...] = ()


class TableAnswerer:
    """Answers questions over one tenant's tables. Thread-safe: its cache of values can be computed again."""

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._values: OrderedDict[int, ColumnValues] = OrderedDict()

    def ask(self, question: str, tables: Sequence[RealityTable], today: date) -> TableAnswer:
        """Answer one question from these tables. Raises StoreFailed."""
        if not tables:
            return TableAnswer(question, refusal="There is no table to ask.")
        if len(question) > LONGEST_QUESTION:
            return TableAnswer(
                question, refusal=f"The question has more than {LONGEST_QUESTION:,} letters; ask briefly."
            )
        if refusal := _refusal_of_kind(question, tables):
            return TableAnswer(question, refusal=refusal)
        if date_read := ambiguous_date(question):
            return self._either_date(question, *date_read, tables, today)
        words = split_question(question, today)
        if not words.tokens:
            return TableAnswer(question, refusal="The question is empty.")
        found = self._candidates(words, tables, today)
        if not found.readings:
            return TableAnswer(question, refusal=_refusal_of_failure(found.failure))
        return self._answer(question, found.readings, tables, found.notes)

    def _either_date(
        self, question: str, written: str, one: str, other: str, tables: Sequence[RealityTable], today: date
    ) -> TableAnswer:
        """The choice between two readings of a date in numbers."""
        answers = [self.ask(question.replace(written, day), tables, today) for day in (one, other)]
        choices = tuple(OtherReading(each.reading, each.query) for each in answers if each.query is not None)
        refusal = f"{written} may be {one} or {other}. {_CHOOSE if choices else 'Write it as year, month and day.'}"
        return TableAnswer(question, refusal=refusal, others=choices)

    def follow(self, question: str, query: TableQuery, tables: Sequence[RealityTable]) -> TableAnswer:
        """The answer to a reading chosen by the user. Raises StoreFailed."""
        return self._answer(question, [_ReadingCandidate(query, 0.0)], tables, ())

    def form(self, question: str, tables: Sequence[RealityTable], today: date) -> GuidedForm | None:
        """The guided form filled with what is understood of a question; None without tables. Raises StoreFailed."""
        if not tables:
            return None
        words = split_question(question[:LONGEST_QUESTION], today)
        if not words.tokens:
            return GuidedForm(tables[0].name)
        found = self._candidates(words, tables, today)
        if found.readings:
            return form_of_query(found.readings[0].query)
        failure = found.failure
        return GuidedForm(tables[0].name) if failure.table is None else form_of_items(failure.items, failure.table)

    # Reading

    def _candidates(self, words: QuestionWords, tables: Sequence[RealityTable], today: date) -> _Candidates:
        """Readings of the question; else with values looked up in the database; else with corrected spelling."""
        plain = self._readings(words, tables, {})
        if plain.readings:
            return plain
        stored = self._stored_values(words, tables)
        with_stored = self._readings(words, tables, stored) if stored else plain
        if with_stored.readings:
            return with_stored
        failure = with_stored.failure
        corrected = corrections(failure.unexplained, tables)
        if corrected:
            question = words.question
            for token, word in sorted(corrected, key=lambda pair: -pair[0].start):
                question = question[: token.start] + word + question[token.end :]
            again = self._readings(split_question(question, today), tables, stored)
            if again.readings:
                notes = tuple(f"'{token.word}' was read as '{word}'." for token, word in corrected)
                return _Candidates(again.readings, notes=notes)
            failure = failure if again.failure.unexplained else again.failure
        return _Candidates(failure=failure)

    def _readings(self, words: QuestionWords, tables: Sequence[RealityTable], stored: ValuesByTable) -> _Candidates:
        """Readings that leave no word unexplained; without one, the failure that leaves the fewest words."""
        self._forget_old_values(max(_MOST_TABLES, 2 * len(tables)))
        readings: list[_ReadingCandidate] = []
        failures: list[_Failure] = []
        for base in tables:
            reachable = reachable_tables(base, tables)
            values = {alias: self._values_of(path.table, stored) for alias, path in reachable.paths.items()}
            reading = read_question(words, reachable, values)
            if not any(item.meaning or item.kind == "rows" for item in reading.items):
                failures.append(_Failure(reading.score - _UNNAMED_COST, "", reading.unexplained, base, reading.items))
                continue
            asks_who = words.tokens[0].word in ("who", "whose", "whom") and bool(entity_stems(base) & _PERSONS)
            for variant in variants(reading):
                try:
                    built = build_query(words, variant.items, reachable)
                except Unclear as problem:
                    undecided = isinstance(problem, Undecided)
                    failures.append(
                        _Failure(variant.score, str(problem), reading.unexplained, base, reading.items, undecided)
                    )
                    continue
                if reading.unexplained:
                    failures.append(_Failure(variant.score, "", reading.unexplained, base, reading.items))
                else:
                    score = variant.score - built.doubt + asks_who
                    queries = (built.query, *built.alternatives)
                    readings += [
                        _ReadingCandidate(each, score - place * _ALTERNATIVE_COST, built.unused, built.one_row)
                        for place, each in enumerate(queries)
                    ]
        readings.sort(key=lambda candidate: -candidate.score)
        distinct = list({repr(candidate.query): candidate for candidate in reversed(readings)}.values())
        distinct.sort(key=lambda candidate: -candidate.score)
        failures.sort(key=lambda failure: (len(failure.unexplained), -failure.score))
        open_reading = next((each for each in failures if each.undecided and not each.unexplained), None)
        if open_reading is not None and distinct and open_reading.score > distinct[0].score:
            return _Candidates(failure=open_reading)
        return _Candidates(distinct, failures[0] if failures else _Failure())

    def _values_of(self, table: RealityTable, stored: ValuesByTable) -> ColumnValues:
        """The listed values of a table, and those of its columns that were looked up."""
        listed = self._values.pop(table.id, None) or index_values(table)
        self._values[table.id] = listed  # the one asked last is the last
        if table.name not in stored:
            return listed
        values_by_words, every_stem = dict(listed.whole), set(listed.stems)
        for name, value in stored[table.name]:
            column = table.column(name)
            if column is not None:
                stems = value_words(value)
                values_by_words[stems] = [*values_by_words.get(stems, []), (column, value)]
                every_stem.update(stems)
        return ColumnValues(values_by_words, listed.containing, listed.columns, every_stem)

    def _forget_old_values(self, most: int) -> None:
        """Each version of a table has an id of its own: those that were replaced or deleted are never asked again."""
        while len(self._values) > most:
            self._values.popitem(last=False)

    def _stored_values(self, words: QuestionWords, tables: Sequence[RealityTable]) -> ValuesByTable:
        """Values the question may name in columns that have too many to be listed in their profile."""
        phrases = _phrases(words)
        stored: dict[str, list[tuple[str, str]]] = {}
        for table in tables:
            for column in table.columns:
                if column.type is ColumnType.TEXT and not column.values and column.distinct and phrases:
                    for value in self._store.find(table.name, column.name, phrases):
                        stored.setdefault(table.name, []).append((column.name, value))
        return stored

    # Answering

    def _tied(self, readings: Sequence[_ReadingCandidate], rows: Rows) -> list[_ReadingCandidate]:
        """The readings as likely as the first one, with it, when any of their answers differs; [] otherwise."""
        best = readings[0]
        near = [each for each in readings[1:] if each.score >= best.score - _TIE_MARGIN][:_MOST_OTHERS]
        others = [each for each in near if self._store.answer(each.query, MOST_ROWS).rows != rows.rows]
        return [best, *others] if others else []

    def _answer(
        self,
        question: str,
        readings: Sequence[_ReadingCandidate],
        tables: Sequence[RealityTable],
        notes: tuple[str, ...],
    ) -> TableAnswer:
        """The answer to the surest reading, and the others that are nearly as sure."""
        by_name = {table.name: table for table in tables}
        best = readings[0]
        rows = self._store.answer(best.query, MOST_ROWS)
        if tied := self._tied(readings, rows):
            return TableAnswer(question, refusal=_AMBIGUOUS, others=_choices([each.query for each in tied], by_name))
        if best.one_row and rows.total > 1:
            refusal = f"That names {rows.total:,} rows. Say whether to list them, add them up or take the average."
            queries = (best.query, *aggregates_of(best.query, by_name[best.query.table]))
            choices = [OtherReading(describe_query(each, by_name), each) for each in queries]
            return TableAnswer(question, refusal=refusal, others=tuple(choices))
        read_tables = tables_of(best.query)
        reading = describe_query(best.query, by_name)
        others = [
            OtherReading(describe_query(each.query, by_name), each.query)
            for each in readings[1:]
            if each.score >= best.score - _OTHERS_MARGIN
        ]
        distinct = {other.reading: other for other in others if other.reading != reading}
        return TableAnswer(
            question=question,
            reading=reading,
            headline=headline(best.query, rows, by_name),
            query=best.query,
            rows=rows,
            tables=read_tables,
            citation=citation_of(best.query, rows, by_name),
            others=tuple(distinct.values())[:_MOST_OTHERS],
            notes=(*notes, *_rejected_notes(read_tables, by_name), *currency_notes(best.query, by_name)),
            unused=best.unused,
        )


def _choices(queries: Sequence[TableQuery], tables: Mapping[str, RealityTable]) -> tuple[OtherReading, ...]:
    """Readings to choose from; lists of the same rows are told apart by the columns that are asked for."""
    texts = [describe_query(query, tables) for query in queries]
    if len(set(texts)) < len(texts):
        columns = [
            [tables[ref.table].column(ref.column) for ref in query.requested if ref.table in tables]
            for query in queries
        ]
        headers = [", ".join(column.header for column in each if column is not None) for each in columns]
        texts = [f"{text}: {listed}" if listed else text for text, listed in zip(texts, headers, strict=True)]
    return tuple(OtherReading(text, query) for text, query in zip(texts, queries, strict=True))


def _refusal_of_kind(question: str, tables: Sequence[RealityTable]) -> str:
    """Why no table can answer, whatever it holds; "" when one may. A column may be called so: "would recommend"."""
    headers = [" ".join(plain_header(column.header)) for table in tables for column in table.columns]
    text = f" {' '.join(question.lower().split()).strip('?!. ')} "
    first, _, rest = text.strip().partition(" ")
    if first in _YES_OR_NO and not rest.startswith(("there ", "we ", "you ")):
        return _REFUSALS["yes or no"]
    for name, phrases in asking().refuse.items():
        for phrase in phrases:
            if any(phrase in header.split() and f" {header} " in text for header in headers):
                continue
            if f" {phrase} " in text and (name != "reason" or text.startswith(f" {phrase} ")):
                return _REFUSALS[name]
    return ""


def _refusal_of_failure(failure: _Failure) -> str:
    if failure.unexplained:
        words = ", ".join(dict.fromkeys(f"'{token.word}'" for token in failure.unexplained))
        return f"Not found in the tables: {words}."
    return failure.problem or "No table is about this."


def _phrases(words: QuestionWords) -> list[str]:
    """Runs of up to four words that may be a value, in lower case."""
    tokens = words.tokens
    runs = [
        tokens[first:last]
        for first in range(len(tokens))
        for last in range(first + 1, min(first + _LONGEST_PHRASE, len(tokens)) + 1)
    ]
    telling = [run for run in runs if len(run) > 1 or not (run[0].stop_word or asking().may_be_idle(run[0].stem))]
    texts = (words.question[run[0].start : run[-1].end].lower().strip("\"'“”") for run in telling)
    return list(dict.fromkeys(texts))


def _rejected_notes(names: Sequence[str], tables: Mapping[str, RealityTable]) -> tuple[str, ...]:
    return tuple(
        f"{tables[name].rejected:,} of the rows of {tables[name].document_name} could not be read and are not counted."
        for name in names
        if tables[name].rejected
    )
