"""What a question says in signs; and that everything else stays a word, letter by letter."""

import re
from datetime import UTC, date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Truth
from core.domain.filters import SearchFilters
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.query.syntax import ParsedQuery, misread, narrowed, read_query
from core.search.retrieval import retriever
from core.search.retrieval.retriever import text_admissible
from tests.fakes import FakeCatalogue, FakeSparseIndex
from tests.stores.libraries import document, passage, random_vectors, store


@pytest.mark.parametrize(
    ("typed", "plain", "phrases", "without", "fields"),
    [
        ('"overtime pay" in Texas', "overtime pay in Texas", ["overtime pay"], [], {}),
        ("“overtime pay”?", "overtime pay?", ["overtime pay"], [], {}),
        ("„Überstunden“ bezahlt", "Überstunden bezahlt", ["Überstunden"], [], {}),
        ('who approves "over  time"', "who approves over time", ["over time"], [], {}),
        ('"W-2" and "1099"', "W-2 and 1099", ["W-2", "1099"], [], {}),
        ('"a" "a"', "a a", ["a"], [], {}),
        ("overtime -draft", "overtime", [], ["draft"], {}),
        ('rules -"first draft" -W-2 here', "rules here", [], ["first draft", "W-2"], {}),
        ("rules -draft, please", "rules please", [], ["draft"], {}),
        ('rules -"401k"', "rules", [], ["401k"], {}),
        ("what is due truth:regulatory", "what is due", [], [], {"truth": ("regulatory",)}),
        ("truth:Intent truth:REALITY scope", "scope", [], [], {"truth": ("intent", "reality")}),
        ("scope -truth:intent", "scope", [], [], {"-truth": ("intent",)}),
        ("what is due truth:regulatory?", "what is due", [], [], {"truth": ("regulatory",)}),
        ("due domain:taxes", "due", [], [], {"domain": ("taxes",)}),
        ("due authority:government", "due", [], [], {"authority": ("government",)}),
        ("due jurisdiction:CA", "due", [], [], {"jurisdiction": ("state:CA",)}),
        ("due jurisdiction:state:CA", "due", [], [], {"jurisdiction": ("state:CA",)}),
        ('due jurisdiction:"New York"', "due", [], [], {"jurisdiction": ("state:NY",)}),
        ('due project:"North East" tag:urgent', "due", [], [], {"project": ("North East",), "tag": ("urgent",)}),
        ("due entity:IRS type:email", "due", [], [], {"entity": ("IRS",), "type": ("email",)}),
        ("due document:pub.pdf", "due", [], [], {"document": ("pub.pdf",)}),
        ("due document:“my file.pdf”", "due", [], [], {"document": ("my file.pdf",)}),
        ("due origin:insight sector:procedural", "due", [], [], {"origin": ("insight",), "sector": ("procedural",)}),
        ("due before:2024 after:2020-06", "due", [], [], {"before": ("2024",), "after": ("2020-06",)}),
        (
            'due since:"March 2024" until:2025-01-31',
            "due",
            [],
            [],
            {"since": ("March 2024",), "until": ("2025-01-31",)},
        ),
        ('"overtime pay" -draft truth:intent x', "overtime pay x", ["overtime pay"], ["draft"], {"truth": ("intent",)}),
        ("truth:intent", "intent", [], [], {"truth": ("intent",)}),
        ('"overtime pay"', "overtime pay", ["overtime pay"], [], {}),
        ('leave ("paid leave" too)', "leave (paid leave too)", ["paid leave"], [], {}),
    ],
)
def test_signs_are_read(
    typed: str, plain: str, phrases: list[str], without: list[str], fields: dict[str, tuple[str, ...]]
) -> None:
    query = read_query(typed, terms=BUILT_IN_TERMS)
    assert (query.plain, list(query.phrases), list(query.without), dict(query.fields)) == (
        plain,
        phrases,
        without,
        fields,
    )
    assert len(query.chips) == len(phrases) + len(without) + sum(map(len, fields.values()))
    assert len({chip.kind for chip in query.chips}) == len(query.chips)
    assert all(chip.words in typed for chip in query.chips)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "  ",
        "What is due?",
        "see https://www.irs.gov/pub?a=b",
        "Note: overtime is paid",
        "re: the W-2",
        "at 10:30 or 10:30:00",
        "truth:banana",
        "truth: intent",
        "truth:",
        'truth:""',
        "colour:red",
        "before:yesterday",
        "before:2024-13-99",
        'since:"the last 3 months"',
        "since:10:30",
        "-before:2024",
        "project:/etc/passwd",
        "project:(north)",
        "jurisdiction:nowhere",
        'the "overtime pay',
        'overtime pay"',
        'a 5" pipe and a 6" pipe',
        'say"hello"there',
        '""',
        '"…"',
        "-",
        "- draft",
        "–draft",
        "a -",
        "--draft",
        "-5 degrees, -3.5% and -$20",
        "-401k",
        "W-2 at year-end",
        "2019-2024 or 2019 - 2024",
        "pre- and post-tax",
        "-draft",
        '-"first draft"',
        "C# & C++ (or F#)",
        "(truth:intent)",
        "an ending (-ed)",
        'call("name")',
        "\u202e \u200b",
    ],
)
def test_everything_else_stays_words(typed: str) -> None:
    assert read_query(typed, terms=BUILT_IN_TERMS) == ParsedQuery(typed)


def test_what_no_store_can_keep_is_replaced_also_in_a_sign() -> None:
    query = read_query("over\0time tag:a\0b \ud800", terms=BUILT_IN_TERMS)
    assert (query.plain, query.fields) == ("over\ufffdtime ?", {"tag": ("a\ufffdb",)})


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("overtime truth:banana", "“truth:banana” is read as words; truth: takes regulatory, compliance"),
        ("overtime -TRUTH:banana", "“-TRUTH:banana” is read as words"),
        ("domain:zoo pay", "domain: takes taxes"),
        ("overtime before:nonsense", "“before:nonsense” is read as words; before: takes 2024, 2024-03, 2024-03-15."),
        ("jurisdiction:nowhere", "jurisdiction: takes federal, California, DE, …"),
        ('-draft -"very old"', "nothing is said to look for"),
        ("rates -2024, please", '“-2024” is read as a number; -"2024" excludes it.'),
    ],
)
def test_what_looks_like_a_sign_and_is_none_is_told(typed: str, expected: str) -> None:
    assert expected in " ".join(misread(typed, terms=BUILT_IN_TERMS))
    assert read_query(typed, terms=BUILT_IN_TERMS) == ParsedQuery(typed)


@pytest.mark.parametrize(
    "typed",
    ["", " ", "overtime pay", "re: W-2", "title:26", "-draft overtime", "truth:intent", "project:x before:2024"],
)
def test_of_what_is_read_nothing_is_told(typed: str) -> None:
    assert misread(typed, terms=BUILT_IN_TERMS) == ()


_SIGNS = st.sampled_from(['"', "“", "”", "-", ":", " ", "(", ")", "truth", "intent", "before", "2024", "a", "\n", "."])


@settings(max_examples=300)
@given(st.one_of(st.text(), st.lists(_SIGNS).map("".join)))
def test_nothing_fails_and_a_question_that_says_something_has_something_to_search_for(typed: str) -> None:
    query = read_query(typed, terms=BUILT_IN_TERMS)
    assert all(misread(typed, terms=BUILT_IN_TERMS))
    assert bool(query.plain.strip()) == bool(typed.strip())
    assert bool(query.chips) == bool(query.phrases or query.without or query.fields)
    narrowed(SearchFilters(), query, {1: "a.pdf"})
    assert query.without_chips([chip.kind for chip in query.chips]) == ParsedQuery(query.plain)


_PLAIN = st.tuples(
    st.text("aäXß09", min_size=1), st.sampled_from(["", "-b", ".c", "'s", "?", ",", ":", "/d", "&e", "_f"])
)


@given(st.lists(_PLAIN.map("".join)).map(" ".join))
def test_plain_text_comes_back_unchanged(typed: str) -> None:
    assert read_query(typed, terms=BUILT_IN_TERMS) == ParsedQuery(typed)


def test_chips_say_what_they_mean() -> None:
    query = read_query(
        '"overtime pay" -draft truth:intent -domain:taxes jurisdiction:TX before:2024 rules', terms=BUILT_IN_TERMS
    )
    assert [(chip.kind, chip.value, chip.words) for chip in query.chips] == [
        ("phrase:overtime pay", "says “overtime pay”", '"overtime pay"'),
        ("without:draft", "does not say “draft”", "-draft"),
        ("field:truth:intent", "truth is intent", "truth:intent"),
        ("field:-domain:taxes", "domain is not Taxes", "-domain:taxes"),
        ("field:jurisdiction:state:TX", "jurisdiction is Texas", "jurisdiction:TX"),
        ("field:before:2024", "dated before 2024", "before:2024"),
    ]
    assert query.in_words == ("says “overtime pay”", "does not say “draft”")


def test_a_removed_chip_takes_its_condition_with_it_and_a_phrase_leaves_its_words() -> None:
    query = read_query('"overtime pay" -draft truth:intent truth:reality rules', terms=BUILT_IN_TERMS)
    left = query.without_chips(["phrase:overtime pay", "field:truth:intent", "category", "unheard"])
    assert (left.plain, left.phrases, left.without) == ("overtime pay rules", (), ("draft",))
    assert dict(left.fields) == {"truth": ("reality",)}
    assert [chip.kind for chip in left.chips] == ["without:draft", "field:truth:reality"]
    assert query.without_chips(["category"]) == query


def test_many_phrases_are_words_from_the_twenty_first_on() -> None:
    query = read_query(" ".join(f'"phrase {n}"' for n in range(30)), terms=BUILT_IN_TERMS)
    assert len(query.phrases) == 20
    assert '"phrase 29"' in query.plain


# Narrowing


def moment(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def end_of(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, 23, 59, 59, 999999, tzinfo=UTC)


NAMES = {1: "Handbook.pdf", 2: "Handbook 2024.pdf", 3: "sow.docx", 4: "notes.md"}


@pytest.mark.parametrize(
    ("page", "typed", "found"),
    [
        ({}, "x", {}),
        ({"truths": ("intent",)}, "x", {"truths": ("intent",)}),
        ({"domains": ("taxes",)}, "x truth:reality", {"truths": ("reality",), "domains": ("taxes",)}),
        ({"exclude_truths": ("intent",)}, "x -truth:reality", {"exclude_truths": ("intent", "reality")}),
        ({"tags": ("a", "b"), "tags_mode": "all"}, "x tag:c tag:d", {"tags": ("c", "d"), "tags_mode": "any"}),
        ({}, "x document:handbook.pdf", {"documents": (1,)}),
        ({}, "x document:handbook", {"documents": (1,)}),
        ({}, "x document:hand", {"documents": (1, 2)}),
        ({"documents": (3,)}, "x document:notes.md document:sow", {"documents": (3,)}),
        ({"truths": ("intent",)}, "x truth:reality", {"truths": ("reality",), "documents": (0,)}),
        ({"truths": ("intent", "reality")}, "x truth:reality", {"truths": ("reality",)}),
        ({}, "x document:unheard.pdf", {"documents": (0,)}),
        ({}, "x -document:sow", {"exclude_documents": (3,)}),
        ({}, "x -document:unheard", {}),
        ({}, "x after:2024", {"date_from": moment(2025)}),
        ({}, "x since:2024-03", {"date_from": moment(2024, 3)}),
        ({}, "x before:2024", {"date_to": end_of(2023, 12, 31)}),
        ({}, "x until:2024-02", {"date_to": end_of(2024, 2, 29)}),
        ({"date_from": moment(2022)}, "x since:2020", {"date_from": moment(2022)}),
        (
            {"date_from": moment(2022), "date_to": moment(2024)},
            'x since:"June 2023" until:2030',
            {"date_from": moment(2023, 6), "date_to": moment(2024)},
        ),
        ({}, "x before:2020 after:2024", {"date_from": moment(2025), "date_to": end_of(2019, 12, 31)}),
    ],
)
def test_fields_narrow_the_filters_of_the_page(page: dict[str, object], typed: str, found: dict[str, object]) -> None:
    assert narrowed(SearchFilters(**page), read_query(typed, terms=BUILT_IN_TERMS), NAMES) == SearchFilters(**found)  # type: ignore[arg-type]


def test_a_filter_with_a_relative_date_keeps_it_beside_those_of_the_question() -> None:
    filters = narrowed(SearchFilters(recency_months=6), read_query("x since:2020", terms=BUILT_IN_TERMS), {})
    assert (filters.recency_months, filters.date_from) == (6, moment(2020))
    assert date(2020, 1, 1) == filters.date_from.date()


# Phrases and excluded words before ranking

_WORDS = st.lists(st.sampled_from(["overtime", "Pay", "the", "W-2", "taxes", "tax", "employee’s"]), max_size=5)
_JOINED = st.tuples(_WORDS, st.sampled_from([" ", "-", ", ", "\n", " – ", "_"])).map(lambda pair: pair[1].join(pair[0]))


def library(contents: list[str]) -> tuple[FakeCatalogue, FakeSparseIndex, list[int]]:
    catalogue, sparse = FakeCatalogue(), FakeSparseIndex()
    passages = [passage(text, truth=Truth.INTENT if n % 2 else Truth.REALITY) for n, text in enumerate(contents)]
    stored = store(catalogue, document(), passages, random_vectors(len(passages), 1))
    sparse.add(stored)
    return catalogue, sparse, [p.id for p in stored]


def in_a_row(text: str, phrase: str) -> bool:
    stored, expected = (re.findall(r"[^\W_]+", each.lower()) for each in (text, phrase))
    return any(stored[at : at + len(expected)] == expected for at in range(len(stored) - len(expected) + 1))


@settings(max_examples=150)
@given(
    contents=st.lists(_JOINED, min_size=1, max_size=8),
    phrases=st.lists(_JOINED.filter(lambda text: any(map(str.isalnum, text))), max_size=2),
    without=st.lists(_JOINED.filter(lambda text: any(map(str.isalnum, text))), max_size=2),
    truths=st.sampled_from([(), ("intent",)]),
)
def test_what_may_be_ranked_says_every_phrase_and_no_excluded_one(
    contents: list[str], phrases: list[str], without: list[str], truths: tuple[str, ...]
) -> None:
    catalogue, sparse, ids = library(contents)
    filters = SearchFilters(truths=truths)
    found = text_admissible(ParsedQuery("x", tuple(phrases), tuple(without)), filters, catalogue, sparse)
    if not phrases and not without:
        assert found is None
        return
    stored = catalogue.passages(ids)
    right = [
        i
        for i in ids
        if filters.admits(stored[i])
        and all(in_a_row(stored[i].text, phrase) for phrase in phrases)
        and not any(in_a_row(stored[i].text, phrase) for phrase in without)
    ]
    assert found is not None
    assert found.dtype == np.int64
    assert found.tolist() == right


def test_a_passage_not_indexed_yet_is_read_all_the_same() -> None:
    catalogue, _, ids = library(["overtime pay", "the draft", "nothing of it"])
    empty = FakeSparseIndex()
    for typed, right in (('"overtime pay"', ids[:1]), ("x -draft", [ids[0], ids[2]])):
        found = text_admissible(read_query(typed, terms=BUILT_IN_TERMS), SearchFilters(), catalogue, empty)
        assert found is not None
        assert found.tolist() == right


def test_of_very_many_passages_those_are_read_in_which_the_words_weigh_most(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = [
        "overtime pay",
        "a long text that says overtime pay in passing",
        "pay for overtime",
        "taxing",
        "the the",
    ]
    catalogue, sparse, ids = library(contents)
    monkeypatch.setattr(retriever, "_MOST_READ", 2)

    def found(typed: str) -> list[int]:
        among = text_admissible(read_query(typed, terms=BUILT_IN_TERMS), SearchFilters(), catalogue, sparse)
        assert among is not None
        return among.tolist()

    assert found('"overtime pay"') == ids[:1]
    assert found('"the"') == ids[4:]
    assert found("rules -overtime") == ids[3:]
    assert found("rules -tax") == ids
