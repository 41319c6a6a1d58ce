"""Port for storing topics, coverage runs and decisions. A store is bound to one tenant."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.domain.coverage import Cell, CoverageRun, Decision, DecisionHistory, GapKind, Topic, TopicRevision
from core.domain.errors import BadRequest, NotFound, Outdated

__all__ = ["CoverageBoardStore", "name_taken", "no_run", "no_topic", "outdated_topic", "outdone"]


class CoverageBoardStore(Protocol):
    """Topics, coverage runs with their cells, and the decision log. project None: the board of the whole library."""

    def topics(self, project: str | None, *, retired: bool = False) -> Sequence[Topic]:
        """Active topics of a project and those shared by all projects, in the order they were added; None: all topics.

        retired: the retired ones instead.
        """
        ...

    def add_topics(self, topics: Sequence[Topic], who: str = "", at: datetime | None = None) -> Sequence[Topic]:
        """Store new topics (id 0). If its project has an active topic of the same name (case-insensitive), that one is
        given back unchanged. at: when; the new ones are then added to the log of revisions too."""
        ...

    def change_topics(self, topics: Sequence[Topic], who: str = "", at: datetime | None = None) -> Sequence[Topic]:
        """Store changed topics, all or none, each with the version it was read with; gives them with the new version.
        at: when; the change is then added to the log of revisions too.

        Raises Outdated naming the topic someone else changed, BadRequest when a name is taken, NotFound.
        """
        ...

    def topic_revisions(self, limit: int) -> Sequence[TopicRevision]:
        """The newest revisions of all topics, newest edit first, at most so many."""
        ...

    def add_run(self, run: CoverageRun) -> CoverageRun:
        """Store a new run (id 0)."""
        ...

    def change_run(self, run: CoverageRun) -> None:
        """Store a run's progress, end or name. Raises NotFound."""
        ...

    def run(self, run_id: int) -> CoverageRun:
        """One run. Raises NotFound."""
        ...

    def runs(self, project: str | None) -> Sequence[CoverageRun]:
        """The runs of exactly this project (None: of the whole library), newest first, `corpus` left empty."""
        ...

    def delete_run(self, run_id: int) -> None:
        """Delete a run and its cells; decisions taken on it stay."""
        ...

    def save_cells(self, run_id: int, cells: Sequence[Cell]) -> None:
        """Store assessed cells (topic_id > 0), replacing those of the same topic and kind."""
        ...

    def cells(self, run_id: int) -> Sequence[Cell]:
        """Every stored cell of a run, in the order of its topics, then of GapKind."""
        ...

    def history(self, topic_id: int, kind: GapKind, project: str | None) -> Sequence[DecisionHistory]:
        """The state of a cell in each finished run of this project, oldest first."""
        ...

    def decide(self, decisions: Sequence[Decision]) -> Sequence[Decision]:
        """Append decisions (id 0), all or none. Raises Outdated, naming who decided what and when, if a decision's
        number does not continue the count of its topic, kind and project."""
        ...

    def decisions(self, project: str | None) -> Sequence[Decision]:
        """The whole log of exactly this project (None: of the whole library), oldest first."""
        ...


# Errors that every implementation raises


def outdated_topic(known: Topic) -> Outdated:
    """Someone has changed this topic since it was read."""
    message = f"'{known.name}' has been changed by someone else meanwhile; nothing of yours was stored."
    return Outdated(message, "Look at it as it is now, then change it again.")


def outdone(mine: Decision, known: Decision | None) -> Outdated:
    """Someone has decided since; or the decision this one continues is not there."""
    if known is None:
        return Outdated(
            f"The decisions on '{mine.topic}' are not what you saw.", "Look at the cell again, then decide."
        )
    message = f"{known.who} has decided on '{known.topic}' ({known.kind.partition(':')[0]}) meanwhile"
    when = f"{known.at:%Y-%m-%d %H:%M}"
    return Outdated(
        f"{message}: {known.verdict.value}, {when} UTC. Yours was not stored.", "Look at the cell again, then decide."
    )


def name_taken(name: str) -> BadRequest:
    """An active topic of the project has this name."""
    return BadRequest(f"There is a topic '{name}' already.", "Choose another name, or merge the two.")


def no_topic(name: str) -> NotFound:
    """The topic is not stored."""
    return NotFound(f"The topic '{name}' is not (or no longer) here.", "Look at the topics again.")


def no_run(run_id: int) -> NotFound:
    """The run is not stored."""
    return NotFound(f"Coverage run {run_id} is not (or no longer) here.", "It was deleted; assess the topics again.")
