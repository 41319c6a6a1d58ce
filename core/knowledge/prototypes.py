"""Example sentences for each label, written for this project; the classifier compares their embeddings with a text's.

A workspace's own domain gets prototypes built from its keywords, a few per sentence.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from core.domain.documents import Authority, Truth
from core.domain.errors import BadTable
from core.domain.vocabulary import DomainWords
from core.knowledge.domains import built_in_domains
from core.knowledge.loading import check_keys, table

__all__ = ["own_prototypes", "prototypes"]

_WORDS_PER_SENTENCE = 5  # about as many subject words as a built-in sentence has; chosen by hand


@cache
def prototypes() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Field ("truth", "authority", "domain") → value → sentences. Raises BadTable."""
    rows = table("prototypes")
    allowed: dict[str, list[str]] = {
        "truth": [t.value for t in Truth],
        "authority": [a.value for a in Authority],
        "domain": list(built_in_domains()),
    }
    check_keys("prototypes", "top level", rows, allowed)
    for field, values in rows.items():
        check_keys("prototypes", field, values, allowed[field])
        for value, sentences in values.items():
            if not sentences or not all(isinstance(sentence, str) and sentence for sentence in sentences):
                raise BadTable(
                    f"core/knowledge/prototypes.toml: [{field}] {value} must list sentences.", "Correct the row."
                )
    return {field: {value: tuple(s) for value, s in values.items()} for field, values in rows.items()}


def own_prototypes(domains: Sequence[DomainWords]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(domain, sentences) for each active workspace domain with keywords; hashable.

    >>> own_prototypes([DomainWords("privacy", "Privacy", ("data subject", "=PII"))])
    (('privacy', ('Privacy: data subject, PII.',)),)
    """
    own = [each for each in domains if each.name not in built_in_domains() and not each.off]
    return tuple((each.name, _sentences(each.title or each.name, each.keywords)) for each in own if each.keywords)


def _sentences(title: str, keywords: tuple[str, ...]) -> tuple[str, ...]:
    plain = [word.removeprefix("=") for word in keywords]
    groups = [plain[start : start + _WORDS_PER_SENTENCE] for start in range(0, len(plain), _WORDS_PER_SENTENCE)]
    return tuple(f"{title}: {', '.join(group)}." for group in groups)
