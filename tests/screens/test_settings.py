"""Settings, the vocabulary: changes are collected, tried, saved as a version, and the library follows."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import Authority
from core.domain.filters import SearchFilters
from core.domain.people import Door, Principal, Role
from core.domain.vocabulary import DomainWords, Vocabulary
from core.knowledge.rerankers import rerank_table
from pages.components import session
from pages.components.wording import plain
from tests.screens.conftest import Opened, Stack, filter_values, listed, words

NOTICE = """# How we answer people
Every data subject may send an erasure request. The processing register names each data subject group.
An erasure request is answered within a month, and the processing register is kept up to date.
"""
PRIVACY = Vocabulary((DomainWords("privacy", "Privacy", ("data subject", "erasure request", "processing register")),))


def fill(screen: AppTest, label: str, value: str) -> None:
    """Type into the box with this label."""
    [box] = [each for each in (*screen.text_input, *screen.text_area) if each.label == label]
    box.set_value(value)


def press(screen: AppTest, label: str) -> AppTest:
    """Click the button with this label, the first of them."""
    next(each for each in screen.button if each.label == label).click()
    screen.run()
    assert not screen.exception, screen.exception[0].value
    return screen


def test_the_product_s_domains_are_listed_with_what_carries_them(stocked: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="vocabulary")
    table = screen.dataframe[0].value
    assert {"Taxes", "Time and attendance", "General"} <= set(table["Domain"])
    assert table["Documents"].sum() == sum(1 for each in stocked.workbench.documents.list() if each.labels.domain.value)
    assert "Using built-in vocabulary only." in words(screen)


def test_a_new_domain_is_added_looked_at_and_saved_as_a_version(library: Stack, opened: Opened) -> None:
    screen = press(opened("settings.py", part="vocabulary"), "New domain")
    fill(screen, "Title", "Privacy")
    fill(screen, "Words that name it", "data subject\nerasure request\npersonal data")
    press(screen, "Add")
    text = words(screen)
    assert "1 change** not saved yet" in text.replace("not saved yet**", "** not saved yet") or "1 change" in text
    assert "New domain Privacy\\: data subject\\, erasure request\\, personal data" in text
    assert "belongs to Demographics too" in text
    assert library.workbench.vocabulary.newest() is None
    fill(screen, "Why", "the privacy team")
    press(screen, "Save")
    newest = library.workbench.vocabulary.newest()
    assert newest is not None and newest.note == "the privacy team"
    assert newest.vocabulary.domain("privacy").keywords == ("data subject", "erasure request", "personal data")
    assert "not saved yet" not in words(screen)
    assert "privacy" in screen.query_params["domain"]


def test_a_word_that_cannot_be_one_is_said_and_keeps_from_saving(library: Stack, opened: Opened) -> None:
    screen = press(opened("settings.py", part="vocabulary"), "New domain")
    fill(screen, "Title", "Privacy")
    fill(screen, "Words that name it", "the\ndata subject\ndata subjects")
    press(screen, "Add")
    text = words(screen)
    assert "too common to be a keyword" in text
    assert "finds the same as" in text
    assert next(each for each in screen.button if each.label == "Save").disabled
    press(screen, "Discard")
    assert "not saved yet" not in words(screen)


def test_a_new_domain_without_a_title_is_refused(library: Stack, opened: Opened) -> None:
    screen = press(press(opened("settings.py", part="vocabulary"), "New domain"), "Add")
    assert "has no title" in words(screen)


def test_a_domain_of_the_product_is_changed_and_switched_off(library: Stack, opened: Opened) -> None:
    screen = opened("settings.py", domain="learning")
    fill(screen, "Title", "Academy")
    [stored] = [each for each in screen.text_area if each.label == "Words that name it"]
    stored.set_value("mentor circle\n" + "\n".join(stored.value.splitlines()[1:]))
    screen.toggle[0].set_value(False)
    press(screen, "Change")
    own = press(screen, "Save") and library.workbench.vocabulary.current().domain("learning")
    assert own == DomainWords("learning", "Academy", ("mentor circle",), ("training",), (), off=True)
    assert "switched off" in set(screen.dataframe[0].value["State"])


def test_names_of_authorities_are_saved(library: Stack, opened: Opened) -> None:
    screen = opened("settings.py", words="authorities")
    fill(screen, "Government", "Ministry of Labour\nTidewater Council")
    press(press(screen, "Change"), "Save")
    stored = library.workbench.vocabulary.current().authority(Authority.GOVERNMENT).names
    assert stored == ("Ministry of Labour", "Tidewater Council")


@pytest.mark.parametrize(
    ("code", "expected"), [("state:ON", "not a state or territory"), ("country:xk", "New place Kosovo")]
)
def test_a_place_the_product_does_not_know_is_added_or_refused(
    library: Stack, opened: Opened, code: str, expected: str
) -> None:
    screen = opened("settings.py", words="places")
    fill(screen, "Code", code)
    fill(screen, "Name", "Kosovo")
    press(screen, "Add")
    assert expected in words(screen).replace("\\", "")
    assert next(each for each in screen.button if each.label == "Save").disabled == (code == "state:ON")


def test_agencies_of_a_place_are_saved(library: Stack, opened: Opened) -> None:
    screen = opened("settings.py", words="places", place="country:CA")
    fill(screen, "Its agencies and public bodies", "Ministry of Northern Roads")
    press(press(screen, "Change"), "Save")
    place = library.workbench.vocabulary.current().jurisdiction("country:CA")
    assert (place.title, place.agencies) == ("", ("Ministry of Northern Roads",))


def test_a_pack_is_added_with_one_click_and_tried_before_it_is_saved(library: Stack, opened: Opened) -> None:
    screen = opened("settings.py", words="packs")
    screen.button(key="settings.pack.privacy").click().run()
    assert screen.button(key="settings.pack.privacy").label == "Is there"
    screen.segmented_control(key="settings.words").set_value("try").run()
    fill(screen, "Text", NOTICE)
    screen.run()
    text = words(screen)
    assert "As it is" in text and "With your changes" in text
    assert "Domain :primary-background[**Privacy**]" in text
    assert "As a question" in text
    assert library.workbench.vocabulary.newest() is None


def test_a_document_of_the_library_can_be_tried(stocked: Stack, opened: Opened) -> None:
    screen = opened("settings.py", words="try")
    screen.segmented_control(key="settings.try").set_value("A document of the library").run()
    screen.selectbox(key="settings.try.id").set_value(stocked.workbench.documents.list()[0].id).run()
    assert "Jurisdiction" in words(screen) and not screen.exception


def test_the_library_is_labelled_anew_and_says_how_many_changed(library: Stack, opened: Opened) -> None:
    document = library.add("answers.md", NOTICE)
    library.workbench.vocabulary.save(PRIVACY, who="Ann")
    screen = opened("settings.py", part="vocabulary")
    screen.button(key="settings.apply").click().run()
    assert "looked at 1 document" in words(screen) and "one of them has another domain" in words(screen)
    assert library.workbench.documents.get(document).labels.domain.value == "privacy"
    assert [row["cells"]["domain"] for row in listed(opened("library.py"))] == ["Privacy"]
    found = opened("search.py", q="who answers an erasure request?")
    assert filter_values(found, "domains") == ["Privacy"]
    assert any("domain: Privacy" in str(option) for each in found.button_group for option in each.options)


def test_versions_are_told_in_words_and_restored(library: Stack, opened: Opened) -> None:
    library.workbench.vocabulary.save(PRIVACY, who="Ann", note="first")
    library.workbench.vocabulary.save(PRIVACY.with_changes(DomainWords("time", off=True)), who="Bob", after=1)
    screen = opened("settings.py", words="versions")
    text = words(screen)
    assert "Time and attendance switched off" in text and "Bob" in text and "first" in text
    screen.button(key="settings.restore.1").click().run()
    assert library.workbench.vocabulary.current() == PRIVACY
    assert len(library.workbench.vocabulary.versions()) == 3


def test_without_a_version_the_list_says_what_to_do(library: Stack, opened: Opened) -> None:
    assert "Nothing has been saved yet" in words(opened("settings.py", words="versions"))


def test_what_somebody_else_saved_meanwhile_is_not_overwritten(library: Stack, opened: Opened) -> None:
    screen = opened("settings.py", words="authorities")
    fill(screen, "Internal", "Group Office")
    press(screen, "Change")
    library.workbench.vocabulary.save(PRIVACY, who="Bob")
    press(screen, "Save")
    assert "nothing was overwritten" in words(screen)
    assert "not saved yet" in words(screen)
    assert library.workbench.vocabulary.current() == PRIVACY


# General, models, storage


def tables(screen: AppTest) -> str:
    """All cells of the tables."""
    return " ".join(str(cell) for each in screen.table for cell in each.value.to_numpy().ravel())


def test_the_default_profile_is_chosen_for_the_library_and_for_a_project(stocked: Stack, opened: Opened) -> None:
    registry = stocked.workbench.evaluation.profiles
    screen = opened("settings.py")
    screen.selectbox(key="settings.general.profile.").set_value("trend").run()
    assert "Fill in “Your name”" in "".join(each.value for each in screen.warning)
    assert screen.selectbox(key="settings.general.profile.").value == registry.default(None).name == "balanced"
    screen.text_input(key="person").set_value("Ann").run()
    screen.selectbox(key="settings.general.profile.Tallgrass").set_value("authority").run()
    assert (registry.default("Tallgrass").name, registry.default(None).name) == ("authority", "balanced")
    screen.selectbox(key="settings.general.profile.").set_value("relevance").run()
    assert (registry.default("Tallgrass").name, registry.default(None).name) == ("authority", "relevance")
    registry.choose(None, "trend", "Ben")
    assert screen.run().selectbox(key="settings.general.profile.").value == "trend"


def test_filters_name_their_documents(stocked: Stack) -> None:
    document = stocked.workbench.documents.list()[0]
    (phrase,) = session.filters_in_words(SearchFilters(exclude_documents=(document.id,)))
    assert phrase == f"document is not {document.name}"


def test_a_new_search_starts_with_the_default_filters_and_a_link_with_its_own(stocked: Stack, opened: Opened) -> None:
    registry = stocked.workbench.evaluation.profiles
    screen = opened("search.py", truths="regulatory")
    assert screen.button(key="filter.chips.default").disabled  # nobody is named yet
    screen = opened("search.py", truths="regulatory")
    screen.session_state["person"] = "Ann"
    screen.run().button(key="filter.chips.default").click().run()
    assert registry.default_filters().truths == ("regulatory",)
    assert opened("search.py").query_params["truths"] == "regulatory"
    assert "truths" not in opened("search.py", q="overtime").query_params
    home = opened("home.py")
    home.text_input(key="home.question").set_value("When must overtime be approved?").run()
    assert home.query_params["truths"] == "regulatory"
    settings = opened("settings.py")
    assert "truth is regulatory" in words(settings)
    settings.text_input(key="person").set_value("Ann").run()
    settings.button(key="settings.general.filters.remove").click().run()
    assert registry.default_filters() == SearchFilters() and "truth is regulatory" not in words(settings)


def test_a_new_search_starts_with_the_default_reranker_and_a_link_with_its_own(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(type(stocked.workbench.search), "load_reranker", lambda search, name: loaded.append(name))
    registry = stocked.workbench.evaluation.profiles
    screen = opened("settings.py")
    screen.selectbox(key="settings.general.reranker").set_value("included").run()
    assert "Fill in “Your name”" in "".join(each.value for each in screen.warning)
    assert screen.selectbox(key="settings.general.reranker").value == registry.default_reranker() == ""
    screen.text_input(key="person").set_value("Ann").run()
    screen.selectbox(key="settings.general.reranker").set_value("included").run()
    assert registry.default_reranker() == "included"
    assert [each.value for each in screen.toast] == ["New searches start with the reranker Included."]
    assert opened("search.py").selectbox(key="search.rerank").value == "included" and loaded == ["included"]
    assert opened("search.py", q="overtime").selectbox(key="search.rerank").value == ""
    home = opened("home.py")
    home.text_input(key="home.question").set_value("When must overtime be approved?").run()
    assert home.query_params["rerank"] == "included"
    registry.choose_reranker("", "Ben")
    assert screen.run().selectbox(key="settings.general.reranker").value == ""


@pytest.mark.parametrize("named", ["Embedding model", "models"])
def test_models_say_what_is_missing_and_why(
    named: str, stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIVEFOLD_ANSWER_URL", "http://localhost:1/v1")
    monkeypatch.setenv("FIVEFOLD_ANSWER_MODEL", "llama")
    monkeypatch.setattr("shutil.which", lambda program: None)
    screen = opened("settings.py", part=named)
    text = tables(screen)
    assert "Install Tesseract" in text and "llama at http" in text
    assert text.count("not used yet") == len(rerank_table().rows)
    assert "Embedding model" in words(screen)


def test_storage_counts_every_part_of_the_data_folder(
    library: Stack, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIVEFOLD_DATA_FOLDER", str(tmp_path / "data"))
    for folder, size in (("originals/ab", 2_000_000), ("bm25", 1_500)):
        (tmp_path / "data" / folder).mkdir(parents=True)
        (tmp_path / "data" / folder / "file").write_bytes(bytes(size))
    screen = opened("settings.py", part="storage")
    assert "**2.0 MB used**" in words(screen)
    assert "2.0 MB" in tables(screen) and "1.5 kB" in tables(screen) and "Chroma" not in tables(screen)
    assert "How to back up and restore" in words(screen)


def test_a_backup_is_made_by_a_click_and_named(
    library: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bootstrap import backup

    monkeypatch.setenv("FIVEFOLD_BACKUP_FOLDER", str(tmp_path))
    monkeypatch.setattr(backup, "back_up", lambda settings, file, recipients: file.write_bytes(b"x" * 2000))
    screen = opened("settings.py", part="storage")
    assert "none yet" in words(screen)
    screen = press(screen, "Back up now")
    [made] = tmp_path.glob("*.fivefold")
    assert plain(made.name) in words(screen) and "2.0 kB" in words(screen)
    (tmp_path / ".making").touch()
    assert "A backup is being made" in press(screen, "Back up now").warning[0].value


def test_only_an_administrator_backs_up_even_if_a_browser_presses_what_is_disabled(
    library: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bootstrap import backup

    monkeypatch.setenv("FIVEFOLD_BACKUP_FOLDER", str(tmp_path))
    monkeypatch.setattr(backup, "back_up", lambda settings, file, recipients: file.write_bytes(b"x"))
    analyst = Principal("ann@example.org", "Ann", ((None, Role.ANALYST),), Door.BROWSER)
    monkeypatch.setattr(session, "principal", lambda: analyst)
    screen = opened("settings.py", part="storage")
    button = next(each for each in screen.button if each.label == "Back up now")
    assert button.disabled and "administrator" in button.help
    button._value = True  # `click` refuses what is disabled
    assert not button.run().exception and not list(tmp_path.iterdir())
