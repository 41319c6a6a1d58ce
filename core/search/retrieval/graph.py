"""The graph leg: passages that mention the question's entities, and passages that share entities with those.

Everything is bounded: at most MOST_ASKED entities per question; an entity in more than MOST_ENTITY_PASSAGES passages is
ignored; at most MOST_PASSAGES passages per step; at most MOST_BRIDGES entities lead from the first step to the second.
Filters apply before each step, so that an inadmissible passage is never part of a path.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.domain.entities import KnownEntity, rarity
from core.domain.filters import SearchFilters
from core.domain.results import LegHit, LegHits
from core.knowledge.entities import known_entities, name_words
from core.ner.definitions import concept_name
from core.ner.lexicon import NameToken, gap_joins, read_words
from core.ner.recognizer import names_in
from core.ports.stores import EntityGraph, PassageIds
from core.text.tokenize import STOP_WORDS

__all__ = ["GraphPath", "GraphResult", "graph_reasons", "question_entities", "walk_graph"]

MOST_ASKED = 8  # entities per question. Chosen by hand, not fitted.
MOST_ENTITY_PASSAGES = 2000  # passages per entity. Chosen by hand, not fitted.
MOST_PASSAGES = 200  # per step. Chosen by hand, not fitted.
MOST_BRIDGES = 16  # entities between the steps. Chosen by hand, not fitted.
_MOST_BRIDGE_PASSAGES = 100  # passages per bridging entity. Chosen by hand, not fitted.
_LOOKED_THROUGH = 50  # passages searched for bridging entities. Chosen by hand, not fitted.
_LONGEST = 6  # words of a question that are tried as one name


@dataclass(frozen=True, slots=True)
class GraphPath:
    """How a passage is connected to a question.

    shared: the question's entities it mentions, rarest first. through: per bridging entity, that entity and a passage
    that mentions it together with an entity of the question; empty at distance 1.
    """

    shared: tuple[str, ...] = ()
    through: tuple[tuple[str, int], ...] = ()

    @property
    def distance(self) -> int:
        """1 or 2 steps."""
        return 1 if self.shared else 2


@dataclass(frozen=True, slots=True)
class GraphResult:
    """The leg's hits, and the path to each by passage id."""

    hits: LegHits
    paths: Mapping[int, GraphPath]


@dataclass(frozen=True, slots=True)
class _Spelling:
    """Words of a question that may be a name. sure: recognised as one, not only tried."""

    start: int
    end: int
    name: str
    sure: bool


def question_entities(question: str, graph: EntityGraph) -> tuple[str, ...]:
    """Canonical names of the library's entities that a question names, in its order: recognised names, and any run of
    words that is a name in the library, the longest first. At most MOST_ASKED, the rarest.

    Names in more than MOST_ENTITY_PASSAGES passages are left out, because they say too little.
    """
    spellings = [*_recognised_spellings(question), *_candidate_spellings(question)]
    known = graph.known(list(dict.fromkeys(spelling.name for spelling in spellings)))
    found: list[tuple[_Spelling, KnownEntity]] = []
    for spelling in sorted(spellings, key=lambda each: (each.start - each.end, not each.sure, each.start)):
        entity = known.get(spelling.name)
        free = all(spelling.end <= other.start or other.end <= spelling.start for other, _ in found)
        if entity is not None and free and (spelling.sure or _means_it(question, spelling)):
            found.append((spelling, entity))
    selective = [each for each in found if each[1].passages <= MOST_ENTITY_PASSAGES]
    rarest = sorted(selective, key=lambda each: (each[1].passages, each[0].start))[:MOST_ASKED]
    rarest.sort(key=lambda each: each[0].start)
    return tuple(dict.fromkeys(entity.entity.name for _, entity in rarest))


def _recognised_spellings(question: str) -> list[_Spelling]:
    """Names recognised in the question, and well-known one-word names in lower case."""
    found = [_Spelling(named.start, named.end, named.entity.name, True) for named in names_in(question)]
    small = _small_spellings()
    return found + [
        _Spelling(word.start, word.end, small[word.plain], True) for word in read_words(question) if word.plain in small
    ]


@cache
def _small_spellings() -> Mapping[str, str]:
    """Lower-case spelling → name, for well-known names of one word; without those that are ordinary words."""
    words = name_words().wordlike
    return {
        spelling.lower(): entity.name
        for entity in known_entities()
        for spelling in (entity.name, *entity.aliases)
        if spelling.isalnum() and len(spelling) > 2 and spelling.lower() not in words
    }


def _candidate_spellings(question: str) -> list[_Spelling]:
    """Every run of words that may be a name, as written and in the normal form of terms."""
    words = read_words(question)
    candidates: list[_Spelling] = []
    for first in range(len(words)):
        for last in range(first, min(first + _LONGEST, len(words))):
            if last > first and not _joined(question, words[last - 1], words[last]):
                break
            if words[first].key in STOP_WORDS or words[last].key in STOP_WORDS:
                continue
            start, end = words[first].start, words[last].start + len(words[last].plain)
            phrase = " ".join(question[start:end].split())
            candidates += [
                _Spelling(start, end, name, False) for name in dict.fromkeys((phrase, concept_name(phrase))) if name
            ]
    return candidates


def _joined(question: str, before: NameToken, word: NameToken) -> bool:
    return gap_joins(question[before.start + len(before.plain) : word.start])


def _means_it(question: str, spelling: _Spelling) -> bool:
    """Whether tried words are meant as a name: a single word needs a capital or a digit, and must not be ordinary."""
    phrase = question[spelling.start : spelling.end]
    if " " in phrase:
        return True
    marked = any(letter.isupper() or letter.isdigit() for letter in phrase)
    return marked and (phrase.casefold() not in name_words().wordlike or phrase.isupper())


def walk_graph(
    graph: EntityGraph,
    entities: Sequence[str],
    filters: SearchFilters,
    among: PassageIds | None,
    top_k: int,
    rows: tuple[int, int] | None = None,
) -> GraphResult:
    """The admissible passages nearest to the question's entities, best first, with the path to each.

    entities: canonical names. filters: resolved. rows: (passages in the library, admissible ones), if counted before.
    score > 0: for a passage that names entities e of the question, Σ rarity(e) (distance 1); for one that names none,
    Σ rarity(e) · rarity(b) / 2 over the entities b it shares with a passage that names e (distance 2), at most half of
    the rarity of the rarest question entity. Ties by passage id. Raises StoreFailed.
    """
    before, after = graph.rows(filters, among) if rows is None else rows
    known = graph.known(sorted(entities))
    rarities = {name: rarity(each.passages, before) for name, each in known.items()}
    if not rarities or not after:
        return GraphResult(LegHits((), before, after), {})
    near = graph.passages_naming(rarities, filters, among, MOST_PASSAGES)
    scores = {passage_id: sum(rarities[name] for name in rarities if name in names) for passage_id, names in near}
    paths = {passage_id: GraphPath(_rarest(rarities, names)) for passage_id, names in near}
    bridges = _bridges(graph, near, rarities, before)
    weights = {name: weight for name, (weight, _) in bridges.items()}
    for passage_id, names in graph.passages_naming(weights, filters, among, MOST_PASSAGES) if weights else ():
        if passage_id not in paths:
            bridging = _rarest(weights, names)
            scores[passage_id] = min(sum(weights[name] for name in bridging), max(rarities.values()) / 2)
            paths[passage_id] = GraphPath((), tuple((name, bridges[name][1]) for name in bridging))
    best = sorted(scores, key=lambda passage_id: (-scores[passage_id], passage_id))[: max(top_k, 0)]
    hits = tuple(LegHit(passage_id, scores[passage_id]) for passage_id in best)
    return GraphResult(LegHits(hits, before, after), {passage_id: paths[passage_id] for passage_id in best})


def _rarest(weights: Mapping[str, float], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted((name for name in dict.fromkeys(names) if name in weights), key=lambda n: (-weights[n], n)))


def _bridges(
    graph: EntityGraph, near: Sequence[tuple[int, tuple[str, ...]]], rarities: Mapping[str, float], library: int
) -> Mapping[str, tuple[float, int]]:
    """Bridging entities: name → (weight of the path through it, the passage it was found in). The rarest of those that
    several passages mention."""
    met: dict[str, tuple[float, int]] = {}
    for passage_id, names in near[:_LOOKED_THROUGH]:
        reached = max(rarities[name] for name in names if name in rarities)
        for name in names:
            if name not in rarities and reached > met.get(name, (0.0, 0))[0]:
                met[name] = (reached, passage_id)
    known = graph.known(sorted(met)) if met else {}
    leading = [name for name, each in known.items() if name in met and 1 < each.passages <= _MOST_BRIDGE_PASSAGES]
    leading.sort(key=lambda name: (known[name].passages, name))
    return {
        name: (met[name][0] * rarity(known[name].passages, library) / 2, met[name][1])
        for name in leading[:MOST_BRIDGES]
    }


def graph_reasons(found: GraphResult) -> Mapping[int, str]:
    """Passage id → why the leg found it, as text.

    >>> path = GraphPath((), (("overtime", 12),))
    >>> graph_reasons(GraphResult(LegHits((LegHit(7, 0.2),), 9, 9), {7: path}))
    {7: "through 'overtime' with passage 12"}
    """
    return {passage_id: _reason(path) for passage_id, path in found.paths.items()}


def _reason(path: GraphPath) -> str:
    if path.shared:
        return f"shares {', '.join(path.shared)} with the question"
    return " and ".join(f"through '{name}' with passage {passage_id}" for name, passage_id in path.through[:3])
