"""The box for SQL: which statements run, how they are written, and which are refused with which word."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.errors import BadRequest
from core.table_qa.sql_guard import check_statement

TABLES = {
    "staff": ("id", "name", "dept", "boss", "salary", "hired", "active", "note", "a", "b"),
    "pay": ("id", "staff_id", "amount"),
    "Cost centres": ("Name", "user"),
}


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("select * from staff", 'SELECT * FROM "staff"'),
        ("SELECT Name FROM STAFF;", 'SELECT "name" FROM "staff"'),
        ('select "Name", t."user" from "Cost centres" t', 'SELECT "Name", "t"."user" FROM "Cost centres" AS "t"'),
        ("select name /* who */ from staff -- all\n;", 'SELECT "name" FROM "staff"'),
        ("select 'a;b', '--', '/*', 'it''s', 'back\\slash'", "SELECT 'a;b', '--', '/*', 'it''s', 'back\\slash'"),
        ("select - -1, 2 - -1, .5, 1e3", "SELECT - -1, 2 - -1, 0.5, 1e3"),
        (
            "select name from staff where name ilike '%o%' and dept not in ('a')",
            """SELECT "name" FROM "staff" WHERE "name" ILIKE '%o%' AND NOT "dept" IN ('a')""",
        ),
        ("select hired + interval '2 weeks ago'", """SELECT "hired" + CAST('2 weeks ago' AS INTERVAL)"""),
        ("select to_char(hired, 'IYYY-IW')", """SELECT to_char("hired", 'IYYY-IW')"""),
        ("select string_agg(distinct a, ', ' order by a)", """SELECT string_agg(DISTINCT "a", ', ' ORDER BY "a")"""),
        ("select größe, Ünit from staff", 'SELECT "größe", "Ünit" FROM "staff"'),
    ],
)
def test_a_statement_is_written_anew_word_for_word(typed: str, run: str) -> None:
    assert check_statement(typed, TABLES) == run


ALLOWED = [
    # joins
    "select s.name, p.amount from staff s join pay p on p.staff_id = s.id left join staff b on b.id = s.boss",
    "select * from staff natural join pay cross join (values (1, 'x')) as v(n, t)",
    "select * from staff full outer join pay using (id), (select 1 as one) as o",
    "select a.id from ((staff a join pay b on a.id = b.id))",
    # WITH
    "with m as (select dept, sum(salary) as total from staff group by dept) select * from m join staff using (dept)",
    "with a as (select 1 as x), b as (select x + 1 as y from a) select * from a, b",
    "with a as materialized (select 1), b as not materialized (values (2)) select * from a, b",
    "with staff as (select * from staff where id = 1) select * from staff",
    # columns by the table they are of
    "with up(one, two) as (select id, boss from staff), all_of as (select * from up) select a.one, a.two from all_of a",
    "select v.n, v.column2 from (values (1, 'x')) as v(n)",
    "select s.count, s.dept, s.months from (select dept, count(*), extract(month from hired) as months from staff"
    " group by dept, months) as s",
    "select s.id, (select max(p.amount) from pay p where p.staff_id = s.id) from staff s",
    "select u.x from (select id as x from staff union select staff_id from pay) as u",
    "select j.name, j.amount from (select * from staff natural join pay) as j where exists (select 1 where j.a = 1)",
    "select (with one as (select 1 as x) select x from one)",
    # aggregates and groups
    "select dept, count(*) filter (where active), count(distinct boss), avg(salary)::numeric(10, 2) from staff"
    " group by dept",
    "select percentile_cont(0.5) within group (order by salary), mode() within group (order by dept) from staff",
    "select dept, grouping(dept) from staff group by rollup (dept) having count(*) > 1 order by 1 desc nulls last",
    "select count(*) from staff group by grouping sets ((dept), (active), ()), cube (boss)",
    # windows
    "select rank() over (partition by dept order by salary desc), lag(salary, 1) over w from staff"
    " window w as (order by id)",
    "select sum(salary) over (order by hired rows between 2 preceding and current row exclude ties) from staff",
    # conditions
    "select case when salary > 1 then 'high' else 'low' end, case dept when 'HR' then 1 end from staff",
    "select coalesce(note, ''), nullif(a, b), greatest(1, 2), a is not distinct from b, a is not true, a isnull"
    " from staff",
    "select id between 1 and 2, id not between symmetric 3 and 1, (id, dept) in (select 1, 'HR') from staff",
    "select * from staff where id = any (array[1, 2]) or id > all (select 1) or exists (select 1 from pay)",
    "select name ~ '^A', name !~* 'b', name similar to 'A%', name not like 'a!_%' escape '!' from staff",
    # dates
    "select date_trunc('month', hired), extract(year from hired), date_part('dow', hired), age(hired) from staff",
    "select current_date - 7, now() - interval '1 day' * 3, hired at time zone 'UTC', date '2024-02-29' from staff",
    # text and numbers
    "select lower(a) || upper(b), substring(a from 2 for 3), trim(both 'x' from a), position('a' in b), left(a, 2),"
    " regexp_replace(a, '\\w+$', 'x', 'g'), split_part(a, '-', 1), overlay(a placing 'x' from 1 for 2) from staff",
    "select round(a, 2), 7 / 2, 7 % 2, -a, abs(a), width_bucket(a, 0, 10, 5), '1'::int, cast(a as double precision)"
    " from staff",
    # whole queries
    "(select 1 limit 1) union all (select 2) intersect select 3 except all select 4 order by 1 limit 2 offset 1",
    "values (1, 'a'), (2, 'b') order by 1 desc fetch first 1 rows only",
    "select distinct on (dept) dept, name from staff order by dept, salary desc",
]


@pytest.mark.parametrize("typed", ALLOWED)
def test_reading_is_allowed_and_what_runs_would_be_allowed_again(typed: str) -> None:
    run = check_statement(typed, TABLES)
    assert check_statement(run, TABLES) == run


REFUSED = [
    # writing, and all that is no query: statement, the word that the message names
    ("insert into staff values (1)", "insert"),
    ("update staff set name = 'x'", "update"),
    ("delete from staff", "delete"),
    ("merge into staff using pay on true when matched then delete", "merge"),
    ("truncate staff", "truncate"),
    ("drop table staff", "drop"),
    ("create table x as select * from staff", "create"),
    ("alter role reader superuser", "alter"),
    ("grant all on staff to public", "grant"),
    ("copy staff to '/tmp/x'", "copy"),
    ("copy (select 1) to program 'id'", "copy"),
    ("do $$ begin perform 1; end $$", "do"),
    ("call p()", "call"),
    ("set role postgres", "set"),
    ("RESET ROLE", "RESET"),
    ("set session authorization postgres", "set"),
    ("begin", "begin"),
    ("prepare x as select 1", "prepare"),
    ("declare c cursor for select 1", "declare"),
    ("notify x, 'y'", "notify"),
    ("lock table staff", "lock"),
    ("explain analyze select 1", "explain"),
    ("show all", "show"),
    ("table pg_authid", "table"),
    ("with a as (insert into staff values (1) returning *) select * from a", "INSERT"),
    ("with a as (update staff set id = 1 returning *) select * from a", "UPDATE"),
    ("with a as (delete from staff returning *) select * from a", "DELETE"),
    ("with a as (delete from staff returning id) select * from a", "DELETE"),
    ("with recursive n(x) as (select 'a' union all select x || x from n) select max(length(x)) from n", "RECURSIVE"),
    ("with a as (select 1) insert into staff select * from a", "INSERT"),
    ("with a as (select 1) delete from staff", "DELETE"),
    ("with a as (do $$begin end$$) select 1", "do"),
    ("select * into copied from staff", "INTO copied"),
    ("with a as (select 1 into temp x) select 1", "INTO"),
    ("select * from staff for update", "FOR UPDATE"),
    ("select * from (select * from staff for share) x", "FOR SHARE"),
    ("(1)", "(1)"),
    # more than one statement, behind comments too
    ("select 1; drop table staff", ";"),
    ("; select 1", ";"),
    ("select 1 /* ; */ ; delete from staff --", ";"),
    ("select 1 -- fine\n; drop table staff", ";"),
    ("select 1 /* /* */ ; */ ; drop table staff", ";"),
    # tables of others
    ("select * from users", "users"),
    ('select * from "Staff"', "Staff"),
    ("select * from public.staff", "public.staff"),
    ("select * from information_schema.tables", "information_schema.tables"),
    ("select * from pg_catalog.pg_class", "pg_catalog.pg_class"),
    ("select * from pg_stat_activity", "pg_stat_activity"),
    ("select * from only pg_authid", "ONLY"),
    ("select * from pg_authid *", "pg_authid"),
    ("select 1 union table pg_authid", "pg_authid"),
    ("with a as (table pg_authid) select * from a", "pg_authid"),
    ("select * from ((pg_authid))", "pg_authid"),
    ("select (select rolname from pg_authid limit 1)", "pg_authid"),
    ("select 1 from staff order by (select 1 from pg_authid)", "pg_authid"),
    ('select * from U&"pg\\005fauthid"', "&"),
    # names that only look as if WITH had given them
    ("with users as (select * from users) select * from users", "users"),
    ("with a as (select * from users), users as (select 1) select * from a", "users"),
    ("select (with users as (select 1) select 1 from users), (select 1 from users)", "users"),
    ("(with users as (select 1) select * from users) union select * from users", "users"),
    ("with a as (with users as (select 1) select * from users), b as (select * from users) select 1", "users"),
    ("with pg_authid as (select 1) select * from pg_authid", "pg_authid"),
    # functions
    ("select pg_read_file('/etc/passwd')", "pg_read_file"),
    ("select lower(PG_READ_FILE('/etc/passwd'))", "PG_READ_FILE"),
    ("select * from pg_ls_dir('.')", "pg_ls_dir"),
    ("select pg_sleep(10)", "pg_sleep"),
    ("select pg_catalog.pg_sleep(10)", "pg_catalog.pg_sleep"),
    ('select "pg_sleep"(10)', "pg_sleep"),
    ("select pg_/**/sleep(10)", "("),
    ("select count(*) filter (where pg_sleep(1) is null) from staff", "pg_sleep"),
    ("select sum(id) over (order by pg_sleep(1)) from staff", "pg_sleep"),
    ("select string_agg(name, ',' order by pg_sleep(1)) from staff", "pg_sleep"),
    ("values (pg_sleep(1))", "pg_sleep"),
    ("select lo_import('/etc/passwd')", "lo_import"),
    ("select set_config('role', 'postgres', false)", "set_config"),
    ("select current_setting('data_directory')", "current_setting"),
    ("select pg_advisory_lock(1)", "pg_advisory_lock"),
    ("select pg_terminate_backend(1)", "pg_terminate_backend"),
    ("select query_to_xml('delete from staff returning *', true, true, '')", "query_to_xml"),
    ("select table_to_xml('pg_authid', true, true, '')", "table_to_xml"),
    ("select dblink('host=x', 'select 1')", "dblink"),
    ("select inet_server_addr()", "inet_server_addr"),
    ("select version()", "version"),
    ("select nextval('s')", "nextval"),
    ("select repeat('x', 1000000000)", "repeat"),
    ("select lpad('x', 1000000000)", "lpad"),
    ("select format('%1000000000s', 'x')", "format"),
    ("select generate_series(1, 1000000000)", "generate_series"),
    ("select public.count(*) from staff", "public.count"),
    ('select "count"(*) from staff', "count"),
    # functions as tables
    ("select * from generate_series(1, 9)", "generate_series"),
    ("select * from unnest(array[1]) u", "unnest"),
    ("select * from staff, lateral (select 1) x", "LATERAL"),
    ("select * from staff join lateral pg_ls_dir('.') on true", "LATERAL pg_ls_dir"),
    ("select * from rows from (pg_ls_dir('.')) x", "pg_ls_dir"),
    ("select * from json_to_recordset('[]') as x(a int)", "json_to_recordset"),
    # who is asking
    ("select current_user", "CURRENT_USER"),
    ("select session_user", "SESSION_USER"),
    ("select coalesce(user, '')", "user"),
    ("select current_role", "current_role"),
    ("select current_schema", "CURRENT_SCHEMA"),
    # types
    ("select 'pg_authid'::regclass", "REGCLASS"),
    ("select 'pg_authid'::\"regclass\"", "REGCLASS"),
    ("select 'pg_authid'::pg_catalog.regclass", "pg_catalog.regclass"),
    ("select regclass 'pg_authid'", "REGCLASS"),
    ("select 1::oid::regrole", "REGROLE"),
    ("select '<a/>'::xml", "XML"),
    ("select 'x'::staff", "staff"),
    ("select 'x'::char(100000000)", "100000000"),
    # columns that nobody made, and calls in the clothes of a column
    ("select tableoid from staff", "tableoid"),
    ('select s."xmin" from staff s', "xmin"),
    ("select s.CTID from staff s", "CTID"),
    ("select 1 from staff fetch first xmin rows only", "xmin"),
    ("select ('/etc/passwd'::text).pg_read_file", "pg_read_file"),
    ("select (staff).id from staff", "(staff).id"),
    ("select s.pg_typeof from staff s", "pg_typeof"),
    ("select row_to_json(staff) from staff", "row_to_json"),
    ("select e.row_to_json from staff e", "row_to_json"),
    ("select 1 from staff e where exists (select 1 from pay where e.row_to_json is null)", "row_to_json"),
    ("select e.row_to_json from staff e, (select 1 as row_to_json) as o", "row_to_json"),
    ("with e as (select * from staff) select e.row_to_json from e", "row_to_json"),
    ("select u.row_to_json from (select id from pay union select id as row_to_json from staff) as u", "row_to_json"),
    ("select s.salry from staff s", "salry"),
    ("select public.staff.id from staff", "public.staff.id"),
    # other ways to write texts, numbers, operators and parameters
    ("select U&'\\0061'", "U&"),
    ("select e'a\\'b'", "e'"),
    ("select $$x$$", "x"),
    ("select x'ff'", "x'ff'"),
    ("select 1_000", "1_000"),
    ("select interval '1' day", "day"),
    ("select 'a' operator(pg_catalog.||) 'b'", "OPERATOR"),
    ("select 2 ^ 3", "^"),
    ("select date '2024-02-29'::text", "::"),
    ("select numeric(10, 2) '1'::text", "::"),
    ("select * from staff |> where id = 1", "|>"),
    ("select {fn lower('x')}", "{"),
    ("select $1", "$1"),
    ("select %s", "%s"),
    ("select * from staff tablesample system (10)", "TABLESAMPLE"),
    ("select 1 +", "+"),
]


@pytest.mark.parametrize(("typed", "word"), REFUSED)
def test_anything_else_is_refused_by_name(typed: str, word: str) -> None:
    with pytest.raises(BadRequest) as caught:
        check_statement(typed, TABLES)
    assert word.lower() in caught.value.message.lower()
    assert caught.value.hint


def test_the_tables_are_named_when_one_is_missing() -> None:
    with pytest.raises(BadRequest) as caught:
        check_statement("select * from wages", TABLES)
    assert str(caught.value) == "There is no table 'wages'. Tables are: Cost centres, pay, staff."
    with pytest.raises(BadRequest, match="There are no tables yet"):
        check_statement("select * from wages", {})


def test_functions_spelt_nearly_so_are_named_when_one_is_missing() -> None:
    with pytest.raises(BadRequest) as caught:
        check_statement("select substrng('abc', 1)", TABLES)
    assert "substring" in caught.value.hint


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", "There is no statement."),
        (" -- nothing\n;;", "There is no statement."),
        ("select 'open", "a quote or a comment may lack its end"),
        ("select /* open", "a quote or a comment may lack its end"),
        ("select 1\0", "a character that is not text"),
        ("select '\ud800'", "a character that is not text"),
        ("select " + "1," * 10_000 + "1", "The statement has 20,008 characters."),
        ("select 1 as " + "a" * 64, "is too long"),
    ],
)
def test_what_cannot_be_read_is_said(typed: str, expected: str) -> None:
    with pytest.raises(BadRequest, match=re.escape(expected)):
        check_statement(typed, TABLES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(", ")"),
        ("lower(", ")"),
        ("(select ", ")"),
        ("not ", ""),
        ("- ", ""),
        ("case when ", " then 1 end"),
    ],
)
def test_deep_nesting_ends_in_words(before: str, after: str) -> None:
    with pytest.raises(BadRequest, match="nested too deeply"):
        check_statement("select " + before * 900 + "1" + after * 900, TABLES)


@pytest.mark.parametrize(("before", "after"), [("array[", "]"), ("numeric(", ")"), ("[", "]")])
def test_a_parser_that_tries_again_at_every_level_is_stopped(before: str, after: str) -> None:
    with pytest.raises(BadRequest, match="nested too deeply"):
        check_statement("select " + before * 40 + "1" + after * 40, TABLES)


def test_a_long_statement_of_the_ordinary_kind_runs() -> None:
    assert check_statement("select * from staff where id in (" + "1," * 9_000 + "1)", TABLES).count("1") == 9_001


WORDS = sorted({word for typed in ALLOWED + [typed for typed, _ in REFUSED] for word in re.findall(r"\w+|\W", typed)})


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_any_words_are_run_or_refused(tail: str) -> None:
    try:
        run = check_statement(f"select {tail}", TABLES)
    except BadRequest:
        return
    assert check_statement(run, TABLES) == run


def test_nothing_is_loaded_before_a_statement_is_checked() -> None:
    report = "import sys, core.table_qa.sql_guard; print('sqlglot' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
