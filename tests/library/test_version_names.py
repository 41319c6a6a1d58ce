"""What a name says of its version, and which of two names is the later."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState, SourceType
from core.library.duplicates.minhash import SharedText
from core.library.versions.store import DuplicatePair
from core.library.versions.suggestions import explained, in_order, may_be_versions, read_name

AT = datetime(2026, 3, 1, tzinfo=UTC)
LIKE, UNLIKE, SAME = SharedText(0.5, 0.7, 0.7), SharedText(0.05, 0.1, 0.1), SharedText(1.0, 1.0, 1.0)


def named(name: str, number: int = 1, **values: object) -> Document:
    """A document of which only the name is known."""
    return replace(Document(number, name, f"{number:064}", 1, DocumentState.READY, AT), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Travel Policy v1.docx", "travel_policy_V2.pdf"),
        ("Travel Policy.docx", "Travel Policy (2).docx"),
        ("Travel policy DRAFT.docx", "Travel policy - final.docx"),
        ("Travel policy rev A.pdf", "Travel policy, Revision C.pdf"),
        ("Travel policy 2023-05-01.pdf", "Travel policy 01.06.2024.pdf"),
        ("Travel policy (March 2023).pdf", "Travel policy 2 Sept 2024.pdf"),
        ("2023_travel_policy.pdf", "2024_travel_policy.pdf"),
        ("Travel Policy 2024 Q1.xlsx", "Travel Policy Q3-2024.xlsx"),
        ("archive/2023/Travel policy.pdf", "Travel policy copy.pdf"),
        ("travel-policy_v1.2.1-signed.pdf", "Travel policy Version 3.pdf"),
        ("旅費規程 2023.docx", "旅費規程 v2.docx"),
    ],
)
def test_versions_of_one_document_have_one_key(first: str, second: str) -> None:
    assert read_name(first).key == read_name(second).key != ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("renewal.pdf", "new.pdf"),
        ("Section 207.pdf", "Statute 207.pdf"),
        ("draftsman.pdf", "sman.pdf"),
        ("Form W-2.pdf", "Form W-4.pdf"),
        ("vendor.pdf", "endor.pdf"),
        ("A-100.pdf", "B-100.pdf"),
        ("maybe 2024.pdf", "be 2024.pdf"),
    ],
)
def test_other_documents_keep_another_key(first: str, second: str) -> None:
    assert read_name(first).key != read_name(second).key


@given(st.text(max_size=80))
def test_any_name_can_be_read(name: str) -> None:
    reading = read_name(name)
    assert reading == read_name(name) and reading.key == reading.key.strip()


@pytest.mark.parametrize(
    ("older", "newer", "why"),
    [
        ("Policy v9.pdf", "Policy v10.pdf", "higher version"),
        ("Policy.pdf", "Policy v2.pdf", "higher version"),
        ("Policy rev B.pdf", "Policy rev C.pdf", "higher version"),
        ("Policy draft.pdf", "Policy.pdf", "later state"),
        ("Policy v2 draft.pdf", "Policy v2 final.pdf", "later state"),
        ("Overtime policy draft v3.md", "Overtime policy FINAL.md", "later state"),
        ("Policy draft v3.pdf", "Policy v2 signed.pdf", "later state"),
        ("Policy draft v3.pdf", "Policy.pdf", "later state"),
        ("Policy final.pdf", "Policy final v2.pdf", "higher version"),
        ("Policy v2 final.pdf", "Policy v3.pdf", "higher version"),
        ("Policy 2023.pdf", "Policy 2024-02.pdf", "later date"),
        ("Policy (1).pdf", "Policy (2).pdf", "higher version"),
    ],
)
def test_names_tell_which_is_newer_in_any_order_of_upload(older: str, newer: str, why: str) -> None:
    for first, second in ((named(older, 1), named(newer, 2)), (named(older, 2), named(newer, 1))):
        for pair in ((first, second), (second, first)):
            before, after, reported = in_order(*pair)
            assert (before.name, after.name) == (older, newer) and why in reported


def test_their_own_dates_come_before_their_names_and_the_upload_last() -> None:
    early, late = (datetime(year, 1, 1, tzinfo=UTC) for year in (2023, 2024))
    older, newer, why = in_order(named("Policy v1.pdf", 1, date=late), named("Policy v2.pdf", 2, date=early))
    assert (newer.name, why) == ("Policy v1.pdf", "it is dated 2024-01-01, the other 2023-01-01")
    older, newer, why = in_order(named("a.pdf", 2), named("b.pdf", 1))
    assert (older.id, newer.id) == (1, 2) and "uploaded later" in why


@pytest.mark.parametrize(
    ("first", "second", "shared", "expected"),
    [
        (named("Policy v1.pdf"), named("Policy v2.pdf", 2), LIKE, True),
        (named("Policy v1.pdf"), named("Policy v2.pdf", 2), UNLIKE, False),
        (named("Policy v1.pdf"), named("Policy v2.pdf", 2), SAME, False),
        (named("Policy v1.pdf", project="a"), named("Policy v2.pdf", 2, project="b"), LIKE, False),
        (named("Invoice 1.pdf"), named("Invoice 2.pdf", 2), SharedText(0.3, 0.5, 0.5), False),
        (named("Policy.pdf"), named("Rules.pdf", 2), LIKE, False),
        (named("Policy.pdf"), named("Rules.pdf", 2), SharedText(0.7, 0.9, 0.8), True),
        (named("Annex.pdf"), named("Contract.pdf", 2), SharedText(0.1, 1.0, 0.1), False),
        (named("x.pdf", title="Travel rules 2023"), named("y.pdf", 2, title="Travel Rules 2024"), LIKE, True),
        (named("x.htm", url="https://a.org/p"), named("y.htm", 2, url="https://a.org/p"), LIKE, True),
        (named("x.htm", url="https://a.org/p"), named("y.htm", 2, url="https://a.org/p"), UNLIKE, False),
    ],
)
def test_versions_are_suggested(first: Document, second: Document, shared: SharedText, expected: bool) -> None:
    swapped = SharedText(shared.jaccard, shared.second_in_first, shared.first_in_second)
    assert may_be_versions(first, second, shared, 0.0) is expected
    assert may_be_versions(second, first, swapped, 0.0) is expected


def test_entries_of_feeds_with_one_address_are_suggested_whatever_they_say() -> None:
    entries = [named(f"{n}.html", n, url="https://a.org/p", source_type=SourceType.FEED) for n in (1, 2)]
    assert may_be_versions(*entries, UNLIKE, 0.0)


@pytest.mark.parametrize(
    ("same", "older", "newer", "said"),
    [
        (0.6, 0.4, 0.9, "90% of the newer one's sentences in the older one"),
        (0.8, 0.0, 0.0, "80% of the words in the same order"),
        (0.6, 0.5, 0.9, "50% of the older one's sentences the same"),
    ],
)
def test_the_share_that_says_most_is_told(same: float, older: float, newer: float, said: str) -> None:
    pair = DuplicatePair(1, 2, same, older, newer, suggested=True)
    assert explained(named("Note 1.md"), named("Note 2.md", 2), pair).endswith(said)


def test_why_is_told_in_words() -> None:
    pair = DuplicatePair(1, 2, 0.6, 0.83, 0.9, suggested=True)
    statement = explained(named("Policy v1.pdf", title="Travel"), named("Policy v2.pdf", 2, title="Travel"), pair)
    assert statement == (
        "same name but for “v2” in place of “v1”, same title, 83% of the older one's sentences the same"
    )
