"""What a request asks for itself: its numbers checked, and the profile and the vector it searches with."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.errors import BadRequest, BadTable
from core.domain.profiles import current_factor_names
from core.domain.queries import ScoreProfile, SearchRequest
from core.knowledge.profiles import check_profile
from core.ports.stores import Embedder

__all__ = ["changed_profile", "check_request", "given_vector", "profile_for"]

_CHANGED = ", changed"


def check_request(request: SearchRequest) -> None:
    """Raises BadRequest for an empty question and for numbers out of range."""
    if not request.question.strip():
        raise BadRequest("The question is empty.", "Type what you want to know.")
    if request.top_k is not None and request.top_k < 1:
        raise BadRequest(f"{request.top_k} results cannot be shown.", "Ask for one or more.")
    if request.offset < 0:
        raise BadRequest(f"The offset {request.offset} is below 0.", "The first result has the offset 0.")
    seconds = request.reranker_deadline
    if seconds is not None and not (isfinite(seconds) and seconds > 0):
        raise BadRequest(f"A reranker cannot read for {seconds:g} seconds.", "Give a number of seconds above 0.")
    if seconds is not None and not request.rerank:
        raise BadRequest("There is a deadline for a reranker, but no reranker.", "Name a reranker too.")


def profile_for(request: SearchRequest, profile: ScoreProfile) -> ScoreProfile:
    """The profile with what the request changes of it; renamed where it does, so that it is not mistaken for it.

    Raises BadRequest for unknown factors, weights that do not add up to 1, and numbers out of range.

    >>> mine = ScoreProfile("mine", {"similarity": 1.0}, version=3)
    >>> changed = profile_for(SearchRequest("Due?", threshold=0.2), mine)
    >>> changed.ref, changed.threshold, profile_for(SearchRequest("Due?"), mine).ref
    ('mine@3, changed', 0.2, 'mine@3')
    """
    changes: dict[str, Any] = {}
    if request.weights:
        changes["weights"] = current_factor_names(dict(request.weights))
    if request.threshold is not None:
        changes["threshold"] = request.threshold
    if request.half_life_days is not None:
        changes["half_life_days"] = request.half_life_days
    try:
        return changed_profile(profile, changes, "this search")
    except BadTable as problem:
        raise BadRequest(problem.message, problem.hint) from problem


def changed_profile(profile: ScoreProfile, changes: Mapping[str, Any], where: str) -> ScoreProfile:
    """The profile with other numbers, by field, and renamed, so that it is not mistaken for it; without changes the
    profile itself. where: named in errors. Raises BadTable naming every wrong number."""
    if not changes:
        return profile
    name = profile.name if profile.name.endswith(_CHANGED) else f"{profile.ref}{_CHANGED}"
    return check_profile(replace(profile, name=name, version=0, **changes), where)


def given_vector(request: SearchRequest, embedder: Embedder) -> Callable[[], NDArray[np.float32]] | None:
    """The request's own vector with length 1, None where it has none.

    Raises BadRequest when it has another number of dimensions than the library's vectors, numbers that are not finite,
    or only zeros.
    """
    if not request.query_vector:
        return None
    dimensions = embedder.dimensions
    if len(request.query_vector) != dimensions:
        raise BadRequest(
            f"The query vector has {len(request.query_vector)} dimensions, the library's vectors have {dimensions}.",
            "Embed the question with the model the library is embedded with.",
        )
    vector = np.asarray(request.query_vector, dtype=np.float64)
    largest = float(np.abs(vector).max())
    if not isfinite(largest) or largest == 0:
        what = "only zeros" if largest == 0 else "a number that is not finite"
        raise BadRequest(f"The query vector holds {what}.", "Give finite numbers, not all of them 0.")
    scaled = vector / largest  # so that no square overflows
    unit = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    return lambda: unit
