"""What every ports.SparseIndex does: BM25 as bm25s calculates it over the whole library, in however many uploads."""

import random
from collections.abc import Sequence
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Passage
from core.ports.stores import SparseIndex
from core.text.phrase_match import phrase_words
from core.text.tokenize import index_stems
from tests.fakes import FakeCatalogue
from tests.stores.contracts.conftest import NewSparse
from tests.stores.libraries import WORDS, document, passage, random_documents, random_vectors, store

Filled = tuple[SparseIndex, Sequence[Passage]]


def fill(
    new_sparse: NewSparse,
    library: Sequence[tuple[object, Sequence[Passage]]],
    catalogue: FakeCatalogue | None = None,
) -> Filled:
    """One upload after the other, as documents come."""
    catalogue, passages = catalogue or FakeCatalogue(), []
    index = new_sparse(catalogue)
    for described, content in library:
        stored = store(catalogue, described, content, random_vectors(len(content), 0))  # type: ignore[arg-type]
        index.add(stored)
        passages += stored
    return index, passages


def texts(new_sparse: NewSparse, *contents: str) -> Filled:
    return fill(new_sparse, [(document(f"{n}.txt"), [passage(text)]) for n, text in enumerate(contents)])


def found(filled: Filled, *terms: str, top_k: int = 10) -> list[str]:
    index, passages = filled
    by_id = {p.id: p.text for p in passages}
    return [by_id[hit.passage_id] for hit in index.search(terms, None, top_k).hits]


def measured_by_bm25s(passages: Sequence[Passage], terms: Sequence[str]) -> dict[int, float]:
    """The score of every passage by bm25s itself, indexing everything at once."""
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
    retriever.index([index_stems(f"{p.context}\n{p.text}") for p in passages], show_progress=False)
    requests = [stem for term in terms for stem in index_stems(term) if stem in retriever.vocab_dict]
    scores = retriever.get_scores(requests) if requests else np.zeros(len(passages))
    return {p.id: float(score) for p, score in zip(passages, scores, strict=True)}


@pytest.fixture(scope="module")
def uploads(new_sparse: NewSparse) -> Filled:
    """Forty uploads, of which some were deleted and some came twice."""
    catalogue = FakeCatalogue()
    index, passages = fill(new_sparse, random_documents(9, documents=40, each=7), catalogue)
    removed = sorted({p.document_id for p in passages if p.document_id % 5 == 0})
    index.delete(removed)
    for document_id in removed:
        catalogue.delete(document_id)
    index.add(passages[7:21])
    return index, [p for p in passages if p.document_id not in removed]


QUESTIONS = st.lists(st.sampled_from([*WORDS, "taxes", "empty", "unheard"]), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(terms=QUESTIONS, top_k=st.sampled_from((1, 10, 1000)), seed=st.integers(0, 2**32))
def test_scores_equal_those_of_one_index_built_anew_restricted_to_what_is_admissible(
    uploads: Filled, terms: list[str], top_k: int, seed: int
) -> None:
    index, passages = uploads
    chance = random.Random(seed)
    admissible = {p.id for p in passages if chance.random() < chance.choice((0.01, 0.1, 1.0))} | {10**12}
    hits = index.search(terms, np.array(sorted(admissible), dtype=np.int64), top_k)
    right = {i: s for i, s in measured_by_bm25s(passages, terms).items() if i in admissible and s > 0}
    best = sorted(right, key=lambda i: (-round(right[i], 9), i))[:top_k]
    assert {h.passage_id for h in hits.hits} <= right.keys()
    assert [h.score for h in hits.hits] == pytest.approx([right[i] for i in best], abs=1e-9)
    assert [h.score for h in hits.hits] == pytest.approx([right[h.passage_id] for h in hits.hits], abs=1e-9)
    assert (hits.rows_before, hits.rows_after) == (len(passages), len(admissible) - 1)


@settings(max_examples=30, deadline=None)
@given(terms=QUESTIONS)
def test_the_terms_shares_sum_to_the_score(uploads: Filled, terms: list[str]) -> None:
    index, passages = uploads
    scores = {hit.passage_id: hit.score for hit in index.search(terms, None, 10_000).hits}
    explained = index.explain(terms, [p.id for p in passages])
    for one in passages:
        assert fsum(part.score for part in explained[one.id]) == pytest.approx(scores.get(one.id, 0.0), abs=1e-9)
        assert all(part.term in terms and part.score > 0 for part in explained[one.id])


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Taxes are due.", "tax"),
        ("The taxing authority", "taxes"),
        ("File Form W-2.", "w-2"),
        ("A 401k plan", "401K"),
        ("HR decides", "hr"),
        ("Written in C#", "c#"),
        ("The year-end run", "year"),
        ("At the end of it", "year-end"),
        ("Set storeEmptyResults to true", "storeemptyresults"),
        ("Set storeEmptyResults to true", "empty"),
        ("SOLID_CABLE_POLLING = 5", "polling"),
        ("The employee’s wage", "employee"),
    ],
)
def test_a_word_is_found_by_its_stem_and_a_compound_by_its_parts(new_sparse: NewSparse, text: str, term: str) -> None:
    assert found(texts(new_sparse, text, "Something else."), term) == [text]


@pytest.mark.parametrize("term", ["unheard", "the", "", "§", "new"])
def test_words_in_no_passage_find_nothing(new_sparse: NewSparse, term: str) -> None:
    assert found(texts(new_sparse, "The renewal of a plan."), term) == []


def test_title_and_headings_are_matched_beside_the_text(new_sparse: NewSparse) -> None:
    library = [(document(), [passage("Ask for approval.", context="Travel policy"), passage("Ask.")])]
    assert found(fill(new_sparse, library), "travel") == ["Ask for approval."]


def test_ties_go_by_passage_id_also_at_the_cut(new_sparse: NewSparse) -> None:
    filled = fill(new_sparse, [(document(f"{n}.txt"), [passage("Same words.")]) for n in range(5)])
    hits = filled[0].search(["words"], None, 3).hits
    assert [hit.passage_id for hit in hits] == sorted(p.id for p in filled[1])[:3]


def test_the_stems_that_passages_contain_are_told_in_the_order_of_the_passages(new_sparse: NewSparse) -> None:
    index, (wages, taxes) = texts(new_sparse, "Wages of staff.", "Taxes on wages.")
    contained = index.contained_stems(["tax", "wage", "unheard"], [taxes.id, 10**12, wages.id])
    assert contained.tolist() == [[True, True, False], [False, False, False], [False, True, False]]
    assert index.contained_stems([], [wages.id]).shape == (1, 0)


def test_an_empty_index_answers_with_nothing(new_sparse: NewSparse) -> None:
    index = new_sparse(FakeCatalogue())
    index.add([])
    index.delete([1])
    hits = index.search(["tax"], None, 10)
    assert (hits.hits, hits.rows_before, hits.rows_after, index.count()) == ((), 0, 0, 0)
    assert index.explain(["tax"], [1]) == {}
    assert index.rarity(["tax"])["tax"] >= 0


def test_a_new_upload_is_found_at_once_and_a_deleted_one_no_more(new_sparse: NewSparse) -> None:
    filled = index, passages = texts(new_sparse, "Old overtime rule.", "New overtime rule.")
    assert found(filled, "new") == ["New overtime rule."]
    index.delete([passages[1].document_id])
    assert found(filled, "overtime") == ["Old overtime rule."]
    assert index.count() == 1


def test_the_rarer_a_term_the_higher_its_rarity_and_an_unheard_one_is_rarest(new_sparse: NewSparse) -> None:
    index, _ = texts(new_sparse, "tax law", "tax rule", "tax")
    rarity = index.rarity(["taxes", "law", "unheard"])
    assert 0 <= rarity["taxes"] < rarity["law"] < rarity["unheard"]


def test_many_questions_at_once_find_what_each_finds_alone(uploads: Filled) -> None:
    index, passages = uploads
    questions = [["overtime"], ["payroll", "year-end"], ["zebra"], [], ["tax", "audit", "policy"]]
    some = np.array(sorted(p.id for p in passages)[::3], dtype=np.int64)
    for admissible in (None, some, some[:0]):
        for top_k in (0, 3, 500):
            alone = [index.search(terms, admissible, top_k) for terms in questions]
            assert list(index.search_many(questions, admissible, top_k)) == alone
    assert list(index.search_many([], None, 5)) == []


def test_what_differs_from_the_catalogue_is_counted_and_reconciled(new_sparse: NewSparse) -> None:
    catalogue = FakeCatalogue()
    index, passages = fill(new_sparse, random_documents(2, documents=4, each=5), catalogue)
    assert (index.differences(), index.reconcile()) == ((0, 0), (0, 0))
    catalogue.delete(passages[0].document_id)
    added = store(catalogue, document("new.txt"), [passage("Parking is free.")], random_vectors(1, 0))
    assert index.differences() == (1, 5)
    assert index.reconcile() == (1, 5)
    assert index.differences() == (0, 0)
    assert [hit.passage_id for hit in index.search(["parking"], None, 5).hits] == [added[0].id]
    assert index.count() == 16


def ids(filled: Filled, *contents: str) -> list[int]:
    """The passages with these texts."""
    return sorted(p.id for p in filled[1] if p.text in contents)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Taxes are due.", ["tax"]),
        ("The tax is due.", ["taxes", "due"]),
        ("File Form W-2.", ["form", "w-2"]),
        ("File Form W-2.", ["W", "2"]),
        ("The year-end run", ["year end"]),
        ("At the end of the year", ["year-end"]),
        ("The employee’s wage", ["employee"]),
        ("l'employeur", ["employeur"]),
        ("non-taxes", ["taxes"]),
        ("a-wings", ["wings"]),
        ("aa-ing", ["ing"]),
        ("year-company", ["companies"]),
        ("my-storeEmptyResults", ["storeEmptyResults"]),
        ("Written in C#", ["C#"]),
        ("员工年假见W-2表格", ["年假", "W-2", "员"]),
        ("वेतन मासिक है", ["मासिक"]),
        ("договоры сотрудников", ["договор"]),
        ("It costs 78.5", ["78", "5"]),
        ("taxes, and the law of it", ["the", "tax", "of"]),
    ],
)
def test_passages_holding_every_word_are_found_by_stem_and_inside_compounds(
    new_sparse: NewSparse, text: str, terms: list[str]
) -> None:
    filled = texts(new_sparse, text, "Something else.")
    assert filled[0].passages_containing(terms).tolist() == ids(filled, text)


def test_stop_words_and_no_words_restrict_nothing_and_one_unheard_restricts_all(new_sparse: NewSparse) -> None:
    filled = index, passages = texts(new_sparse, "tax law", "tax rule", "overtime")
    every = sorted(p.id for p in passages)
    assert [index.passages_containing(terms).tolist() for terms in ([], ["the"], ["", "§"])] == [every] * 3
    assert index.passages_containing(["tax", "law"]).tolist() == ids(filled, "tax law")
    assert index.passages_containing(["tax", "unheard"]).tolist() == []
    assert index.passages_containing([]).dtype == np.int64


def test_holding_follows_uploads_and_deletions(uploads: Filled) -> None:
    index, passages = uploads
    assert index.passages_containing([]).tolist() == sorted(p.id for p in passages)
    for words in (["overtime"], ["payroll", "year"], ["results"]):
        values = {stem for word in words for stem in index_stems(word)}
        right = sorted(p.id for p in passages if values <= set(index_stems(f"{p.context}\n{p.text}")))
        assert index.passages_containing(words).tolist() == right


_SPOKEN = st.text(st.sampled_from("aeinstgly2AS-'’.&+#_ ,ü年假कतािд"), max_size=30)


@settings(max_examples=60, deadline=None)
@given(contents=st.lists(_SPOKEN, min_size=1, max_size=4, unique=True), chance=st.randoms(use_true_random=False))
def test_a_passage_that_says_a_word_always_holds_it(
    new_sparse: NewSparse, contents: list[str], chance: random.Random
) -> None:
    index, passages = texts(new_sparse, *contents)
    for one in passages:
        phrase = phrase_words(one.text)
        if phrase:
            assert one.id in index.passages_containing(chance.sample(phrase, min(len(phrase), 2)))
