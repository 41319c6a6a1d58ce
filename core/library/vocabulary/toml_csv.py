"""Reads and writes vocabularies as TOML and CSV, and lists the packs shipped with the product."""

import csv
import io
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.documents import Authority
from core.domain.errors import BadRequest, BadTable
from core.domain.vocabulary import AuthorityNames, DomainWords, JurisdictionNames, Vocabulary
from core.formats.csv import csv_text, restored
from core.knowledge.loading import table

__all__ = ["VocabularyPack", "from_csv", "from_data", "from_file", "from_toml", "packs", "to_csv", "to_toml"]

_MOST_BYTES = 2_000_000  # of a vocabulary file; chosen by hand

_HEADER = """\
# A vocabulary of Fivefold: what a workspace adds to the product's words, and changes of them.
# keywords are matched by their stems on word borders; "=word" only as it is written.
"""

_TOP = ("domains", "authorities", "jurisdictions")

_DOMAIN_KEYS = ("title", "keywords", "without", "name_words", "off")

_DOMAIN_LISTS = ("keywords", "without", "name_words")

_PLACE_KEYS = ("title", "names", "agencies")

_COLUMNS = ("kind", "of", "what", "words")

_LISTS = {
    ("domain", "keyword"): "keywords",
    ("domain", "without"): "without",
    ("domain", "name word"): "name_words",
    ("jurisdiction", "name"): "names",
    ("jurisdiction", "agency"): "agencies",
}

_YES = ("yes", "true", "1")


def to_toml(vocabulary: Vocabulary) -> str:
    """A vocabulary as TOML that `from_toml` reads back exactly."""
    import tomli_w

    data = _data(vocabulary)
    return f"{_HEADER}\n{tomli_w.dumps(data)}" if data else _HEADER


def _data(vocabulary: Vocabulary) -> dict[str, Any]:
    domains = {each.name: _without_empty(each, _DOMAIN_KEYS) for each in vocabulary.domains}
    authorities = {each.authority.value: list(each.names) for each in vocabulary.authorities}
    jurisdictions = {each.value: _without_empty(each, _PLACE_KEYS) for each in vocabulary.jurisdictions}
    return {key: rows for key, rows in zip(_TOP, (domains, authorities, jurisdictions), strict=True) if rows}


def _without_empty(change: DomainWords | JurisdictionNames, keys: Sequence[str]) -> dict[str, Any]:
    """What a change says, empty things left out."""
    values = {key: getattr(change, key) for key in keys}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items() if value}


def from_toml(text: str, name: str) -> Vocabulary:
    """Parse the vocabulary of a TOML file called `name`; its words are not checked yet.

    Raises BadRequest for invalid TOML (naming the line), and for an unknown key.
    """
    try:
        raw = tomllib.loads(text)
    except ValueError as error:  # also of numbers with thousands of digits, which are no TOMLDecodeError
        raise BadRequest(f"'{name}' is not TOML: {error}.", "Correct the line, then import it again.") from error
    except RecursionError as error:
        raise BadRequest(f"'{name}' is nested too deeply.", "A vocabulary has tables of words only.") from error
    return from_data(raw, name)


def from_data(raw: Mapping[str, Any], name: str) -> Vocabulary:
    """The vocabulary of parsed TOML. Raises BadRequest naming file and key for invalid data."""
    _known(raw, _TOP, name, "the file")
    domains, authorities, jurisdictions = (_table(raw.get(key, {}), name, key) for key in _TOP)
    return Vocabulary(
        tuple(_domain(key, _table(row, name, f"domains.{key}"), name) for key, row in domains.items()),
        tuple(
            AuthorityNames(_authority(key, name), _words(names, name, f"authorities.{key}"))
            for key, names in authorities.items()
        ),
        tuple(
            _jurisdiction(key, _table(row, name, f"jurisdictions.{key}"), name) for key, row in jurisdictions.items()
        ),
    )


def _domain(key: str, row: Mapping[str, Any], name: str) -> DomainWords:
    _known(row, _DOMAIN_KEYS, name, f"[domains.{key}]")
    title, off = row.get("title", ""), row.get("off", False)
    if not isinstance(title, str) or not isinstance(off, bool):
        raise BadRequest(f"'{name}': [domains.{key}] title is text, and off is true or false.", "Correct the row.")
    words = {each: _words(row.get(each, ()), name, f"domains.{key}.{each}") for each in _DOMAIN_LISTS}
    return DomainWords(key, title, words["keywords"], words["without"], words["name_words"], off)


def _jurisdiction(key: str, row: Mapping[str, Any], name: str) -> JurisdictionNames:
    _known(row, _PLACE_KEYS, name, f"[jurisdictions.{key}]")
    title = row.get("title", "")
    if not isinstance(title, str):
        raise BadRequest(f"'{name}': [jurisdictions.{key}] title is text.", "Correct the row.")
    lists = (_words(row.get(each, ()), name, f"jurisdictions.{key}.{each}") for each in ("names", "agencies"))
    return JurisdictionNames(key, title, *lists)


def _authority(value: str, name: str) -> Authority:
    if value not in set(Authority):
        raise BadRequest(f"'{name}': '{value}' is not an authority.", f"Authorities are: {', '.join(Authority)}.")
    return Authority(value)


def _table(value: Any, name: str, key: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadRequest(f"'{name}': {key} must be a table.", f"Write [{key}].")
    return value


def _words(value: Any, name: str, key: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise BadRequest(f"'{name}': {key} must be a list of words.", 'Write it as ["one", "two"].')
    return tuple(" ".join(each.split()) for each in value)


def _known(row: Mapping[str, Any], allowed: Iterable[str], name: str, where: str) -> None:
    for key in row:
        if key not in set(allowed):
            raise BadRequest(f"'{name}': {where} has the unknown key '{key}'.", f"Keys are: {', '.join(allowed)}.")


def to_csv(vocabulary: Vocabulary) -> str:
    """A vocabulary as CSV that `from_csv` reads back, one word a row; spreadsheet formulas are escaped."""
    return csv_text([_COLUMNS, *_rows(vocabulary)])


def _rows(vocabulary: Vocabulary) -> Iterable[tuple[str, str, str, str]]:
    of: dict[str, Sequence[tuple[str, DomainWords | JurisdictionNames]]] = {
        "domain": [(each.name, each) for each in vocabulary.domains],
        "jurisdiction": [(each.value, each) for each in vocabulary.jurisdictions],
    }
    for kind, changes in of.items():
        for key, change in changes:
            if change.title:
                yield kind, key, "title", change.title
            if isinstance(change, DomainWords) and change.off:
                yield kind, key, "off", "yes"
            for (own, what), field in _LISTS.items():
                if own == kind:
                    yield from ((kind, key, what, word) for word in getattr(change, field))
    for authority in vocabulary.authorities:
        yield from (("authority", authority.authority.value, "name", word) for word in authority.names)


def from_csv(text: str, name: str) -> Vocabulary:
    """The vocabulary of a CSV file with the columns kind, of, what and words; its words are not checked yet.

    Raises BadRequest naming the file and the line.
    """
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        rows = [(reader.line_num, [restored(cell.strip()) for cell in row]) for row in reader if any(row)]
    except csv.Error as error:
        raise BadRequest(f"'{name}' is not a CSV file (line {reader.line_num}: {error}).", "Save it as CSV.") from error
    header = [cell.lower() for cell in rows[0][1]] if rows else []
    if sorted(set(header) & set(_COLUMNS)) != sorted(_COLUMNS):
        raise BadRequest(
            f"'{name}' lacks the columns of a vocabulary.", f"Its first row must name: {', '.join(_COLUMNS)}."
        )
    raw: dict[str, dict[str, Any]] = {key: {} for key in _TOP}
    for line, cells in rows[1:]:
        row = dict(zip(header, cells, strict=False))
        _take(raw, *(row.get(column, "") for column in _COLUMNS), where=f"Line {line} of '{name}'")
    return from_data(raw, name)


def _take(raw: dict[str, dict[str, Any]], kind: str, of: str, what: str, words: str, *, where: str) -> None:
    """One row into data of the form of TOML."""
    kind, what = kind.lower(), what.lower()
    if kind == "authority" and what == "name":
        raw["authorities"].setdefault(of, []).append(words)
        return
    row = raw[f"{kind}s"].setdefault(of, {}) if kind in ("domain", "jurisdiction") else None
    if row is not None and (kind, what) in _LISTS:
        row.setdefault(_LISTS[kind, what], []).append(words)
    elif row is not None and what == "title":
        row["title"] = words
    elif kind == "domain" and what == "off" and row is not None:
        row["off"] = words.lower() in _YES
    else:
        raise BadRequest(
            f"{where}: '{kind}' with '{what}' is not a row of a vocabulary.",
            "A domain has title, keyword, without, name word and off; an authority name; a jurisdiction title, name"
            " and agency.",
        )


def from_file(data: bytes, name: str) -> Vocabulary:
    """The vocabulary of a file, by its ending .toml or .csv. Raises BadRequest."""
    if len(data) > _MOST_BYTES:
        raise BadRequest(f"'{name}' is too large for a vocabulary.", "Choose a file of at most 2 MB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"'{name}' is not UTF-8 text.", "Save it as UTF-8, then import it again.") from error
    ending = name.lower().rpartition(".")[2]
    if ending not in ("toml", "csv"):
        raise BadRequest(f"'{name}' is neither TOML nor CSV.", "Name it .toml or .csv.")
    return from_toml(text, name) if ending == "toml" else from_csv(text, name)


_DESCRIPTION_KEYS = ("title", "about")


@dataclass(frozen=True, slots=True)
class VocabularyPack:
    """A vocabulary with a title and a one-sentence description."""

    name: str
    title: str
    about: str
    vocabulary: Vocabulary


@cache
def packs() -> Mapping[str, VocabularyPack]:
    """Every pack of core/knowledge/packs.toml by name, in table order. Raises BadTable, BadRequest naming the wrong
    key.

    >>> list(packs())
    ['finance', 'privacy', 'procurement']
    """
    found: dict[str, VocabularyPack] = {}
    for name, row in table("packs").items():
        title, about = (row.get(key) for key in _DESCRIPTION_KEYS)
        if not isinstance(title, str) or not isinstance(about, str):
            raise BadTable(f"core/knowledge/packs.toml: [{name}] needs a title and about.", "Add them.")
        words = {key: value for key, value in row.items() if key not in _DESCRIPTION_KEYS}
        found[name] = VocabularyPack(name, title, about, from_data(words, f"core/knowledge/packs.toml [{name}]"))
    return found
