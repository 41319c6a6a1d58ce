"""Service of the tuning pages: profiles, judgments, experiments, and one question under two profiles."""

from collections.abc import Callable, Sequence
from datetime import datetime

from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.evaluation.experiments import ExperimentRunner
from core.evaluation.judgments.service import JudgmentService
from core.evaluation.metrics.classifier_report import ClassifierEvaluation
from core.evaluation.store import EvaluationStore
from core.evaluation.tuning.profile_registry import ProfileRegistry
from core.evaluation.tuning.replay import RankFirstWeight, first_if
from core.ingestion.classification.classifier import Classifier
from core.ingestion.classification.sample import StoredReading
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.search.pipeline import SearchPipeline

__all__ = ["EvaluationService"]


class EvaluationService:
    """Serves one tenant. `profiles` stores score profiles, `judging` question sets and grades, `experiments`
    experiments, `classifier` compares labels with what people confirmed."""

    def __init__(
        self,
        *,
        store: EvaluationStore,
        profiles: ProfileRegistry,
        searcher: SearchPipeline,
        catalogue: Catalogue,
        classifier: Classifier,
        reading: StoredReading,
        terms: Callable[[], WorkspaceTerms],
        now: Callable[[], datetime],
    ) -> None:
        self._searcher, self._now = searcher, now
        self.profiles = profiles
        self.judging = JudgmentService(store, self.retrieved, catalogue, now)
        self.experiments = ExperimentRunner(store, searcher, catalogue, profiles, now)
        self.classifier = ClassifierEvaluation(catalogue, classifier, reading, terms)

    def retrieved(self, request: SearchRequest) -> SearchResult:
        """Search without recording the question in the search history.

        Raises BadRequest for an unknown profile or an empty question, StoreFailed when no leg could search.
        """
        return self._searcher.search(request, self._now())

    def first_if(self, result: SearchResult, passage_id: int) -> Sequence[RankFirstWeight]:
        """Single-weight changes that would rank a passage first, smallest change first."""
        return first_if(result, passage_id, self._now())

    def rescored(self, result: SearchResult, profile: ScoreProfile) -> SearchResult:
        """The same candidates rescored with a trial profile, without citations; accesses no store.

        Raises BadTable for an unsound profile.
        """
        return self._searcher.rescore(result, profile, self._now(), cited=False)
