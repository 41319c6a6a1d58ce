"""Score profiles: built-in ones, versions stored in the workspace, and import and export as TOML."""
# Longer than 300 lines: a profile is stored and exchanged under the same checks.

import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from core.domain.embedding_models import DEFAULT_NAME
from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters
from core.domain.profiles import DefaultProfile, ProfileVersion
from core.domain.queries import LegWeights, ScoreProfile
from core.evaluation.store import EvaluationStore
from core.knowledge.profiles import BUILT_IN, check_profile, parse_profiles, profiles
from core.knowledge.rerankers import rerank_table
from core.ports.clock import Timer
from core.ports.model_choice import DEFAULT_CHOICE, ModelChoice
from core.ports.own_changes import ChangeCount

__all__ = ["ProfileDifference", "ProfileDraft", "ProfileRegistry", "differences", "from_toml", "to_toml"]

_SAME = 1e-12
"""Weights that differ by less are equal."""

_FRESH_SECONDS = 2.0  # how long another process's choice may go unnoticed: every search asks for it
_MOST_DEFAULTS = 64  # projects whose default is remembered. Chosen by hand.

_MOST_BYTES = 1_000_000  # per TOML file. Chosen by hand, not fitted.

_HEADER = """\
# Score profiles of Fivefold, one [name] each. Weights sum to 1; a multiplier has a strength in (0, 1].
# What a profile leaves out has its default. An import gives numbers of its own.
"""


@dataclass(frozen=True, slots=True)
class ProfileDifference:
    """One value that two profiles do not share. key: as in TOML, "weights.authority"; None: not set there."""

    key: str
    before: float | None
    after: float | None


def differences(before: ScoreProfile, after: ScoreProfile) -> tuple[ProfileDifference, ...]:
    """What has to change to make `after` of `before`, in the order of the fields; name, version and embedder aside.

    A weight of 0 and none at all are the same.

    >>> plain = ScoreProfile("plain", {"similarity": 1.0})
    >>> differences(plain, ScoreProfile("mixed", {"similarity": 0.75, "recency": 0.25}))[1]
    ProfileDifference(key='weights.recency', before=None, after=0.25)
    """
    found: list[ProfileDifference] = []
    for field in fields(ScoreProfile):
        if field.name not in ("name", "version", "embedder"):
            old, new = (_values(field.name, profile) for profile in (before, after))
            both = ((key, old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new]))
            found.extend(ProfileDifference(*each) for each in both if not _same(*each))
    return tuple(found)


def _values(name: str, profile: ScoreProfile) -> dict[str, float | None]:
    """The numbers of one field by their keys."""
    value = getattr(profile, name)
    if isinstance(value, LegWeights):
        return {f"{name}.{leg}": weight for leg, weight in _legs(value).items()}
    if isinstance(value, Mapping):
        return {f"{name}.{factor}": number for factor, number in value.items()}
    return {name: value}


def _same(key: str, old: float | None, new: float | None) -> bool:
    if key.startswith("weights."):
        old, new = old or 0.0, new or 0.0
    return old == new if old is None or new is None else abs(old - new) <= _SAME


def _legs(legs: LegWeights) -> dict[str, float]:
    return {field.name: getattr(legs, field.name) for field in fields(LegWeights)}


def to_toml(profiles: Iterable[ScoreProfile]) -> str:
    """Profiles as TOML that `from_toml` reads back exactly. Raises BadRequest when two have the same name."""
    import tomli_w

    rows: dict[str, dict[str, object]] = {}
    for profile in profiles:
        if profile.name in rows:
            raise BadRequest(f"Two profiles are called '{profile.name}'.", "Export one version of each.")
        rows[profile.name] = _row(profile)
    return f"{_HEADER}\n{tomli_w.dumps(rows)}"


def _row(profile: ScoreProfile) -> dict[str, object]:
    """Everything a profile says, also what is as usual, so that it means the same wherever it is taken in."""
    row: dict[str, object] = {}
    for field in fields(ScoreProfile):
        value = getattr(profile, field.name)
        if isinstance(value, LegWeights):
            row[field.name] = _legs(value)
        elif isinstance(value, Mapping):
            row[field.name] = dict(value)
        elif value is not None and field.name != "name":
            row[field.name] = value
    row = {key: value for key, value in row.items() if key not in ("multipliers", "embedder") or value}
    return row if profile.version else {key: value for key, value in row.items() if key != "version"}


def from_toml(text: str | bytes, name: str) -> Mapping[str, ScoreProfile]:
    """The profiles of a file called `name`, checked, in its order.

    Raises BadRequest for what is too large, no text, no TOML (naming the line) or contains no profile; BadTable naming
    file, profile and every wrong key.
    """
    if len(text) > _MOST_BYTES:
        raise BadRequest(f"'{name}' is too large for a file of profiles.", "Choose a file of at most 1 MB.")
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        raw = tomllib.loads(decoded)
    except UnicodeDecodeError as error:
        raise BadRequest(f"'{name}' is not UTF-8 text.", "Export the profiles again as TOML.") from error
    except ValueError as error:  # also of numbers with thousands of digits, which are no TOMLDecodeError
        raise BadRequest(f"'{name}' is not TOML: {error}.", "Correct the line, then import it again.") from error
    except RecursionError as error:
        raise BadRequest(f"'{name}' is nested too deeply.", "A profile has tables of numbers only.") from error
    if not raw:
        raise BadRequest(f"'{name}' contains no profile.", "A profile begins with its [name] and has weights.")
    return parse_profiles(raw, name)


_LONGEST_NAME = 60  # characters. Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class ProfileDraft:
    """Preview of saving an imported profile.

    known: what stands under its name now, None: a new one. after: the version saving continues, 0 for a new name.
    differences: from `known`; empty and known: nothing to save. problem: why it cannot be saved, "" when it can.
    """

    profile: ScoreProfile
    known: ScoreProfile | None = None
    after: int = 0
    differences: tuple[ProfileDifference, ...] = ()
    problem: str = ""

    @property
    def worth_saving(self) -> bool:
        """Whether there is something new in it, and nothing against it."""
        return not self.problem and (self.known is None or bool(self.differences))


class ProfileRegistry:
    """Implements core.ports.stores.Profiles over a tenant's store. Workspace names are case-insensitive. Every method
    can raise the store's errors (StoreFailed, Outdated)."""

    def __init__(
        self,
        store: EvaluationStore,
        now: Callable[[], datetime],
        choice: ModelChoice = DEFAULT_CHOICE,
        timer: Timer | None = None,
        own: ChangeCount | None = None,
    ) -> None:
        """choice: the embedding model in use, which a saved profile is marked with. timer: how old a default is that
        every search asks for; None: it is read each time. own: changes that are seen at once."""
        self._store, self._now, self._choice, self._timer = store, now, choice, timer
        self._own = own or ChangeCount()
        self._defaults: Mapping[str | None, tuple[float, int, ScoreProfile]] = {}

    # Reading

    def find(self, ref: str) -> ScoreProfile:
        """By "name" (its newest version) or "name@version", which also finds those of a retired profile.

        The product's own are found by their bare name, without asking the store. Raises BadRequest naming those there
        are.
        """
        if ref in profiles():
            return BUILT_IN.find(ref)
        name, at, number = ref.partition("@")
        past = self._past().get(_key(name), ())
        if not past or (not at and past[-1].retired):
            raise self._unknown(ref, past)
        if not at:
            return past[-1].profile
        for version in past:
            if str(version.profile.version) == number:
                return version.profile
        count = len(past)
        there = "It has the version 1 only." if count == 1 else f"It has the versions 1 to {count}."
        raise BadRequest(f"The profile '{past[-1].profile.name}' has no version '{number[:20]}'.", there)

    def choices(self) -> Mapping[str, ScoreProfile]:
        """The profiles to choose from, by name: built-in ones, then the newest versions of the workspace's."""
        own = [past[-1].profile for past in self._past().values() if not past[-1].retired]
        return {**profiles(), **{each.name: each for each in sorted(own, key=lambda each: _key(each.name))}}

    def every(self) -> Mapping[str, ScoreProfile]:
        """All profiles ever stored, by ref: built-in ones, then every version of the workspace's, newest first."""
        own = [version.profile for past in self._past().values() for version in reversed(past)]
        return {**profiles(), **{profile.ref: profile for profile in own}}

    def versions(self, name: str) -> Sequence[ProfileVersion]:
        """Every version of one of the workspace's profiles, newest first; () for a name it does not have."""
        return tuple(reversed(self._past().get(_key(name), ())))

    def all_versions(self) -> Sequence[ProfileVersion]:
        """Every version of every profile of the workspace, of each profile oldest first."""
        return [version for past in self._past().values() for version in past]

    def retired(self) -> Sequence[ProfileVersion]:
        """The last version of each retired profile, by name."""
        ended = [past[-1] for past in self._past().values() if past[-1].retired]
        return sorted(ended, key=lambda version: _key(version.profile.name))

    # Defaults

    def default(self, project: str | None) -> ScoreProfile:
        """The default of the project (None: the whole library), else the library's, else the first built-in profile.

        A choice that is retired or unknown falls through to the next. One made by another process is seen within two
        seconds.
        """
        if self._timer is None:
            return self._read_default(project)
        now, changes = self._timer(), self._own.number
        read_at, earlier, known = self._defaults.get(project, (float("-inf"), 0, None))
        if known is None or changes != earlier or now - read_at > _FRESH_SECONDS:
            known = self._read_default(project)
            others = self._defaults if len(self._defaults) < _MOST_DEFAULTS else {}
            self._defaults = {**others, project: (now, changes, known)}
        return known

    def _read_default(self, project: str | None) -> ScoreProfile:
        chosen = {each.project: each.name for each in self._store.defaults() if each.name}
        for whose in (project, None):
            if whose in chosen and (known := self._living(chosen[whose])) is not None:
                return known
        return BUILT_IN.default(project)

    def chosen(self, project: str | None) -> DefaultProfile | None:
        """The choice of exactly this project (None: of the whole library), whether it still lives or not."""
        return next((each for each in self._store.defaults() if each.project == project and each.name), None)

    def choose(self, project: str | None, name: str, who: str) -> None:
        """Set the default profile (always its newest version); name "" removes the choice.

        Raises BadRequest for an unknown or retired name, or when nobody says so.
        """
        author = _named(who)
        known = self._living(name) if name else None
        if name and known is None:
            raise self._unknown(name, self._past().get(_key(name), ()))
        self._set_default(project, author, name=known.name if known else "")

    def default_filters(self) -> SearchFilters:
        """What a new search starts with; no filter where nobody chose any."""
        return next((each.filters for each in self._store.defaults() if each.project is None), SearchFilters())

    def default_reranker(self) -> str:
        """The reranker that a new search starts with; "" for none."""
        return next((each.reranker for each in self._store.defaults() if each.project is None), "")

    def choose_reranker(self, name: str, who: str) -> None:
        """Set the reranker that a new search of the library starts with; "" for none.

        Raises BadRequest for an unknown name, or when nobody says so.
        """
        known = rerank_table().rows
        if name and name not in known:
            raise BadRequest(f"There is no reranker '{name}'.", f"Choose one of {', '.join(known)}, or none.")
        self._set_default(None, _named(who), reranker=name)

    def choose_filters(self, filters: SearchFilters, who: str) -> None:
        """Set the filters that a new search of the library starts with; none of them removes the choice.

        Raises BadRequest when nobody says so.
        """
        self._set_default(None, _named(who), filters=filters)

    def _set_default(self, project: str | None, who: str, **changes: Any) -> None:
        """Add a choice that keeps what it does not change."""
        now = self._now()
        current = next((each for each in self._store.defaults() if each.project == project), None)
        chosen = current or DefaultProfile(project, "", who, now)
        self._store.set_default(replace(chosen, who=who, at=now, **changes))
        self._own.note()

    # Saving

    def save(
        self,
        profile: ScoreProfile,
        who: str,
        *,
        note: str = "",
        origin: str = "",
        after: int = 0,
        embedder: str | None = None,
    ) -> ProfileVersion:
        """Add the next version of a profile. after: the newest version its author saw, 0 for a new name; a retired name
        begins again where it ended. origin: the "name@version" it was made from. embedder: the model it was made for;
        None: the one in use.

        Raises Outdated when someone was faster, BadTable for an unsound profile, BadRequest for a bad or built-in
        name, without a person, or when it says what the newest version says.
        """
        author, name = _named(who), _checked_name(profile.name)
        past = self._past().get(_key(name), ())
        if past:
            name = past[-1].profile.name  # as it was first written
            after = after or (past[-1].profile.version if past[-1].retired else 0)
        model = self._choice.known().label if embedder is None else embedder
        own = "" if model == DEFAULT_NAME else model
        new = check_profile(replace(profile, name=name, version=after + 1, embedder=own))
        newest = past[-1] if past else None
        if newest and newest.profile.version == after and not newest.retired and newest.profile.embedder == own:
            _refuse_same(newest.profile, new)
        return self._save_version(ProfileVersion(new, author, self._now(), _words(note), origin))

    def rollback(self, name: str, version: int, who: str, after: int) -> ProfileVersion:
        """Save what an older version says as the next one; this also brings a retired profile back.

        Raises what `save` raises, and BadRequest for a version that is not there.
        """
        _refuse_built_in(name)
        old = self.find(f"{name}@{version}")
        return self.save(
            old, who, note=f"Rolled back to version {version}.", origin=old.ref, after=after, embedder=old.embedder
        )

    def retire(self, name: str, who: str, after: int) -> ProfileVersion:
        """End a profile with one more version; its versions are found by number as before.

        Choices of it stay in the log and fall through in `default` as long as it is retired. Raises Outdated when
        someone was faster, BadRequest for a name that is built in, unknown or retired already, or without a person.
        """
        author = _named(who)
        _refuse_built_in(name)
        past = self._past().get(_key(name), ())
        if not past or past[-1].retired:
            raise self._unknown(name, past)
        newest = past[-1].profile
        ended = replace(newest, version=after + 1)
        return self._save_version(ProfileVersion(ended, author, self._now(), origin=newest.ref, retired=True))

    def proposals(self, brought: Iterable[ScoreProfile]) -> tuple[ProfileDraft, ...]:
        """What saving each of these profiles would do, one per profile, in their order."""
        past, seen = self._past(), set[str]()
        found = []
        for profile in brought:
            found.append(_proposal(profile, past.get(_key(profile.name), ()), seen))
            seen.add(_key(profile.name))
        return tuple(found)

    # Inside

    def _past(self) -> Mapping[str, list[ProfileVersion]]:
        """The versions of every own profile, oldest first, by the key of its name."""
        past: dict[str, list[ProfileVersion]] = {}
        for version in self._store.profile_versions():
            past.setdefault(_key(version.profile.name), []).append(version)
        return past

    def _living(self, name: str) -> ScoreProfile | None:
        if name in profiles():
            return profiles()[name]
        past = self._past().get(_key(name), ())
        return past[-1].profile if past and not past[-1].retired else None

    def _save_version(self, version: ProfileVersion) -> ProfileVersion:
        self._store.save_profile(version)
        self._own.note()
        return version

    def _unknown(self, ref: str, past: Sequence[ProfileVersion]) -> BadRequest:
        there = f"Profiles are: {', '.join(self.choices())}."
        if not past:
            return BadRequest(f"There is no score profile '{ref}'.", there)
        last = past[-1]
        message = f"The profile '{last.profile.name}' was retired by {last.who} on {last.at:%Y-%m-%d}."
        return BadRequest(message, f"Name a version of it, such as '{last.profile.ref}', or another profile. {there}")


def _key(name: str) -> str:
    """What tells names apart."""
    return unicodedata.normalize("NFC", name).strip().lower()


def _words(text: str) -> str:
    """Text in one line, without characters that cannot be shown."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _named(who: str) -> str:
    if not _words(who):
        raise BadRequest(
            "A profile is saved, chosen and retired in somebody's name.",
            "Fill in “Your name”, then try again.",
        )
    return _words(who)


def _checked_name(name: str) -> str:
    """The name with its outer blanks cut. Raises BadRequest for what cannot be one."""
    tidy = unicodedata.normalize("NFC", name).strip(" ")
    if not tidy:
        raise BadRequest("The profile has no name.", "Give it one.")
    if len(tidy) > _LONGEST_NAME:
        raise BadRequest(f"A profile's name has at most {_LONGEST_NAME} characters.", "Choose a shorter one.")
    if "@" in tidy or not tidy.isprintable():
        problem = f"A profile's name cannot hold {'@' if '@' in tidy else 'control characters'}."
        raise BadRequest(problem, "Choose another name.")
    _refuse_built_in(tidy)
    return tidy


def _refuse_built_in(name: str) -> None:
    for own in profiles():
        if _key(own) == _key(name.partition("@")[0]):
            raise BadRequest(f"'{own}' comes with the product and does not change.", "Save it under another name.")


def _refuse_same(before: ScoreProfile, after: ScoreProfile) -> None:
    if not differences(before, after):
        raise BadRequest("Nothing has changed.", f"Version {before.version} of '{before.name}' says the same.")


def _proposal(profile: ScoreProfile, past: Sequence[ProfileVersion], seen: set[str]) -> ProfileDraft:
    if profile.name in profiles() and not differences(profiles()[profile.name], profile):
        return ProfileDraft(profile, profiles()[profile.name])
    try:
        name = _checked_name(profile.name)
    except BadRequest as refused:
        return ProfileDraft(profile, problem=str(refused))
    if _key(name) in seen:
        return ProfileDraft(profile, problem=f"'{name}' is there twice. Give one of them another name.")
    if not past:
        return ProfileDraft(profile)
    newest, after = past[-1].profile, past[-1].profile.version
    if past[-1].retired:
        return ProfileDraft(profile, after=after)
    return ProfileDraft(profile, newest, after, differences(newest, profile))
