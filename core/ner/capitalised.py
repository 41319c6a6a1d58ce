"""Recognises organizations, acts, people and places by capitalised words. Leaves out doubtful names."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from core.domain.entities import Entity, EntityType
from core.knowledge.entities import known_entities, name_words
from core.knowledge.jurisdictions import built_in_jurisdictions
from core.ner.lexicon import NameLexicon, NameMatch, NameToken, gap_joins, in_capitals
from core.text.tokenize import STOP_WORDS

__all__ = ["capitalised_names", "known_lexicon", "type_of_name", "well_known"]

_LINKS = frozenset(("of", "for", "and", "the", "&", "on", "in", "with", "to"))
_APART = frozenset(("for", "on", "in", "with", "to"))
_MOST_WORDS = 16  # Longest name in words. Chosen by hand, not fitted.
_WRAPPED = 40  # a line at least this long may have been broken inside a name; a shorter one is a heading or an item
_BEFORE = frozenset(
    "the u.s us united states a an this each any all every by see per note pursuant under section".split()
)
_PARTS = frozenset(("Title", "Subtitle", "Section", "Part", "Subpart", "Chapter", "Article"))
_OF = frozenset(("Bank", "University", "Institute", "Society", "Association", "College", "Federation", "Chamber"))
_STATE_CITY = re.compile(r"\b((?:St\. |Ft\. |Mt\. )?[A-Z][a-z]+(?: [A-Z][a-z]+)?), ([A-Z]{2}) \d{5}\b")
_CAPITAL = re.compile(r"\bWashington,?\s+D\.?C\b\.?")
_INITIAL = re.compile(r"[A-Z]$")


@cache
def known_lexicon() -> NameLexicon:
    """A lexicon of the known entities and of the states and countries in core/knowledge/jurisdictions.toml."""
    spelled = [(entity, (entity.name, *entity.aliases)) for entity in known_entities()]
    places = [
        (Entity(title, EntityType.PLACE), (title, title.upper()))
        for value, title in built_in_jurisdictions().items()
        if value.startswith(("state:", "country:")) and title != "European Union"
    ]
    return NameLexicon([*spelled, *places], name_words().wordlike)


def well_known(name: str) -> Entity | None:
    """The known entity with this spelling, or None."""
    return known_lexicon().named(name)


def capitalised_names(text: str, words: Sequence[NameToken]) -> Iterator[NameMatch]:
    """Yields the organizations, acts, people and places written with capitals; unordered, some may overlap.

    >>> from core.ner.lexicon import read_words
    >>> said = "Mr. Lee of Acme Tools, Inc. asked the Ohio Department of Health about the Clean Air Act"
    >>> [found.entity.name for found in capitalised_names(said, read_words(said))]
    ['Lee', 'Acme Tools Inc', 'Ohio Department of Health', 'Clean Air Act']
    """
    for run in _runs(text, words):
        yield from _in_run(text, run)
    for match in _STATE_CITY.finditer(text):
        if f"state:{match[2]}" in built_in_jurisdictions():
            yield NameMatch(Entity(f"{match[1]}, {match[2]}", EntityType.PLACE), match.start(), match.end())
    for match in _CAPITAL.finditer(text):
        yield NameMatch(Entity("Washington, DC", EntityType.PLACE), match.start(), match.end())


def type_of_name(words: Sequence[str]) -> EntityType:
    """The type of a spelled-out abbreviation, judged by its last word or by a head ("Bureau of …"); else a concept.

    >>> [str(type_of_name(name.split())) for name in ("Document Management System", "Bureau of Land Management")]
    ['technology', 'organization']
    """
    table = name_words()
    last = words[-1].rstrip(".")
    if not words[0][:1].isupper():
        return EntityType.CONCEPT
    if last in table.abbreviated_law:
        return EntityType.LAW
    service = last == "Service" and len(words) > 1 and words[-2] in ("of", "a", "as")
    if not service and (last in table.organization or last in table.public or _headed([*words])):
        return EntityType.ORGANIZATION
    technical = last in table.abbreviated_technology and not table.technical.isdisjoint(words)
    return EntityType.TECHNOLOGY if technical else EntityType.CONCEPT


def _headed(words: Sequence[str]) -> bool:
    return any(head in name_words().heads and link == "of" for head, link in pairwise(words))


def _runs(text: str, words: Sequence[NameToken]) -> Iterator[list[NameToken]]:
    """Runs of capitalised words, joined by small words such as "of"; skips headings in capitals."""
    run: list[NameToken] = []
    for word in words:
        capital = word.plain[0].isupper()
        if not run:
            if capital:
                run.append(word)
            continue
        joined = len(run) < _MOST_WORDS and _joined(text, run[-1], word)
        year = word.plain.isdigit() and len(word.plain) == 4
        if joined and (capital or year or (word.key in _LINKS and not _ends(text, word))):
            run.append(word)
        else:
            yield from _trimmed(text, run)
            run = [word] if capital else []
    yield from _trimmed(text, run)


def _joined(text: str, before: NameToken, word: NameToken) -> bool:
    gap = text[before.start + len(before.plain) : word.start]
    gap = gap.removeprefix("'").removeprefix("’").removeprefix("s ") if gap[:1] in ("'", "’") else gap
    if gap in (", ", "., ") and word.plain in name_words().organization:
        return True
    if gap == ". ":
        return before.plain in name_words().honorifics or len(before.plain) == 1 or before.plain == "U.S"
    if gap in (" & ", " &\n"):
        return True
    if not gap_joins(gap) or gap == "-":
        return False
    if "\n" not in gap:
        return True
    return before.start - text.rfind("\n", 0, before.start) > _WRAPPED


def _ends(text: str, word: NameToken) -> bool:
    return text[word.end : word.end + 1] in (".", ",", ";", ":", ")")


def _trimmed(text: str, run: list[NameToken]) -> Iterator[list[NameToken]]:
    """The run without small words at its ends; nothing for a single word or a line in capitals."""
    if len(run) < 2:
        return
    while run and run[-1].key in _LINKS:
        run.pop()
    while run and (run[0].key in _BEFORE or (run[0].key in STOP_WORDS and len(run) > 1)):
        run = run[1:]
    if len(run) > 1 and not in_capitals(text, run[0].start):
        yield run


def _as_written(text: str, words: Sequence[NameToken]) -> str:
    """The name as written, without line breaks and commas."""
    written = text[words[0].start : words[-1].start + len(words[-1].plain)]
    return " ".join(written.replace("’", "'").replace(",", " ").split()).replace(". Inc", " Inc").rstrip("'")


def _named(text: str, kind: EntityType, words: Sequence[NameToken]) -> NameMatch:
    name = _as_written(text, words)
    return NameMatch(well_known(name) or Entity(name, kind), words[0].start, words[-1].start + len(words[-1].plain))


def _in_run(text: str, run: Sequence[NameToken]) -> Iterator[NameMatch]:
    """Organizations and acts in a run, and people in the words before, between and after them."""
    first_word = 0
    while first_word < len(run):
        found = next(
            (each for at in range(first_word, len(run)) if (each := _ending_at(text, run, first_word, at))), None
        )
        if found is None:
            break
        first, last, kind = found
        yield from _persons(text, run[first_word:first])
        yield _named(text, kind, run[first : last + 1])
        first_word = last + 1
    yield from _persons(text, run[first_word:])


def _ending_at(text: str, run: Sequence[NameToken], first_word: int, at: int) -> tuple[int, int, EntityType] | None:
    """The organization or act recognised at word `at`, as (first word, last word, type), or None."""
    table, word = name_words(), run[at]
    if word.plain in table.heads and at + 2 < len(run) and run[at + 1].key == "of":
        return _by_head(text, run, first_word, at)
    if word.plain in table.law:
        return _act(text, run, first_word, at)
    first = _own(run, first_word, at)
    goes_on = at + 1 < len(run) and run[at + 1].key not in _LINKS and not _ends(text, word)
    if at - first < 1 or run[at - 1].key in _LINKS or goes_on:
        return None
    if word.plain in table.organization:
        return first, at, EntityType.ORGANIZATION
    public = word.plain in table.public and not (at + 1 < len(run) and run[at + 1].key == "of")
    if public and at - first > 1 and (run[first].plain in table.national or _state(text, run, first)):
        return first, at, EntityType.ORGANIZATION
    return None


def _own(run: Sequence[NameToken], first_word: int, at: int) -> int:
    """First word of the name that ends at `at`: after the last "and" or "for", and after "of" except "Bank of …"."""
    for index in range(at - 1, first_word, -1):
        key = run[index].key
        if key in ("and", "the") or key in _APART or (key == "of" and run[index - 1].plain not in _OF):
            return index + 1
    return first_word


def _state(text: str, run: Sequence[NameToken], at: int) -> int:
    """How many words from `at` name a state, for example 2 for "New York"; 0 for none."""
    for length in (2, 1):
        found = well_known(_as_written(text, run[at : at + length])) if at + length <= len(run) else None
        if found is not None and found.type is EntityType.PLACE and found.name != "United States":
            return length
    return 0


def _by_head(text: str, run: Sequence[NameToken], first_word: int, head: int) -> tuple[int, int, EntityType] | None:
    """Matches "[Ohio] Department of Health and Human Services": one part after "and", without a head of its own."""
    table = name_words()
    end = head + 2
    linked = False
    while end < len(run):
        word = run[end]
        if word.key == "and":
            after = run[end + 1] if end + 1 < len(run) else None
            if linked or after is None or after.key == "the" or after.plain in table.heads or after.plain.isupper():
                break
            linked = True
        elif word.key in _APART or (
            end > head + 2 and (word.plain in table.heads or _ends_there(text, run, head, end))
        ):
            break
        end += 1
    while run[end - 1].key in _LINKS:
        end -= 1
    subject = head + 3 if run[head + 2].key == "the" else head + 2
    if end <= subject or run[subject].plain in table.not_of:
        return None
    beside = head > first_word and "\n" not in text[run[head - 1].end : run[head].start]
    first = next((n for n in (2, 1) if beside and head - n >= first_word and _state(text, run, head - n) == n), 0)
    return head - first, end - 1, EntityType.ORGANIZATION


def _ends_there(text: str, run: Sequence[NameToken], head: int, end: int) -> bool:
    """Whether a name ends before word `end`: the name is well known, it owns the word ("… Resources' Board"), or the
    word is a brand ("PayMAX")."""
    word = run[end].plain
    before = run[end - 1]
    owner = text[before.start + len(before.plain)] in "'’"
    branded = not word.isupper() and any(letter.isupper() for letter in word[1:]) and "-" not in word
    return owner or branded or (run[end].key not in _LINKS and well_known(_as_written(text, run[head:end])) is not None)


def _act(text: str, run: Sequence[NameToken], first_word: int, at: int) -> tuple[int, int, EntityType] | None:
    """Matches "Clean Air Act [of 1970]", but not "the Act"; drops "Title VII of" before an act."""
    first = first_word
    for index in range(first_word, at):
        key = run[index].key
        cut = key == "the" or (key == "of" and run[first_word].plain in _PARTS)
        if cut or (key == "and" and index > 0 and len(run[index - 1].plain) < 3):
            first = index + 1
    if at <= first or run[at - 1].key in _LINKS or all(len(word.plain) < 4 for word in run[first:at]):
        return None
    dated = at + 2 < len(run) and run[at + 1].key == "of" and run[at + 2].plain.isdigit()
    if dated and well_known(_as_written(text, run[first : at + 1])) is None:
        return first, at + 2, EntityType.LAW
    return first, at, EntityType.LAW


def _persons(text: str, run: Sequence[NameToken]) -> Iterator[NameMatch]:
    """People by honorific ("Dr. Lee") or by unambiguous first name ("Maria Lopez", "John Q. Public")."""
    table = name_words()
    at = 0
    while at < len(run) - 1:
        if run[at].plain in table.honorifics:
            words = run[at + 1 : at + 1 + _name_length(run, at + 1)]
        elif run[at].plain in table.first_names:
            length = _name_length(run, at + 1)
            words = run[at : at + 1 + length] if length else []
        else:
            words = []
        if words and not _INITIAL.match(words[-1].plain):
            yield _named(text, EntityType.PERSON, words)
            at += len(words)
        at += 1


def _name_length(run: Sequence[NameToken], at: int) -> int:
    """How many words from `at` continue a person's name: at most an initial or name, then a name."""
    barred = name_words().not_last
    length = 0
    for word in run[at : at + 2]:
        plain = word.plain
        named = plain[:1].isupper() and plain[1:].islower() and plain not in barred and plain.isalpha()
        if not named and not _INITIAL.match(plain):
            break
        length += 1
        if named and length == 1 and run[at - 1].plain in name_words().first_names:
            break
    return length
