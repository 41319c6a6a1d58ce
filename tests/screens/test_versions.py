"""Library, Upload, Search and Insights: near-duplicates and versions are told, decided, compared and taken back."""

import pytest
from streamlit.testing.v1 import AppTest

from core.insights.store import EvidenceLink
from tests.screens.conftest import Opened, Stack, listed, uploaded_rows, words

V1 = """# Travel rules
Employees travel by train wherever a train gets them there within five hours.
A flight needs the written approval of the head of department before it is booked.
Hotels are booked by the travel office and cost at most one hundred and twenty euros a night.
Receipts are handed in within fourteen days after the journey has ended.
Private cars are used only when nothing else gets there on the same day.
Meals are paid by the flat rate of the country in which most of the day is spent.
"""
V2 = V1.replace("fourteen days", "seven days") + "Trips abroad are insured by the office.\n"
QUOTE = "Receipts are handed in within fourteen days after the journey has ended."


@pytest.fixture
def two(stocked: Stack) -> tuple[int, int]:
    """Two texts of which one looks like the newer version of the other."""
    return stocked.add("travel_rules_v1.md", V1), stocked.add("travel_rules_v2.md", V2)


def plain_words(screen: AppTest) -> str:
    """What a page says, without the marks of markdown."""
    return words(screen).replace("\\", "")


def versions_of(opened: Opened, document_id: int) -> AppTest:
    """The details of a document, at its versions."""
    screen = opened("library.py", document=str(document_id))
    screen.segmented_control(key="library.view").set_value("Versions").run()
    assert not screen.exception, screen.exception[0].value
    return screen


def test_without_likenesses_the_lists_say_what_would_appear(stocked: Stack, opened: Opened) -> None:
    screen = opened("library.py", view="duplicates")
    assert "No new version is suggested" in words(screen)
    screen.segmented_control(key="duplicates.view").set_value("Near-duplicates").run()
    assert "No near-duplicates" in words(screen)


def _notes(screen: AppTest) -> str:
    """What the list of files says of them below their names."""
    return "\n".join(words for row in uploaded_rows(screen) for _, words in row["notes"])


def test_upload_and_details_tell_what_a_document_is_like(stocked: Stack, two: tuple[int, int], opened: Opened) -> None:
    text = _notes(opened("upload.py"))
    assert "May be a new version of" in text and "same name but for “v2”" in text
    assert "May have a new version:" in text
    alike = {row["full"]: row["cells"]["alike"] for row in listed(opened("library.py"))}
    assert "other version?" in alike["travel_rules_v1.md"] and alike["overtime_policy.md"] == ""
    stocked.add("copy of rules.md", V1 + "\n")
    assert "Near-duplicate of travel_rules_v1.md (the same text)" in _notes(opened("upload.py"))


def test_a_suggestion_is_looked_at_accepted_and_taken_back(
    stocked: Stack, two: tuple[int, int], opened: Opened
) -> None:
    older, newer = two
    screen = opened("library.py", view="duplicates")
    assert "its name holds the higher version" in words(screen)
    screen.toggle(key=f"versions.changed.{older}.{newer}").set_value(True).run()
    text = plain_words(screen)
    assert ":red[~~fourteen~~]" in text and ":green[**seven**]" in text and "**+ added**" in text
    screen.button(key=f"versions.accept.{older}.{newer}").click().run()
    assert stocked.workbench.documents.get(older).archived and "No new version is suggested" in words(screen)
    assert "“travel_rules_v2.md” replaces “travel_rules_v1.md”" in plain_words(screen)
    next(each for each in screen.button if each.label == "Undo").click().run()
    assert not stocked.workbench.documents.get(older).archived
    assert screen.button(key=f"versions.accept.{older}.{newer}")


def test_a_rejected_suggestion_does_not_come_back(stocked: Stack, two: tuple[int, int], opened: Opened) -> None:
    older, newer = two
    screen = opened("library.py", view="duplicates")
    screen.button(key=f"versions.reject.{older}.{newer}").click().run()
    assert "No new version is suggested" in words(screen) and "is not a version of" in words(screen)
    assert not stocked.workbench.documents.get(older).archived


def test_the_other_way_round(stocked: Stack, two: tuple[int, int], opened: Opened) -> None:
    older, newer = two
    screen = opened("library.py", view="duplicates")
    screen.button(key=f"versions.other.{older}.{newer}").click().run()
    assert (
        stocked.workbench.documents.get(newer).archived and stocked.workbench.documents.get(older).version_of == newer
    )


def test_groups_of_near_duplicates_are_listed_with_what_differs(stocked: Stack, opened: Opened) -> None:
    first = stocked.add("one.md", V1)
    second = stocked.add("two.md", V1.replace("five hours", "four hours"))
    screen = opened("library.py", view="duplicates")
    screen.segmented_control(key="duplicates.view").set_value("Near-duplicates").run()
    text = plain_words(screen)
    assert "**2 documents**" in text and "% the same" in text and {"one.md", "two.md"} <= set(text.split("\n"))
    screen.toggle(key=f"duplicates.differs.{first}.{second}").set_value(True).run()
    assert "**four**" in words(screen)


def test_a_chain_is_shown_with_what_changed_between_any_two(
    stocked: Stack, two: tuple[int, int], opened: Opened
) -> None:
    third = stocked.add("travel_rules_v3.md", V2.replace("five hours", "six hours"))
    stocked.workbench.versions.accept(*two)
    stocked.workbench.versions.accept(two[1], third)
    screen = versions_of(opened, third)
    text = plain_words(screen)
    assert "v1 → v2 → v3" in text and "– this one" in text and "~~five~~" in text and "~~fourteen~~" not in text
    screen.selectbox(key=f"versions.from.{third}").set_value(two[0]).run()
    assert "~~fourteen~~" in words(screen) and "~~five~~" in words(screen)
    screen.button(key=f"versions.undo.{third}").click().run()
    assert not stocked.workbench.documents.get(two[1]).archived


def test_a_replaced_document_is_opened_by_its_address_and_names_its_successor(
    stocked: Stack, two: tuple[int, int], opened: Opened
) -> None:
    stocked.workbench.versions.accept(*two)
    screen = opened("library.py", document=str(two[0]))
    assert "Replaced by" in words(screen) and "travel_rules_v2.md" in plain_words(screen)
    assert "archived" in next(each.value for each in screen.caption if "travel\\_rules\\_v1" in each.value)


def test_accepting_from_the_older_document_goes_on_with_the_newer(
    stocked: Stack, two: tuple[int, int], opened: Opened
) -> None:
    screen = versions_of(opened, two[0])
    screen.button(key=f"versions.accept.{two[0]}.{two[1]}").click().run()
    assert screen.query_params["document"] == str(two[1])


def test_any_two_are_joined_by_hand_and_what_is_refused_is_told(stocked: Stack, opened: Opened) -> None:
    known = {each.name: each.id for each in stocked.workbench.documents.list()}
    law, policy = known["flsa_section_207.md"], known["overtime_policy.md"]
    screen = versions_of(opened, law)
    assert "No other version is known" in words(screen)
    screen.selectbox(key=f"versions.with.{law}").set_value(policy).run()
    screen.button(key=f"versions.join.{law}").click().run()
    assert stocked.workbench.documents.get(policy).archived
    stocked.workbench.documents.delete(policy)
    screen.button(key=f"versions.undo.{law}").click().run()
    assert "is not in the library" in plain_words(screen)


def test_documents_read_before_are_compared_on_request(stocked: Stack, two: tuple[int, int], opened: Opened) -> None:
    stocked.workbench.versions._store.forget(two)
    screen = opened("library.py", view="duplicates")
    assert "2 documents were read before" in words(screen)
    screen.button(key="duplicates.compare").click().run()
    assert "were read before" not in words(screen) and screen.button(key=f"versions.accept.{two[0]}.{two[1]}")


def test_results_of_old_versions_say_what_replaced_them(stocked: Stack, two: tuple[int, int], opened: Opened) -> None:
    stocked.workbench.versions.accept(*two)
    screen = opened("search.py", q="receipts handed in within fourteen days", archived="too")
    assert "replaced by travel_rules_v2.md" in plain_words(screen)
    assert "travel_rules_v1" not in plain_words(opened("search.py", q="receipts handed in within fourteen days"))


def test_an_insight_on_replaced_text_is_suspect_and_takes_the_new_wording(
    stocked: Stack, two: tuple[int, int], opened: Opened
) -> None:
    passage = next(each for each in stocked.workbench.documents.passages(two[0]) if QUOTE in each.text)
    start = passage.start + passage.text.index(QUOTE)
    link = EvidenceLink(passage.id, two[0], "travel_rules_v1.md", passage.page, start, start + len(QUOTE), QUOTE)
    stocked.workbench.insights.save("Two weeks for receipts.", links=[link])
    assert "Suspect" not in words(opened("insights.py"))
    stocked.workbench.versions.accept(*two)
    text = plain_words(opened("insights.py"))
    assert "Suspect" in text and "replaced by 'travel_rules_v2.md'" in text and "within seven days" in text
    assert all("1 citation rests on older text" in words(opened("library.py", document=str(each))) for each in two)
    assert "1 citation rests on the older text" in words(versions_of(opened, two[0]))
    screen = versions_of(opened, two[1])
    assert "1 citation rests on the older text" in words(screen) and "(travel_rules_v1.md, paragraph 2)" in plain_words(
        screen
    )
    screen.button(key=f"versions.cite.{two[1]}.0").click().run()
    assert "rests on the older text" not in words(screen)
    assert "Suspect" not in words(opened("insights.py"))
