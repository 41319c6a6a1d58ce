"""Library: every document, narrowed by what it is; one of them in detail; deletion only after a yes."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.components.library.document_list import PER_PAGE
from tests.library.packing import zip_of
from tests.screens.conftest import LAW, POLICY, Opened, Stack, listed, names, words


def _named(library: Stack, name: str) -> str:
    return str(next(each.id for each in library.workbench.documents.list() if each.name == name))


def test_an_empty_library_says_what_to_do(library: Stack, opened: Opened) -> None:
    assert "The library is empty" in words(opened("library.py"))


def test_every_document_stands_in_the_table(stocked: Stack, opened: Opened) -> None:
    assert names(opened("library.py")) == {
        "overtime_policy.md",
        "flsa_section_207.md",
        "hostile_notes.md",
        "残業規程.md",
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("flsa", ["flsa_section_207.md"]),
        ("残業規", ["残業規程.md"]),
        ("VERTIME_POL", ["overtime_policy.md"]),
        ("civil penalties", ["flsa_section_207.md"]),
        ("Overtime", ["overtime_policy.md", "hostile_notes.md", "flsa_section_207.md"]),
        ("manager penalty", ["flsa_section_207.md", "overtime_policy.md"]),
        ("100%", []),
        ("'", []),
        ("'; DROP TABLE users --", []),
    ],
)
def test_words_are_found_in_names_and_in_texts(stocked: Stack, opened: Opened, query: str, found: list[str]) -> None:
    screen = opened("library.py", words=query)
    assert sorted(names(screen)) == sorted(found) and screen.query_params.get("words") in (query, [query])
    assert ("No passage has all these words" in words(screen)) == (query == "manager penalty")


def test_what_was_found_inside_a_document_is_shown_and_opens_where_it_is(stocked: Stack, opened: Opened) -> None:
    (row,) = listed(opened("library.py", words="civil penalty"))
    assert "".join(text for text, _ in row["sentence"]).startswith("Whoever violates this section")
    assert [text for text, hit in row["sentence"] if hit] == ["civil", "penalty"]
    passage = next(each for each in stocked.workbench.documents.passages(row["id"]) if "civil penalty" in each.text)
    assert row["address"] == f"document?id={row['id']}&mark={passage.id}"


def test_words_filters_order_and_page_are_in_the_url_and_apply_together(stocked: Stack, opened: Opened) -> None:
    values = {"words": "overtime", "truths": "compliance", "project": "Tallgrass", "sort": "-name"}
    screen = opened("library.py", **values)
    assert names(screen) == {"overtime_policy.md"}
    assert dict(screen.query_params) == values
    screen.selectbox(key="library.project").set_value(None).run()
    screen.text_input(key="library.words").set_value("").run()
    assert {*screen.query_params} == {"truths", "sort"}


def test_the_list_is_sorted_by_any_column_and_the_other_way_round(stocked: Stack, opened: Opened) -> None:
    by_name = [row["full"] for row in listed(opened("library.py", sort="name"))]
    assert by_name == sorted(by_name)
    assert [row["full"] for row in listed(opened("library.py", sort="-name"))] == by_name[::-1]
    assert listed(opened("library.py", sort="nonsense")) == listed(opened("library.py"))


def test_a_long_list_has_pages_and_a_filter_begins_with_the_first(library: Stack, opened: Opened) -> None:
    for number in range(PER_PAGE + 2):
        library.add(f"note {number:03}.md", f"# Note {number}\nThe watch number {number} writes a log.", project="Ship")
    screen = opened("library.py", sort="name", page="2")
    assert names(screen) == {"note 050.md", "note 051.md"} and "51–52 of 52 documents" in words(screen)
    screen.text_input(key="library.words").set_value("note 00").run()
    assert len(names(screen)) == 10 and "page" not in screen.query_params
    assert len(names(opened("library.py", page="99"))) == 2


def test_filters_offer_the_tags_and_projects_with_their_counts(stocked: Stack, opened: Opened) -> None:
    stocked.add("tagged.md", "# Tagged\nThis one has tags.", project="North", tags=('50% "off"', "pay"))
    screen = opened("library.py", tags=["pay", "gone"])
    assert names(screen) == {"tagged.md"}
    assert screen.multiselect(key="library.tags").options == ['50% "off" (1)', "gone (0)", "pay (1)"]
    assert screen.selectbox(key="library.project").options == ["North (1)"]
    assert listed(screen)[0]["cells"]["tags"] == ['50% "off"', "pay"]


def test_several_ticked_documents_are_edited_beside_the_list(stocked: Stack, opened: Opened) -> None:
    screen = opened("library.py")
    ids = frozenset(row["id"] for row in listed(screen)[:2])
    screen.session_state["library.ticked"] = ids
    screen.session_state["library.editing"] = True
    screen.run()
    assert "#### Edit 2 documents" in words(screen) and "**2 selected**" in words(screen)
    screen.button(key="library.tick.all").click().run()
    assert "#### Edit 4 documents" in words(screen)
    stocked.workbench.documents.delete(min(ids))
    screen.run()
    assert "#### Edit 3 documents" in words(screen)
    screen.button(key="library.tick.none").click().run()
    assert "#### Edit" not in words(screen)


def test_an_archive_has_no_truth_and_is_not_unknown(stocked: Stack, opened: Opened) -> None:
    packed = zip_of(("night.md", b"# Night\nThe night watch writes a log of every ship that passes."))
    stocked.workbench.documents.upload("share.zip", packed)
    (row,) = [row for row in listed(opened("library.py")) if row["full"] == "share.zip"]
    assert row["cells"]["truth"] == "Archive file" and row["cells"]["authority"] == ""
    assert "share.zip" not in names(opened("library.py", truths="unknown"))


def test_an_archive_is_not_searched_and_has_no_pages(library: Stack, opened: Opened) -> None:
    number = library.workbench.documents.upload("share.zip", zip_of(("law.md", LAW.encode()))).document_id
    screen = opened("library.py", document=str(number))
    assert "0 pages" not in words(screen) and "Search in it" not in [each.label for each in screen.page_link]


def test_long_names_differ_at_their_ends_in_the_table(library: Stack, opened: Opened) -> None:
    for version in ("v1", "v2"):
        library.add(f"Statement_of_work_for_{'the_payroll_project_' * 4}{version}.md", f"{POLICY} {version}")
    shown = [row["name"] for row in listed(opened("library.py"))]
    assert [each[-5:] for each in shown] == ["v2.md", "v1.md"] and max(map(len, shown)) <= 90


def test_files_on_their_way_show_how_far_they_are(stocked: Stack, opened: Opened) -> None:
    stocked.jobs.run = lambda document_id: None
    stocked.add("later.md", "# Later\nThis one waits for its turn.")
    assert "Reading: 4 of 5 documents done" in opened("library.py").get("progress")[0].text


def test_a_runner_up_that_nothing_speaks_for_is_not_mentioned(stocked: Stack, opened: Opened) -> None:
    labels = stocked.workbench.documents.get(int(_named(stocked, "flsa_section_207.md"))).labels
    assert any(label.runner_up and label.runner_up_probability < 0.005 for _, label in labels.items())
    text = words(opened("library.py", document=_named(stocked, "flsa_section_207.md"))).replace("\\", "")
    assert re.search(r"· \d+%", text) and "0.00" not in text


def test_nothing_found_says_so(stocked: Stack, opened: Opened) -> None:
    screen = opened("library.py", words="zebra")
    assert "No document matches" in words(screen) and "click a row" not in words(screen)


def test_a_url_opens_a_document_with_its_labels_and_their_evidence(stocked: Stack, opened: Opened) -> None:
    screen = opened("library.py", document=_named(stocked, "overtime_policy.md"))
    text = words(screen)
    assert "Truth **" in text and "“" in text
    assert screen.query_params["document"] == _named(stocked, "overtime_policy.md")


def test_the_passages_of_a_document_can_be_read(stocked: Stack, opened: Opened) -> None:
    screen = opened("library.py", document=_named(stocked, "flsa_section_207.md"))
    screen.segmented_control[0].set_value("Passages").run()
    assert "one and one\\-half times" in words(screen)


def test_deleting_asks_first(stocked: Stack, opened: Opened) -> None:
    expected = _named(stocked, "flsa_section_207.md")
    screen = opened("library.py", document=expected)
    screen.button(key=f"delete.{expected}").click().run()
    assert len(stocked.workbench.documents.list()) == 4
    next(each for each in screen.button if each.label == "Move to the trash").click().run()
    assert {each.name for each in stocked.workbench.documents.list()}.isdisjoint({"flsa_section_207.md"})
    past = opened("library.py", view="history")
    assert "was deleted" in words(past)
    next(each for each in past.button if each.label == "Undo").click().run()
    assert "flsa_section_207.md" in {each.name for each in stocked.workbench.documents.list()}
    assert "undone by analyst" in words(past) and not [each for each in past.button if each.label == "Undo"]


def test_an_unknown_document_in_the_url_is_no_error(stocked: Stack, opened: Opened) -> None:
    screen = opened("library.py", document="99999")
    assert not screen.error and "not in the library" in words(screen) and len(names(screen)) == 4
    assert "document" not in screen.query_params


@pytest.mark.parametrize("wrong", ["²", "-1", "0", "9" * 40, "'; --", "\0"])
def test_a_url_that_names_no_document_lists_all(stocked: Stack, opened: Opened, wrong: str) -> None:
    assert len(names(opened("library.py", document=wrong, page=wrong, state=wrong, truths=wrong, sort=wrong))) == 4


def test_one_document_is_edited_looked_at_first_and_taken_back(stocked: Stack, opened: Opened) -> None:
    expected = _named(stocked, "flsa_section_207.md")
    screen = opened("library.py", document=expected)
    screen.segmented_control(key="library.view").set_value("Edit").run()
    next(each for each in screen.text_input if each.label == "URL").set_value("https://example.org")
    next(each for each in screen.button if each.label == "See what would change").click().run()
    assert "**1 change** in 1 document" in words(screen)
    assert stocked.workbench.documents.get(int(expected)).url == ""
    screen.button(key="library.apply").click().run()
    assert stocked.workbench.documents.get(int(expected)).url == "https://example.org"
    assert "1 change made in 1 document" in words(screen)
    screen.button(key="library.undo").click().run()
    assert stocked.workbench.documents.get(int(expected)).url == ""
    screen.segmented_control(key="library.view").set_value("History").run()
    shown = words(screen).replace("\\", "").replace("\u2060", "")
    assert "URL → https://example.org" in shown and "undone by analyst" in shown


def test_nothing_filled_in_changes_nothing(stocked: Stack, opened: Opened) -> None:
    screen = opened("library.py", document=_named(stocked, "flsa_section_207.md"))
    screen.segmented_control(key="library.view").set_value("Edit").run()
    next(each for each in screen.button if each.label == "See what would change").click().run()
    assert "Nothing to change" in words(screen) and not stocked.workbench.bulk_edit.history()


def test_what_was_changed_by_hand_is_a_view_of_its_own_that_a_url_opens(stocked: Stack, opened: Opened) -> None:
    assert "No changes yet" in words(opened("library.py", view="history"))
    ids = [each.id for each in stocked.workbench.documents.list()]
    stocked.workbench.bulk_edit.archive(ids[:2], archived=True, who="Bob")
    screen = opened("library.py", view="history")
    assert "Bob" in words(screen) and "2 documents" in words(screen)
    screen.segmented_control(key="library.page").set_value("Documents").run()
    assert len(names(screen)) == 2 and "view" not in screen.query_params
    screen.selectbox(key="library.state").set_value("archived").run()
    assert len(names(screen)) == 2


def test_a_csv_read_back_shows_its_changes_and_its_problems_before_anything_is_made(
    stocked: Stack, opened: Opened
) -> None:
    expected = _named(stocked, "flsa_section_207.md")
    screen = opened("library.py", view="spreadsheet")
    rows = f"id,owner,truth\n{expected},Ann,opinion\n999,Bob,\n"
    screen.file_uploader[0].set_value(("d.csv", rows.encode(), "text/csv")).run()
    text = words(screen)
    assert "2 things cannot be done" in text and "**1 change** in 1 document" in text
    screen.button(key="library.apply").click().run()
    assert stocked.workbench.documents.get(int(expected)).owner == "Ann"


def test_what_is_wrong_alike_with_several_documents_is_said_once_whatever_their_names_hold(
    library: Stack, opened: Opened
) -> None:
    names = ["Re: overtime: the rule.md", "Re: pay.md"]
    ids = [library.add(name, f"# Note {name}\nOvertime must be approved in writing.\n") for name in names]
    screen = opened("library.py", view="spreadsheet")
    rows = "id,url\n" + "".join(f"{each},nowhere\n" for each in ids)
    screen.file_uploader[0].set_value(("d.csv", rows.encode(), "text/csv")).run()
    [text] = [str(each.value).replace("\\", "") for each in screen.warning]
    assert "2 things cannot be done" in text
    assert text.count("\n- ") == 1 and f"- {', '.join(names)}: 'nowhere' is not an address." in text


def test_a_file_that_cannot_be_read_is_replaced_from_its_details(library: Stack, opened: Opened) -> None:
    broken = library.add("broken.pdf", "%PDF-1.7 no more")
    screen = opened("library.py", document=str(broken))
    assert not [each for each in screen.button if each.label == "Read again"]
    next(each for each in screen.file_uploader if str(each.key).startswith("replace.library")).set_value(
        ("law.md", LAW.encode(), "text/markdown")
    )
    screen.run()
    (document,) = library.workbench.documents.list()
    assert document.name == "law.md" and screen.query_params["document"] == str(document.id)
    assert [each for each in screen.button if each.label == "Read again"]


def test_the_usage_of_a_document_tells_how_often_it_was_opened_and_for_which_questions(
    stocked: Stack, opened: Opened
) -> None:
    expected, other = (int(_named(stocked, name)) for name in ("flsa_section_207.md", "overtime_policy.md"))
    screen = opened("library.py", document=str(expected))
    screen.segmented_control(key="library.view").set_value("Usage").run()
    assert "Not used yet" in words(screen)
    for document_id in (expected, other):
        reading = opened("document.py", id=str(document_id))
        reading.run()
        reading.run()
    passage = stocked.workbench.documents.passages(expected)[0]
    stocked.workbench.usage.cited(passage, 'What of "50%" overtime?', "Ann")
    screen.run()
    assert [(each.label, each.value) for each in screen.metric] == [
        ("Opened", "1"),
        ("Cited", "1"),
        ("Passages shown", "0"),
    ]
    (row,) = listed(screen, "Questions")
    assert row["full"] == 'What of "50%" overtime?' and row["cells"]["cited"] == "1"
    assert row["address"] == "search?q=What+of+%2250%25%22+overtime%3F"


def _tick_in_trash(screen: AppTest, ids: list[int]) -> None:
    """As the table in the browser does."""
    screen.session_state["trash.ticked"] = frozenset(ids)
    screen.run()


def test_the_trash_lists_restores_and_deletes_for_good(stocked: Stack, opened: Opened) -> None:
    assert "The trash is empty" in words(opened("library.py", view="trash"))
    ids = [int(_named(stocked, name)) for name in ("flsa_section_207.md", "hostile_notes.md")]
    for each in ids:
        stocked.workbench.bulk_edit.delete(each, "Ann")
    screen = opened("library.py", view="trash")
    rows = listed(screen, "Trash")
    assert {row["full"] for row in rows} == {"flsa_section_207.md", "hostile_notes.md"}
    assert {(row["cells"]["who"], row["cells"]["left"]) for row in rows} == {("Ann", "30")}
    _tick_in_trash(screen, ids[:1])
    screen.button(key="trash.restore").click().run()
    assert "flsa_section_207.md" in {each.name for each in stocked.workbench.documents.list()}
    _tick_in_trash(screen, ids)  # the first is no longer there
    screen.button(key="trash.purge").click().run()
    assert "cannot be restored afterwards" in words(screen)
    assert len(stocked.workbench.trash.listed()) == 1
    screen.button(key="trash.purge.yes").click().run()
    assert not stocked.workbench.trash.listed() and "The trash is empty" in words(screen)
    past = opened("library.py", view="history")
    assert "was deleted for good" in words(past) and not [each for each in past.button if each.label == "Undo"]


def test_the_trash_is_narrowed_by_words_and_project(stocked: Stack, opened: Opened) -> None:
    for each in stocked.workbench.documents.list():
        stocked.workbench.bulk_edit.delete(each.id, "Ann")
    screen = opened("library.py", view="trash")
    screen.text_input(key="trash.words").set_value("ann policy").run()
    assert {row["full"] for row in listed(screen, "Trash")} == {"overtime_policy.md"}
    screen.text_input(key="trash.words").set_value("nobody").run()
    assert "No document matches" in words(screen)
