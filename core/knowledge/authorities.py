"""The names by which a workspace recognises who issued a document (WorkspaceTerms.authorities)."""

from dataclasses import dataclass
from functools import lru_cache

from core.domain.vocabulary import AuthorityNames, findable
from core.knowledge.label_signals import LabelSignal, LabelSignalFinder

__all__ = ["AuthorityTable", "authority_table"]

_NAME_WEIGHT = 2.0  # log-odds of one clear mention; chosen by hand
_NAME_RULE = "is named so in this workspace's vocabulary"
_CACHED_TABLES = 16  # more than the libraries and drafts one process has open; chosen by hand


@dataclass(frozen=True, slots=True, eq=False)
class AuthorityTable:
    """A workspace's names of authorities, as signals with a finder for all of them."""

    signals: tuple[LabelSignal, ...]
    finder: LabelSignalFinder


@lru_cache(_CACHED_TABLES)
def authority_table(names: tuple[AuthorityNames, ...]) -> AuthorityTable:
    """The signals of a workspace's names."""
    phrases = ((each.authority, findable(each.names)) for each in names)
    signals = tuple(LabelSignal(authority, _NAME_WEIGHT, _NAME_RULE, words) for authority, words in phrases if words)
    return AuthorityTable(signals, LabelSignalFinder(signals))
