"""Upload: archives, files under a password, feeds and pasted links, folders."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import DocumentState, SourceType
from tests.library.packing import zip_of
from tests.library.serving import Answer, Site, served
from tests.library.test_decrypt import PDF, locked_pdf
from tests.library.test_feed_service import item, rss
from tests.screens.conftest import LAW, POLICY, Opened, Stack, uploaded_rows, words


@pytest.fixture
def site() -> Iterator[Site]:
    with served(Site()) as site:
        yield site


def bare(screen: AppTest) -> str:
    """The words of a screen, and its badges, as a reader sees them."""
    badges = " ".join(str(each.proto) for each in screen.markdown)
    return f"{words(screen)} {badges}".replace("\\", "")


def button(screen: AppTest, label: str):  # type: ignore[no-untyped-def]
    return next(each for each in screen.button if each.label == label)


def from_the_web(screen: AppTest) -> AppTest:
    """The page with its part for the web open, as a browser keeps it; the test has to say so at every run."""
    screen.session_state["feeds.shown"] = True
    return screen.run()


def pressed(screen: AppTest, label: str) -> AppTest:
    """The page after a button of that part was pressed."""
    button(screen, label).click()
    return from_the_web(screen)


def test_an_archive_says_how_many_files_came_out_and_what_did_not(library: Stack, opened: Opened) -> None:
    entries = [("a/law.md", LAW.encode()), ("a/policy.md", POLICY.encode()), ("bad.pdf", b"%PDF-1.7 no more")]
    library.workbench.documents.upload("share.zip", zip_of(*entries, ("logo.gif", b"GIF89a" + bytes(40))))
    (row,) = [row for row in uploaded_rows(opened("upload.py")) if row["name"] == "share.zip"]
    notes = " ".join(note for _, note in row["notes"])
    assert row["state"] == "Archive" and "3 files, 1 could not be read" in notes
    assert "'logo.gif' was left out: it is a picture (GIF)" in notes
    text = bare(opened("upload.py", file=str(row["id"])))
    assert "Archive" in text and "'logo.gif' was left out: it is a picture (GIF)" in text


def test_a_file_under_a_password_asks_for_it_and_is_read(library: Stack, opened: Opened) -> None:
    locked = library.workbench.documents.upload("leave.pdf", locked_pdf(PDF, "secret", "AES-256")).document_id
    assert [row["act"] for row in uploaded_rows(opened("upload.py"))] == [["opened", "Unlock"]]
    screen = opened("upload.py", file=str(locked))
    field = next(each for each in screen.text_input if each.label == "Password of the file")
    field.set_value("wrong")
    button(screen, "Unlock").click().run()
    assert "not the password" in screen.error[0].value.replace("\\", "")
    field = next(each for each in screen.text_input if each.label == "Password of the file")
    field.set_value("secret")
    button(screen, "Unlock").click().run()
    (document,) = library.workbench.documents.list()
    assert document.state is DocumentState.READY
    assert not [each for each in screen.text_input if each.label == "Password of the file"]


def test_a_file_that_failed_otherwise_asks_for_no_password(library: Stack, opened: Opened) -> None:
    broken = library.add("broken.pdf", "%PDF-1.7 no more")
    assert "Password" not in " ".join(each.label for each in opened("upload.py", file=str(broken)).text_input)


def test_a_feed_is_followed_paused_and_deleted(library: Stack, opened: Opened, site: Site) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    screen = from_the_web(opened("upload.py"))
    assert "No feed is followed yet" in bare(screen)
    next(each for each in screen.text_input if each.label == "Web address").set_value(site.url("/f.xml"))
    pressed(screen, "Follow as a feed")
    assert "Wage & hour" in bare(screen) and "1 document" in bare(screen)
    assert "followed" in screen.success[0].value
    pressed(screen, "Pause")
    assert library.workbench.feeds.feeds()[0].paused and "paused" in bare(screen)
    pressed(screen, "Delete")
    assert list(library.workbench.feeds.feeds()) == []
    assert [each.source_type for each in library.workbench.documents.list()] == [SourceType.FEED]


def test_a_feed_that_fails_says_why_and_can_be_fetched_again(library: Stack, opened: Opened, site: Site) -> None:
    library.workbench.feeds.add(site.url("/gone.xml"))
    screen = from_the_web(opened("upload.py"))
    assert "answered with 404" in bare(screen)
    site.answers["/gone.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    pressed(screen, "Fetch now")
    assert "answered with 404" not in bare(screen) and "Wage & hour" in bare(screen)


def test_a_page_is_fetched_once(library: Stack, opened: Opened, site: Site) -> None:
    site.answers["/rules"] = Answer(b"<h1>Rules</h1><p>Leave is paid.</p>", headers={"Content-Type": "text/html"})
    screen = from_the_web(opened("upload.py"))
    next(each for each in screen.text_input if each.label == "Web address").set_value(site.url("/rules"))
    pressed(screen, "Fetch once")
    (document,) = library.workbench.documents.list()
    assert (document.name, document.source_type) == ("rules.html", SourceType.WEB)
    assert "rules.html is stored" in screen.success[0].value.replace("\\", "")


def test_an_address_that_may_not_be_asked_is_refused_with_the_reason(library: Stack, opened: Opened) -> None:
    screen = from_the_web(opened("upload.py"))
    next(each for each in screen.text_input if each.label == "Web address").set_value("file:///etc/passwd")
    pressed(screen, "Fetch once")
    assert "not a web address" in screen.warning[0].value.replace("\\", "")


def test_a_folder_keeps_its_paths_and_leaves_the_systems_files_out(library: Stack, opened: Opened) -> None:
    screen = opened("upload.py")
    screen.segmented_control[0].set_value("A folder").run()
    files = [
        ("share/policies/overtime.md", POLICY.encode(), "text/markdown"),
        ("share/law.md", LAW.encode(), "text/markdown"),
        ("share/.DS_Store", b"junk", "application/octet-stream"),
    ]
    screen.file_uploader[0].set_value(files).run()
    assert {each.name for each in library.workbench.documents.list()} == {
        "share/policies/overtime.md",
        "share/law.md",
    }
