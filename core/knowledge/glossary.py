"""The glossary: the product's terms with their meanings, for Help and for explanations on hover."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.domain.errors import BadTable
from core.knowledge.factors import factor_table
from core.knowledge.loading import check_keys, table
from core.knowledge.truths import truths

__all__ = ["GlossaryTerm", "explanation", "found_terms", "glossary", "meaning"]

_KEYS = ("term", "means", "group", "also")
_TRUTHS, _FACTORS = "The five truths", "Factors of a score"


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """term: as pages print it. group: its heading. also: other words people search for."""

    term: str
    means: str
    group: str
    also: tuple[str, ...] = ()


@cache
def glossary() -> Mapping[str, GlossaryTerm]:
    """Name → term: the five truths, then the table's, then the factors, whose names begin with "factor.".

    Raises BadTable.
    """
    rows = table("glossary")
    for name, row in rows.items():
        check_keys("glossary", name, row, _KEYS)
        for key in ("term", "means", "group"):
            if not row.get(key):
                raise BadTable(f"core/knowledge/glossary.toml: [{name}] {key} is missing.", "Add it.")
    named = {
        truth.value: GlossaryTerm(
            truth.value.capitalize(), f"{row.question} A gap in it has {row.severity} severity.", _TRUTHS
        )
        for truth, row in truths().items()
    }
    own = {
        name: GlossaryTerm(row["term"], row["means"], row["group"], tuple(row.get("also", ())))
        for name, row in rows.items()
    }
    factors = {
        f"factor.{row.name}": GlossaryTerm(row.label, row.means, _FACTORS) for row in factor_table().rows.values()
    }
    return named | own | factors


def meaning(name: str) -> str:
    """What a term means, as explanation of a label on hover. Raises KeyError for a name the glossary does not have.

    >>> meaning("threshold")
    'Results that score less are not shown.'
    """
    return glossary()[name].means


def explanation(name: str) -> str | None:
    """The same for a name that may have none, such as a field of a document.

    >>> explanation("title") is None
    True
    """
    return glossary()[name].means if name in glossary() else None


def found_terms(words: str) -> Sequence[GlossaryTerm]:
    """The terms in which all these words occur, ignoring case; terms whose own name holds them come first.

    >>> [each.term for each in found_terms("krippendorff")]
    ['Agreement (α, κ)']
    >>> found_terms("no such term")
    []
    """
    phrase = words.casefold().split()
    found = [
        each
        for each in glossary().values()
        if all(word in " ".join((each.term, each.means, *each.also)).casefold() for word in phrase)
    ]
    return sorted(found, key=lambda each: not all(word in each.term.casefold() for word in phrase))
