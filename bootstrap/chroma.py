"""The index of vectors in Chroma that the settings name: in the data folder, or a server."""

from collections.abc import Callable
from contextlib import ExitStack

from bootstrap.environment import Settings
from storage.vectors.chroma import ChromaIndex, server_client
from storage.vectors.local_chroma import LocalChroma

__all__ = ["chroma_index"]


def chroma_index(
    settings: Settings, model: Callable[[], str], prepared: Callable[[], str], resources: ExitStack, *, started: bool
) -> ChromaIndex:
    """model, prepared: as of ChromaIndex. started: whether Chroma in the data folder starts now, not at first use."""
    if settings.chroma_url:
        return ChromaIndex(
            lambda: server_client(settings.chroma_url, settings.chroma_token), settings.tenant, model, prepared
        )
    local = LocalChroma(settings.data_folder / "chroma")
    resources.callback(local.close)
    if started:
        local.start()
    return ChromaIndex(lambda: local, settings.tenant, model, prepared)
