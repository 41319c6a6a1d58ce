"""Settings, the embedding model: which one is in use, another one chosen, cancelled, or refused."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.domain.errors import ModelUnavailable
from core.domain.queries import SearchRequest
from core.ports.stores import Vectors
from tests.screens.conftest import Opened, Stack, words
from tests.screens.test_settings import fill, press
from tests.search.library import WordEmbedder

BUTTON = "Embed the library with this model"


class WiderEmbedder(WordEmbedder):
    """Has more dimensions than the one in use."""

    name, dimensions = "wider@1", 700


@pytest.fixture
def stocked(stocked: Stack) -> Stack:
    stocked.stores.others["wider"] = WiderEmbedder()
    return stocked


def test_another_model_is_chosen_and_the_library_searched_with_it(stocked: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="Embedding model")
    assert "**all\\-MiniLM\\-L6\\-v2** · 4 passages" in words(screen)
    fill(screen, "Model", "wider")
    screen = press(screen, BUTTON)
    assert "**wider** · 700 dimensions" in words(screen) and "Changed to wider on" in words(screen)
    assert "without the meaning of sentences" in words(screen)
    found = stocked.workbench.search.run(SearchRequest("Who approves overtime?"))
    assert found.hits and not any(leg.error for leg in found.legs)
    assert all(
        each.shape == (700,) for each in stocked.stores.vectors.vectors([found.hits[0].candidate.passage.id]).values()
    )


def test_a_model_that_cannot_be_loaded_is_refused_in_one_message(stocked: Stack, opened: Opened) -> None:
    screen = opened("settings.py", part="Embedding model")
    fill(screen, "Model", "nowhere")
    screen = press(screen, BUTTON)
    [problem] = screen.error
    assert "neither a folder nor a model name" in problem.value
    assert stocked.workbench.models.status().switch is None


def test_the_progress_is_shown_and_a_change_can_be_cancelled(stocked: Stack, opened: Opened) -> None:
    stocked.jobs.work = lambda kind, number: None  # no worker runs
    stocked.workbench.models.use("wider", "Ann")
    stocked.stores.models.advance(2, 5)
    screen = opened("settings.py", part="Embedding model")
    assert "Changing to wider" in words(screen) and BUTTON not in words(screen)
    screen = press(screen, "Cancel")
    assert "The change to wider was cancelled after 2 of 5 passages" in words(screen)
    assert stocked.workbench.models.status().in_use.label == "all-MiniLM-L6-v2"


def test_a_change_that_stopped_says_why_and_can_be_tried_again(stocked: Stack, opened: Opened) -> None:
    stocked.jobs.work = lambda kind, number: None
    stocked.workbench.models.use("wider")
    model = stocked.stores.others.pop("wider")
    handler = next(each for kind, each in stocked.workbench.jobs.handlers.items() if kind == "embed")
    handler.give_up(0, ModelUnavailable("The folder is gone.", "Restore it."))
    screen = opened("settings.py", part="Embedding model")
    assert "The folder is gone" in words(screen)
    stocked.stores.others["wider"] = model
    stocked.jobs.work = lambda kind, number: stocked.workbench.jobs.handlers[kind].run(number)
    screen = press(screen, "Try again")
    assert "Changed to wider on" in words(screen)


def test_a_document_uploaded_during_the_change_is_found_after_it(stocked: Stack) -> None:
    stocked.jobs.work = lambda kind, number: None
    stocked.workbench.models.use("wider")
    stocked.add("bell.md", "# Storm bell\nThe storm bell is rung twice when the wind turns north.\n")
    stocked.workbench.models.carry_on()  # every passage is embedded, and the vectors exchanged
    found = stocked.workbench.search.run(SearchRequest("When is the storm bell rung?"))
    assert found.hits[0].candidate.passage.document_name == "bell.md"
    assert stocked.workbench.models.status().in_use.label == "wider"


def test_vectors_of_the_former_model_are_replaced(stocked: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that was embedded before the exchange and stored after it."""
    before = WordEmbedder.embed_parts
    changed = []

    def exchanged(self: WordEmbedder, texts: Sequence[str], parts: object) -> tuple[Vectors, Sequence[Vectors]]:
        found = before(self, texts, parts)  # type: ignore[arg-type]
        if not changed:
            changed.append(1)
            stocked.workbench.models.use("wider")
        return found

    monkeypatch.setattr(WordEmbedder, "embed_parts", exchanged)
    stocked.add("bell.md", "# Storm bell\nThe storm bell is rung twice when the wind turns north.\n")
    ids = stocked.stores.vectors.passage_ids().tolist()
    assert {each.shape for each in stocked.stores.vectors.vectors(ids).values()} == {(700,)}
    assert np.isfinite(stocked.stores.vectors.vectors(ids)[ids[-1]]).all()
