"""Example sentences for each domain, written for this project; the classifier compares their embeddings with a text's.

A workspace's own domain gets prototypes built from its keywords, a few per sentence.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from core.domain.errors import BadTable
from core.domain.vocabulary import DomainWords
from core.knowledge.domains import built_in_domains
from core.knowledge.loading import check_keys, table

__all__ = ["own_prototypes", "prototypes"]

_WORDS_PER_SENTENCE = 5  # about as many subject words as a built-in sentence has; chosen by hand


@cache
def prototypes() -> Mapping[str, tuple[str, ...]]:
    """Built-in domain → sentences. Raises BadTable."""
    rows = table("prototypes")
    check_keys("prototypes", "top level", rows, ["domain"])
    check_keys("prototypes", "domain", rows["domain"], list(built_in_domains()))
    for value, sentences in rows["domain"].items():
        if not sentences or not all(isinstance(sentence, str) and sentence for sentence in sentences):
            raise BadTable(f"core/knowledge/prototypes.toml: [domain] {value} must list sentences.", "Correct the row.")
    return {value: tuple(sentences) for value, sentences in rows["domain"].items()}


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
