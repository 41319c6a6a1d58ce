"""Sentences that sound like a label, written by this project; the embedding compares with them.

A domain of the workspace's own is told by its words, a few to a sentence, as the project's sentences are.
"""

from collections.abc import Mapping
from functools import cache

from core.documents import Authority, Truth
from core.errors import BadTable
from core.speaking import spoken
from core.tables.domains import built_in_domains
from core.tables.loading import check_keys, table

__all__ = ["own_prototypes", "prototypes"]

_WORDS_A_SENTENCE = 5


@cache
def prototypes() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Field ("truth", "authority", "domain") → value → its sentences. Raises BadTable."""
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
                    f"core/tables/prototypes.toml: [{field}] {value} must list sentences.", "Correct the row."
                )
    return {field: {value: tuple(s) for value, s in values.items()} for field, values in rows.items()}


def own_prototypes() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Domain → its sentences, for each of the workspace's own that is in use; hashable. Raises StoreFailed.

    >>> from core.speaking import speaking
    >>> from core.vocabulary import DomainWords, Vocabulary
    >>> with speaking(Vocabulary((DomainWords("privacy", "Privacy", ("data subject", "=PII")),))):
    ...     own_prototypes()
    (('privacy', ('Privacy: data subject, PII.',)),)
    """
    own = [each for each in spoken().domains if each.name not in built_in_domains() and not each.off]
    return tuple((each.name, _sentences(each.title or each.name, each.keywords)) for each in own if each.keywords)


def _sentences(title: str, keywords: tuple[str, ...]) -> tuple[str, ...]:
    plain = [word.removeprefix("=") for word in keywords]
    groups = [plain[start : start + _WORDS_A_SENTENCE] for start in range(0, len(plain), _WORDS_A_SENTENCE)]
    return tuple(f"{title}: {', '.join(group)}." for group in groups)
