"""A library for Python programs: what most of them do, each in one call; `workbench` has everything else."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fivefold import _path

if TYPE_CHECKING:
    from bootstrap.environment import Settings
    from bootstrap.workbench import OpenWorkbench
    from core.answers.cite_check.service import CheckedClaim
    from core.domain.coverage import Board
    from core.domain.dataset_queries import TableAnswer
    from core.domain.documents import Document
    from core.domain.five_truths import FiveTruthsAnswer
    from core.domain.results import SearchResult
    from core.library.trash import TrashedDocument
    from core.workbench import Workbench

__all__ = ["DocumentLibrary", "open_library"]

_WHO = "Python"
"""Who deletes and restores, for the history."""


def open_library(where: "str | Path | Settings | None" = None) -> "DocumentLibrary":
    """Open a library, and create it where there is none. Use it as a context manager, or close it.

    where: its folder; or all settings; or None for the settings of the environment (FIVEFOLD_DATA_FOLDER,
    DATABASE_URL and the others). A folder overrides FIVEFOLD_DATA_FOLDER only. The app may run on the same library.

    Raises StoreFailed when its database does not start, BadRequest for wrong settings, ImportError when a package of
    the program has the name of one of Fivefold's.
    """
    _path.check()
    from dataclasses import replace

    from bootstrap.environment import Settings, settings_from_environment
    from bootstrap.workbench import open_workbench

    settings = where if isinstance(where, Settings) else settings_from_environment()
    if where is not None and not isinstance(where, Settings):
        settings = replace(settings, data_folder=Path(where).expanduser().resolve())
    return DocumentLibrary(open_workbench(replace(settings, worker=True)))


class DocumentLibrary:
    """An open library. Its documents are read by worker threads of this process.

    Every method raises StoreFailed when a store does not answer, and BadRequest for arguments that are not valid; each
    error has a `message` and a `hint`.
    """

    def __init__(self, opened: "OpenWorkbench") -> None:
        from core.domain.people import Door, local_principal

        self._opened = opened
        self._workbench = opened.for_principal(local_principal(Door.PYTHON))

    def __enter__(self) -> "DocumentLibrary":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the library, and its database when that is embedded. Harmless when repeated."""
        self._opened.close()

    @property
    def workbench(self) -> "Workbench":
        """All services of the product, by name: documents, search, answers, coverage, tables, insights and more.

        Calls are recorded in the audit log as made from Python.
        """
        return self._workbench

    def upload(self, *paths: str | Path, project: str | None = None, tags: Sequence[str] = ()) -> "Sequence[Document]":
        """Upload files, and folders with all they hold, and read them; returns when they are searchable.

        project: None for what all projects share. tags: added to every document. A document that could not be read has
        the state "failed", and says why in `failure` and `remedy`. The same bytes again give the document that exists.

        Raises BadRequest for a missing path, EmptyFile or another BadFile for the first file that could not be stored;
        the others are read all the same.
        """
        from bootstrap.scratch_library import drain, paths_of, settle
        from core.domain.errors import FivefoldError
        from core.library.upload_queue import NewFile

        files = [NewFile(name, path.read_bytes) for name, path in paths_of([Path(path) for path in paths]).items()]
        outcomes = [outcome for _, outcome in settle(self._workbench, files, project=project, tags=tags)]
        drain(self._workbench)
        for outcome in outcomes:
            if isinstance(outcome, FivefoldError):
                raise outcome
        return [each for each in outcomes if not isinstance(each, FivefoldError)]

    def documents(self, *, archived: bool | None = False) -> "Sequence[Document]":
        """The documents, newest first. archived: False the living ones, True the archived ones, None both."""
        return self._workbench.documents.list(archived=archived)

    def delete(self, document: "Document | int") -> None:
        """Move a document to the trash. Raises NotFound."""
        self._workbench.bulk_edit.delete(document if isinstance(document, int) else document.id, who=_WHO)

    def trash(self) -> "Sequence[TrashedDocument]":
        """What is in the trash, the last deleted first."""
        return self._workbench.trash.listed()

    def restore(self, *documents: "TrashedDocument | int") -> "Sequence[Document]":
        """Bring documents back from the trash, with everything that belonged to them. Raises NotFound, BadRequest."""
        return self._workbench.trash.restore([_trashed_id(each) for each in documents], who=_WHO)

    def purge(self, *documents: "TrashedDocument | int") -> None:
        """Delete documents of the trash for good; nothing brings them back. Raises NotFound."""
        self._workbench.trash.purge([_trashed_id(each) for each in documents], who=_WHO)

    def label(self, document: "Document | int", **labels: str) -> "Document":
        """Set labels of a document by hand: truth, domain, authority, jurisdiction, effective_date, temporal_class or
        language. They are confirmed: the classifier learns from them, and they stay when the document is read again.

        Raises BadRequest for an unknown label or value, NotFound.
        """
        from core.domain.errors import BadRequest

        number = document if isinstance(document, int) else document.id
        if not labels:
            raise BadRequest("No label is given.", "Name one, e.g. truth='intent'.")
        return self._workbench.documents.correct_many([(number, name, value) for name, value in labels.items()])[-1]

    # One parameter per thing a search can be asked for.
    def search(
        self,
        question: str,
        *,
        top_k: int | None = None,
        offset: int = 0,
        profile: str | None = None,
        weights: Mapping[str, float] | None = None,
        threshold: float | None = None,
        half_life_days: float | None = None,
        query_vector: Iterable[float] | None = None,
        rerank: str = "",
        **filters: Any,
    ) -> "SearchResult":
        """Find passages by meaning, keywords and entities, scored and cited.

        top_k: most results, None for the profile's. profile: name or name@version. weights: factor → weight, together
        1. threshold: least score, 0 to 1. query_vector: searched with instead of the question's own. rerank:
        "included", "fast", "balanced" or "accurate". filters: by name, as in docs/filters.md: truths=["compliance"],
        date_from="2024-01-01", exclude_tags=["draft"] and so on.

        Raises BadFilters for a filter or value that does not exist.
        """
        from core.domain.filters import check_filters
        from core.domain.queries import SearchRequest

        checked = check_filters(filters)
        return self._workbench.search.run(
            SearchRequest(
                question,
                checked,
                profile=self._profile(profile, checked.project),
                top_k=top_k,
                offset=offset,
                weights=tuple((weights or {}).items()),
                threshold=threshold,
                half_life_days=half_life_days,
                query_vector=tuple(map(float, query_vector or ())),
                rerank=rerank,
            )
        )

    def _profile(self, profile: str | None, project: str | None) -> str:
        profiles = self._workbench.evaluation.profiles
        return (profiles.find(profile) if profile else profiles.default(project)).ref

    def answer(self, question: str, *, project: str | None = None, **filters: Any) -> "FiveTruthsAnswer":
        """Ask all five truths: what each says, where they agree and contradict each other, and what is missing.

        filters: as for `search`.
        """
        from core.domain.filters import check_filters

        return self._workbench.answers.ask(
            question, filters=check_filters(filters), profile=self._profile(None, project), project=project
        )

    def coverage(self, topics: Sequence[str], *, project: str | None = None) -> "Board":
        """Assess topics against the five truths at once; nothing is stored. `cells` have states, scores and evidence,
        `gaps` say what to obtain.

        Raises BadRequest without topics.
        """
        from core.coverage.topics import check_topics
        from core.domain.coverage import Topic

        return self._workbench.coverage.glance([Topic(name, project=project) for name in check_topics(topics)], project)

    def ask_table(self, question: str, *, project: str | None = None) -> "TableAnswer":
        """Answer a question from the tables, with the rows and the SQL, or the reason for a refusal."""
        return self._workbench.tables.ask(question, project)

    def check_citations(self, text: str, *, project: str | None = None) -> "Sequence[CheckedClaim]":
        """Which sentences of a text do their citations support? A citation follows its sentence in square brackets:
        a sentence ("[42.3]"), a passage ("[42]") or a place ("[handbook.pdf, p.5]")."""
        return self._workbench.cite_check.check(text, project)


def _trashed_id(document: "TrashedDocument | int") -> int:
    return document if isinstance(document, int) else document.document_id
