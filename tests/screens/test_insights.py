"""Insights: notes are written on results, listed, changed, taken away and brought back; episodes beside them."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import Sector
from core.domain.queries import SearchRequest
from core.insights.service import InsightService, link_of
from core.insights.store import Episode, Insight
from tests.screens.conftest import Opened, Stack, listed, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
HOSTILE = "# Big *bold* <b>$5</b> :red[x]\n\n[link](javascript:alert(1)) `code`"


def insight_service(library: Stack) -> InsightService:
    return library.workbench.insights


def noted(library: Stack, text: str = "Overtime needs a signature.", **more: object) -> Insight:
    return insight_service(library).save(text, who="Ann", **more)  # type: ignore[arg-type]


def lived(library: Stack, **more: object) -> Episode:
    return insight_service(library).finish_episode(QUESTION, opened=[1], reward=0.5, reflection="Ask payroll.", **more)  # type: ignore[arg-type]


def press(screen: AppTest, key: str) -> AppTest:
    screen.button(key=key).click()
    return screen.run()


def test_an_empty_list_says_what_to_do(stocked: Stack, opened: Opened) -> None:
    assert "No insights yet" in words(opened("insights.py"))
    text = words(opened("insights.py", view="episodes"))
    assert "No episodes yet" in text and "Record the outcome" in text


def test_a_note_is_listed_with_its_facts_its_strength_and_what_it_rests_on(stocked: Stack, opened: Opened) -> None:
    result = stocked.workbench.search.run(SearchRequest(QUESTION))
    link = link_of(result.hits[0].citations[0])
    noted(stocked, tags=["pay"], links=[link], question=QUESTION, project="Tallgrass")
    screen = opened("insights.py")
    text = words(screen)
    assert "Overtime needs a signature" in text and "Ann" in text and "Tallgrass" in text
    assert "Freshness 100%" in text and "**1 insight**" not in text and "1 insight · newest first" in text
    target = next(each for each in screen.page_link if "flsa" in each.label)
    assert link.quote in " ".join(each.value for each in screen.caption).replace("\\", "")  # whole, where it can wrap
    assert (
        f"passage={link.passage_id}" in target.query_string and f"documents={link.document_id}" in target.query_string
    )


def test_a_link_to_a_deleted_document_says_so(stocked: Stack, opened: Opened) -> None:
    link = link_of(stocked.workbench.search.run(SearchRequest(QUESTION)).hits[0].citations[0])
    noted(stocked, links=[link])
    stocked.workbench.documents.delete(link.document_id)
    assert "no longer in the library" in words(opened("insights.py"))


def test_text_with_markup_is_shown_as_it_stands(stocked: Stack, opened: Opened) -> None:
    noted(stocked, HOSTILE, tags=["*tag* :red[x]"], question=HOSTILE)
    text = words(opened("insights.py"))
    assert "\\<b\\>" in text and "<b>" not in text and "\\[link\\]\\(javascript" in text
    assert "\\# Big \\*bold\\*" in text


def test_an_episode_shows_its_question_its_outcome_and_its_reflection(stocked: Stack, opened: Opened) -> None:
    lived(stocked)
    text = words(opened("insights.py", view="episodes"))
    assert "Asked: When must overtime" in text and "Helped" in text and "Ask payroll" in text


def test_words_sectors_and_tags_narrow_the_list_and_stand_in_the_url(stocked: Stack, opened: Opened) -> None:
    noted(stocked, "Walruses whistle.", tags=["sea"], sector=Sector.EMOTIONAL)
    noted(stocked, "Zebras count.", tags=["land"], sector=Sector.SEMANTIC)
    screen = opened("insights.py")
    screen.text_input(key="insights.words").set_value("WALRUS").run()
    assert "Walruses" in words(screen) and "Zebras" not in words(screen)
    assert screen.query_params["words"] == "WALRUS" and "1 insight of 2" in words(screen)
    for params, seen in (
        ({"tag": "land"}, "Zebras"),
        ({"sector": "emotional"}, "Walruses"),
        ({"words": "zebra"}, "Zebras"),
    ):
        text = words(opened("insights.py", **params))
        assert seen in text and ({"Zebras", "Walruses"} - {seen}).pop() not in text
    assert "No insight matches" in words(opened("insights.py", words="gnu"))


def test_counts_beside_the_filters_honour_the_other_filters(stocked: Stack, opened: Opened) -> None:
    noted(stocked, "Walruses whistle.", tags=["sea"], sector=Sector.EMOTIONAL, project="North")
    noted(stocked, "Zebras count.", tags=["land"], sector=Sector.SEMANTIC, project="Tallgrass")
    insight_service(stocked).delete(noted(stocked, "Gnus wander.", tags=["land"], sector=Sector.EMOTIONAL))

    def counts(screen: AppTest) -> tuple[list[str], list[str]]:
        (sectors,) = (each for each in screen.button_group if each.label == "Sector")
        return [each for each in sectors.options if not each.endswith(" 0")], list(screen.multiselect[0].options)

    assert counts(opened("insights.py", project="Tallgrass")) == (["Semantic 1"], ["land (1)"])
    assert counts(opened("insights.py", deleted="1")) == (["Emotional 1"], ["land (1)"])
    assert "No deleted episode" in words(opened("insights.py", view="episodes", deleted="1"))


def test_a_long_list_comes_in_pages(stocked: Stack, opened: Opened) -> None:
    for number in range(23):
        noted(stocked, f"Note number {number:02}.")
    first, last = words(opened("insights.py")), words(opened("insights.py", at="2"))
    assert "23 insights" in first and "number 22" in first and "number 02" not in first
    assert "number 02" in last and "number 03" not in last
    assert "number 00" in words(opened("insights.py", at="9"))


def test_a_note_is_changed_in_its_place(stocked: Stack, opened: Opened) -> None:
    insight = noted(stocked, tags=["pay"])
    key = f"insight-{insight.id}"
    screen = press(opened("insights.py"), f"{key}.edit")
    assert screen.text_area(key=f"{key}.text").value == insight.text
    screen.text_area(key=f"{key}.text").set_value("Overtime needs two signatures.")
    screen.selectbox(key=f"{key}.sector").set_value(Sector.PROCEDURAL)
    screen = press(screen, f"{key}.save")
    assert "two signatures" in words(screen)
    changed = insight_service(stocked).insight(insight.id)
    assert (changed.text, changed.sector, changed.sector_reason, changed.tags) == (
        "Overtime needs two signatures.", Sector.PROCEDURAL, "", ("pay",),
    )  # fmt: skip


def test_an_episode_is_changed_in_its_place_and_its_outcome_stays_exact(stocked: Stack, opened: Opened) -> None:
    insight = insight_service(stocked).finish_episode(QUESTION, reward=0.6)
    key = f"episode-{insight.id}"
    screen = press(opened("insights.py", view="episodes"), f"{key}.edit")
    screen.text_area(key=f"{key}.reflection").set_value("Ask the controller.")
    screen = press(screen, f"{key}.save")
    changed = insight_service(stocked).episode(insight.id)
    assert (changed.reflection, changed.reward) == ("Ask the controller.", 0.6)
    screen = press(screen, f"{key}.edit")
    screen.select_slider(key=f"{key}.reward").set_value(-1.0)
    press(screen, f"{key}.save")
    assert insight_service(stocked).episode(insight.id).reward == -1.0


def test_changing_can_be_given_up(stocked: Stack, opened: Opened) -> None:
    insight = noted(stocked)
    key = f"insight-{insight.id}"
    screen = press(opened("insights.py"), f"{key}.edit")
    screen.text_area(key=f"{key}.text").set_value("Never mind.")
    screen = press(screen, f"{key}.cancel")
    assert "Never mind" not in words(screen)
    assert insight_service(stocked).insight(insight.id) == insight


def test_an_emptied_note_is_refused_and_stays_as_it_was(stocked: Stack, opened: Opened) -> None:
    insight = noted(stocked)
    key = f"insight-{insight.id}"
    screen = press(opened("insights.py"), f"{key}.edit")
    screen.text_area(key=f"{key}.text").set_value("  ")
    screen = press(screen, f"{key}.save")
    assert "The note is empty" in screen.warning[0].value
    assert screen.text_area(key=f"{key}.text").value == "  "
    assert insight_service(stocked).insight(insight.id) == insight


def test_the_second_of_two_who_change_a_note_is_told(stocked: Stack, opened: Opened) -> None:
    insight = noted(stocked)
    key = f"insight-{insight.id}"
    screen = opened("insights.py")
    screen = press(screen, f"{key}.edit")
    screen.text_area(key=f"{key}.text").set_value("Mine.")
    stale = insight_service(stocked)
    save = stale.change
    stale.change = lambda memory: save(replace(memory, version=memory.version - 1))  # type: ignore[method-assign]
    screen = press(screen, f"{key}.save")
    assert "changed by someone else" in screen.warning[0].value


def test_deleting_can_be_undone(stocked: Stack, opened: Opened) -> None:
    insight = noted(stocked)
    screen = press(opened("insights.py"), f"insight-{insight.id}.delete")
    assert "is deleted; no search finds it" in words(screen)
    assert "needs a signature" not in words(screen)
    assert insight_service(stocked).insights().total == 0
    screen = press(screen, "insights.undo")
    assert "needs a signature" in words(screen) and "is deleted" not in words(screen)
    assert insight_service(stocked).insights().total == 1


def test_what_was_deleted_long_ago_can_be_brought_back(stocked: Stack, opened: Opened) -> None:
    insight = insight_service(stocked).delete(noted(stocked))
    screen = opened("insights.py", deleted="1")
    assert "needs a signature" in words(screen)
    press(screen, f"insight-{insight.id}.restore")
    assert insight_service(stocked).insight(insight.id).deleted_at is None


def test_a_url_opens_one_memory_and_a_search_leads_to_it(stocked: Stack, opened: Opened) -> None:
    insight = noted(stocked)
    noted(stocked, "Something else.")
    for params in ({"open": f"insight-{insight.id}"}, {"document": str(insight.document_id)}):
        text = words(opened("insights.py", **params))
        assert "needs a signature" in text and "Something else" not in text
    stored = lived(stocked)
    assert "Ask payroll" in words(opened("insights.py", document=str(stored.document_id)))
    assert "Something else" in words(opened("insights.py", document="1"))


@pytest.mark.parametrize("params", [{"open": "insight-999"}, {"open": "episode-999"}])
def test_a_memory_that_is_not_there_is_told(stocked: Stack, opened: Opened, params: dict) -> None:
    assert "There is no" in opened("insights.py", **params).warning[0].value


@pytest.mark.parametrize(
    "params",
    [{"open": "nonsense"}, {"view": "gossip"}, {"sector": "angry"}, {"at": "x"}, {"at": "0"}, {"document": "x"}],
)
def test_a_strange_url_is_no_error(stocked: Stack, opened: Opened, params: dict) -> None:
    noted(stocked)
    screen = opened("insights.py", **params)
    assert not screen.error and not screen.warning
    assert "needs a signature" in words(screen)


def test_the_library_and_home_do_not_count_notes(stocked: Stack, opened: Opened) -> None:
    noted(stocked)
    assert len(listed(opened("library.py"))) == 4
    assert "insight" not in words(opened("home.py")).lower()
