"""Sentence splitting into exact spans: `text[span.start:span.end]` is the sentence, never a rewritten copy.

Clear boundaries (a long word, a full stop, a capital letter) are found directly; for all others pysbd decides. pysbd
takes quadratic time, so it gets at most 2,000 characters at once. Abbreviations it does not know are protected: it
gets a copy of the same length in which their dots are masked.
"""

import re
from collections.abc import Iterator
from functools import cache
from threading import local
from typing import Any

from core.domain.documents import Span

__all__ = ["has_round_bullets", "sentences"]

_MOST_LETTERS = 2_000  # characters given to pysbd at once. Chosen by hand, not fitted.
_HIDDEN = "\u2024"
_ABBREVIATIONS = re.compile(
    r"\b(?:Pub|Sec|Secs|Sect|Subsec|Reg|Regs|Art|Arts|Para|Paras|Ch|Chap|Pt|Pts|No|Nos|Dr|Mr|Mrs|Ms|Prof|Hon|Sen|Rep|Gov|Jr|Sr|St"
    r"|Inc|Corp|Ltd|Co|Dept|Div|Bros|Assn|Univ|Vol|Ed|Eds|Fig|Figs|Tab|Eq|App|Exh|Att|Attn|Ref|Rev|Stat|Cal|Fed|Supp|Cir|cf|vs|v"
    r"|approx|est|min|max|hr|hrs|yr|yrs|wk|mo|etc|al|ca|viz|incl|resp|max|Tel|Ext|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept"
    r"|Oct|Nov|Dec"
    r"|Bsp|bzw|usw|Nr|Abs|Ziff|vgl|ggf|z\.B|d\.h)\.(?=\s+[\w$§(\"'“-]|\d)"
    r"|\b(?:[A-Za-z]\.){2,}|\b(?:e\.g|i\.e|a\.m|p\.m|C\.F\.R|U\.S\.C|U\.S|et seq)\.|(?<=\d)\.(?=\d)"
    r"|\b[A-Z]\.(?=\s+[A-Z][a-z])"
    r"|\b[a-z]\.\s(?:[A-Za-z]\.\s)?[A-Za-z]\.(?=\s+[\w(])"
    r"|\b(?:arts?|paras?|p[aá]gs?|n[uú]m|ust|poz|odst?|abs|al|kap|vol)\.(?=\s+\d)"
    r"|(?<!\d )\b[bcdfghjklmnpqrstvwxzčćďłňńřśšťźž]{1,4}\.(?=\s+\d)"
    r"|\b\d{1,2}\.\s\d{1,2}\.(?=\s*\d{4}\b)"
    r"|\b(?:[Dd](?:er|ie|as|en|em|es)|[Ii]m|[Vv]om|[Zz]u[mr]|Am|(?<!I )am)\s\d{1,2}\.(?=\s+[A-ZÄÖÜ])"
    r"|\b\d{1,2}\.(?=\s+(?:Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember)\b)"
    r"|\b\d{1,2}\.(?=\s+(?:April|August|September|November)\s+\d{4}\b)"
)
_STOP = re.compile(r"[.!?。！？]+['\"”’]*\s+")
_LONG_WORD = re.compile(r"[a-z]{4}$|[a-z]{3}x$")
_ENDING = re.compile(r"(?:etc|Inc|Corp|Ltd|Co|Jr|Sr|a\.m|p\.m|U\.S|U\.S\.C|C\.F\.R|(?:[A-Za-z]\.)+[A-Za-z])\.$")
_STARTERS = re.compile(
    r"\s+(?:The|This|These|Those|It|In|If|An?|Any|Each|For|When|All|You|We|They|However|See|He|She|There)\b"
)
_HARD_BREAK = re.compile(
    r"\n\s*\n|\n(?=\s*(?:[-*+•●○▪■◦➢]\s|\(?\d{1,3}[.)]\s|\([\da-zA-Z]{1,4}\)\s|#{1,6}\s|\|))|(?<=[.!?:;])\n(?=\s*o\s)"
)
_ROUND_BULLET = re.compile(r"^[^\S\n]*o[^\S\n]", re.M)
_LONE_O = re.compile(r"\S[^\S\n]+o\s")
_CLOSERS = r"[\"'」』”’）)】》\]]"
_FULL_STOP = re.compile(rf"[。！？]+(?:{_CLOSERS}+(?!と|{_CLOSERS})|(?![。！？]|{_CLOSERS}))\s*|[।॥؟۔]\s+")
"""The end of a Chinese or Japanese sentence, which no space follows, and of one in Hindi, Arabic or Urdu."""
_RULE = re.compile(r"[|:=_*+~\s-]{3,}$")
_LAST_RESORT = re.compile(r"(?<=[.!?;:])\s+|\n")

_own = local()


def sentences(text: str) -> tuple[Span, ...]:
    """Sentence spans in order, without surrounding whitespace; every word is in exactly one.

    List items, table rows and text separated by blank lines are never joined into one sentence. Horizontal rules and
    table rules ("|---|---|") are in none.

    >>> text = "Dr. Smith paid $3.50. See e.g. IRS Pub. 15-A."
    >>> [span.of(text) for span in sentences(text)]
    ['Dr. Smith paid $3.50.', 'See e.g. IRS Pub. 15-A.']
    >>> text = "员工说：“我同意。”年假为五天。वेतन मासिक है। छुट्टी"
    >>> [span.of(text) for span in sentences(text)]
    ['员工说：“我同意。”', '年假为五天。', 'वेतन मासिक है।', 'छुट्टी']
    """
    return tuple(_spans(text))


def has_round_bullets(text: str) -> bool:
    """Whether "o" marks list items rather than being a word ("or", "the") that begins lines by chance.

    >>> has_round_bullets("We pay:\\no wages\\no leave"), has_round_bullets("o que o chefe e o outro pagam,\\no aviso")
    (True, False)
    """
    marks = len(_ROUND_BULLET.findall(text))
    return marks > 1 and marks > len(_LONE_O.findall(text))


def _spans(text: str) -> Iterator[Span]:
    for start, end in _stretches(text):
        yield from _sentences_of(text, start, end)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Pieces between hard breaks; pieces over 2,000 characters are split at likely sentence ends."""
    start = 0
    borders = [match.end() for match in _HARD_BREAK.finditer(text)]
    if has_round_bullets(text):
        borders = sorted({*borders, *(match.start() for match in _ROUND_BULLET.finditer(text))})
    if not text.isascii():
        borders = sorted({*borders, *(match.end() for match in _FULL_STOP.finditer(text))})
    borders.append(len(text))
    for border in borders:
        while border - start > _MOST_LETTERS:
            window = text[start : start + _MOST_LETTERS]
            cuts = [match.end() for match in _LAST_RESORT.finditer(window)]
            step = cuts[-1] if cuts else (window.rfind(" ") + 1 or _MOST_LETTERS)
            yield start, start + step
            start += step
        if border > start:
            yield start, border
        start = border


def _sentences_of(text: str, start: int, end: int) -> Iterator[Span]:
    """Sentences of one piece, found in its masked copy and cut out of the text itself."""
    stretch = text[start:end]
    if not stretch.strip():
        return
    begin = 0
    for border in [*_borders(stretch), len(stretch)]:
        piece = stretch[begin:border]
        visible = piece.strip()
        if visible and not _RULE.match(visible):
            first = start + begin + len(piece) - len(piece.lstrip())
            yield Span(first, first + len(visible))
        begin = border


def _borders(stretch: str) -> list[int]:
    """Positions where one sentence ends and the next begins."""
    disguised = _disguised(stretch)
    borders = _obvious(disguised)
    if borders is None:
        borders = _by_pysbd(stretch, disguised)
    return [border for border in borders if not _only_a_marker(stretch, border, borders)]


def _obvious(disguised: str) -> list[int] | None:
    """The boundaries if all are clear (a longer word, a full stop, a capital letter); None when one is doubtful."""
    borders = []
    for stop in _STOP.finditer(disguised):
        following = disguised[stop.end() : stop.end() + 1]
        if not following:
            continue
        if following.islower():
            if stop.group()[0] != ".":
                return None
        elif following.isupper() and _LONG_WORD.search(disguised[max(0, stop.start() - 12) : stop.start()]):
            borders.append(stop.start() + len(stop.group().rstrip()))
        else:
            return None
    return borders


def _by_pysbd(stretch: str, disguised: str) -> list[int]:
    borders = []
    position = 0
    for piece in _segmenter().segment(disguised)[:-1]:
        found = disguised.find(piece.strip(), position)
        if found < 0 or not piece.strip():
            continue
        position = found + len(piece.strip())
        if stretch[position : position + 1].isspace():
            borders.append(position)
    return borders


def _only_a_marker(stretch: str, border: int, borders: list[int]) -> bool:
    """Whether the text before this boundary is only a list marker ("1.", "(a)"), which belongs to what follows."""
    begin = max((other for other in borders if other < border), default=0)
    return re.fullmatch(r"\s*[(\[]?[\w§]{0,4}[.)\]]*\s*", stretch[begin:border]) is not None


def _disguised(stretch: str) -> str:
    """A masked copy of the same length: dots of abbreviations hidden, line ends as blanks, brackets and marks as
    letters."""
    hidden = _ABBREVIATIONS.sub(lambda match: _hide(match, stretch), stretch)
    return hidden.translate(_plain_signs())


def _hide(match: re.Match[str], stretch: str) -> str:
    found = match.group()
    rest = stretch[match.end() : match.end() + 24]
    inside = found[:-1].replace(".", _HIDDEN)
    ends_here = _ENDING.search(found) is not None and _STARTERS.match(rest) is not None
    return inside + ("." if ends_here else found[-1].replace(".", _HIDDEN))


@cache
def _plain_signs() -> dict[int, str]:
    return str.maketrans({"\n": " ", "\t": " ", **dict.fromkeys("()[]{}*_`~|<>&", "x")})


def _segmenter() -> Any:
    """One segmenter per thread, because pysbd stores the text it works on in the instance."""
    if not hasattr(_own, "segmenter"):
        _own.segmenter = _segmenter_class()(language="en", clean=False)
    return _own.segmenter


@cache
def _segmenter_class() -> Any:
    """pysbd's segmenter, except that sentences are located by plain search. pysbd compiles a pattern for every one,
    which takes half of its time and pushes its other patterns out of the cache of `re`."""
    from pysbd import Segmenter
    from pysbd.utils import TextSpan

    class PlainSegmenter(Segmenter):  # type: ignore[misc]  # pysbd has no types
        def sentences_with_char_spans(self, sentences: list[str]) -> list[Any]:
            text, found, last = self.original_text, [], 0
            for sentence in sentences:
                start = text.find(sentence)
                while start >= 0:
                    rest = start + len(sentence)
                    end = len(text) - len(text[rest:].lstrip())
                    if end > last:
                        found.append(TextSpan(text[start:end], start, end))
                        last = end
                        break
                    start = text.find(sentence, max(end, start + 1))
            return found

    return PlainSegmenter
