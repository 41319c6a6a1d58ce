"""The embedding model of a library, and the change to another one."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

__all__ = ["DEFAULT_MODEL", "DEFAULT_NAME", "ModelInUse", "ModelSwitch", "model_label"]

DEFAULT_MODEL, DEFAULT_NAME = "default", "all-MiniLM-L6-v2"
"""How settings name the model that comes with the installation, and its name. The built-in score profiles and the label
classifier were fitted with its vectors."""


def model_label(model: str) -> str:
    """The name of a model as people read it.

    >>> model_label("default"), model_label("intfloat/e5-small"), model_label("/models/legal")
    ('all-MiniLM-L6-v2', 'e5-small', 'legal')
    """
    return DEFAULT_NAME if model == DEFAULT_MODEL else PurePath(model).name


@dataclass(frozen=True, slots=True)
class ModelInUse:
    """The model that a library is searched with.

    model: "default", a folder or a name on the hub. name: with its revision, as vectors are stored under; "" until the
    model is first changed: then it is the name of whatever loads.
    """

    model: str = DEFAULT_MODEL
    name: str = ""

    @property
    def label(self) -> str:
        """The name as people read it, without the revision; needs no weights."""
        return model_label(self.model)


@dataclass(frozen=True, slots=True)
class ModelSwitch:
    """A change to another model. model, name: as in `ModelInUse`. done, total: passages embedded and to embed.

    ended: when it was completed or cancelled; None while it is under way.
    """

    model: str
    name: str
    dimensions: int
    who: str
    at: datetime
    done: int = 0
    total: int = 0
    ended: datetime | None = None
    cancelled: bool = False

    @property
    def label(self) -> str:
        """The name as people read it."""
        return model_label(self.model)

    @property
    def under_way(self) -> bool:
        """Whether it is neither completed nor cancelled."""
        return self.ended is None
