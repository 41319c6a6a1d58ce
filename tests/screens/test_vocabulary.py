"""The vocabulary on Settings: nothing typed is lost, what carries a word keeps it, and counts are those of a run."""

import pytest

from core.domain.vocabulary import DomainWords, Vocabulary
from core.library.vocabulary.service import VocabularyService, VocabularyUsage
from tests.screens.conftest import Opened, Stack, words
from tests.screens.test_settings import NOTICE, PRIVACY, fill, press


def test_what_is_typed_and_not_taken_over_keeps_from_saving(library: Stack, opened: Opened) -> None:
    screen = press(opened("settings.py", part="vocabulary", words="packs"), "Add")
    screen.query_params["words"] = "domains"
    screen.query_params["domain"] = "learning"
    screen.run()
    fill(screen, "Title", "Training")
    press(screen, "Save")
    assert "What was typed below is not among the changes yet" in words(screen)
    assert library.workbench.vocabulary.newest() is None
    assert "Training" in [each.value for each in screen.text_input]
    press(screen, "Change")
    press(screen, "Save")
    newest = library.workbench.vocabulary.newest()
    assert newest is not None and newest.vocabulary.domain("learning").title == "Training"


def test_a_domain_that_passages_carry_is_switched_off_and_not_removed(
    library: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.workbench.vocabulary.save(PRIVACY, who="Ann")
    monkeypatch.setattr(VocabularyService, "in_use", lambda _: {"privacy": VocabularyUsage(0, 1)})
    screen = opened("settings.py", part="vocabulary", domain="privacy")
    (remove,) = (each for each in screen.button if each.label == "Remove")
    assert remove.disabled and "1 passage" in remove.help


def test_the_offer_to_label_again_counts_what_a_run_looks_at(library: Stack, opened: Opened) -> None:
    library.add("answers.md", NOTICE)
    archived = [library.add(f"old {number}.md", f"{NOTICE}It is number {number}.\n") for number in range(2)]
    library.workbench.bulk_edit.archive(archived, archived=True, who="Ann")
    library.add("broken.pdf", "%PDF-1.7 no more")
    library.workbench.vocabulary.save(Vocabulary((DomainWords("privacy", "Privacy", ("data subject",)),)), who="Ann")
    screen = opened("settings.py", part="vocabulary")
    assert screen.button(key="settings.apply").label == "Label 3 documents again"
    assert library.workbench.vocabulary.relabelling.start("Ann").total == 3
