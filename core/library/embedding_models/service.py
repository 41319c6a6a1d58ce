"""Changes the embedding model of a library in the background, while searches go on with the vectors in use.

A switch loads the model, embeds every passage, its sentences and the library's words beside the vectors in use, and
then exchanges them in one step. Documents uploaded meanwhile are embedded with both models. Each job embeds a part and
queues the next one, so uploads get their turn, and a killed process resumes after the last stored batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from core.domain.embedding_models import DEFAULT_MODEL, DEFAULT_NAME, ModelInUse, ModelSwitch, model_label
from core.domain.errors import BadRequest, ModelUnavailable
from core.domain.filters import SearchFilters
from core.ingestion.sentence_vectors import embed_passages
from core.knowledge.profiles import built_in_for_another
from core.library.embedding_models.store import EmbeddingModelStore, another_switch
from core.ports.catalogue import Catalogue
from core.ports.job_queue import FailedWork, JobKind, JobQueue
from core.ports.models import EmbeddingModels
from core.ports.stores import Embedder, PassageIds, VectorIndex
from core.search.query.expansion import SynonymFinder

__all__ = ["EmbeddingModelService", "ModelStatus"]

_PER_JOB = 2048
"""Passages per job: half a minute with the default model, which uploads wait for at most."""

_BATCH = 256
"""Passages stored at a time: what a killed process loses is embedded again in some seconds."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """in_use: the model searches use. passages: in the library. switch: under way, else the last one. failed: why the
    switch under way stopped, None while nothing failed."""

    in_use: ModelInUse
    passages: int
    switch: ModelSwitch | None = None
    failed: FailedWork | None = None


class EmbeddingModelService:
    """The embedding model of one tenant.

    models: those that can be had. renew_records: makes some of the classifier's training
    records again that belong to another model; whether any is left. configured: the model the settings name.
    """

    def __init__(
        self,
        *,
        store: EmbeddingModelStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        jobs: JobQueue,
        models: EmbeddingModels,
        renew_records: Callable[[], bool],
        now: Callable[[], datetime],
        configured: str = DEFAULT_MODEL,
    ) -> None:
        self._store, self._catalogue, self._vectors, self._jobs = store, catalogue, vectors, jobs
        self._models, self._renew_records, self._now = models, renew_records, now
        self._configured = models.reference(configured)

    def status(self) -> ModelStatus:
        """The model in use, and the switch under way. Raises StoreFailed; needs no weights."""
        failed = next((each for each in self._jobs.failures() if each.kind is JobKind.EMBED), None)
        return ModelStatus(self._store.current(), self._catalogue.count_passages(), self._store.latest(), failed)

    @property
    def notices(self) -> Sequence[str]:
        """What another model than the default, or than the settings name, means for the user."""
        used = self._store.known().label
        found = []
        if used != DEFAULT_NAME:
            found.append(built_in_for_another(self._store.known()))
        if self._configured not in (DEFAULT_MODEL, self._store.known().model):
            found.append(
                f"FIVEFOLD_EMBEDDING_MODEL names {model_label(self._configured)}, but this library is embedded with"
                f" {used}. Change it under Settings, or with 'python -m cli models use'."
            )
        return found

    # Changing

    def use(self, model: str, who: str = "") -> ModelSwitch | None:
        """Begin to embed the library with another model; None when it is in use already.

        The model is loaded first, which takes seconds, or minutes at its first use. Raises ModelUnavailable, and
        BadRequest while another switch is under way; then nothing has changed.
        """
        model = self._models.reference(model.strip())
        if not model:
            raise BadRequest("No model is named.", "Give a sentence-transformers model by name or folder.")
        known = self._store.latest()
        if known is not None and known.under_way and known.model != model:
            raise another_switch(known)
        embedder, in_use = self._models.get(model), self._store.current()
        same = in_use.name == embedder.name or (not in_use.name and in_use.model == model)
        if same and not len(self._store.lacking(embedder.name)[0]):
            self._store.point(ModelInUse(model, embedder.name))
            return None
        begun = self._store.begin(ModelSwitch(model, embedder.name, embedder.dimensions, who.strip(), self._now()))
        self._queue()
        return begun

    def cancel(self) -> ModelSwitch | None:
        """End the switch under way; searches go on as before. None when there is none."""
        ended = self._store.cancel(self._now())
        if ended is not None:
            self._queue()
        return ended

    def retry(self) -> None:
        """Go on with a switch that stopped after a failure."""
        self._queue()

    def _queue(self) -> None:
        self._jobs.settle(JobKind.EMBED, 0)
        self._jobs.defer(JobKind.EMBED, [0])

    # In the background

    def stored(self, embedded_by: str) -> None:
        """Passages with vectors of this model were stored. If the model changed meanwhile, they are embedded again."""
        current = self._store.current()
        if current.name and current.name != embedded_by:
            self._jobs.defer(JobKind.EMBED, [0])

    def carry_on(self) -> None:
        """Embed the next passages of a switch, or follow up one that ended; called by jobs, idempotent."""
        switch = self._store.latest()
        more = self._embed_for(switch) if switch is not None and switch.under_way else self._follow_up()
        if more:
            self._jobs.defer(JobKind.EMBED, [0])

    def _embed_for(self, switch: ModelSwitch) -> bool:
        """Whether there is more to do."""
        embedder = self._loaded(ModelInUse(switch.model, switch.name))
        ids, total = self._store.lacking(switch.name)
        for start in range(0, min(len(ids), _PER_JOB), _BATCH):
            self._prepare(embedder, ids[start : start + _BATCH])
            left = max(len(ids) - start - _BATCH, 0)
            latest = self._store.advance(total - left, total)
            if latest is None or not latest.under_way:
                return True
        if len(ids) <= _PER_JOB:
            self._store.advance(total, total)
            if self._store.switch(self._now()):
                self._store.current()
        return True

    def _follow_up(self) -> bool:
        """After a switch, or when one was cancelled: whether there is more to do."""
        in_use = self._store.current()
        name = in_use.name or self._models.get(in_use.model).name
        if in_use.name:
            ids, _ = self._store.lacking(name)
            if len(ids):
                embedder = self._loaded(in_use)
                for start in range(0, min(len(ids), _PER_JOB), _BATCH):
                    self._prepare(embedder, ids[start : start + _BATCH])
                    self._store.adopt(name)
                self._vectors.update([])  # searches of this process find them at once
                return True
        self._store.keep_only([name])
        self._discard_orphans()
        if in_use.name and self._renew_records():
            return True
        if in_use.name:
            self._jobs.defer(JobKind.LEARN, [0])
        return False

    def _loaded(self, model: ModelInUse) -> Embedder:
        embedder = self._models.get(model.model)
        if embedder.name != model.name:
            raise ModelUnavailable(
                f"'{model.model}' holds another model than when the library was embedded with it.",
                "Restore that model, or cancel the switch and begin it again.",
            )
        return embedder

    def _prepare(self, embedder: Embedder, ids: PassageIds) -> None:
        """Embed these passages and the words in them. The words first: a passage counts as done by its vector."""
        passages = list(self._catalogue.passages(ids.tolist()).values())
        if not passages:
            return
        SynonymFinder(self._store.words(embedder.name), embedder).learn(passages)
        found = embed_passages(embedder, passages)
        pairs = zip(passages, found.meanings, strict=True)
        self._store.prepare(embedder.name, [replace(each, meanings=packed) for each, packed in pairs], found.vectors)

    def _discard_orphans(self) -> None:
        """Delete the vectors of passages that were deleted while they were being prepared."""
        stored = self._vectors.passage_ids()  # read first: a passage is in the catalogue before its vector is stored
        extra = np.setdiff1d(stored, self._catalogue.admissible(SearchFilters(archived=None)))
        if len(extra):
            self._vectors.discard(extra)
