"""Finds the terms that a document itself uses as names: capitalised inside sentences, and defined, in headings or
repeated.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from core.domain.entities import Entity, EntityType
from core.knowledge.entities import name_words
from core.knowledge.gazetteer import find_places
from core.ner.capitalised import well_known
from core.ner.definitions import concept_name
from core.ner.lexicon import NameToken, read_words, singular
from core.text.tokenize import STOP_WORDS

__all__ = ["repeated_terms"]

# The numbers below were chosen by reading samples of what they give, not fitted.
_MOST_WORDS = 3
_LEAST_LETTERS = 3
_LEAST_TIMES = 3  # anywhere in the document; by chance a word is capitalised once or twice
_LEAST_INSIDE = 3  # capitalised inside sentences, where the document neither defines nor heads it
_LEAST_ENGLISH = 0.2  # share of English stop words in lower case; other languages capitalise by other rules
_LEAST_LOWER = 2  # lower-case words that a line needs to be a sentence and no title
_ORDINARY = 0.1  # share of lower-case uses from which a word is an ordinary one
_COMMON = 0.2  # share of uses as "the Contractor must" from which a word is a role and no name
_DETERMINED = 0.6  # share of uses as "the Contractor agrees" from which it is one
_TECHNICAL = 0.2  # share of uses beside a kind of technology
_ATTRIBUTIVE = 0.8  # share of uses before a noun ("Federal law") from which it is an adjective

_DETERMINERS = frozenset("the a an this that these those each any all every such its their our your his her no".split())
_IS = frozenset(("is", "are", "was"))
_ARTICLES = frozenset(("a", "an", "the"))
_SINGULAR, _PLURAL = frozenset(("is", "was", "has", "does")), frozenset(("are", "were", "have", "do"))
# No "I've", "D.C", "and/or", "XIV", "Raft-based", "README.md" or "Order.total_sum".
_SPELLED = re.compile(
    r"(?![IVXLC]+$|[A-Z]+\.[a-z]+$)(?:[^\W_]{2,}(?:-[A-Z0-9][^\W_]*|\.(?:[a-z]+|[A-Z]+)(?!\w)|&[^\W_]+)*[+#]*|[^\W_](?:&[^\W_])+)"
)
_LINKS = frozenset(("of", "for"))
_DEFINIENS = 7  # words behind "is a" that may say of what kind the term is
_ADJECTIVES = ("ish", "ese", "ean", "ian", "al", "ic", "ary", "ly", "ing", "ed", "ive", "ous")
# A word with such an ending ("Recipient", "Institution") is a name only where the document says what it is.
_DERIVATIONS = tuple("or er ee ent ant ment tion sion ity ness ship ance ence ist ism age ure".split())


@dataclass(slots=True)
class _Uses:
    """How a document uses a capitalised term. inside: inside sentences; determined: behind "the" or the like; common:
    also not before a lower-case word, as "the Contractor must"; attributive: before a lower-case word that is no stop
    word; number: as a singular minus as a plural; beside: words next to it, lower case."""

    times: int = 0
    inside: int = 0
    determined: int = 0
    number: int = 0
    common: int = 0
    attributive: int = 0
    defined: bool = False
    texts: set[int] = field(default_factory=set)
    beside: Counter[str] = field(default_factory=Counter)


def repeated_terms(
    texts: Sequence[tuple[str, Sequence[NameToken]]], headings: Iterable[str]
) -> Iterator[tuple[Entity, str]]:
    """The terms of a document, each with its spelling. texts: its running text with the tokens, no tables.

    A term is capitalised inside sentences, hardly ever written in lower case, no role ("the Contractor shall"), and
    defined ("Raft is a …"), in a heading, or used often.

    >>> said = "A Raft leader sends entries. In Raft, terms end. Paxos came before. Raft is a consensus algorithm."
    >>> [entity.name for entity, _ in repeated_terms([(said, read_words(said))], ["Raft"])]
    ['Raft']
    """
    uses: dict[tuple[str, ...], _Uses] = {}
    lower: Counter[str] = Counter()
    names: set[str] = set()
    for number, (text, words) in enumerate(texts):
        lower.update(word.key for word in words if word.plain.islower())
        _read(text, words, number, uses, names)
    if sum(count for word, count in lower.items() if word in STOP_WORDS) < _LEAST_ENGLISH * lower.total():
        return
    headed = {word.plain for heading in set(headings) for word in read_words(heading)}
    for run, used in uses.items():
        spelling = " ".join(run)
        if _is_term(run, used, lower, headed, names):
            yield _entity(run, used), spelling


def _read(
    text: str, words: Sequence[NameToken], number: int, uses: dict[tuple[str, ...], _Uses], names: set[str]
) -> None:
    """Count every run of capitalised words. names: receives the words that stand beside a person's name."""
    at = 0
    sentence_lines: dict[int, bool] = {}
    while at < len(words):
        if not words[at].plain[0].isupper() or words[at].key in STOP_WORDS:
            at += 1
            continue
        end = at + 1
        while end < len(words) and words[end].plain[0].isupper() and _beside(text, words, end):
            end += 1
        run = tuple(_singular_acronym(word.plain) for word in words[at:end])
        table = name_words()
        if len(run) > 1 and (not table.first_names.isdisjoint(run) or not table.honorifics.isdisjoint(run)):
            names.update(run)
        elif len(run) <= _MOST_WORDS and "\n" not in text[words[at].start : words[end - 1].end]:
            line = text.rfind("\n", 0, words[at].start) + 1
            if line not in sentence_lines:
                sentence_lines[line] = _is_sentence(text, words, at, line)
            if sentence_lines[line] and not _in_longer_name(text, words, at, end):
                _count(text, words, at, end, uses.setdefault(run, _Uses()), number)
        at = end


def _singular_acronym(word: str) -> str:
    """
    >>> _singular_acronym("APIs"), _singular_acronym("Redis")
    ('API', 'Redis')
    """
    return word[:-1] if len(word) > 2 and word[-1] == "s" and word[:-1].isupper() else word


def _beside(text: str, words: Sequence[NameToken], at: int) -> bool:
    return text[words[at - 1].end : words[at].start] == " "


def _is_sentence(text: str, words: Sequence[NameToken], at: int, line: int) -> bool:
    """Whether the line of a word is running text: lower-case words that are no small words outnumber capitals."""
    end = text.find("\n", line)
    end = len(text) if end < 0 else end
    first, last = at, at
    while first > 0 and words[first - 1].start >= line:
        first -= 1
    while last < len(words) and words[last].start < end:
        last += 1
    own = words[first:last]
    small = sum(word.plain.islower() and word.key not in STOP_WORDS for word in own)
    return small >= _LEAST_LOWER and small >= sum(word.plain[0].isupper() for word in own)


def _in_longer_name(text: str, words: Sequence[NameToken], at: int, end: int) -> bool:
    """Whether a run belongs to a name with "of" or "for" ("Board of Directors") or a number ("NIST SP 800-63",
    "Dynamics 365 Finance")."""
    if end < len(words) and _beside(text, words, end):
        follows = words[end + 1].plain[0].isupper() if end + 1 < len(words) else False
        if words[end].plain[0].isdigit() or (words[end].key in _LINKS and follows):
            return True
    if at == 0 or not _beside(text, words, at):
        return False
    linked = at > 1 and words[at - 1].key in _LINKS and words[at - 2].plain[0].isupper()
    return linked or words[at - 1].plain[0].isdigit()


def _count(text: str, words: Sequence[NameToken], at: int, end: int, used: _Uses, number: int) -> None:
    before = words[at - 1] if at and text[words[at - 1].end : words[at].start] in (" ", ' "', " “", " (") else None
    after = words[end] if end < len(words) and _beside(text, words, end) else None
    noun = after is not None and after.plain.islower() and after.key not in STOP_WORDS
    used.times += 1
    used.texts.add(number)
    used.inside += before is not None and (before.plain.islower() or before.key in STOP_WORDS)
    used.attributive += noun
    determined = before is not None and before.key in _DETERMINERS
    used.determined += determined
    used.common += determined and not noun
    used.number += after is not None and (after.key in _SINGULAR) - (after.key in _PLURAL)
    if after is not None and noun:
        used.beside[singular(after.key)] += 1
    if before is not None and before.plain.islower():
        used.beside[singular(before.key)] += 1
    if after is not None and after.key in _IS and end + 1 < len(words) and words[end + 1].key in _ARTICLES:
        used.defined = used.defined or before is None or before.key not in _DETERMINERS
        used.beside.update(singular(word.key) for word in words[end + 2 : end + 2 + _DEFINIENS])


def _is_term(run: Sequence[str], used: _Uses, lower: Counter[str], headed: set[str], names: set[str]) -> bool:
    if used.times < _LEAST_TIMES or not _may_be_term(run, names):
        return False
    ordinary = min(lower[word.casefold()] + lower[singular(word.casefold())] for word in run)
    if ordinary > _ORDINARY * used.times:
        return False
    last = run[-1].casefold()
    derived = len(run) == 1 and last.endswith(_DERIVATIONS)
    role = used.common > _COMMON * used.times or used.determined > _DETERMINED * used.times
    if (role or (derived and not used.defined)) and not _odd(run[-1]):
        return False
    if not _odd(run[-1]) and singular(last) != last and used.number <= 0:
        return False
    if len(run) == 1 and used.attributive > _ATTRIBUTIVE * used.times and not _odd(run[0]):
        return False
    if used.defined or headed.issuperset(run) or (len(run) == 1 and _odd(run[0])):
        return used.inside >= 2
    return used.inside >= _LEAST_INSIDE and len(used.texts) > 1


def _may_be_term(run: Sequence[str], names: set[str]) -> bool:
    table = name_words()
    for word in run:
        key = word.casefold()
        if key in STOP_WORDS or word in names or word in table.not_last or word in table.first_names:
            return False
        if not word.isascii() or sum(letter.isalpha() for letter in word) < 2 or not _SPELLED.fullmatch(word):
            return False
    spelling = " ".join(run)
    if (
        len(spelling) < _LEAST_LETTERS
        or spelling.casefold() in table.wordlike
        or spelling.casefold() in table.not_terms
    ):
        return False
    if well_known(spelling) is not None or _is_place(spelling):
        return False
    return len(run) > 1 or _odd(spelling) or not spelling.casefold().endswith(_ADJECTIVES)


def _odd(word: str) -> bool:
    """Whether capitals or digits inside a word mark it as a name or an abbreviation."""
    return any(letter.isupper() or letter.isdigit() for letter in word[1:])


@lru_cache(maxsize=10_000)
def _is_place(spelling: str) -> bool:
    return any(True for _ in find_places(spelling, "en"))


def _entity(run: Sequence[str], used: _Uses) -> Entity:
    spelling = " ".join(run)
    mixed = any(word[1:] != word[1:].lower() and not word.isupper() for word in run)
    technical = sum(used.beside[word] for word in name_words().technology_kinds)
    if mixed or technical > _TECHNICAL * used.times:
        return Entity(spelling, EntityType.TECHNOLOGY)
    return Entity(concept_name(spelling) if len(run) > 1 else spelling, EntityType.CONCEPT)
