"""SQL text ↔ syntax tree with sqlglot, without translation: the generated text is the text that was typed.

sqlglot translates between dialects, so by default it changes some statements (`now()` becomes CURRENT_TIMESTAMP,
`interval '2 weeks ago'` loses its 'ago'). This dialect parses fewer keywords specially and leaves the rest unchanged.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, SqlglotError
    from sqlglot.generators.postgres import PostgresGenerator
    from sqlglot.parsers.postgres import PostgresParser
    from sqlglot.tokenizer_core import Token

__all__ = ["READING", "SIMPLER", "excerpt", "literals", "tree_of", "written"]

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
        raise BadRequest("The statement has a character that is no text.", "Type it again instead of pasting it.")
    found = _tokens(sql)
    while found and found[-1].token_type.name == "SEMICOLON":
        found.pop()
    if not found:
        raise BadRequest("There is no statement.", READING)
    if any(each.token_type.name == "SEMICOLON" for each in found):
        raise BadRequest("There is more than one statement: ';' stands in the middle.", "Run one after the other.")
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
            words = f"'{three.text}' cannot stand after INTERVAL '{two.text}'."
            raise BadRequest(words, f"Write INTERVAL '{two.text} {three.text.lower()}'.")
        typed = one.token_type in PostgresParser.TYPE_TOKENS or one.text.upper() in TYPE_ENDS
        if typed and _is_text(two) and three.text == "::":
            words = f"'::' cannot stand after {one.text} '{two.text}'."
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
