"""Weights chosen on some folders and measured on another, over candidates with set values."""

from collections.abc import Mapping, Sequence

import pytest

from core.domain.documents import Authority, Truth
from core.domain.errors import BadRequest
from core.domain.queries import ScoreProfile, SearchRequest
from core.evaluation.tuning.replay import Replay
from core.evaluation.tuning.weight_fitting import LeftOutFolder, WeightCase, fit_weights, mixes
from tests.search.library import NOW, Library

PROFILE = ScoreProfile("plain", {"similarity": 0.5, "authority": 0.5}, threshold=0.0, floor=0.0)


def case(folder: str, relevant: str) -> WeightCase:
    """Three documents, of which the first shares every word of the question, and the last speaks with authority."""
    library = Library()
    found = {
        "near": library.add("near.md", "Overtime rate.", truth=Truth.REALITY, authority=Authority.CUSTOMER),
        "other": library.add("other.md", "Overtime is paid at a certain rate by law.", authority=Authority.VENDOR),
        "law": library.add(
            "law.md", "The overtime rate under a longer provision of law.", authority=Authority.GOVERNMENT
        ),
    }
    result = library.searcher.search(SearchRequest("overtime rate must be", profile="balanced"), NOW)
    sha = {name: library.catalogue.document(passages[0].document_id).sha256 for name, passages in found.items()}
    return WeightCase(folder, Replay(result, NOW), {sha[relevant]: 1})


def fitted(relevant: Mapping[str, Sequence[str]]) -> Mapping[str, LeftOutFolder]:
    cases = [case(folder, name) for folder, names in relevant.items() for name in names]
    return {each.folder: each for each in fit_weights(cases, PROFILE).left_out}


def test_every_mix_of_tenths_is_tried_once_and_sums_to_1() -> None:
    found = [tuple(mix.values()) for mix in mixes(["a", "b", "c", "d"])]
    assert len(found) == len(set(found)) == 286
    assert all(sum(mix) == pytest.approx(1) for mix in found)


def test_a_folder_is_judged_by_weights_chosen_on_the_others_alone() -> None:
    found = fitted({"likeness": ["near", "near"], "authority": ["law"]})
    assert found["likeness"].weights["authority"] > found["authority"].weights["authority"]
    assert (found["likeness"].questions, found["authority"].questions) == (2, 1)
    assert found["likeness"].chosen < 1


def test_ranges_hold_all_that_is_as_good_as_the_best() -> None:
    found = fit_weights([case("one", "near"), case("two", "near")], PROFILE)
    assert found.best_mean == 1.0
    low, high = found.ranges["similarity"]
    assert low < high == 1.0


def test_one_folder_and_one_factor_are_refused() -> None:
    with pytest.raises(BadRequest, match="One folder"):
        fit_weights([case("one", "near")], PROFILE)
    with pytest.raises(BadRequest, match="weighs one factor"):
        fit_weights([case("one", "near"), case("two", "law")], ScoreProfile("plain", {"similarity": 1.0}))
