"""Phrases of a table, found in a text: words match by stem or as written, and other words may stand between them."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from core.text.tokenize import stem

__all__ = ["found_phrases"]

_WORD = re.compile(r"[^\W_]+(?:['.&][^\W_]+)*[+#]*")
_BESIDE = re.compile(r"[\s_-]+")
_SAME_SENTENCE = re.compile(r"[^.?!;:]*")
_GAPS = {"…": (0, 3), "*": (1, 4)}  # words between two words of a phrase, at least and at most


class _Word(NamedTuple):
    """One word of a phrase. gap: how many words may stand before it, at least and at most."""

    key: str
    stemmed: bool
    gap: tuple[int, int]


class _Token(NamedTuple):
    word: str
    stem: str
    start: int
    end: int


def found_phrases(phrases: Iterable[str], text: str) -> tuple[str, ...]:
    """The phrases found in a text, as the text writes them, in the order of the table; each phrase once.

    Words match on word boundaries, by stem, or only as written after "=". "…" stands for up to three other words of the
    sentence, "*" for one to four; other words of a phrase stand side by side, or joined by "-" or "_".

    >>> found_phrases(("customer … want", "=set up"), "What did our customers say they want set up?")
    ('customers say they want', 'set up')
    >>> found_phrases(("best practice", "=set up", "in scope"), "Best-practices of setting up what's in. Scope?")
    ('Best-practices',)
    """
    plain = text.replace("’", "'")
    tokens = _tokens(plain)
    stems, words = {token.stem for token in tokens}, {token.word for token in tokens}
    parsed = ((phrase, _parsed(phrase)) for phrase in phrases)
    begun = ((phrase, each) for phrase, each in parsed if each[0].key in (stems if each[0].stemmed else words))
    ends = ((phrase, _first(each, tokens, plain)) for phrase, each in begun)
    return tuple(text[span[0] : span[1]] for _, span in ends if span is not None)


@lru_cache(maxsize=16)  # a question is compared with the phrases of one category after another
def _tokens(text: str) -> tuple[_Token, ...]:
    lower = [(match.group().lower(), match.start(), match.end()) for match in _WORD.finditer(text)]
    return tuple(_Token(word, stem(word), start, end) for word, start, end in lower)


@lru_cache(maxsize=16_384)
def _parsed(phrase: str) -> tuple[_Word, ...]:
    parsed: list[_Word] = []
    gap = (0, 0)
    for part in phrase.split():
        if part in _GAPS:
            gap = _GAPS[part]
            continue
        word = part.removeprefix("=").lower()
        parsed.append(_Word(word if part[0] == "=" else stem(word), part[0] != "=", gap))
        gap = (0, 0)
    return tuple(parsed)


def _first(phrase: Sequence[_Word], tokens: Sequence[_Token], text: str) -> tuple[int, int] | None:
    """Start and end of the first place of the phrase in the text."""
    for first, token in enumerate(tokens):
        last = _last(phrase, tokens, text, first) if _matches(phrase[0], token) else None
        if last is not None:
            return token.start, tokens[last].end
    return None


def _last(phrase: Sequence[_Word], tokens: Sequence[_Token], text: str, first: int) -> int | None:
    """The token that ends the phrase whose first word is this token; None where it goes on differently."""
    if len(phrase) == 1:
        return first
    word = phrase[1]
    for between in range(word.gap[0], word.gap[1] + 1):
        at = first + 1 + between
        if at >= len(tokens):
            break
        separator = _SAME_SENTENCE if between else _BESIDE
        joined = separator.fullmatch(text[tokens[first].end : tokens[at].start])
        if joined and _matches(word, tokens[at]):
            last = _last(phrase[1:], tokens, text, at)
            if last is not None:
                return last
    return None


def _matches(word: _Word, token: _Token) -> bool:
    return word.key == (token.stem if word.stemmed else token.word)
