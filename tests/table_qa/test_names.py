"""What rules out a name quickly never rules out one that is found slowly."""

from datetime import date
from itertools import combinations

import pytest

from core.evaluation.benchmarks.tables import read_questions
from core.table_qa.join_paths import flag_values, reachable_tables
from core.table_qa.parsing.column_values import index_values
from core.table_qa.parsing.lexicon import column_meaning, entity_stems, name_ends, value_meanings
from core.table_qa.parsing.reader import split_question
from core.table_qa.parsing.tokens import plain_header
from tests.table_qa.conftest import Loaded
from tests.table_qa.test_asked import ASKED, SETS


@pytest.mark.parametrize("collection", SETS)
def test_names_of_columns_and_values_are_never_ruled_out(desk_for: Loaded, collection: str) -> None:
    tables = desk_for(ASKED / collection).question_tables()
    questions = [each.question for each in read_questions(ASKED / "questions.jsonl") if each.collection == collection]
    entities = {stem for table in tables for stem in entity_stems(table)}
    columns = values = 0
    for question in questions:
        words = split_question(question, date(2026, 11, 28))
        tokens = words.tokens
        for table in tables:
            path, listed = reachable_tables(table, tables).paths[table.name], index_values(table)
            ends, runs = {each.name: name_ends(tokens, each) for each in table.columns}, listed.runs(tokens)
            for first, last in combinations(range(len(tokens) + 1), 2):
                span = tokens[first:last]
                for column in table.columns:
                    if column_meaning(tokens, first, last, path, column, words.years, entities) is None:
                        continue
                    columns += 1
                    written_out = "".join(each.word for each in span) == "".join(plain_header(column.header))
                    flag = last - first == 1 and flag_values(column) is not None
                    assert written_out or flag or (ends[column.name][first] and ends[column.name][last - 1]), question
                for _ in value_meanings(tokens, first, last, path, listed, entities):
                    values += 1
                    assert last <= runs[first], question
    assert columns and values
