"""Vocabularies are checked, compared, joined and passed on; what is wrong is said in words."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Authority
from core.domain.errors import BadRequest
from core.domain.vocabulary import BUILT_IN, AuthorityNames, DomainWords, JurisdictionNames, Vocabulary
from core.knowledge.domains import built_in_domains
from core.library.vocabulary.edits import (
    TERRITORIES,
    check_vocabulary,
    differences,
    domain_keywords,
    edit_domain,
    merge_vocabularies,
    new_domain_name,
)
from core.library.vocabulary.toml_csv import from_csv, from_file, from_toml, packs, to_csv, to_toml

texts = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12).filter(
    lambda word: not word.startswith("'")
)
word_lists = st.lists(texts, max_size=4, unique=True).map(tuple)
domains_said = st.builds(
    DomainWords,
    st.sampled_from(["privacy", "fleet", "taxes", "learning"]),
    texts,
    word_lists,
    st.lists(st.sampled_from(built_in_domains()["taxes"]), max_size=3, unique=True).map(tuple),
    word_lists,
    st.booleans(),
)
speakers_said = st.builds(AuthorityNames, st.sampled_from(Authority), word_lists)
places_said = st.builds(
    JurisdictionNames, st.sampled_from(["federal", "country:CA", "country:XK"]), texts, word_lists, word_lists
)
vocabularies = st.tuples(
    st.lists(domains_said, max_size=3), st.lists(speakers_said, max_size=2), st.lists(places_said, max_size=2)
).map(lambda rows: Vocabulary().with_changes(*rows[0], *rows[1], *rows[2]))


@given(vocabularies)
def test_what_is_exported_is_imported_exactly(vocabulary: Vocabulary) -> None:
    assert from_toml(to_toml(vocabulary), "it") == vocabulary
    assert from_csv(to_csv(vocabulary), "it") == vocabulary
    assert from_file(b"\xef\xbb\xbf" + to_toml(vocabulary).encode(), "it.TOML") == vocabulary


@given(vocabularies)
def test_a_csv_holds_nothing_a_spreadsheet_would_run(vocabulary: Vocabulary) -> None:
    exact = Vocabulary((DomainWords("privacy", "Privacy", ("=PII", "@home", "+1")),))
    for each in (vocabulary, exact):
        cells = [cell for row in csv.reader(io.StringIO(to_csv(each))) for cell in row]
        assert not [cell for cell in cells if cell.lstrip(" ").startswith(("=", "@", "+", "-"))]
    assert from_csv(to_csv(exact), "it") == exact


@given(vocabularies, vocabularies)
def test_joining_keeps_all_words_of_both_and_twice_is_once(one: Vocabulary, other: Vocabulary) -> None:
    both = merge_vocabularies(one, other)
    assert merge_vocabularies(both, other) == both
    for statement in (one, other):
        for domain in statement.domains:
            assert set(domain.keywords) <= set(both.domain(domain.name).keywords)
        for place in statement.jurisdictions:
            assert set(place.names) <= set(both.jurisdiction(place.value).names)


@given(vocabularies, vocabularies)
def test_two_vocabularies_differ_in_words_only_when_they_differ(one: Vocabulary, other: Vocabulary) -> None:
    assert differences(one, one) == ()
    assert all(sentence.endswith(".") for sentence in differences(one, other))


@given(st.data())
def test_what_a_form_says_of_a_domain_is_what_counts(data: st.DataObject) -> None:
    known = built_in_domains()["learning"]
    stored = data.draw(st.lists(st.sampled_from(known), unique=True))
    added = [word for word in data.draw(st.lists(texts, max_size=3, unique=True)) if word not in known]
    content = edit_domain(BUILT_IN, "learning", title="Learning", keywords=[*stored, *added], name_words=[], off=False)
    assert set(domain_keywords(content, "learning")) == {*stored, *added}
    assert content.domain("learning").title == ""
    if set(stored) == set(known) and not added:
        assert content == BUILT_IN


CASES = [
    (DomainWords("x", "X", ("",)), "a keyword is empty"),
    (DomainWords("x", "X", ("–",)), "contains no letter or digit"),
    (DomainWords("x", "X", ("of the",)), "too common"),
    (DomainWords("x", "X", ("a",)), "too common"),
    (DomainWords("x", "X", ("rota", "rota")), "is listed twice"),
    (DomainWords("x", "X", ("rota", "rotas")), "finds the same as 'rota'"),
    (DomainWords("taxes", "", ("taxes",)), "finds the same as 'tax'"),
    (DomainWords("x", "", ("rota",)), "has no title"),
    (DomainWords("x", "X"), "has no keyword"),
    (DomainWords("x", "Taxes", ("rota",)), "Two domains are called 'Taxes'"),
    (DomainWords("My Domain", "X", ("rota",)), "cannot name a domain"),
    (DomainWords("unknown", "X", ("rota",)), "cannot name a domain"),
    (DomainWords("general", off=True), "stays switched on"),
    (DomainWords("x", "X", ("r" * 121,)), "longer than 120"),
    (AuthorityNames(Authority.VENDOR, ("the",)), "too common to be a name"),
    (JurisdictionNames("state:ON", "Ontario"), "not a state or territory of the United States"),
    (JurisdictionNames("country:canada", "Canada"), "is not a jurisdiction"),
    (JurisdictionNames("Ontario", "Ontario"), "is not a jurisdiction"),
    (JurisdictionNames("country:XK"), "needs a title"),
    (JurisdictionNames("country:CA", "", ("in",)), "too common to name a place"),
    (JurisdictionNames("country:CA", "", ("Kanata", "Kanata")), "twice"),
]


@pytest.mark.parametrize(("expected", "problem"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_be_is_said_in_words(
    expected: DomainWords | AuthorityNames | JurisdictionNames, problem: str
) -> None:
    rows = {DomainWords: Vocabulary((expected,)), AuthorityNames: Vocabulary((), (expected,))}  # type: ignore[arg-type]
    findings = check_vocabulary(rows.get(type(expected), Vocabulary((), (), (expected,))))  # type: ignore[arg-type]
    assert problem in " ".join(findings.problems)


def test_what_is_allowed_and_worth_knowing_is_said() -> None:
    own = Vocabulary(
        (DomainWords("fleet", "Fleet", ("payroll tax", "vehicle log")), DomainWords("time", without=("no such word",))),
        (),
        (JurisdictionNames("country:GE", "", ("Georgia",)),),
    )
    findings = check_vocabulary(own)
    assert findings.problems == ()
    assert findings.notices == (
        "'no such word' is not a built-in keyword of 'time': leaving it out does nothing.",
        "'payroll tax' of Fleet belongs to Taxes too: it counts for both.",
        "'Georgia' names Georgia too: it will mean Republic of Georgia.",
    )


def test_territories_are_states_and_every_pack_is_sound() -> None:
    assert not check_vocabulary(
        Vocabulary((), (), tuple(JurisdictionNames(f"state:{code}", code) for code in TERRITORIES))
    ).problems
    for pack in packs().values():
        assert not check_vocabulary(pack.vocabulary).problems


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("it.toml", b"[domains.x]\nwords = []", "unknown key 'words'"),
        ("it.toml", b"domains = 3", "must be a table"),
        ("it.toml", b'[domains.x]\nkeywords = "tax"', "must be a list of words"),
        ("it.toml", b'[authorities]\nchurch = ["the Pope"]', "'church' is not an authority"),
        ("it.csv", b"a,b\n1,2\n", "lacks the columns"),
        ("it.csv", b"kind,of,what,words\ndomain,x,colour,red\n", "Line 2 of 'it.csv'"),
        ("it.csv", b"", "lacks the columns"),
        ("it.toml", b"\xff\xfe", "not UTF-8"),
        ("it.xlsx", b"x", "neither TOML nor CSV"),
        ("it.toml", b"x" * 2_000_001, "too large"),
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused_with_its_name(name: str, data: bytes, expected: str) -> None:
    with pytest.raises(BadRequest, match="it") as refused:
        from_file(data, name)
    assert expected in refused.value.message and refused.value.hint


def test_a_spreadsheet_saved_with_semicolons_is_read() -> None:
    text = "Kind;Of;What;Words\r\ndomain;fleet;title;Fleet\r\ndomain;fleet;keyword;vehicle log\r\n"
    assert from_csv(text, "it").domains == (DomainWords("fleet", "Fleet", ("vehicle log",)),)


def test_a_new_domain_gets_a_name_nobody_has() -> None:
    assert [new_domain_name(title, ["privacy"]) for title in ("Privacy", "Überstunden & mehr", "941", "残業")] == [
        "privacy_2",
        "berstunden_mehr",
        "domain_941",
        "domain",
    ]
