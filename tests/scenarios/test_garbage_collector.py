"""What a search makes is gone before Python's collector looks at it."""

import gc

import pytest

from adapters.garbage_collector import collect_less_often


@pytest.mark.parametrize("less_often", [False, True])
def test_what_a_search_makes_brings_about_no_collection(less_often: bool) -> None:
    before, collections = gc.get_threshold(), list[str]()

    def noted(phase: str, info: dict[str, int]) -> None:
        collections.append(phase)

    try:
        gc.set_threshold(700, 10, 10)  # Python's own
        if less_often:
            collect_less_often()
        gc.collect()
        gc.callbacks.append(noted)
        made = [[number] for number in range(20_000)]
        assert bool(collections) is not less_often
        assert len(made) == 20_000
    finally:
        gc.callbacks.remove(noted)
        gc.set_threshold(*before)
