"""Checks an SQL statement typed by an analyst: it may only read, and only the given tables.

Allowlist: syntax, functions, types and tables that are not named below are refused, so what this module does not know
is refused too. The statement is rebuilt from the checked syntax tree with every identifier quoted, so PostgreSQL cannot
read it in another way. The database role that runs it has no other rights either; this check is the inner of two
defences, and the one that explains a refusal. The database limits time, memory and rows (`statement_timeout`,
`temp_file_limit`, a cursor). WITH RECURSIVE is not allowed: a line of it can make a value of any size; sql_growth.py
refuses a chain of queries that multiply each other.
"""

# Over 300 lines: parsing, the allowlist and the check of one statement belong together; apart, neither can be reviewed.

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from core.domain.errors import BadRequest
from core.table_qa.sql_columns import Tables, check_qualified_columns
from core.table_qa.sql_growth import check_growth

__all__ = ["FUNCTIONS", "TYPES", "check_statement"]

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, SqlglotError
    from sqlglot.generators.postgres import PostgresGenerator
    from sqlglot.parsers.postgres import PostgresParser
    from sqlglot.tokenizer_core import Token

# Nodes the parser may make besides one for each word; statements that people write need fewer than one. A parser that
# goes wrong and tries again at every level of ARRAY[ARRAY[ARRAY[… would make millions and take minutes.
SPARE_NODES = 1_000
EXCERPT_CHARACTERS = 60
STARTS = frozenset({"SELECT", "WITH", "VALUES", "("})
SPANS = frozenset("YEAR MONTH DAY HOUR MINUTE SECOND".split())  # what may follow INTERVAL '1'
TYPE_ENDS = frozenset({")", "ZONE", "PRECISION", "VARYING"})
FOREIGN = frozenset("{ } |> == => := -> ->> `".split())
READING = "Only reading is possible here: one SELECT, WITH … SELECT or VALUES, also with UNION, INTERSECT and EXCEPT."
SIMPLER = "Write it in a simpler way, or in several statements."


def tree_of(sql: str) -> exp.Expr:
    """The syntax tree of the single statement in `sql`. Raises BadRequest."""
    from sqlglot.errors import SqlglotError

    try:
        found = _one_statement(sql)
        tree = _reader()(dialect="postgres", max_nodes=len(found) + SPARE_NODES).parse(found, sql)[0]
    except RecursionError:
        raise BadRequest("The statement is nested too deeply.", SIMPLER) from None
    except SqlglotError as error:
        raise _unreadable(error) from error
    if tree is None:
        raise BadRequest("There is no statement.", READING)
    return tree


def written(tree: exp.Expr) -> str:
    """The SQL of a tree, on one line. Raises BadRequest."""
    from sqlglot.errors import ErrorLevel, SqlglotError

    try:
        return _write(tree, ErrorLevel.RAISE)
    except RecursionError:
        raise BadRequest("The statement is nested too deeply.", SIMPLER) from None
    except SqlglotError as error:
        raise BadRequest(f"The statement cannot be repeated: {error}.", SIMPLER) from error


def excerpt(tree: exp.Expr) -> str:
    """What a part of a tree says, short enough for a message."""
    from sqlglot.errors import ErrorLevel

    try:
        text = " ".join(_write(tree, ErrorLevel.IGNORE).split()) or tree.key.upper()
    except RecursionError:
        text = tree.key.upper()
    return text if len(text) <= EXCERPT_CHARACTERS else f"{text[:EXCERPT_CHARACTERS]}…"


def _write(tree: exp.Expr, unsupported: ErrorLevel) -> str:
    return _writer()(
        dialect="postgres", comments=False, normalize_functions="lower", unsupported_level=unsupported
    ).generate(tree)


def literals(sql: str) -> Counter[str]:
    """Text and number literals of a statement with their counts, to verify that none was lost or changed.

    >>> literals("select 'a', .5 -- 2")
    Counter({"'a'": 1, '0.5': 1})
    """
    found = _tokens(sql)
    texts = (f"'{each.text}'" for each in found if _is_text(each))
    numbers = (
        f"0.{two.text}" if one and one.text == "." and one.end + 1 == two.start else two.text
        for one, two in zip([None, *found], found, strict=False)
        if two.token_type.name == "NUMBER"
    )
    return Counter(texts) + Counter(numbers)


def _one_statement(sql: str) -> list[Token]:
    """The words of one statement without the semicolon at its end. Raises BadRequest for what words alone can tell."""
    if "\0" in sql or any("\ud800" <= each <= "\udfff" for each in sql):
        raise BadRequest("The statement has a character that is not text.", "Type it again instead of pasting it.")
    found = _tokens(sql)
    while found and found[-1].token_type.name == "SEMICOLON":
        found.pop()
    if not found:
        raise BadRequest("There is no statement.", READING)
    if any(each.token_type.name == "SEMICOLON" for each in found):
        raise BadRequest("There is more than one statement: ';' occurs before the end.", "Run one after the other.")
    if found[0].text.upper() not in STARTS:
        raise BadRequest(f"'{found[0].text}' is not possible here.", READING)
    _check_neighbours(found)
    return found


def _is_text(token: Token) -> bool:
    """Whether a token is text in single quotes."""
    return token.token_type.name == "STRING"


def _check_neighbours(found: list[Token]) -> None:
    """Refuse what the parser would read otherwise than PostgreSQL: 1_000 and INTERVAL '1' DAY as a value and its alias,
    DATE '2024-02-29'::text as DATE ('2024-02-29'::text), signs of other dialects as their own."""
    from sqlglot.parsers.postgres import PostgresParser

    for one, two in pairwise(found):
        if one.token_type.name == "NUMBER" and two.token_type.name == "VAR" and two.start == one.end + 1:
            raise BadRequest(f"'{one.text}{two.text}' is neither a number nor a name.", "Write 1000, not 1_000.")
        if two.text in FOREIGN and not _is_text(two) and two.token_type.name != "IDENTIFIER":
            raise BadRequest(f"'{two.text}' is not possible here.", SIMPLER)
    for one, two, three in zip(found, found[1:], found[2:], strict=False):
        if one.token_type.name == "INTERVAL" and _is_text(two) and three.text.upper() in SPANS:
            words = f"'{three.text}' is not allowed after INTERVAL '{two.text}'."
            raise BadRequest(words, f"Write INTERVAL '{two.text} {three.text.lower()}'.")
        typed = one.token_type in PostgresParser.TYPE_TOKENS or one.text.upper() in TYPE_ENDS
        if typed and _is_text(two) and three.text == "::":
            words = f"'::' is not allowed after {one.text} '{two.text}'."
            raise BadRequest(words, f"Put {one.text} '{two.text}' in brackets.")


def _tokens(sql: str) -> list[Token]:
    """The words, texts, numbers and signs of a statement, without comments. Raises BadRequest."""
    from sqlglot.dialects.postgres import Postgres
    from sqlglot.errors import SqlglotError

    try:
        return Postgres().tokenize(sql)
    except SqlglotError as error:
        raise BadRequest("The statement cannot be read: a quote or a comment may lack its end.", SIMPLER) from error


def _unreadable(error: SqlglotError) -> BadRequest:
    """The parser's complaint in our words: where it stopped."""
    where = next(iter(getattr(error, "errors", [])), None)
    if where and str(where["description"]).startswith("Maximum number"):
        return BadRequest("The statement is nested too deeply.", SIMPLER)
    at = f" at '{where['highlight']}' (line {where['line']}, character {where['col']})" if where else ""
    return BadRequest(f"The statement cannot be read{at}.", SIMPLER)


@cache
def _reader() -> type[PostgresParser]:
    """A parser that knows only the calls with a grammar of their own; all others stay as they are typed."""
    from sqlglot.parsers.postgres import PostgresParser

    calls = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
    bare = ("ANY", "CASE")

    class Reader(PostgresParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {name: PostgresParser.FUNCTION_PARSERS[name] for name in calls}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: PostgresParser.NO_PAREN_FUNCTION_PARSERS[name] for name in bare
        }
        # `2 ^ 3` would come back as power(2, 3), `1 & 2` has no use here: reading stops at the sign and names it.
        EXPONENT: ClassVar[dict[Any, Any]] = {}
        BITWISE: ClassVar[dict[Any, Any]] = {}

        def _parse_interval(self, *_: Any, **__: Any) -> None:
            """INTERVAL '2 weeks ago' is read as DATE '2024-02-29' is: a type and a text."""

        def _warn_unsupported(self) -> None:
            """Refuse what would be read as an opaque command, and keep it out of the log."""
            self.raise_error("A command", token=self._prev)

    return Reader


@cache
def _writer() -> type[PostgresGenerator]:
    """A writer that keeps string_agg(DISTINCT name, ', ') as it is."""
    from sqlglot.generators.postgres import PostgresGenerator

    class Writer(PostgresGenerator):
        MULTI_ARG_DISTINCT = True

    return Writer


MOST_CHARACTERS = 20_000
MOST_NAME_BYTES = 63  # PostgreSQL cuts longer names short, so two names would become one
MOST_TYPE_SIZE = 10_000  # char(n) pads to n characters

FUNCTIONS = frozenset(
    # aggregates
    "any_value array_agg avg bool_and bool_or corr count covar_pop covar_samp every grouping max min mode"
    " percentile_cont percentile_disc regr_count regr_intercept regr_r2 regr_slope stddev stddev_pop stddev_samp"
    " string_agg sum var_pop var_samp variance"
    # windows
    " cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number"
    # conditions
    " all coalesce greatest least nullif num_nonnulls num_nulls"
    # text; repeat, lpad, rpad and format are not here: a few characters of them fill the memory
    " array_length array_to_string ascii btrim cardinality char_length character_length chr concat concat_ws initcap"
    " left length lower ltrim octet_length overlay position regexp_count regexp_instr regexp_like regexp_match"
    " regexp_replace regexp_substr replace reverse right rtrim split_part starts_with string_to_array strpos substr"
    " substring to_char translate trim upper"
    # numbers
    " abs cbrt ceil ceiling div exp floor ln log log10 mod power round sign sqrt to_number trunc width_bucket"
    # dates
    " age date date_bin date_part date_trunc extract isfinite justify_days justify_hours justify_interval make_date"
    " make_time make_timestamp now to_date to_timestamp".split()
)

# Type as the parser calls it → as PostgreSQL does.
TYPES: Mapping[str, str] = dict(
    pair.split(":")
    for pair in "ARRAY:array BIGINT:bigint BOOLEAN:boolean BPCHAR:bpchar CHAR:char DATE:date DECIMAL:numeric"
    " DOUBLE:double FLOAT:real INT:integer INTERVAL:interval SMALLINT:smallint TEXT:text TIME:time TIMESTAMP:timestamp"
    " TIMESTAMPTZ:timestamptz TIMETZ:timetz UUID:uuid VARCHAR:varchar".split()
)

# Kind of syntax → its parts that may be used.
SYNTAX: Mapping[str, frozenset[str]] = {
    kind: frozenset(parts.split())
    for kinds, parts in (
        row.split(":")
        for row in """
select: with_ expressions distinct from_ joins where group having windows order limit offset
union intersect except: with_ this expression distinct order limit offset
subquery: with_ this alias joins order limit offset
values: expressions alias order limit offset
with: expressions
cte: this alias materialized
table: this alias joins db catalog
tablealias: this columns
join: this on using side kind method
group: expressions rollup cube grouping_sets
rollup cube groupingsets tuple array: expressions
distinct: expressions on
order: this expressions
ordered: this desc nulls_first
limit offset: expression
fetch: direction count limit_options
limitoptions: rows with_ties
column: this table db catalog
identifier: this quoted
literal: this is_string
alias: this alias
from where having paren neg not any all exists boolean datatypeparam var: this
star null currentdate currenttimestamp localtime localtimestamp:
and or add sub mul mod eq neq gt gte lt lte escape overlaps nullsafeeq nullsafeneq: this expression
similarto regexplike regexpilike filter withingroup extract: this expression
like ilike is: this expression negate
div: this expression typed safe
dpipe: this expression safe
between: this low high symmetric
in: this expressions query
case: this ifs default
if: this true
cast: this to
datatype: this expressions nested
attimezone: this zone
anonymous: this expressions
overlay: this expression from_ for_
strposition: this substr
substring: this start length
trim: this expression position
window: this alias over partition_by order spec
windowspec: kind start start_side end end_side exclude
""".strip().splitlines()
    )
    for kind in kinds.split()
}

QUERIES = frozenset("select union intersect except subquery values".split())
WRITING = frozenset("insert update delete merge copy into locks".split())  # refused like all the rest, but told apart

# Words the parser hands on as they were typed.
WORDS = frozenset(
    "ALL BOTH CROSS CURRENT_ROW FIRST FOLLOWING FULL GROUP GROUPS INNER LEADING LEFT NATURAL NEXT NO_OTHERS OUTER OVER"
    " PRECEDING RANGE RIGHT ROWS TIES TRAILING UNBOUNDED CENTURY DAY DECADE DOW DOY EPOCH HOUR ISODOW ISOYEAR JULIAN"
    " MICROSECONDS MILLENNIUM MILLISECONDS MINUTE MONTH QUARTER SECOND TIMEZONE TIMEZONE_HOUR TIMEZONE_MINUTE WEEK"
    " YEAR".split()
)
NAMED = frozenset("alias column join table tablealias window".split())
CHECKED_TEXTS = frozenset({"anonymous", "datatype", "identifier", "literal"})  # theirs have a check of their own
# Names that PostgreSQL answers without a table, unless they are quoted; columns that every table has and nobody made.
SESSION = frozenset("current_catalog current_role current_schema current_user session_user system_user user".split())
SYSTEM = frozenset("cmax cmin ctid tableoid xmax xmin".split())

FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def check_statement(sql: str, tables: Tables) -> str:
    """Check a statement and return the one to run: without comments and semicolon, identifiers quoted as PostgreSQL
    folds them.

    A statement may also use the names of its own WITH clauses.

    Raises: BadRequest naming the offending word.

    >>> check_statement("select Name, count(*) from staff group by 1; -- by name", {"staff": ["name"]})
    'SELECT "name", count(*) FROM "staff" GROUP BY 1'
    """
    if len(sql) > MOST_CHARACTERS:
        raise BadRequest(f"The statement has {len(sql):,} characters.", f"At most {MOST_CHARACTERS:,} are possible.")
    text = _written_anew(sql, tables)
    # What runs is read once more: were it not the same, parser and writer would disagree about what it says.
    if _written_anew(text, tables) != text or literals(text) != literals(sql):
        raise BadRequest("This statement cannot be repeated word for word.", SIMPLER)
    return text


def _written_anew(sql: str, tables: Tables) -> str:
    """A statement parsed, checked and written. Raises BadRequest."""
    tree = tree_of(sql)
    for node in tree.walk():
        _check(node, tables)
    if tree.key not in QUERIES:
        raise BadRequest(f"'{excerpt(tree)}' is not a query.", READING)
    for node in tree.walk():
        if node.key == "identifier":
            node.set("this", _name(node))
            node.set("quoted", True)
        elif node.key == "anonymous":
            node.set("this", node.name.lower())
    check_qualified_columns(tree, tables)
    check_growth(tree, tables)
    return written(tree)


def _check(node: exp.Expr, tables: Tables) -> None:
    """Refuse one node of the tree unless its kind, its parts and its names are allowed. Raises BadRequest."""
    parts = SYNTAX.get(node.key)
    if parts is None:
        if node.key in ("objectidentifier", "pseudotype"):
            raise _no_type(node)
        raise _refused(node.key.upper(), READING) if node.key in WRITING else _refused(excerpt(node))
    for part, value in node.args.items():
        values = value if isinstance(value, list) else [value] if value not in (None, False) else []
        if values and part not in parts:
            words = part.strip("_").upper() if isinstance(values[0], str | bool) else excerpt(values[0])
            raise _refused(words, READING if part in WRITING else SIMPLER)
        for each in values if node.key not in CHECKED_TEXTS else ():
            if isinstance(each, str) and each.upper().replace(" ", "_") not in WORDS:
                raise _refused(each)
    if node.key in _CHECKS:
        _CHECKS[node.key](node, tables)


def _check_table(table: exp.Expr, tables: Tables) -> None:
    """Only a given table, or one that WITH names where this one stands. `pg_…` is PostgreSQL's own."""
    if table.this.key != "identifier":
        raise BadRequest(f"A function is not allowed in FROM: '{excerpt(table.this)}'.", "Only tables and queries can.")
    name = _name(table.this)
    qualified = table.args.get("db") is not None or table.args.get("catalog") is not None
    if qualified or name.startswith("pg_") or not (name in tables or name in _named_by_with(table)):
        hint = f"Tables are: {', '.join(sorted(tables))}." if tables else "There are no tables yet."
        raise BadRequest(f"There is no table '{excerpt(table) if qualified else name}'.", hint)


def _named_by_with(table: exp.Expr) -> Iterator[str]:
    """Names of WITH clauses visible where `table` is: in the whole query, but inside WITH only earlier ones, as in
    PostgreSQL. Otherwise a name would pass as a query and be read as a table.
    """
    child, node = table, table.parent
    while node is not None:
        part = node if node.key == "with" else node.args.get("with_")
        if part is not None and part is not child:
            for query in part.expressions:
                if node is part and query is child:
                    break
                yield _name(query.args["alias"].this)
        child, node = node, node.parent


def _check_column(column: exp.Expr, _tables: Tables) -> None:
    """Refuse system columns, session names, and schemas."""
    if column.args.get("db") is not None:
        raise _refused(excerpt(column), "Write table.column, without a schema.")
    if column.this.key != "identifier":
        return
    name = _name(column.this)
    plain = column.args.get("table") is None and not column.this.args.get("quoted")
    if name in SYSTEM or name.startswith("pg_") or (name in SESSION and plain):
        raise _refused(excerpt(column.this))


def _check_function(call: exp.Expr, _tables: Tables) -> None:
    name = call.args["this"]
    if not isinstance(name, str) or name.lower() not in FUNCTIONS:
        raise BadRequest(f"The function '{call.name}' cannot be used.", _functions_like(str(call.name)))


def _functions_like(name: str) -> str:
    """What can be used instead: the functions spelt nearly so, and what kinds there are."""
    near = get_close_matches(name.lower(), sorted(FUNCTIONS), n=4, cutoff=0.6)
    like = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"{like}Aggregates, windows, conditions, and functions of text, numbers and dates can be used."


def _check_cast(cast: exp.Expr, _tables: Tables) -> None:
    if cast.args["to"].key != "datatype":
        raise _no_type(cast.args["to"])


def _check_type(kind: exp.Expr, _tables: Tables) -> None:
    if not isinstance(kind.this, Enum) or kind.this.name not in TYPES:
        raise _no_type(kind)


def _check_type_size(size: exp.Expr, _tables: Tables) -> None:
    if not size.this.name.isdecimal() or int(size.this.name) > MOST_TYPE_SIZE:
        raise _refused(excerpt(size.parent or size), f"At most {MOST_TYPE_SIZE:,} is possible.")


def _check_literal(literal: exp.Expr, _tables: Tables) -> None:
    number = literal.name.lower().replace("e-", "e").replace("e+", "e").replace("e", "", 1).replace(".", "", 1)
    if not literal.args["is_string"] and not (number.isascii() and number.isdigit()):
        raise _refused(literal.name)


def _check_name(identifier: exp.Expr, _tables: Tables) -> None:
    """No name where the parser expects none: PostgreSQL might read it as a column, which nothing here has checked."""
    if identifier.parent is None or identifier.parent.key not in NAMED:
        raise _refused(identifier.name)
    if len(identifier.name.encode()) > MOST_NAME_BYTES:
        raise BadRequest(f"The name '{identifier.name[:20]}…' is too long.", f"At most {MOST_NAME_BYTES} bytes.")


_CHECKS = {
    "anonymous": _check_function,
    "cast": _check_cast,
    "column": _check_column,
    "datatype": _check_type,
    "datatypeparam": _check_type_size,
    "identifier": _check_name,
    "literal": _check_literal,
    "table": _check_table,
}


def _name(identifier: exp.Expr) -> str:
    """A name as PostgreSQL keeps it: as typed in quotes, otherwise with the letters A–Z small."""
    return identifier.name if identifier.args.get("quoted") else identifier.name.translate(FOLD)


def _refused(words: str, hint: str = SIMPLER) -> BadRequest:
    return BadRequest(f"'{words}' is not possible here.", hint)


def _no_type(node: exp.Expr) -> BadRequest:
    return BadRequest(f"The type '{excerpt(node)}' cannot be used.", f"Types are: {', '.join(sorted(TYPES.values()))}.")
