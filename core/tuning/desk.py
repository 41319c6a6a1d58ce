"""The desk of tuning: profiles, judgments, experiments, and a question looked at under two profiles."""

from collections.abc import Callable, Sequence
from datetime import datetime

from core.moments import right_now
from core.ports import Catalogue, Classifier
from core.queries import ScoreProfile, SearchRequest
from core.results import SearchResult
from core.search.pipeline import Searcher
from core.tuning.confirmed import ClassifierDesk
from core.tuning.counterfactual import FirstIf, first_if
from core.tuning.judging import JudgingDesk
from core.tuning.lab import Lab
from core.tuning.profile_book import ProfileBook
from core.tuning.store import TuningStore

__all__ = ["TuningDesk"]


class TuningDesk:
    """One desk serves one tenant. `profiles` keeps score profiles, `judging` question sets and grades, `lab`
    experiments, `classifier` compares labels with what people confirmed."""

    def __init__(
        self,
        *,
        store: TuningStore,
        profiles: ProfileBook,
        searcher: Searcher,
        catalogue: Catalogue,
        classifier: Classifier,
        now: Callable[[], datetime] = right_now,
    ) -> None:
        self._searcher, self._now = searcher, now
        self.profiles = profiles
        self.judging = JudgingDesk(store, self.retrieved, catalogue, now)
        self.lab = Lab(store, searcher, catalogue, profiles, now)
        self.classifier = ClassifierDesk(catalogue, classifier)

    def retrieved(self, request: SearchRequest) -> SearchResult:
        """The answer to a question, not remembered as a search of the analyst.

        Raises BadRequest for an unknown profile or an empty question, StoreFailed when no leg could search.
        """
        return self._searcher.search(request, self._now())

    def first_if(self, result: SearchResult, passage_id: int) -> Sequence[FirstIf]:
        """What would have to change for a passage to be first, the smallest change of one weight first."""
        return first_if(result, passage_id, self._now())

    def rescored(self, result: SearchResult, profile: ScoreProfile) -> SearchResult:
        """The same candidates under a trial profile, without citations; touches no store.

        Raises BadTable for an unsound profile.
        """
        return self._searcher.rescore(result, profile, self._now(), cited=False)
