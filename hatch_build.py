"""Reads the dependencies of the wheel from requirements.txt, so that they are written down once."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["RequirementsHook"]


class RequirementsHook(MetadataHookInterface):
    """Fills `dependencies`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Every line of requirements.txt that is neither empty nor a comment."""
        lines = (Path(self.root) / "requirements.txt").read_text("utf-8").splitlines()
        metadata["dependencies"] = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
