"""Query expansion: thesaurus synonyms ("annual leave" for "PTO"), and near words by word vectors."""
# Over 300 lines: thesaurus synonyms and near words expand the same terms and are weighted together.

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.int8_vectors import RoughCosines, lengths, packed, rough_cosines, unpacked
from core.domain.results import NearWord
from core.knowledge.english_reading import language_in_words, words_in_english
from core.knowledge.factors import factor_table
from core.knowledge.synonyms import other_wordings
from core.ports.stores import Embedder
from core.search.query.route import question_terms
from core.text.tokenize import LETTERS, STOP_WORDS, WITHOUT_SPACES, keywords, stem, words

__all__ = [
    "NO_WORDINGS",
    "ContainedWords",
    "Nearness",
    "QueryExpansions",
    "SynonymFinder",
    "WordVectorStore",
    "WordVectors",
    "nearness_of",
    "pair_weights",
    "phrase_share",
    "synonym_weight",
    "wordings_in",
    "wordings_of",
    "words_of",
]

_ENDING = r"\w{0,4}"

_WORD, _DIGIT = re.compile(r"[^\W_]+"), re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class QueryExpansions:
    """by_term: question term → its synonyms ("wordings"); terms: their words, for keyword search; pairs: adjacent words
    of the question."""

    by_term: Mapping[str, tuple[NearWord, ...]]
    terms: tuple[str, ...]
    pairs: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Each wording once."""
        return tuple(dict.fromkeys(each.word for found in self.by_term.values() for each in found))


NO_WORDINGS = QueryExpansions({}, ())


@lru_cache(maxsize=256)
def wordings_of(question: str) -> QueryExpansions:
    """Thesaurus synonyms of a question.

    >>> [each.word for each in wordings_of("How much PTO is left?").by_term["pto"]][:2]
    ['vacation', 'annual leave']
    """
    closeness = float(factor_table()["synonym_match"]["wording"])
    by_term: dict[str, tuple[NearWord, ...]] = {}
    for (start, end), others in other_wordings(question).items():
        term_text = question[start:end]
        found = tuple(NearWord(term_text, other, other, None, closeness) for other in others)
        for term in question_terms(term_text):
            by_term[term] = (*by_term.get(term, ()), *found)
    own = {stem(term) for term in question_terms(question)}
    words = dict.fromkeys(word for found in by_term.values() for each in found for word in keywords(each.word))
    return QueryExpansions(by_term, tuple(word for word in words if stem(word) not in own), _pairs(question))


def _pairs(question: str) -> tuple[str, ...]:
    """Adjacent words of a question, neither a stop word.

    >>> _pairs("What is the base salary of a police chief, HQ?")
    ('base salary', 'police chief')
    """
    small = question.lower()
    matches = list(_WORD.finditer(small))
    return tuple(
        dict.fromkeys(
            f"{one.group()} {other.group()}"
            for one, other in pairwise(matches)
            if not small[one.end() : other.start()].strip(" -") and not {one.group(), other.group()} & STOP_WORDS
        )
    )


def pair_weights(rarity: Mapping[str, float], wordings: QueryExpansions) -> Mapping[str, float]:
    """Pair of adjacent words in the question → the sum of their rarities. rarity: term → rarity."""
    return {pair: sum(rarity.get(word, 0.0) for word in pair.split()) for pair in wordings.pairs}


class ContainedWords:
    """Which words and phrases each of some texts contains. One that is both a stem and a phrase is contained as
    either."""

    def __init__(self, texts: int) -> None:
        self._texts = texts
        self._columns: dict[str, NDArray[np.bool_]] = {}

    def add(self, names: Sequence[str], contained: NDArray[np.bool_]) -> None:
        """Further words or phrases. contained: shape (texts, names)."""
        columns = np.ascontiguousarray(contained.T)
        for index in np.flatnonzero(columns.any(axis=1)).tolist():
            known = self._columns.get(names[index])
            self._columns[names[index]] = columns[index] if known is None else known | columns[index]

    def texts_with(self, name: str) -> NDArray[np.intp]:
        """The texts that contain a word or phrase, ascending."""
        column = self._columns.get(name)
        return _NO_TEXTS if column is None else np.flatnonzero(column)

    def __len__(self) -> int:
        return self._texts


_NO_TEXTS = np.zeros(0, dtype=np.intp)


def phrase_share(weights: Mapping[str, float], words: ContainedWords) -> NDArray[np.float64] | None:
    """Per text the share of the pairs that it contains, by weight, in [0, 1]; None without pairs of some weight."""
    most = sum(weights.values())
    if most <= 0:
        return None
    adjacent = np.zeros(len(words))
    for pair, weight in weights.items():
        adjacent[words.texts_with(pair)] += weight
    return adjacent / most


def wordings_in(texts: Sequence[tuple[str, str, bool]], wordings: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which of the wordings each text contains, as consecutive stems; acronyms only as written. Shape (texts,
    wordings).

    A text is its context, the text below it, and whether it is asked about again and again: then its stems are
    remembered, which takes longer than to look for some words once, and rules out most wordings at once.

    >>> text = "Annual leaves are granted by the Ot team of the capital."
    >>> wordings_in([("", text, False), ("", text, True)], ("annual leave", "OT", "cap")).tolist()
    [[True, False, False], [True, False, False]]
    """
    patterns = [(frozenset(stems), shape, column, stems) for column, (stems, shape) in enumerate(_patterns(wordings))]
    found = np.zeros((len(texts), len(wordings)), dtype=np.bool_)
    for row, (context, text, again) in enumerate(texts):
        possible = patterns
        if again:
            stored = _stored_stems(context, text)
            possible = [pattern for pattern in patterns if pattern[0] <= stored]
        if not possible:
            continue
        whole = f"{context}\n{text}"
        lower = whole.lower()
        for _, shape, column, stems in possible:
            # Most texts are ruled out without a regular expression.
            if shape.rarest in lower and shape.other in lower and _contains_stems(whole, lower, stems, shape):
                found[row, column] = True
    return found


@lru_cache(maxsize=1024)  # some 6 MB
def _stored_stems(context: str, text: str) -> frozenset[str]:
    """The stems of all words of a text."""
    return frozenset([stem(word.lower()) for word in {*_WORD.findall(context), *_WORD.findall(text)}])


def _contains_stems(text: str, lower: str, stems: tuple[str, ...], shape: "_PhraseShape") -> bool:
    """Whether a text contains consecutive words with these stems; tried only where the first one's prefix occurs."""
    if len(lower) != len(text):  # a letter that becomes two in lower case shifts the positions
        return any(_stems(match.group()) == stems for match in shape.pattern.finditer(text))
    at = lower.find(shape.begins)
    while at >= 0:
        match = shape.pattern.match(text, at)
        if match is not None and _stems(match.group()) == stems:
            return True
        at = lower.find(shape.begins, at + 1 if match is None else match.end())
    return False


def synonym_weight(
    rarity: Mapping[str, float], wordings: QueryExpansions, words: ContainedWords
) -> NDArray[np.float64]:
    """Per text Σ rarity · closeness over the question terms that it contains only as a synonym."""
    total = np.zeros(len(words))
    for term, others in (wordings.by_term if rarity else {}).items():
        closest = np.zeros(len(words))
        for each in others:
            texts = words.texts_with(each.stem)
            closest[texts] = np.maximum(closest[texts], each.closeness)
        closest[words.texts_with(stem(term))] = 0.0
        total += rarity.get(term, 0.0) * closest
    return total


@dataclass(frozen=True, slots=True)
class _PhraseShape:
    """Search shape of a wording. rarest, other, begins: lower-case prefixes of its two longest words and of its first
    one; pattern: matches the wording, and possibly words with the same prefix."""

    rarest: str
    other: str
    begins: str
    pattern: re.Pattern[str]


@lru_cache(maxsize=256)
def _patterns(wordings: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], _PhraseShape], ...]:
    return tuple((_stems(wording), _shape(wording)) for wording in wordings)


@lru_cache(maxsize=8_192)
def _stems(words: str) -> tuple[str, ...]:
    return tuple(stem(word.lower()) for word in _WORD.findall(words))


@lru_cache(maxsize=8_192)
def _shape(wording: str) -> _PhraseShape:
    parts = [_word(word) for word in _WORD.findall(wording)]
    inside = r"[\W_]+".join(shape for _, shape in parts)
    begins = [each for each, _ in parts]
    longest, second, *_ = [*sorted(begins, key=len, reverse=True), ""]
    return _PhraseShape(longest, second, begins[0], re.compile(rf"(?<![^\W_]){inside}(?![^\W_])"))


def _word(word: str) -> tuple[str, str]:
    if word.isupper() and len(word) > 1:
        return word.lower(), re.escape(word)
    begins = stem(word.lower()).removesuffix("i")
    shared = begins if word.lower().startswith(begins) else word.lower()
    return shared, f"(?i:{re.escape(shared)}{_ENDING})"


_BATCH = 2048  # words embedded at once. Chosen by hand, not fitted.

_REMEMBERED = 4096  # terms whose near words are cached. Chosen by hand, not fitted.

_MOST_LETTERS = 30  # a longer word is an identifier, not a word. Chosen by hand.


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Known words and their vectors by stem. codes: int8, shape (n, dim), each row scaled on its own."""

    stems: tuple[str, ...]
    words: tuple[str, ...]
    codes: NDArray[np.int8]


class WordVectorStore(Protocol):
    """Stores the word vectors of a library."""

    def missing(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that are not stored yet."""
        ...

    def add(self, words: Mapping[str, str], codes: NDArray[np.int8]) -> None:
        """Store stem → word, with one row of codes each; existing entries stay unchanged."""
        ...

    def discard(self, stems: Sequence[str]) -> None:
        """Delete the words with these stems."""
        ...

    def all(self) -> WordVectors:
        """All stored words; returns the same object until a word is added."""
        ...


_ROUGH = 0.001  # largest error of rough cosines


class SynonymFinder:
    """Finds near words of question terms by word vectors. Thread-safe. rough_cosines: a faster function with the same
    contract."""

    def __init__(self, store: WordVectorStore, embedder: Embedder, rough_cosines: RoughCosines = rough_cosines) -> None:
        self._store, self._embedder, self._rough_cosines = store, embedder, rough_cosines
        self._lock = Lock()
        self._of: WordVectors | None = None
        self._scales: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._rows: Mapping[str, int] = {}
        self._found: OrderedDict[tuple[str, str], tuple[NearWord, ...]] = OrderedDict()  # by the term, and in English

    def learn(self, passages: Sequence[Passage]) -> int:
        """Embed new words, those of other languages as English ones, and store them; returns their number. Raises
        ModelUnavailable, StoreFailed."""
        by_stem, english = _words_and_english(passage.text for passage in passages)
        fresh = {each: by_stem[each] for each in self._store.missing(sorted(by_stem))}
        names = list(fresh)
        for start in range(0, len(names), _BATCH):
            batch = {name: fresh[name] for name in names[start : start + _BATCH]}
            self._store.add(batch, packed(self._embedder.embed([english[word] for word in batch.values()])))
        return len(fresh)

    def forget(self, texts: Iterable[str], unused: Callable[[Sequence[str]], Sequence[str]]) -> None:
        """Delete the words of these texts that are used nowhere else. unused: those of given stems that no passage
        contains. Raises StoreFailed."""
        # Also words that are no longer learned, such as those of an earlier version.
        found = {word for text in texts for word in (*words(text), *_WORD.findall(text.lower()))}
        if unknown := unused(sorted({stem(word) for word in found})):
            self._store.discard(unknown)

    def near(self, terms: Sequence[str], language: str = "") -> Mapping[str, tuple[NearWord, ...]]:
        """The nearest words of each question term, nearest first, without the term; none of a number or code, or of a
        word in another script than Latin that has no translation.

        language: of the question, "" for English. Raises ModelUnavailable."""
        known, english = self._store.all(), words_in_english(terms, language)
        with self._lock:
            if known is not self._of:
                self._of, self._scales = known, np.reciprocal(lengths(known.codes))
                self._rows = {word: row for row, word in enumerate(known.words)}
                self._found.clear()
            scales = self._scales
            missing = [each for each in english.items() if each not in self._found and not _DIGIT.search(each[0])]
            rows = [self._rows.get(term, -1) for term, _ in missing]
        if missing and known.stems:
            vectors = self._vectors(known, rows, [each for _, each in missing])
            found = {
                (term, each): _nearest(known, self._rough_cosines(known.codes, scales, vector), vector, term)
                for (term, each), vector in zip(missing, vectors, strict=True)
            }
            with self._lock:
                self._found |= found if known is self._of else {}
                while len(self._found) > _REMEMBERED:
                    self._found.popitem(last=False)
        else:
            found = {}
        with self._lock:
            own = {term: (term, each) for term, each in english.items()}
            return {
                term: found.get(own[term]) or self._found.get(own[term], ()) if term in own else () for term in terms
            }

    def _vectors(self, known: WordVectors, rows: Sequence[int], terms: Sequence[str]) -> NDArray[np.float32]:
        """One vector per term: the stored one if the word is known, else embedded now."""
        vectors = unpacked(known.codes[rows])
        unknown = [index for index, row in enumerate(rows) if row < 0]
        if unknown:
            vectors[unknown] = self._embedder.embed([terms[index] for index in unknown])
        return vectors


def words_of(texts: Iterable[str]) -> dict[str, str]:
    """Stem → the first word with that stem, for all words of letters only that are no stop words.

    >>> words_of(["The taxes of 2024, and a tax on W-2 wages."])
    {'tax': 'taxes', 'wage': 'wages'}
    """
    return _words_and_english(texts)[0]


def _words_and_english(texts: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """As `words_of`, and each of the words → the English word for it."""
    found: dict[str, str] = {}
    english: dict[str, str] = {}
    for text in texts:
        own = list(dict.fromkeys(word for word in words(text) if _is_word(word)))
        for word, translation in words_in_english(own, language_in_words(text)).items():
            if found.setdefault(stem(word), word) == word:
                english.setdefault(word, translation)
    return found, english


def _is_word(word: str) -> bool:
    long_enough = 2 < len(word) <= _MOST_LETTERS or WITHOUT_SPACES.match(word) is not None
    return long_enough and LETTERS.fullmatch(word) is not None and word not in STOP_WORDS


_CONTAINED, _MISSING = -1, -2  # a term that no near word replaces: the text contains it, or nothing like it


@dataclass(frozen=True, slots=True)
class Nearness:
    """shares: per text, shape (texts,), in [0, 1]. replaced: per term of the question its near words, and per text
    which of them replaces the term, below 0 for none."""

    shares: NDArray[np.float64]
    replaced: Sequence[tuple[Sequence[NearWord], NDArray[np.intp]]]

    def words(self, text: int) -> tuple[NearWord, ...]:
        """The near words by which a text contains terms, in their order."""
        return tuple(others[chosen[text]] for others, chosen in self.replaced if chosen[text] >= 0)


def nearness_of(rarity: Mapping[str, float], near: Mapping[str, Sequence[NearWord]], words: ContainedWords) -> Nearness:
    """Σ rarity · closeness ÷ Σ rarity over the question's terms. A term that a text contains has closeness 1, else the
    first of its near words there counts.

    rarity: question term → rarity.

    >>> other = NearWord("vendor", "supplier", "supplier", 0.74, 0.57)
    >>> words = ContainedWords(1)
    >>> words.add(["supplier", "fee"], np.ones((1, 2), dtype=np.bool_))
    >>> measured = nearness_of({"vendor": 2.0, "fee": 2.0}, {"vendor": [other]}, words)
    >>> measured.shares.round(3).tolist(), [each.word for each in measured.words(0)]
    ([0.785], ['supplier'])
    """
    total = sum(rarity.values())
    shares = np.zeros(len(words))
    replaced = []
    for term, value in rarity.items() if total > 0 else ():
        own, others, chosen = words.texts_with(stem(term)), near.get(term, ()), np.full(len(words), _MISSING)
        shares[own] += value
        chosen[own] = _CONTAINED
        for number, each in enumerate(others):
            texts = words.texts_with(each.stem)
            texts = texts[chosen[texts] == _MISSING]
            shares[texts] += value * each.closeness
            chosen[texts] = number
        replaced.append((others, chosen))
    return Nearness(np.minimum(shares / total, 1.0) if total > 0 else shares, replaced)


def _nearest(
    known: WordVectors, rough: NDArray[np.float32], vector: NDArray[np.float32], term: str
) -> tuple[NearWord, ...]:
    """A term's nearest words. vector: of the term, shape (dim,); rough: its rough cosine with each word known."""
    row = factor_table()["synonym_match"]
    most, least, own = int(row["words"]), row["least"], stem(term)
    some = np.flatnonzero(rough > least - _ROUGH)
    if len(some) > most + 1:
        last = np.partition(rough[some], -most - 1)[-most - 1]
        some = some[rough[some] >= last - 2 * _ROUGH]
    near = np.einsum("ij,j->i", unpacked(known.codes[some]), vector)  # no BLAS, whose idle threads spin for some 30 ms
    best = sorted(((float(near[i]), known.stems[n], known.words[n]) for i, n in enumerate(some)), reverse=True)
    found = [
        NearWord(term, word, each, min(cosine, 1.0), min((cosine - least) / (1 - least), 1.0))
        for cosine, each, word in best[: most + 1]
        if cosine > least and each != own
    ]
    return tuple(found[:most])
