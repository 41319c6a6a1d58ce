"""More like this: near passages with why, inside the filters, never the same text again."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Passage, Truth
from core.domain.filters import SearchFilters
from core.search.ranking.score import near_duplicates
from core.search.retrieval.similar import SimilarPassage, as_question, similar_to
from tests.label_edits import store_labels
from tests.search.library import Library

TEXT = "Employers must deposit withheld income taxes every month unless the liability is small"


def library() -> tuple[Library, Passage]:
    library = Library()
    (source,) = library.add("law.pdf", f"{TEXT}.", truth=Truth.REGULATORY)
    library.add("copy.pdf", f"{TEXT}.", "Printed again.", truth=Truth.REGULATORY)
    library.add("near.md", "Withheld income taxes are deposited by employers each quarter.", truth=Truth.COMPLIANCE)
    library.add(
        "nearer.md", "Employers deposit withheld income taxes every month.", truth=Truth.REGULATORY, tags=("old",)
    )
    library.add("far.md", "Vacation accrues at two days per month.", truth=Truth.COMPLIANCE)
    (removed,) = library.add("gone.md", "Employers deposit withheld income taxes every week.")
    removed = replace(removed, archived=True)
    store_labels(library.catalogue, library.catalogue.document(removed.document_id), [removed])
    library.vectors.update([removed])
    return library, source


def found(
    library: Library,
    source: Passage,
    filters: SearchFilters = SearchFilters(),  # noqa: B008
    most: int = 5,
) -> list[SimilarPassage]:
    stores = {"catalogue": library.catalogue, "vectors": library.vectors, "sparse": library.sparse}
    return list(similar_to(source, filters, most=most, **stores))  # type: ignore[arg-type]


def test_the_nearest_come_first_without_itself_and_its_copies() -> None:
    shelf_library, source = library()
    reported = found(shelf_library, source)
    assert [each.passage.document_name for each in reported] == ["nearer.md", "near.md", "far.md"]
    assert reported == sorted(reported, key=lambda each: -each.nearness)


def test_each_says_how_near_it_is_and_which_rare_words_it_shares() -> None:
    shelf_library, source = library()
    first, *_, last = found(shelf_library, source)
    cosines = shelf_library.vectors.similarities(
        shelf_library.vectors.vectors([source.id])[source.id], [first.passage.id]
    )
    assert first.cosine == cosines[first.passage.id] and 0 < first.share <= 1
    assert {"deposit", "withheld", "income", "taxes", "employers"} <= set(first.shared)
    assert set(last.shared) <= {"month"}


def test_filters_apply() -> None:
    shelf_library, source = library()
    for filters in (SearchFilters(truths=("compliance",)), SearchFilters(exclude_tags=("old",)), SearchFilters()):
        assert all(filters.admits(each.passage) for each in found(shelf_library, source, filters))
    assert [each.passage.document_name for each in found(shelf_library, source, SearchFilters(archived=True))] == [
        "gone.md"
    ]


def test_a_passage_without_a_vector_is_found_by_its_words() -> None:
    shelf_library, source = library()
    shelf_library.vectors.delete([source.document_id])
    first = found(shelf_library, source)[0]
    assert first.cosine is None and first.nearness == first.share > 0


def test_words_no_other_passage_holds_do_not_crowd_out_the_shared_ones() -> None:
    library = Library()
    (source,) = library.add("list.md", " ".join(f"zq{n}x" for n in range(30)) + " garnishment of wages.")
    library.add("rule.md", "A garnishment takes a part of wages.")
    assert set(found(library, source)[0].shared) == {"garnishment", "wages"}


@given(st.lists(st.lists(st.sampled_from("tax due pay wage law rate hour week".split()), min_size=1), max_size=12))
def test_no_two_shown_are_near_identical_and_scores_stay_in_their_range(texts: list[list[str]]) -> None:
    library = Library()
    (source,) = library.add("source.md", "The tax rate is due each week.")
    for number, expected in enumerate(texts):
        library.add(f"{number}.md", " ".join(expected))
    reported = found(library, source)
    assert len(reported) <= 5 and source.id not in [each.passage.id for each in reported]
    assert not any(near_duplicates([source.text, *(each.passage.text for each in reported)]))
    assert all(0 <= each.nearness <= 1 + 1e-9 and 0 <= each.share <= 1 for each in reported)


@given(st.text(max_size=600))
def test_a_question_of_its_own_holds_no_syntax_and_is_not_too_long(text: str) -> None:
    requested = as_question(text)
    assert not set('"“”„«»') & set(requested)
    assert not any(word.startswith("-") and len(word) > 1 for word in requested.split())
    assert len(requested) <= 400 or " " not in requested[:400]
