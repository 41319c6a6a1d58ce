"""Statements whose queries double a value, or each other, in every step."""

import pytest

from core.domain.errors import BadRequest
from core.table_qa.sql_guard import check_statement

TABLES = {"staff": ("name", "pay", "dept"), "notes": ("x",)}


def chain(steps: int, step: str, first: str = "SELECT 'xxxxxxxx' AS x", head: str = "") -> str:
    """A WITH statement whose queries each read the one before, as {p}."""
    queries = [f"a0{head} AS ({first})"]
    queries += [f"a{number}{head} AS ({step.format(p=f'a{number - 1}')})" for number in range(1, steps)]
    return f"WITH {', '.join(queries)} SELECT max(length(x)) FROM a{steps - 1}"


@pytest.mark.parametrize(
    "step",
    [
        "SELECT x||x AS x FROM {p}",
        "SELECT concat(x, x) AS x FROM {p}",
        "SELECT one.x||two.x AS x FROM {p} one, {p} two",
        "SELECT replace(x, 'x', x) AS x FROM {p}",
        "SELECT regexp_replace(x, 'x', '\\&\\&', 'g') AS x FROM {p}",
        "SELECT overlay(x PLACING x FROM 1 FOR 0) AS x FROM {p}",
        "SELECT array_to_string(ARRAY[x, x], '') AS x FROM {p}",
        "SELECT (SELECT x||x) AS x FROM {p}",
        "SELECT x||x AS x FROM (SELECT x FROM {p}) AS q",
        "SELECT * FROM (SELECT x||x AS x FROM {p}) AS q",
        "SELECT y||y AS x FROM {p} AS b(y)",
        "SELECT x||x AS x FROM {p} UNION ALL SELECT 'a'",
        "SELECT x||x AS x FROM {p} ORDER BY x",
        "SELECT CASE WHEN x = '' THEN '' ELSE x||x END AS x FROM {p}",
        "SELECT upper(x||x) AS x FROM {p} WHERE x <> ''",
        "SELECT (one::text)||(one::text) AS x FROM {p} AS one",
    ],
)
@pytest.mark.parametrize("first", ["SELECT 'xxxxxxxx' AS x", "SELECT name AS x FROM staff", "SELECT x FROM notes"])
def test_a_text_that_doubles_in_every_step_is_refused(step: str, first: str) -> None:
    with pytest.raises(BadRequest, match="parts of this statement") as refused:
        check_statement(chain(30, step, first), TABLES)
    assert refused.value.hint


@pytest.mark.parametrize("step", ["SELECT x + x AS x FROM {p}", "SELECT greatest(x, x) AS x FROM {p}"])
def test_an_expression_that_doubles_in_every_step_is_refused(step: str) -> None:
    with pytest.raises(BadRequest, match="multiply each other"):
        check_statement(chain(30, step, "SELECT 1 AS x"), TABLES)


def test_a_query_inside_values_is_refused_since_nothing_measures_it() -> None:
    with pytest.raises(BadRequest, match="VALUES"):
        check_statement(chain(30, "VALUES ((SELECT x||x FROM {p}))", head="(x)"), TABLES)


@pytest.mark.parametrize(
    "typed",
    [
        "SELECT " + "replace(" * 20 + "name" + ", 'a', 'b')" * 20 + " FROM staff",
        f"SELECT {'||'.join(['name'] * 60)} AS n FROM staff",
        chain(8, "SELECT x||', '||x AS x FROM {p}"),
        chain(40, "SELECT x, x AS y FROM {p} WHERE x > 'a'"),
        chain(12, "SELECT one.x FROM {p} AS one JOIN {p} AS two ON one.x = two.x"),
        "WITH n AS (SELECT name, pay * 12 AS year, pay * 0.3 AS tax FROM staff), m AS (SELECT *, year - tax AS net"
        " FROM n), r AS (SELECT m.*, net / year AS share, rank() OVER (ORDER BY net) AS place FROM m) SELECT name,"
        " share FROM r WHERE net > (SELECT avg(net) FROM r) ORDER BY share DESC LIMIT 5",
        "SELECT dept, string_agg(name || ' (' || pay || ')', ', ' ORDER BY name) AS people FROM staff GROUP BY dept",
    ],
)
def test_what_an_analyst_writes_is_run(typed: str) -> None:
    assert check_statement(typed, TABLES)
