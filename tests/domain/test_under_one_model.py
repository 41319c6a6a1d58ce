"""What is computed while the embedding model changes is computed again under the new one."""

import pytest

from core.domain.embedding_models import ModelInUse
from core.domain.errors import StoreFailed
from core.ports.model_choice import FixedModel, under_one_model


class ChangingModel:
    """Changes once, when told to."""

    def __init__(self) -> None:
        self.now = self.seen = ModelInUse("small", "small@1")

    def change(self) -> None:
        """Another process chose another model."""
        self.now = ModelInUse("wide", "wide@1")

    def known(self) -> ModelInUse:
        return self.seen

    def current(self) -> ModelInUse:
        self.seen = self.now
        return self.now


@pytest.mark.parametrize("error", [None, ValueError("shapes (16,) and (24,)"), StoreFailed("different dimensions")])
def test_an_outcome_or_error_of_two_models_is_thrown_away(error: Exception | None) -> None:
    choice, seen = ChangingModel(), []

    def compute() -> str:
        seen.append(choice.known().model)
        if len(seen) == 1:
            choice.change()
            if error:
                raise error
        return choice.known().model

    assert under_one_model(choice, compute) == "wide"
    assert seen == ["small", "wide"]


def test_an_error_under_one_model_is_raised() -> None:
    def failing() -> None:
        raise StoreFailed("The disk is full.")

    with pytest.raises(StoreFailed, match="disk is full"):
        under_one_model(FixedModel(), failing)
