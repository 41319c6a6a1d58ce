"""Topics of a coverage board: read from text and CSV, edited, merged, split, and proposed by clustering passages."""

# Over 300 lines: one noun, from where it comes to how it is changed.

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.coverage import Topic, TopicOrigin, TopicRevision
from core.domain.documents import Origin, Passage, Truth
from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters
from core.formats.csv import csv_text, restored
from core.knowledge.topic_needs import need_rules
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.ports.stores import VectorIndex
from core.search.query.route import read_route
from core.text.tokenize import STOP_WORDS, stem, words

__all__ = [
    "TopicEdit",
    "as_before",
    "check_topics",
    "csv_rows",
    "edit_topic",
    "merge_topics",
    "propose_topics",
    "proposed_needs",
    "rename_topic",
    "split_topic",
    "topic_edits",
    "topics_csv",
    "topics_from_csv",
    "topics_from_lines",
    "topics_from_table",
    "with_detected_labels",
    "with_needs",
    "with_proposed_needs",
]

_LONGEST = 300


def topics_from_lines(text: str) -> tuple[str, ...]:
    """One topic per line, without list markers ("-", "*", "1."), duplicates and empty lines.

    Raises BadRequest naming the line of an invalid topic, or when there is no topic.

    >>> topics_from_lines("- minimum wage\\n\\n2. overtime\\nMinimum  Wage")
    ('minimum wage', 'overtime')
    """
    return _collect((number, _strip_marker(line)) for number, line in enumerate(text.splitlines(), start=1))


def check_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Topics with whitespace normalised and duplicates removed. Raises BadRequest as `topics_from_lines` does."""
    return _collect(enumerate(topics, start=1))


def topics_from_csv(data: bytes, name: str = "the file") -> tuple[str, ...]:
    """Topics from the column 'topic' (or 'topics'), else from the first column.

    Raises BadRequest naming the file, and the line if known.
    """
    header, body = csv_rows(data, name)
    topic_column = header.index("topic") if "topic" in header else 0
    return _collect(
        ((line, row[topic_column] if topic_column < len(row) else "") for line, row in body), f" of '{name}'"
    )


def csv_rows(data: bytes, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in lower case (empty when the first row has no column 'topic'), and the rows with their line numbers.
    Raises BadRequest naming the file, and the line if known."""
    rows = [(reader_line, row) for reader_line, row in _rows(data, name) if any(cell.strip() for cell in row)]
    if not rows:
        raise BadRequest(f"'{name}' contains no rows.", "Put one topic in each row of the first column.")
    header = [{"topics": "topic"}.get(cell.strip().lower(), cell.strip().lower()) for cell in rows[0][1]]
    return (header, rows[1:]) if "topic" in header else ([], rows)


def _rows(data: bytes, name: str) -> list[tuple[int, list[str]]]:
    text = _decode(data)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count) if any(first.count(mark) for mark in ",;\t") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        problem = f"'{name}' is not a CSV file (line {reader.line_num}: {error})."
        raise BadRequest(problem, "Save it as CSV with one topic in each row.") from error


def _decode(data: bytes) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _strip_marker(line: str) -> str:
    head, _, rest = line.strip().partition(" ")
    numbered = head.rstrip(".)").isdigit() and head[-1] in ".)"
    return rest if rest and (head in ("-", "*", "•") or numbered) else line


def _collect(numbered: Iterable[tuple[int, str]], where: str = "") -> tuple[str, ...]:
    found: dict[str, str] = {}
    for number, raw in numbered:
        topic = " ".join(raw.split())
        if not topic:
            continue
        if not any(character.isalnum() for character in topic):
            raise BadRequest(f"Line {number}{where} is not a topic: '{topic}'.", "A topic needs at least one word.")
        if len(topic) > _LONGEST:
            problem = f"Line {number}{where} is too long for a topic ({len(topic)} characters)."
            raise BadRequest(problem, f"Name the topic in at most {_LONGEST} characters.")
        found.setdefault(topic.casefold(), topic)
    if not found:
        raise BadRequest("There is no topic to assess.", "Give at least one topic, such as 'minimum wage'.")
    return tuple(found.values())


_COLUMNS = ("topic", "needs", "owner", "domain", "jurisdiction")

_SEPARATORS = re.compile(r"[;,/|]|\band\b")


def with_detected_labels(topic: Topic, terms: WorkspaceTerms) -> Topic:
    """The topic with the domain and jurisdiction detected in its name, where none is set."""
    route = read_route(topic.name, date.min, terms)
    return replace(topic, domain=topic.domain or route.domain, jurisdiction=topic.jurisdiction or route.jurisdiction)


def rename_topic(topic: Topic, name: str) -> Topic:
    """The topic with a new name. Raises BadRequest for an invalid name."""
    return replace(topic, name=check_topics([name])[0])


def with_needs(topics: Iterable[Topic], needs: Sequence[Truth]) -> tuple[Topic, ...]:
    """The topics with exactly these needed truths. Raises BadRequest when `needs` is empty."""
    if not needs:
        raise BadRequest("A topic must need at least one truth.", "Choose one or more of the five.")
    return tuple(replace(topic, needs=tuple(truth for truth in Truth if truth in needs)) for topic in topics)


def merge_topics(topics: Sequence[Topic], name: str) -> tuple[Topic, ...]:
    """The first topic with the new name and the needs of all of them, then the others retired.

    Owner and domain stay if all topics that have one agree. Decisions on the others go on under the merged topic where
    it has none of its own (core.coverage.review). Raises BadRequest for fewer than two topics.
    """
    if len(topics) < 2:
        raise BadRequest("Merging needs at least two topics.", "Choose the topics that mean the same.")
    first, *others = topics
    needs = tuple(truth for truth in Truth if any(truth in topic.needs for topic in topics))
    result = replace(rename_topic(first, name), needs=needs, owner=_common_value(t.owner for t in topics) or "")
    merged = (*first.merged, *(each for topic in others for each in (topic.id, *topic.merged)))
    result = replace(result, domain=_common_value(t.domain for t in topics), merged=merged)
    return result, *(replace(topic, retired=True) for topic in others)


def as_before(before: Sequence[Topic], stored: Sequence[Topic]) -> tuple[Topic, ...]:
    """What restores the topics as they were before a change, to be stored as the next change; new ones are retired.

    before: the topics then; stored: the changed and the new ones, with their versions now.
    """
    then = {topic.id: topic for topic in before}
    restored = [replace(then.get(topic.id, replace(topic, retired=True)), version=topic.version) for topic in stored]
    return tuple(sorted(restored, key=lambda topic: topic.id))  # a name is free again once its older topic has its own


@dataclass(frozen=True, slots=True)
class TopicEdit:
    """The topics changed together, at least one. current: whether each is seen, and still as the edit left it."""

    number: int
    revisions: tuple[TopicRevision, ...]
    current: bool


def topic_edits(revisions: Iterable[TopicRevision], versions: Mapping[int, int]) -> list[TopicEdit]:
    """The edits, in the order of their revisions. versions: topic id → its version now."""
    edits: dict[int, list[TopicRevision]] = {}
    for each in revisions:
        edits.setdefault(each.edit, []).append(each)
    return [
        TopicEdit(
            number,
            tuple(own),
            all(not each.hidden and versions.get(each.after.id) == each.after.version for each in own),
        )
        for number, own in edits.items()
    ]


def _common_value(values: Iterable[str | None]) -> str | None:
    distinct = {value for value in values if value}
    return distinct.pop() if len(distinct) == 1 else None


def split_topic(topic: Topic, names: Sequence[str], terms: WorkspaceTerms) -> tuple[Topic, tuple[Topic, ...]]:
    """The topic retired, and new ones that inherit its needs, owner, domain and source.

    Raises BadRequest for fewer than two names.
    """
    parts = check_topics(names)
    if len(parts) < 2:
        raise BadRequest("Splitting needs at least two names.", "Write one part of the topic per line.")
    fresh = replace(topic, id=0, version=1, jurisdiction=None, merged=())
    return replace(topic, retired=True), tuple(with_detected_labels(replace(fresh, name=name), terms) for name in parts)


def topics_from_table(
    data: bytes, terms: WorkspaceTerms, name: str = "the file", project: str | None = None
) -> tuple[Topic, ...]:
    """Topics from CSV with the column 'topic' and optionally 'needs', 'owner', 'domain', 'jurisdiction'; without a
    header the first column holds the topics. needs: truths separated by ';', or 'all', which is the default.

    Raises BadRequest naming the file, and the line if known.
    """
    header, body = csv_rows(data, name)
    columns = {column: header.index(column) for column in _COLUMNS if column in header}
    columns.setdefault("topic", 0)
    found: dict[str, Topic] = {}
    for line, row in body:
        cells = {column: restored(row[at].strip()) if at < len(row) else "" for column, at in columns.items()}
        if not cells["topic"]:
            continue
        topic = Topic(
            _checked_name(cells["topic"], line, name),
            project=project,
            origin=TopicOrigin.CSV,
            needs=_needs(cells.get("needs", ""), line, name),
            owner=cells.get("owner", ""),
            domain=cells.get("domain") or None,
            jurisdiction=_jurisdiction(cells.get("jurisdiction"), terms),
        )
        found.setdefault(topic.name.casefold(), topic)
    if not found:
        raise BadRequest(f"'{name}' names no topic.", "Put one topic in each row of the column 'topic'.")
    return tuple(found.values())


def _checked_name(text: str, line: int, name: str) -> str:
    try:
        return check_topics([text])[0]
    except BadRequest as problem:
        raise BadRequest(f"Line {line} of '{name}': '{text[:60]}' cannot be a topic.", problem.hint) from problem


def _needs(text: str, line: int, name: str) -> tuple[Truth, ...]:
    words = [word.strip().lower() for word in _SEPARATORS.split(text) if word.strip()]
    if not words or words == ["all"]:
        return tuple(Truth)
    unknown = [word for word in words if word not in set(Truth)]
    if unknown:
        problem = f"Line {line} of '{name}' needs '{unknown[0]}', which is not a truth."
        raise BadRequest(problem, f"Truths are: {', '.join(Truth)}.")
    return tuple(truth for truth in Truth if truth.value in words)


def topics_csv(topics: Iterable[Topic]) -> str:
    """Topics as CSV that `topics_from_table` reads; text that a spreadsheet would run as a formula is escaped."""
    rows: list[Sequence[str]] = [_COLUMNS]
    for topic in topics:
        needs = "all" if len(topic.needs) == len(Truth) else "; ".join(topic.needs)
        rows.append((topic.name, needs, topic.owner, topic.domain or "", topic.jurisdiction or ""))
    return csv_text(rows)


def edit_topic(topic: Topic, row: Mapping[str, Any], terms: WorkspaceTerms) -> Topic:
    """The topic with the values of a table row; missing columns and an empty name keep the old value."""
    needs = row.get("needs")
    new_needs = topic.needs if needs is None else tuple(truth for truth in Truth if truth.value in needs)
    return replace(
        topic,
        name=" ".join(str(row.get("name") or "").split()) or topic.name,
        needs=new_needs or topic.needs,
        owner=str(row["owner"] or "").strip() if "owner" in row else topic.owner,
        domain=(row["domain"] or None) if "domain" in row else topic.domain,
        jurisdiction=_jurisdiction(row["jurisdiction"], terms) if "jurisdiction" in row else topic.jurisdiction,
        retired=bool(row.get("retired", topic.retired)),
    )


def _jurisdiction(value: Any, terms: WorkspaceTerms) -> str | None:
    """The jurisdiction's value for a name or value; unrecognised text stays as written."""
    words = str(value or "").strip()
    return (terms.jurisdictions.parse(words) or words) if words else None


# Chosen by hand, not fitted.
MOST = 24  # topics proposed
_SAMPLE = 20_000  # most passages clustered
_LEAST_PASSAGES = 3  # of a cluster
_HELD_BY = 0.12  # least share of a cluster's passages that contain a keyword
_KEYWORDS = 6  # per cluster
_NAMED_BY = 3  # keywords in a topic's name
_SEED = 20_240_229
_IDLE = frozenset(
    "http https www com gov org html pdf page pages section chapter table figure example note see".split()
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def propose_topics(
    catalogue: Catalogue, vectors: VectorIndex, project: str | None, terms: WorkspaceTerms, most: int = MOST
) -> tuple[Topic, ...]:
    """At most `most` topics from clusters of the project's passages, largest first. Deterministic.

    K-means over the passages' vectors, k = √(passages ÷ 2) within bounds; above 20,000 passages every second, fourth,
    eighth … is used. Table rows are ignored; clusters of fewer than three other passages are dropped. Names come from
    class-based TF-IDF (Grootendorst 2022, §3.3) over words and word pairs. Raises StoreFailed.
    """
    ids, rows = _sample(
        vectors, SearchFilters(origins=(Origin.DOCUMENT.value,), projects=(project,) if project else ())
    )
    if len(ids) < 2 * _LEAST_PASSAGES:
        return ()
    from sklearn.cluster import MiniBatchKMeans

    count = int(min(most, max(2, (len(ids) / 2) ** 0.5)))
    model = MiniBatchKMeans(count, random_state=_SEED, n_init=5, batch_size=1024)
    groups = model.fit_predict(rows)
    passages = catalogue.passages(ids.tolist())
    texts = [
        [passages[i] for i in ids[groups == group].tolist() if i in passages and passages[i].truth is not Truth.REALITY]
        for group in range(count)
    ]
    large_groups = sorted((group for group in texts if len(group) >= _LEAST_PASSAGES), key=len, reverse=True)
    named = _name_clusters(large_groups)
    topics = {name.casefold(): _topic(name, keywords, project, terms) for name, keywords in named if name}
    return tuple(topics.values())


def _sample(vectors: VectorIndex, filters: SearchFilters) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Ids, and vectors of shape (n, dim), of every admissible passage up to _SAMPLE of them, else of every second,
    fourth, eighth …

    Copies the rows it keeps, so that memory holds the sample and one block, not the library.
    """
    ids: list[NDArray[np.int64]] = []
    rows: list[NDArray[np.float32]] = []
    step, seen = 1, 0
    for block_ids, block in vectors.blocks(filters):
        first = -seen % step
        ids.append(block_ids[first::step].copy())
        rows.append(block[first::step].copy())
        seen += len(block_ids)
        while -(-seen // step) > _SAMPLE:
            step *= 2
            ids, rows = [np.concatenate(ids)[::2].copy()], [np.concatenate(rows)[::2].copy()]
    if not ids:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    return np.concatenate(ids), np.concatenate(rows)


def _topic(name: str, keywords: Sequence[str], project: str | None, terms: WorkspaceTerms) -> Topic:
    return with_detected_labels(
        Topic(name, project=project, origin=TopicOrigin.CLUSTER, keywords=tuple(keywords)), terms
    )


def _name_clusters(groups: Sequence[Sequence[Passage]]) -> list[tuple[str, tuple[str, ...]]]:
    """A name and keywords per group. weight = tf · ln(1 + average size ÷ f), tf within the group, f over all groups,
    word pairs × 1.3; a word counts once per passage, so that one long passage does not name its group."""
    counts = [_counts(group) for group in groups]
    total: Counter[str] = sum((count for count, _ in counts), Counter[str]())
    average = sum(total.values()) / max(1, len(groups))
    named = []
    for (count, written), group in zip(counts, groups, strict=True):
        weights = {
            term: number / len(group) * log(1 + average / total[term]) * (1.3 if " " in term else 1.0)
            for term, number in count.items()
            if number >= max(2, _HELD_BY * len(group))
        }
        best = sorted(weights, key=lambda term: (-weights[term], term))
        keywords = _apart(best, _KEYWORDS)
        named.append((" ".join(_written(keywords[:_NAMED_BY], written)), _written(keywords, written)))
    return named


def _counts(group: Sequence[Passage]) -> tuple[Counter[str], Mapping[str, Counter[str]]]:
    """Number of passages of the group with each stem or stem pair, and the spellings of each with their counts."""
    count: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for passage in group:
        tokens = words(passage.text)
        telling = [word if _WORD.fullmatch(word) and word not in STOP_WORDS | _IDLE else "" for word in tokens]
        terms: dict[str, str] = {stem(word): word for word in telling if word}
        pairs = pairwise(telling)
        terms |= {f"{stem(a)} {stem(b)}": f"{a} {b}" for a, b in pairs if a and b and a != b}
        count.update(terms.keys())
        for term, word in terms.items():
            written.setdefault(term, Counter())[word] += 1
    return count, written


def _apart(terms: Sequence[str], most: int) -> list[str]:
    """The best terms that share no stem."""
    chosen: list[str] = []
    used: set[str] = set()
    for term in terms:
        stems = set(term.split())
        if not stems & used:
            chosen.append(term)
            used |= stems
        if len(chosen) == most:
            break
    return chosen


def _written(terms: Sequence[str], written: Mapping[str, Counter[str]]) -> tuple[str, ...]:
    return tuple(max(written[term].items(), key=lambda item: (item[1], item[0]))[0] for term in terms)


@dataclass(frozen=True, slots=True)
class ProposedNeeds:
    """The proposed truths in their fixed order, and why, as text."""

    needs: tuple[Truth, ...]
    reason: str


def proposed_needs(topic: Topic) -> ProposedNeeds:
    """The needs of every rule with a cue in the name; a requirement also needs intent. All five when no rule applies.

    >>> found = proposed_needs(Topic("Approval of expense reports"))
    >>> [truth.value for truth in found.needs], found.reason
    (['compliance', 'intent', 'reference'], '“approval”: own rule or control; “report”: what the project delivers')
    """
    stems = {stem(word) for word in words(topic.name)}
    found: set[Truth] = set()
    reasons = []
    for rule in need_rules():
        cue = next((each for each in rule.cues if {stem(word) for word in words(each)} <= stems), None)
        if cue is not None:
            found |= set(rule.needs)
            reasons.append(f"“{cue}”: {rule.name}")
    if not found:
        return ProposedNeeds(tuple(Truth), "no known word: all five")
    if topic.origin is TopicOrigin.REQUIREMENT:
        found.add(Truth.INTENT)
        reasons.append("a requirement: intent")
    return ProposedNeeds(tuple(truth for truth in Truth if truth in found), "; ".join(reasons))


def with_proposed_needs(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """The topics with the needs proposed for each."""
    return tuple(replace(topic, needs=proposed_needs(topic).needs) for topic in topics)
