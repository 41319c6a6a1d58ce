"""The choice of a reranker: off at first, and honest about a model that could not be loaded."""

from streamlit.testing.v1 import AppTest


def drawn(troubles: dict[str, str], state: str | None = None) -> AppTest:
    def page(troubles: dict[str, str]) -> None:
        from pages.components.search.query_form import choose_reranker

        choose_reranker("search.rerank", troubles)

    screen = AppTest.from_function(page, kwargs={"troubles": troubles}, default_timeout=60)
    if state is not None:
        screen.session_state["search.rerank"] = state
    screen.run()
    assert not screen.exception
    return screen


def test_nothing_is_reranked_unless_asked_for() -> None:
    select = drawn({}).selectbox[0]
    assert (select.label, select.value, select.options) == (
        "Rerank",
        "",
        ["No reranker", "Included", "Fast", "Balanced", "Accurate"],
    )
    assert "included 10 in 2 s, fast 100 in 0.5 s" in select.help


def test_a_choice_is_kept() -> None:
    screen = drawn({})
    screen.selectbox[0].select("balanced").run()
    assert screen.session_state["search.rerank"] == "balanced"


def test_a_model_that_could_not_be_loaded_is_not_offered_and_the_reason_is_told() -> None:
    screen = drawn({"fast": "The model 'a*b' is not on this machine."})
    assert screen.selectbox[0].options == ["No reranker", "Included", "Balanced", "Accurate"]
    assert screen.markdown[0].value.replace("\\", "") == (
        "**Fast** is not available. The model 'a*b' is not on this machine."
    )
    assert r"a\*b" in screen.markdown[0].value


def test_a_model_that_could_not_be_loaded_can_be_tried_again() -> None:
    screen = drawn({"fast": "It is not on this machine."})
    next(each for each in screen.button if each.label == "Try again").click().run()
    select = screen.selectbox[0]
    assert (select.value, select.options[2]) == ("fast", "Fast (not available)")
    assert not screen.button


def test_a_reranker_there_is_not_becomes_none() -> None:
    assert drawn({}, "gone").selectbox[0].value == ""
