"""Possible meanings of a question's words in the reachable tables."""
# Over 300 lines: tables, columns and values are scored against each other, so their constants belong side by side.

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

from core.domain.dataset_queries import ColumnRef
from core.domain.datasets import Column, ColumnType, RealityTable
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import JoinPath, flag_values, is_amount
from core.table_qa.parsing.column_values import ColumnValues
from core.table_qa.parsing.tokens import Token, header_unit, header_words, plain_header, plain_words, value_words
from core.text.tokenize import STOP_WORDS
from core.text.tokenize import stem as stemmed

__all__ = [
    "LexiconPhrase",
    "WordMeaning",
    "column_meaning",
    "entity_stems",
    "name_ends",
    "table_meaning",
    "value_meanings",
]

# How sure a word is of what it names. All weights were chosen by hand against the questions in tests/table_qa/asked;
# they are not fitted.
_EXACT, _SYNONYM = 1.0, 0.8
"""Quality of a word that is the header's own, or a synonym of it."""
_LIGHT_WEIGHT, _LIGHT_QUALITY = 0.25, 0.6
"""Weight of a header's light word ("code", "date") beside others, and quality of matching it."""
_ALL_LIGHT = 0.9
"""Weight of the last word of a header that has only light ones."""
_COMPLETE = 0.4
"""Bonus per further word for naming a table or header completely."""
_LEAST_SHARE = 0.45
"""Share of a value's words a question must have to name it in part."""
_VERBS = frozenset(("work", "use", "make", "made", "take", "run", "go", "live", "hold", "serv"))
"""Stems of verbs that do not name a column by its last word alone: "work" is not a number of companies worked at."""
_KINDS = frozenset(("type", "class", "categori", "level", "status", "statu", "group", "segment"))
"""Last words of headers that say a kind of something: "customers" does not name a customer type."""
_LEAST_COVERED, _LEAST_COVERED_BY_HEAD = 0.3, 0.15
"""Share of a header's weight that must be named; less when its last word is."""
_OTHER_SPELLING = 0.6
"""Taken off a value that matches by stems only."""
_BESIDE_DATES = frozenset(("date", "day"))
_WITHOUT_HEAD, _WITHOUT_LIGHT_HEAD = 0.75, 0.9
"""Factor for an amount whose header's last word is not named, for a full and a light one."""
_SAME_SPELLING = 0.1
"""Score of a word written as in the header: approver, not approved."""
_WRITTEN_ALIKE = 2.0
"""Score per word of a header written with or without blanks: as that of a complete name."""
_OPPOSITE = 1.6
"""Score of "died" for a column "survived": as that of a synonym."""
_MODIFIER = 0.7
"""Quality of a table's word that is not its last one."""
_TIMES = ("year", "quarter", "month")
"""Operators that name no part of a value: "by year" is no "Year-end"."""
_MOST_PARTIAL = 8
"""Values of a column that a partial name may match; a part that matches more is too vague."""
_NEGATIVE = frozenset(("no", "not", "non", "without", "never"))
"""Words of a header that a question must have."""
_CURRENCY = re.compile(r"[$€£]|\b(?:EUR|USD|GBP|CHF|INR|CAD|AUD)\b")
_SAYS_LITTLE = frozenset(
    stemmed(word) for word in "monthly annual yearly weekly eur usd gbp chf inr cad aud mg l actual fy".split()
)
"""Words of a header that need not be named beside the one it is about."""
_UNITS = frozenset("kg km cm m2 ha kwh mwh kw mw eur usd gbp chf inr cad aud l mg".split())
"""Words behind the name in a header that say only in which unit it is measured."""
_UNIT_WEIGHT = 0.1
_STOP_STEMS = frozenset(STOP_WORDS) | {"flag"}


@dataclass(frozen=True, slots=True)
class LexiconPhrase:
    """Tokens [first, last) with a meaning and its score; higher is more certain."""

    first: int
    last: int
    score: float
    meaning: "WordMeaning"


@dataclass(frozen=True, slots=True)
class WordMeaning:
    """What a phrase names. kind: "table", "column" or "value". column, values: set for the latter two. whole: whether
    all words of a value are named. opposite: the words mean the "no" of a column of yes and no. words: words of a
    header that are named as they are written there. head: its last word is one of them.
    """

    kind: str
    path: JoinPath
    column: Column | None = None
    values: tuple[str, ...] = ()
    whole: bool = True
    opposite: bool = False
    words: int = field(default=0, compare=False)
    head: bool = field(default=False, compare=False)

    @property
    def ref(self) -> ColumnRef:
        """The column."""
        assert self.column is not None
        return ColumnRef(self.path.alias, self.column.name)


def entity_stems(table: RealityTable) -> frozenset[str]:
    """The stems that name a table's rows: those of its name, of an analyst's words for them, and of its key without
    "id".
    """
    return _entity_stems(table.name, tuple(table.called), "" if table.key is None else table.key.header)


@lru_cache(maxsize=1024)
def _entity_stems(name: str, called: tuple[str, ...], key: str) -> frozenset[str]:
    lexicon = asking()
    stems = {stem for header in (name, key) for stem in header_words(header)}
    stems = {stem for stem in stems if not stem.isdigit() and stem not in lexicon.light}
    stems |= {stem for words in called for stem in header_words(words)}
    stems |= {other for stem in {*stems, *header_words(name)} for other in lexicon.called.get(stem, ())}
    return frozenset(stems)


def table_meaning(tokens: Sequence[Token], first: int, last: int, path: JoinPath) -> LexiconPhrase | None:
    """The table that tokens [first, last) name, when every token is one of its words or a synonym; else None."""
    stems = entity_stems(path.table)
    named = header_words(path.table.name)
    quality = 0.0
    heads = {stem for stem in named if not stem.isdigit()} and {[stem for stem in named if not stem.isdigit()][-1]}
    heads |= set(header_words(path.table.key.header)) if path.table.key is not None else set()
    heads |= {header_words(words)[-1] for words in path.table.called if header_words(words)}
    for token in tokens[first:last]:
        part = 1.0 if token.stem in heads or last - first > 1 else _MODIFIER
        if token.stem in stems or token.stem in named:
            quality += _EXACT * part
        elif asking().synonyms.get(token.stem, frozenset()) & (
            stems if last - first > 1 else heads | (stems & asking().persons)
        ):
            quality += _SYNONYM * (1.0 if asking().synonyms[token.stem] & heads else part / 2)
        else:
            return None
    is_complete = {token.stem for token in tokens[first:last]} >= set(named)
    quality += _COMPLETE * (len(named) - 1) / 1.6 if is_complete else 0.0
    head = 0.2 if tokens[last - 1].stem == named[-1] else 0.0
    own = 0.5 if path.hops == 0 else 0.0
    return LexiconPhrase(first, last, 1.6 * quality + head + own - path.cost, WordMeaning("table", path))


def name_ends(tokens: Sequence[Token], column: Column) -> tuple[bool, ...]:
    """Per token whether a name of the column may begin or end with it: `column_meaning` finds no other, except a header
    that is written out, and a flag named by one word."""
    header, beside = header_words(column.header), _ever_beside()
    unnamed, written = dict(enumerate(header)), _written(column.header, header)
    return tuple(
        token.stem in beside
        or _header_position(token, unnamed, written) is not None
        or _verb_position(token, column, unnamed, written) is not None
        for token in tokens
    )


@cache
def _ever_beside() -> frozenset[str]:
    """The words that may stand beside the name of some column."""
    return _BESIDE_DATES.union(*asking().beside.values())


# Long: each test rules out one way to misread a header.
def column_meaning(
    words: Sequence[Token], first: int, last: int, path: JoinPath, column: Column, years: str, entities: Collection[str]
) -> LexiconPhrase | None:
    """The column that tokens [first, last) name: each a word of its header, or a stop word between; else None.

    years: those in the question; a header of another year scores less. entities: stems of the names of rows;
    "employees" alone does not name an employee cost.
    """
    header, tokens = header_words(column.header), words[first:last]
    if tokens[0].stop_word or tokens[-1].stop_word:
        whole = tuple(token.word for token in tokens) == plain_header(column.header) and len(tokens) > 1
        meaning = WordMeaning("column", path, column)
        return LexiconPhrase(first, last, _WRITTEN_ALIKE * len(tokens) - path.cost, meaning) if whole else None
    if "".join(token.word for token in tokens) == "".join(plain_header(column.header)) and not tokens[0].number:
        score = (_WRITTEN_ALIKE + _SAME_SPELLING) * len(tokens) - path.cost
        return LexiconPhrase(first, last, score, WordMeaning("column", path, column, words=len(header), head=True))
    if len(tokens) == 1 and flag_values(column) and header in {(tokens[0].stem + ending,) for ending in ("r", "er")}:
        return LexiconPhrase(
            first, last, _OPPOSITE - path.cost, WordMeaning("column", path, column)
        )  # who drive: driver
    if len(tokens) == 1 and flag_values(column) and set(header) & _positives(tokens[0].stem):
        return LexiconPhrase(first, last, _OPPOSITE - path.cost, WordMeaning("column", path, column, opposite=True))
    weights = _header_weights(column.header)
    matched = _match_header(tokens, column, header, weights, _beside(path.table, column))
    if matched is None:
        return None
    quality, unnamed = matched
    flag = flag_values(column) is not None
    left = [stem for at, stem in unnamed.items() if at < len(header) - 1]
    if set(left) & _NEGATIVE or (flag and any(stem not in asking().light | _STOP_STEMS for stem in unnamed.values())):
        return None  # "show" is no "no-show", and "patient" no "new patient"
    headless, amount = len(header) - 1 in unnamed, is_amount(path.table, column)
    if (headless or all(token.stem in _VERBS for token in tokens)) and _is_vague(tokens, unnamed.values()):
        return None
    if headless and column.type is ColumnType.TEXT and header[-1] in _KINDS:
        return None
    if headless and amount and all(token.stem in entities for token in tokens):
        return None
    coverage = 1 - sum(weights[at] for at in unnamed) / sum(weights)
    head = bool({tokens[-1].word, *plain_words(tokens[-1].word)} & set(plain_header(column.header)[-1:]))
    if not quality or coverage < (_LEAST_COVERED_BY_HEAD if head else _LEAST_COVERED):
        return None
    score = 2.0 * quality * (0.35 + 0.65 * coverage) - path.cost
    score += _COMPLETE * (len(header) - 1) if not unnamed else 0.0
    if headless and amount:
        score *= _WITHOUT_HEAD if weights[-1] == 1 else _WITHOUT_LIGHT_HEAD
    in_header = [stem for stem in header if stem.isdigit() and len(stem) == 4]
    if in_header and years:
        score += 0.5 if any(year in years for year in in_header) else -2.0
    exact = sum(stem in {token.stem for token in tokens} for stem in header)
    telling = {token.word for token in tokens if token.stem not in asking().light}
    score += _SAME_SPELLING * len(telling & set(plain_header(column.header)))
    meaning = WordMeaning("column", path, column, words=exact, head=head)
    return LexiconPhrase(first, last, score, meaning) if score > 0 else None


def _positives(stem: str) -> frozenset[str]:
    """The stems of words for yes whose no is this one."""
    return frozenset(yes for yes, no in asking().opposites.items() if stem in no)


@lru_cache(maxsize=4096)
def _inside(header: str) -> frozenset[str]:
    """The stems of what a header has in brackets behind its name.

    >>> sorted(_inside("Value (lakh INR)")), _inside("(none)")
    (['inr', 'lakh'], frozenset())
    """
    inside = " ".join(re.findall(r"(?<=\w) ?\(([^)]*)\)", header))
    return frozenset(header_words(inside)) if inside else frozenset()


@lru_cache(maxsize=4096)
def _header_weights(written: str) -> Sequence[float]:
    """The weight of each word of a header, in (0, 1]; those in brackets tell a unit."""
    header, inside = header_words(written), _inside(written)
    weights = [
        _LIGHT_WEIGHT if stem in asking().light or stem in STOP_WORDS or stem.isdigit() else 1.0 for stem in header
    ]
    units = [
        at > 0 and (stem in _UNITS or stem in inside or (stem in _SAYS_LITTLE and at == len(header) - 1))
        for at, stem in enumerate(header)
    ]
    named = [at for at, unit in enumerate(units) if not unit]
    if named and all(weights[at] < 1 for at in named):
        last = named[-1]
        return [
            _ALL_LIGHT if at == last else _UNIT_WEIGHT if units[at] else _ALL_LIGHT / 2 for at in range(len(header))
        ]
    return [_UNIT_WEIGHT if unit else weight for unit, weight in zip(units, weights, strict=True)]


def _match_header(
    tokens: Sequence[Token], column: Column, header: Sequence[str], weights: Sequence[float], beside: Collection[str]
) -> tuple[float, dict[int, str]] | None:
    """How well tokens match a header, and its words they do not name, by position; None when a token is none of
    them, nor one of those that may stand `beside` a name."""
    unnamed = dict(enumerate(header))
    written = _written(column.header, header)
    quality, skipped = 0.0, False
    for index, token in enumerate(tokens):
        found = _header_position(token, unnamed, written) or _verb_position(token, column, unnamed, written)
        if found is None and token.stem in beside and len(tokens) > 1:
            skipped = True
            continue
        if found is None:
            if index in (0, len(tokens) - 1) or token.word not in ("of", "in", "the", "for", "a"):
                return None
            continue
        at, sureness = found
        for more in written.get(token.word, ()):
            unnamed.pop(more, None) if more != at else None
        if sureness < _EXACT and column.type is ColumnType.BOOLEAN:
            return None  # "paid" is no flag called "salaried"
        del unnamed[at]
        quality += sureness * (
            1.0 if weights[at] == 1 else _LIGHT_QUALITY if weights[at] == _LIGHT_WEIGHT else _ALL_LIGHT
        )
    little = _SAYS_LITTLE | set(asking().measures) | {stemmed(unit) for unit in asking().measures}
    if skipped and (not quality or any(stem not in little for stem in unnamed.values())):
        return None
    return quality, unnamed


def _beside(table: RealityTable, column: Column) -> frozenset[str]:
    """The words that may stand beside the name of an amount."""
    if column.type.dated:
        return _BESIDE_DATES
    if not is_amount(table, column):
        return frozenset()
    others = {stem for each in table.columns if each.name != column.name for stem in header_words(each.header)}
    kind = asking().measures.get(header_unit(column.header), ("", 0.0))[0]
    beside = asking().beside["number"] | asking().beside.get(kind, frozenset())
    money = column.type is ColumnType.MONEY or bool(_CURRENCY.search(column.header))
    return (beside | asking().beside["money"] if money else beside) - others


def _is_vague(tokens: Sequence[Token], unnamed: Collection[str]) -> bool:
    """Whether words that may mean nothing leave out what a header is about: "work" does not name a work e-mail."""
    lexicon = asking()
    return all(lexicon.may_be_idle(token.stem) for token in tokens) and any(
        stem not in lexicon.light and stem not in STOP_WORDS for stem in unnamed
    )


@lru_cache(maxsize=4096)
def _written(header: str, stems: tuple[str, ...]) -> Mapping[str, Sequence[int]]:
    """A header's words as written, two joined ones too → the places of their stems; {} where a word is split."""
    places: dict[str, list[int]] = {}
    plain, at = plain_header(header), 0
    for part in plain:
        length = len(asking().abbreviations.get(part, part).split())
        places[part] = list(range(at, at + length))
        at += length
    if at != len(stems):
        return {}
    pairs = {one + two: [*places[one], *places[two]] for one, two in pairwise(plain)}
    return pairs | places


def _header_position(
    token: Token, unnamed: Mapping[int, str], written: Mapping[str, Sequence[int]]
) -> tuple[int, float] | None:
    """Which word of a header a token names, and how surely, in (0, 1]. written: as _written gives it."""
    for at, stem in unnamed.items():
        if token.stem == stem or at in written.get(token.word, ()):
            return at, _EXACT
    others = asking().synonyms.get(token.stem, frozenset())
    for at, stem in unnamed.items():
        if stem in others:
            return at, _SYNONYM
    for at, stem in unnamed.items():
        if is_noun_of(token.word, stem):
            return at, _EXACT
    if token.word.endswith("ed"):  # the "experienced" of years of experience
        places = [*written.get(token.word[:-1], ()), *written.get(token.word[:-2], ())]
        return next(((at, _SYNONYM) for at in places if at in unnamed), None)
    return None


def _verb_position(
    token: Token, column: Column, unnamed: Mapping[int, str], written: Mapping[str, Sequence[int]]
) -> tuple[int, float] | None:
    """Which word of a date's header is the noun of a verb: the expiry of "expiring in May"."""
    if not column.type.dated:
        return None
    places = (at for word, named in written.items() for at in named if at in unnamed and is_noun_of(word, token.stem))
    return next(((at, _SYNONYM) for at in places), None)


_NOUN = ("ation", "ement", "ssion", "sion", "tion", "ment", "ion", "ial", "ure", "al", "y")
_VERB = ("tted", "ted", "ded", "ed", "d", "e", "t", "", "i", "ied", "ies")


def is_noun_of(word: str, verb: str) -> bool:
    """Whether a word is the noun of a verb, in whatever form.

    >>> is_noun_of("readmission", "readmit"), is_noun_of("denial", "denied"), is_noun_of("inspector", "inspect")
    (True, True, False)
    """
    return verb in _verbs_of(word)


@lru_cache(maxsize=16_384)
def _verbs_of(word: str) -> frozenset[str]:
    """The forms of the verbs whose noun a word may be."""
    word = word.removesuffix("s") if not word.endswith("ss") else word
    roots = [word.removesuffix(noun) for noun in _NOUN if word.endswith(noun)]
    verbs = {root: {stemmed(root), *(root + ending for ending in _VERB)} for root in roots if len(root) >= 4}
    return frozenset().union(*verbs.values())


def _weight(value: str) -> int:
    return max(1, sum(word not in STOP_WORDS for word in value_words(value)))


# Long: whole values come before parts of values, which depend on them.
def value_meanings(
    tokens: Sequence[Token], first: int, last: int, path: JoinPath, values: ColumnValues, entities: Collection[str]
) -> Iterator[LexiconPhrase]:
    """Values that equal the tokens [first, last) or, with a lower score, contain them all.

    entities: stems of the names of rows ("employee"), which name no part of a value.
    """
    stems = tuple(part for token in tokens[first:last] for part in value_words(token.word))
    spelling = tuple(part for token in tokens[first:last] for part in plain_words(token.word))
    quoted = any(token.quoted for token in tokens[first:last])
    length = len(stems)
    lexicon = asking()
    by_value: dict[str, list[str]] = {}
    columns: dict[str, Column] = {}
    for column, value in values.whole.get(stems, []):
        by_value.setdefault(column.name, []).append(value)
        columns[column.name] = column
    telling = {token.stem for token in tokens[first:last] if not token.stop_word}
    if telling <= set(header_words(path.table.name)) and not quoted:
        by_value = {}  # "the fight song" names the rows of fight songs, although one is called so
    if not by_value and length == 1 and not quoted:
        verbs = _verbs_of(tokens[first].word)
        for noun_of in (key for key in values.whole if len(key) == 1 and key[0] in verbs) if verbs else ():
            for column, value in values.whole[noun_of]:
                by_value.setdefault(column.name, []).append(value)
                columns[column.name] = column
    for name, same in by_value.items():
        same_spelling = any(plain_words(value) == spelling for value in same)
        if not quoted and any(header_words(each.header) == stems and each.name != name for each in path.table.columns):
            continue  # a county, not the sponsor called county
        score = 2.2 * length + (1.0 if quoted else 0.0) - path.cost - (0.0 if same_spelling else _OTHER_SPELLING)
        yield LexiconPhrase(first, last, score, WordMeaning("value", path, columns[name], tuple(dict.fromkeys(same))))
    weak = tokens[first].stop_word or tokens[last - 1].stop_word or any(stem in entities for stem in stems)
    weak = weak or all(lexicon.operators.get((token.word,)) in _TIMES for token in tokens[first:last])
    if by_value or weak or any(stem in lexicon.light or lexicon.may_be_idle(stem) or stem.isdigit() for stem in stems):
        return
    containing = set.intersection(*(values.containing.get(word, set()) for word in spelling)) if spelling else set()
    by_column: dict[str, list[str]] = {}
    for name, value in sorted(containing):
        by_column.setdefault(name, []).append(value)
    for name, partial in by_column.items():
        if len(partial) <= _MOST_PARTIAL:
            share = length / min(_weight(value) for value in partial)
            if share < _LEAST_SHARE:
                continue
            score = 1.5 * length * (0.45 + 0.55 * share) - path.cost
            yield LexiconPhrase(
                first, last, score, WordMeaning("value", path, values.columns[name], tuple(partial), whole=False)
            )
