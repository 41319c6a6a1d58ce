"""How the evidence for domains is weighed before anything is learned (classifier_weights.toml).

The learned weights, also of general_lead, keyword and meaning, are in classifier_model.npz
(core.ingestion.classification.linear_model).
"""

from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["DomainWeights", "domain_weights"]


@dataclass(frozen=True, slots=True)
class DomainWeights:
    """general_lead: prior log-odds of "general". name, keyword: log-odds per domain word in name and text.

    opening_share: extra weight of a keyword in the opening, as a share of its weight.
    words_per_sign: one occurrence of a keyword is expected per this many words.
    meaning: log-odds when every sampled sentence is nearest to one domain.
    foreign_meaning: factor on `meaning` for languages the embedding model was not trained on.
    threshold: minimum probability for a label.
    """

    general_lead: float
    name: float
    keyword: float
    opening_share: float
    words_per_sign: float
    meaning: float
    foreign_meaning: float
    threshold: float

    def meaning_of(self, native: bool) -> float:
        """The weight of meaning for a text. native: in a language the embedding model was trained on."""
        return self.meaning if native else self.meaning * self.foreign_meaning


@cache
def domain_weights() -> DomainWeights:
    """Weights for domains. Raises BadTable."""
    return DomainWeights(**_numbers("domain", DomainWeights))


def _numbers(section: str, kind: type[Any]) -> dict[str, float]:
    """The numbers of one section; its keys must be exactly the fields of `kind`."""
    rows = table("classifier_weights")
    check_keys("classifier_weights", "top level", rows, ("domain",))
    row = rows.get(section, {})
    names = [field.name for field in fields(kind)]
    check_keys("classifier_weights", section, row, names)
    missing = [name for name in names if name not in row]
    if missing:
        raise BadTable(f"core/knowledge/classifier_weights.toml: [{section}] lacks '{missing[0]}'.", "Add it.")
    return {name: float(row[name]) for name in names}
