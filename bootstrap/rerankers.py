"""Builds the rerankers from the settings; converted models are cached in the data folder."""

from collections.abc import Mapping
from time import monotonic

from bootstrap.environment import Settings
from core.ports.models import CrossEncoder
from core.search.ranking.rerank import DeadlineReranker, rerankers

__all__ = ["configured_rerankers"]


def configured_rerankers(settings: Settings, threads: int, *, hurried: bool = True) -> Mapping[str, DeadlineReranker]:
    """Every reranker by name, fast first; none is loaded yet.

    threads: inference threads; 0 uses all cores. hurried False: without deadlines, for background work.
    """
    models = {
        "fast": settings.reranker_fast,
        "balanced": settings.reranker_balanced,
        "accurate": settings.reranker_accurate,
    }

    def load(model: str, name: str, max_tokens: int) -> CrossEncoder:
        from adapters.inference.cross_encoder import load_cross_encoder

        return load_cross_encoder(model, name, settings.data_folder / "models", threads, max_tokens)

    return rerankers(models, load, monotonic, hurried=hurried)
