"""What every core.library.versions.store.SignatureStore does."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from sqlalchemy import text

from core.domain.documents import Document
from core.domain.errors import Outdated
from core.library.duplicates.minhash import minima, triples
from core.library.versions.store import DuplicatePair, Signature, SignatureStore, VersionDecision, VersionVerdict
from core.ports.catalogue import Catalogue
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database
from storage.postgres.versions import SqlSignatureStore
from tests.database import new_tenant
from tests.fakes import FakeCatalogue, FakeSignatureStore
from tests.label_edits import store_labels
from tests.stores.libraries import document

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOWHERE = 10**12


@dataclass(frozen=True, slots=True)
class Shelf:
    """A catalogue and the store beside it, of one tenant."""

    catalogue: Catalogue
    store: SignatureStore

    def add(self, name: str, words: str = "", **values: object) -> Document:
        """A document with the signature of a text."""
        known = self.catalogue.add_document(document(name, **values))
        self.store.keep([signature_of(known.id, words or f"the text of {name} says what nothing else says")])
        return known


def signature_of(document_id: int, words: str, **keys: str) -> Signature:
    """The signature of a text."""
    own = triples([words])
    return Signature(document_id, len(own), minima(own), **keys)


def pair_of(first: Document, second: Document, same: float = 0.9, *, suggested: bool = False) -> DuplicatePair:
    """A pair in its order."""
    low, high = sorted((first.id, second.id))
    return DuplicatePair(low, high, same, 0.5, 0.75, suggested)


def decision_of(older: Document, newer: Document, number: int, verdict: VersionVerdict) -> VersionDecision:
    """A line of the log."""
    files = older.sha256, newer.sha256
    links = ((newer.id, None, older.id),)
    return VersionDecision(*files, verdict, "Ann", AT, number, older.id, newer.id, links, (older.id,))


@pytest.fixture(params=["memory", "postgres"])
def shelf(request: pytest.FixtureRequest) -> Shelf:
    """An empty store of each kind."""
    if request.param == "memory":
        catalogue = FakeCatalogue()
        return Shelf(catalogue, FakeSignatureStore(catalogue))
    database: Database = new_tenant(request.getfixturevalue("engine"))
    return Shelf(SqlCatalogue(database), SqlSignatureStore(database))


def words(count: int, seed: int) -> list[str]:
    """Words drawn at random."""
    chance = random.Random(seed)
    return [f"w{chance.randrange(5000)}" for _ in range(count)]


def test_like_texts_are_candidates_and_unlike_ones_are_not(shelf: Shelf) -> None:
    base = words(300, 1)
    like = shelf.add("like", " ".join([*base[:150], "other", *base[151:]]))
    same = shelf.add("same", " ".join(base))
    shelf.add("unlike", " ".join(words(300, 2)))
    text = signature_of(shelf.add("asked", " ".join(base)).id, " ".join(base))
    found = shelf.store.candidates(text, 10)
    assert [each.document_id for each in found] == [same.id, like.id]
    assert np.array_equal(found[0].minima, text.minima) and found[0].triples == text.triples
    assert [each.document_id for each in shelf.store.candidates(text, 1)] == [same.id]


def test_of_many_with_one_name_only_the_newest_are_candidates(shelf: Shelf) -> None:
    others = [shelf.catalogue.add_document(document(f"slip {number}.txt")) for number in range(40)]
    for each in others:
        shelf.store.keep([signature_of(each.id, f"what slip {each.id} says nobody else says", name_key="slip")])
    found = shelf.store.candidates(signature_of(NOWHERE, "what nobody else says", name_key="slip"), 60)
    assert [each.document_id for each in found] == [each.id for each in reversed(others)][:25]


def test_the_document_most_alike_is_the_first_candidate_however_many_share_a_template(shelf: Shelf) -> None:
    template, own = words(400, 3), [words(60, 100 + number) for number in range(40)]
    texts = [" ".join([*template, *each]) for each in own]
    slips = [shelf.catalogue.add_document(document(f"slip {number}.txt")) for number in range(40)]
    for each, said in zip(slips, texts, strict=True):
        shelf.store.keep([signature_of(each.id, said, name_key="slip")])
    corrected = " ".join([*template, *own[2][:-2], "other", "words"])
    found = shelf.store.candidates(signature_of(NOWHERE, corrected, name_key="slip"), 10)
    assert len(found) == 10
    assert found[0].document_id == slips[2].id


@pytest.mark.parametrize("key", ["name_key", "title_key", "url"])
def test_documents_with_one_key_are_candidates_whatever_they_say(shelf: Shelf, key: str) -> None:
    first, second, third = (shelf.add(name) for name in ("a", "b", "c"))
    for each, value in ((first, "straße 'x'; --"), (second, "straße 'x'; --"), (third, "")):
        shelf.store.keep([signature_of(each.id, f"text {each.id}", **{key: value})])
    (found,) = shelf.store.candidates(signature_of(first.id, f"text {first.id}", **{key: "straße 'x'; --"}), 10)
    assert found.document_id == second.id and getattr(found, key) == "straße 'x'; --"
    assert shelf.store.candidates(signature_of(third.id, f"text {third.id}"), 10) == []


def test_very_long_keys_and_what_no_database_holds_are_kept(shelf: Shelf) -> None:
    first, second = shelf.add("a"), shelf.add("b")
    odd = "漢" * 5000 + "\0"
    for each in (first, second):
        shelf.store.keep([signature_of(each.id, f"text {each.id}", name_key=odd, title_key=odd, url=odd)])
    assert shelf.store.signed() == [first.id, second.id]


def test_keeping_again_replaces_and_forgets_pairs(shelf: Shelf) -> None:
    first, second = shelf.add("a", "one two three four"), shelf.add("b", "one two three four")
    shelf.store.pair([pair_of(first, second)])
    assert shelf.store.pairs_of([first.id]) == [pair_of(first, second)]
    shelf.store.keep([signature_of(first.id, "five six seven eight")])
    assert shelf.store.pairs_of([second.id]) == []
    assert shelf.store.candidates(signature_of(second.id, "one two three four"), 9) == []
    found = shelf.store.candidates(signature_of(second.id, "five six seven eight"), 9)
    assert [each.document_id for each in found] == [first.id]


def test_pairs_are_kept_once_and_the_later_replaces_the_earlier(shelf: Shelf) -> None:
    one, two, three = (shelf.add(name) for name in "abc")
    shelf.store.pair([])
    shelf.store.pair([pair_of(one, two, 0.85), pair_of(two, three, 0.95)])
    shelf.store.pair([pair_of(one, two, 0.99)])
    assert shelf.store.pairs_of([two.id]) == [pair_of(one, two, 0.99), pair_of(two, three, 0.95)]
    assert shelf.store.pairs_of([three.id, one.id]) == [pair_of(one, two, 0.99), pair_of(two, three, 0.95)]
    assert shelf.store.pairs_of([]) == [] == shelf.store.pairs_of([NOWHERE])


def test_what_is_gone_leaves_no_pairs_behind(shelf: Shelf) -> None:
    one, two = shelf.add("a"), shelf.add("b")
    shelf.store.pair([pair_of(one, replace(two, id=NOWHERE)), pair_of(one, two)])
    assert shelf.store.pairs_of([one.id]) == [pair_of(one, two)]
    shelf.store.forget([two.id, NOWHERE])
    assert shelf.store.pairs_of([one.id]) == [] and shelf.store.signed() == [one.id]
    shelf.store.keep([signature_of(NOWHERE, "of a document that is gone")])
    assert shelf.store.signed() == [one.id]
    shelf.catalogue.delete(one.id)
    assert shelf.store.signed() == []


def test_several_signatures_are_kept_at_once(shelf: Shelf) -> None:
    one, two = shelf.add("one"), shelf.add("two")
    words = "these eight words stand in both of them"
    shelf.store.keep([signature_of(two.id, words), signature_of(NOWHERE, words), signature_of(one.id, words)])
    assert list(shelf.store.signed()) == [one.id, two.id]
    assert [each.document_id for each in shelf.store.candidates(signature_of(one.id, words), 9)] == [two.id]
    assert [each.document_id for each in shelf.store.candidates(signature_of(NOWHERE, words), 9)] == [two.id, one.id]


def test_only_pairs_of_living_documents_are_listed(shelf: Shelf) -> None:
    one, two, three = (shelf.add(name) for name in "abc")
    shelf.store.pair([pair_of(one, two, suggested=True), pair_of(two, three, 0.5, suggested=True)])
    assert shelf.store.near_pairs() == [pair_of(one, two, suggested=True)]
    store_labels(shelf.catalogue, replace(one, archived=True), [])
    assert shelf.store.near_pairs() == []
    assert shelf.store.suggested(1, 9) == ([pair_of(two, three, 0.5, suggested=True)], 1)
    store_labels(shelf.catalogue, one, [])
    assert shelf.store.near_pairs() == [pair_of(one, two, suggested=True)]


def test_suggestions_come_page_by_page_the_latest_documents_first(shelf: Shelf) -> None:
    every = [shelf.add(name) for name in "abcde"]
    pairs = [pair_of(every[0], each, suggested=True) for each in every[1:]]
    shelf.store.pair([*pairs, pair_of(every[1], every[2])])
    assert shelf.store.suggested(1, 3) == (pairs[:0:-1], 4)
    assert shelf.store.suggested(2, 3) == (pairs[:1], 4)
    assert shelf.store.suggested(9, 3) == ([], 4)


def test_documents_of_different_projects_are_not_suggested(shelf: Shelf) -> None:
    one, two, three = (shelf.add(name, project=project) for name, project in (("a", None), ("b", "x"), ("c", "x")))
    shelf.store.pair([pair_of(one, two, suggested=True), pair_of(two, three, suggested=True)])
    assert shelf.store.suggested(1, 9)[0] == [pair_of(two, three, suggested=True)]


def test_a_rejected_pair_is_not_suggested_until_that_is_taken_back(shelf: Shelf) -> None:
    one, two = shelf.add("a"), shelf.add("b")
    shelf.store.pair([pair_of(one, two, suggested=True)])
    assert shelf.store.decision(one.sha256, two.sha256) is None
    rejected = decision_of(two, one, 1, VersionVerdict.REJECTED)
    shelf.store.decide(rejected)
    assert shelf.store.suggested(1, 9) == ([], 0)
    assert shelf.store.decision(one.sha256, two.sha256) == shelf.store.decision(two.sha256, one.sha256) == rejected
    shelf.store.decide(decision_of(one, two, 2, VersionVerdict.UNDONE))
    assert shelf.store.suggested(1, 9)[1] == 1
    shelf.store.decide(decision_of(one, two, 3, VersionVerdict.ACCEPTED))
    assert shelf.store.suggested(1, 9)[1] == 1  # an accepted one leaves the list because its older document is archived
    assert [each.number for each in shelf.store.decisions(2)] == [3, 2]


def test_a_rejection_holds_when_the_same_file_is_uploaded_again(shelf: Shelf) -> None:
    one, two = shelf.add("a"), shelf.add("b")
    shelf.store.decide(decision_of(one, two, 1, VersionVerdict.REJECTED))
    shelf.catalogue.delete(two.id)
    again = shelf.add("b")
    assert again.id != two.id
    shelf.store.pair([pair_of(one, again, suggested=True)])
    assert shelf.store.suggested(1, 9) == ([], 0)


@pytest.mark.parametrize("number", [1, 3])
def test_of_two_who_decide_at_once_the_second_is_told(shelf: Shelf, number: int) -> None:
    one, two = shelf.add("a"), shelf.add("b")
    shelf.store.decide(decision_of(one, two, 1, VersionVerdict.REJECTED))
    with pytest.raises(Outdated, match="Someone else"):
        shelf.store.decide(decision_of(two, one, number, VersionVerdict.ACCEPTED))


def test_what_replaced_a_document_is_found(shelf: Shelf) -> None:
    one, two, three = (shelf.add(name) for name in "abc")
    assert shelf.store.successors([one.id, two.id, three.id]) == {}
    store_labels(shelf.catalogue, replace(two, version_of=one.id), [])
    store_labels(shelf.catalogue, replace(three, version_of=two.id), [])
    assert shelf.store.successors([one.id, two.id, three.id]) == {one.id: two.id, two.id: three.id}
    assert shelf.store.successors([one.id]) == {one.id: two.id}


def test_ten_thousand_signatures_find_their_candidates() -> None:
    """Of 10,000 texts, each in two wordings, every one finds its own other wording and hardly any of the others."""
    catalogue = FakeCatalogue()
    store = FakeSignatureStore(catalogue)
    add: Callable[[int], int] = lambda number: catalogue.add_document(document(f"{number}.md")).id  # noqa: E731
    bases = [words(60, seed) for seed in range(5_000)]
    twins = []
    for number, base in enumerate(bases):
        ids = add(2 * number), add(2 * number + 1)
        own = " ".join(base), " ".join([*base[:30], "another", *base[31:]])
        twins.append((ids, own))
        for document_id, expected in zip(ids, own, strict=True):
            store.keep([signature_of(document_id, expected)])
    assert len(store.signed()) == 10_000
    for (first, second), (expected, _) in twins[::50]:
        found = [each.document_id for each in store.candidates(signature_of(first, expected), 5)]
        assert found[0] == second and len(found) <= 2


def test_buckets_are_looked_up_by_their_index_also_under_row_level_security(database: Database) -> None:
    catalogue, store = SqlCatalogue(database), SqlSignatureStore(database)
    known = [catalogue.add_document(document(f"{number}.md")) for number in range(300)]
    for each in known:
        store.keep([signature_of(each.id, " ".join(words(30, each.id)))])
    with database.engine.begin() as connection:
        connection.execute(text("ANALYZE signature_buckets"))
    with database.transaction("explaining") as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        plan = connection.scalars(
            text(
                "EXPLAIN SELECT document_id FROM signature_buckets WHERE tenant_id = :tenant"
                " AND bucket = ANY(CAST(:wanted AS bigint[]))"
            ),
            {"tenant": database.tenant, "wanted": [1, 2, 3]},
        ).all()
    assert any("Index Cond" in line and "bucket = ANY" in line for line in plan)
