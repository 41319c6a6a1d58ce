"""BM25 over segments, with the statistics of all of them: the scores of one index built from scratch.

    score = Σ over stems  idf · tf / (tf + k1 · (1 - b + b · length / average length))
    idf   = ln(1 + (N - df + ½) / (df + ½))

These are the formulas of bm25s's "lucene" variant, which gives exactly 0 to a passage without any word of the question.
Scores are computed when a question is asked, over the postings of its words only.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.domain.frozen import maker_of
from core.domain.results import LegHit, LegHits, TermScores
from core.ports.stores import PassageIds
from core.text.tokenize import MARKS, STOP_WORDS, WITHOUT_SPACES, bare_words, index_stems, stem
from storage.keywords.kernels import kernels
from storage.keywords.segments import Segment

__all__ = ["K1", "B", "Bm25Scorer", "required_words", "stems_containing"]

K1, B = 1.5, 0.75
"""Saturation of repeated words and weight of a passage's length; bm25s's defaults (Robertson & Zaragoza 2009, §3.5)."""

_POSSESSIVE = "s"  # the stemmer cuts 's off, so no stem contains it


@cache
def _idf_formula() -> Callable[[int, int], float]:
    """idf(df, N) of bm25s."""
    from bm25s import scoring

    formula: Callable[[int, int], float] = scoring._select_idf_scorer("lucene")
    return formula


class Bm25Scorer:
    """The segments of a library at one moment. Immutable, so that searches read it without a lock."""

    def __init__(self, segments: Sequence[Segment] = ()) -> None:
        self.segments = tuple(segment for segment in segments if segment.alive)
        self._live = [np.flatnonzero(segment.live) for segment in self.segments]
        self._count = sum(map(len, self._live))
        stems = sum(int(segment.lengths[segment.live].sum()) for segment in self.segments)
        average = max(stems / self._count, 1e-9) if self._count else 1.0
        self._norms = [K1 * ((1 - B) + B * s.lengths.astype(np.float64) / average) for s in self.segments]
        self._idf_cache: dict[str, float] = {}  # of stems of the index that were asked for

    def count(self) -> int:
        """Live passages."""
        return self._count

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term as a whole, ≥ 0; a term in no passage has the highest."""
        return {term: self._idf(stems[0]) if (stems := index_stems(term)) else 0.0 for term in terms}

    def _idf(self, stem: str) -> float:
        cached = self._idf_cache.get(stem)
        if cached is not None:
            return cached
        frequency = 0
        for segment, live in zip(self.segments, self._live, strict=True):
            rows = segment.span(stem)[0]
            frequency += len(rows) if len(live) == len(segment.live) else int(np.count_nonzero(segment.live[rows]))
        idf = float(_idf_formula()(frequency, self._count))
        if frequency:
            self._idf_cache[stem] = idf
        return idf

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """The admissible passages with a score above 0, best first; ties by passage id."""
        return self.search_many([terms], admissible, top_k)[0]

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` returns for each question; the admissible rows are determined once."""
        rows = [
            live if admissible is None else _admissible_rows(segment, live, admissible)
            for segment, live in zip(self.segments, self._live, strict=True)
        ]
        admitted = sum(map(len, rows))
        added: list[tuple[str, int]] = []
        scores = [np.zeros(len(segment.ids)) for segment in self.segments]
        hits = []
        for terms in questions:
            stems = _counted(terms)
            if stems[: len(added)] != added:  # otherwise the question extends the one before
                added, scores = [], [np.zeros(len(segment.ids)) for segment in self.segments]
            self._add_scores(stems[len(added) :], scores)
            added = stems
            hits.append(LegHits(self._best(scores, rows, top_k), self._count, admitted))
        return hits

    def _add_scores(self, stems: Sequence[tuple[str, int]], scores: Sequence[NDArray[np.float64]]) -> None:
        """Add what these stems, each with its count in the question, contribute to the rows of each segment."""
        for segment, norms, totals in zip(self.segments, self._norms, scores, strict=True):
            for each, count in stems:
                kernels().add_scores(totals, *segment.span(each), norms, self._idf(each) * count)

    def _best(
        self, scores: Sequence[NDArray[np.float64]], rows: Sequence[NDArray[np.int64]], top_k: int
    ) -> tuple[LegHit, ...]:
        if top_k <= 0:
            return ()
        best_ids, best_scores = [np.empty(0, np.int64)], [np.empty(0)]
        for segment, totals, admitted in zip(self.segments, scores, rows, strict=True):
            best = kernels().best_rows(totals, admitted, min(top_k, len(totals)))
            best_ids.append(segment.ids[best])
            best_scores.append(totals[best])
        ids, values = np.concatenate(best_ids), np.concatenate(best_scores)
        order = np.lexsort((ids, -values))[:top_k]
        return tuple(map(maker_of(LegHit), ids[order].tolist(), values[order].tolist()))

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> TermScores:
        """Of the indexed passages, the share of each stem they contain, in the order of the terms."""
        terms_by_stem = _stems_with_term(terms)
        idf = np.array([self._idf(each) * count for each, count in _counted(terms)])
        ids, shares, counts = list[int](), [np.zeros((0, len(idf)))], [np.zeros((0, len(idf)), dtype=np.int32)]
        for segment_ids, rows, norms, contained in self._stem_counts(list(terms_by_stem), passage_ids):
            ids += segment_ids
            shares.append(idf * (contained / (norms[rows][:, None] + contained)))
            counts.append(contained)
        row_of = {passage_id: row for row, passage_id in enumerate(ids)}
        stems = tuple((term, each) for each, term in terms_by_stem.items())
        return TermScores(stems, row_of, np.concatenate(shares), np.concatenate(counts) > 0)

    def contained_stems(self, stems: Sequence[str], passage_ids: Sequence[int]) -> NDArray[np.bool_]:
        """Which of these stems each of the passages contains: shape (passages, stems); none, if it is not indexed."""
        found = np.zeros((len(passage_ids), len(stems)), dtype=np.bool_)
        passages = np.asarray(passage_ids, dtype=np.int64)
        order = np.argsort(passages)
        for ids, _, _, counts in self._stem_counts(stems, passage_ids):
            found[order[np.searchsorted(passages[order], ids)]] = counts > 0
        return found

    def passages_containing(self, terms: Sequence[str]) -> PassageIds:
        """The passages that contain every word of the terms, by stem, alone or in a compound. Stop words are ignored;
        without terms, every passage matches."""
        required = required_words(terms)
        found = [np.empty(0, np.int64)]
        for segment in self.segments:
            mask = segment.live.copy()
            for stems in stems_containing(required, segment.columns):
                rows = np.zeros(len(mask), dtype=np.bool_)
                for each in stems:
                    rows[segment.span(each)[0]] = True
                mask &= rows
            found.append(segment.ids[mask])
        return np.sort(np.concatenate(found))

    def _stem_counts(
        self, stems: Sequence[str], passage_ids: Sequence[int]
    ) -> Iterator[tuple[list[int], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]]:
        """For each segment, its live passages among these: ids, rows, the norms of all its rows, and how often each of
        these passages contains each stem, shape (rows, stems)."""
        ids = np.array(sorted(set(passage_ids)), dtype=np.int64)
        for segment, norms in zip(self.segments, self._norms, strict=True):
            in_range = _within_range(ids, segment.ids)
            rows = np.searchsorted(segment.ids, in_range)
            rows = rows[(segment.ids[rows] == in_range) & segment.live[rows]]
            columns = np.array([segment.columns.get(each, -1) for each in stems], dtype=np.int64)
            counts = kernels().count_stems(segment.starts, segment.rows, segment.counts, columns, rows)
            yield segment.ids[rows].tolist(), rows, norms, counts


def _stems_with_term(terms: Sequence[str]) -> dict[str, str]:
    """Each stem of the terms once, in their order → the first term that has it."""
    first: dict[str, str] = {}
    for term in terms:
        for each in index_stems(term):
            first.setdefault(each, term)
    return first


def _counted(terms: Sequence[str]) -> list[tuple[str, int]]:
    """Each stem once with the number of times the terms hold it: BM25 adds a repeated stem again, as bm25s does.

    >>> _counted(["wings", "year-end", "wing"])
    [('wing', 2), ('year-end', 1), ('year', 1), ('end', 1)]
    """
    return list(Counter(each for term in terms for each in index_stems(term)).items())


def _admissible_rows(segment: Segment, live: NDArray[np.int64], admissible: PassageIds) -> NDArray[np.int64]:
    """The live rows that are admissible, ascending. live: all live rows, ascending."""
    in_range = _within_range(admissible, segment.ids)
    if np.array_equal(in_range, segment.ids):
        return live
    return kernels().admissible_rows(segment.ids, segment.live, in_range)


def _within_range(ids: PassageIds, others: PassageIds) -> PassageIds:
    """The ids between the first and the last of the others; both arrays are ascending."""
    start, end = np.searchsorted(ids, (others[0], others[-1] + 1))
    return ids[start:end]


# Words inside compounds. The index stores a compound whole and, where it splits well, in parts. A part it does not
# store (the 2 of W-2, the word before an apostrophe) is still contained in the whole: a text that contains a word is
# always found here, and phrase filters rely on that.


def required_words(terms: Sequence[str]) -> tuple[str, ...]:
    """The words, lower case, each once, that a passage must contain to contain the terms; stop words are not indexed.

    >>> required_words(["W-2", "The employee's"])
    ('w', '2', 'employee')
    """
    found = (word for term in terms for word in bare_words(term))
    return tuple(dict.fromkeys(word for word in found if word not in STOP_WORDS and word != _POSSESSIVE))


def stems_containing(words: Sequence[str], stems: Mapping[str, int]) -> Sequence[Sequence[str]]:
    """Per wanted word, the stems of an index of which a passage contains one if it contains the word.

    >>> stems_containing(["2", "taxes"], {"w-2": 0, "tax": 1, "non-tax": 2, "2024": 3})
    [['w-2'], ['tax', 'non-tax']]
    >>> stems_containing(["年"], {"年假": 0, "去年": 1, "假": 2})
    [['年假', '去年']]
    """
    if not words:
        return []
    compounds = "\n".join(["", *(each for each in stems if not each.isalnum()), ""])
    return [
        [each for each in stems if word in each]
        if len(word) == 1 and WITHOUT_SPACES.match(word)
        else [*(each for each in _stem_forms(word) if each in stems), *dict.fromkeys(_compounds_with(word, compounds))]
        for word in words
    ]


def _stem_forms(word: str) -> set[str]:
    """The stem of a word, and of the word with 's, which the stemmer cuts off first."""
    return {stem(word), stem(f"{word}'s")}


def _compounds_with(word: str, compounds: str) -> Iterator[str]:
    """The compounds, one per line, that contain the word.

    The last word of a compound is stemmed with the whole. What is left of it starts with the same letter, or is
    nothing, an e or an i; each such compound is compared after stemming it with the word.
    """
    at = compounds.find(word)
    while at >= 0:
        end = at + len(word)
        if not (compounds[at - 1].isalnum() or compounds[end].isalnum()):
            yield _line_at(compounds, at)
        at = compounds.find(word, end)
    if not word[-1].isdigit():
        for match in re.finditer(rf"[-'.&]({word[0]}(?:[^\W_]|[{MARKS}])*|[ei])?\n", compounds):
            compound = _line_at(compounds, match.start())
            if compound in _stem_forms(compound.removesuffix(match[1] or "") + word):
                yield compound


def _line_at(text: str, at: int) -> str:
    """The line around a position of a text."""
    return text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)]
