"""How many documents and passages a library contains, counted by PostgreSQL."""

from core.domain.documents import DocumentState, Truth
from core.domain.results import Statistics
from storage.postgres.database import Database
from storage.postgres.documents import LIVING

__all__ = [
    "count_documents",
    "count_passages",
    "count_unknown_truths",
    "has_passages",
    "library_statistics",
]

_TRUTH = "labels -> 'truth' ->> 'value'"
_WITH_TEXT = f"{LIVING} AND state = 'ready' AND pages > 0"


def count_documents(database: Database, state: DocumentState | None, project: str | None) -> int:
    """Documents that are not archived, from the index `documents_by_state` alone. Raises StoreFailed."""
    of_state = "" if state is None else " AND state = %(state)s"
    of_project = "" if project is None else " AND (project IS NULL OR project = %(project)s)"
    query = f"SELECT count(*) FROM documents WHERE {LIVING}{of_state}{of_project}"
    values = {"state": None if state is None else str(state), "project": project}
    return int(database.read("counting documents", query, values)[0][0])


def count_unknown_truths(database: Database) -> int:
    """Ready documents with text and without a truth: the index finds them by their sureness. Raises StoreFailed."""
    query = f"SELECT count(*) FROM documents WHERE {_WITH_TEXT} AND sureness = 0 AND {_TRUTH} IS NULL"
    return int(database.read("counting documents", query, {})[0][0])


def count_passages(database: Database) -> int:
    """Passages of ready documents that are not archived. Raises StoreFailed."""
    query = f"SELECT coalesce(sum(passages), 0) FROM documents WHERE {_WITH_TEXT}"
    return int(database.read("counting passages", query, {})[0][0])


def has_passages(database: Database) -> bool:
    """Whether a document that is not archived has passages; stops at the first one. Raises StoreFailed."""
    query = f"SELECT EXISTS (SELECT FROM documents WHERE {LIVING} AND passages > 0)"
    return bool(database.read("looking for passages", query, {})[0][0])


def library_statistics(database: Database) -> Statistics:
    """Counts of the documents not archived; reads the labels of all of them. Raises StoreFailed."""
    query = f"SELECT state, {_TRUTH}, pages > 0, count(*), sum(passages) FROM documents WHERE {LIVING} GROUP BY 1, 2, 3"
    by_state: dict[str, int] = {}
    by_truth: dict[Truth | None, int] = {}
    passages = 0
    for state, truth, has_text, documents, passage_count in database.read("counting the library", query, {}):
        by_state[state] = by_state.get(state, 0) + documents
        if state == DocumentState.READY and has_text:
            by_truth[Truth(truth) if truth else None] = documents
            passages += int(passage_count)
    return Statistics(sum(by_state.values()), passages, by_truth, by_state, by_truth.get(None, 0), waiting_jobs=0)
