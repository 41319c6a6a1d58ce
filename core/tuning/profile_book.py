"""The score profiles there are: the product's own, which never change, and the workspace's, which change by version."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.errors import BadRequest
from core.moments import right_now
from core.profiles import DefaultProfile, ProfileVersion
from core.queries import ScoreProfile
from core.tables.built_in import BUILT_IN
from core.tables.profiles import check_profile, profiles
from core.tuning.profile_text import Difference, differences
from core.tuning.store import TuningStore

__all__ = ["ProfileBook", "Proposal"]

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Proposal:
    """What saving a profile brought from outside would do.

    known: what stands under its name now, None: a new one. after: the version saving continues, 0 for a new name.
    differences: from `known`; empty and known: nothing to save. problem: why it cannot be saved, "" when it can.
    """

    profile: ScoreProfile
    known: ScoreProfile | None = None
    after: int = 0
    differences: tuple[Difference, ...] = ()
    problem: str = ""

    @property
    def worth_saving(self) -> bool:
        """Whether there is something new in it, and nothing against it."""
        return not self.problem and (self.known is None or bool(self.differences))


class ProfileBook:
    """core.ports.Profiles over a tenant's store. Own names are told apart without regard to case; the store's errors
    (StoreFailed, Outdated) come through."""

    def __init__(self, store: TuningStore, now: Callable[[], datetime] = right_now) -> None:
        self._store, self._now = store, now

    # What there is

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
        """What can be searched with, by name: the product's own, then the workspace's in their newest versions."""
        own = [past[-1].profile for past in self._past().values() if not past[-1].retired]
        return {**profiles(), **{each.name: each for each in sorted(own, key=lambda each: _key(each.name))}}

    def every(self) -> Mapping[str, ScoreProfile]:
        """All that was ever there, by ref: the product's own, then each version of the workspace's, newest first."""
        own = [version.profile for past in self._past().values() for version in reversed(past)]
        return {**profiles(), **{profile.ref: profile for profile in own}}

    def versions(self, name: str) -> Sequence[ProfileVersion]:
        """Every version of one of the workspace's profiles, newest first; () for a name it does not have."""
        return tuple(reversed(self._past().get(_key(name), ())))

    def retired(self) -> Sequence[ProfileVersion]:
        """The last version of each retired profile, by name."""
        ended = [past[-1] for past in self._past().values() if past[-1].retired]
        return sorted(ended, key=lambda version: _key(version.profile.name))

    # Which one holds

    def default(self, project: str | None) -> ScoreProfile:
        """What the project (None: the whole library) has chosen, else the library's choice, else the product's first.

        A choice that is retired or unknown falls through to the next.
        """
        chosen = {each.project: each.name for each in self._store.defaults() if each.name}
        for whose in (project, None):
            if whose in chosen and (known := self._living(chosen[whose])) is not None:
                return known
        return BUILT_IN.default(project)

    def chosen(self, project: str | None) -> DefaultProfile | None:
        """The choice of exactly this project (None: of the whole library), whether it still lives or not."""
        return next((each for each in self._store.defaults() if each.project == project and each.name), None)

    def choose(self, project: str | None, name: str, who: str) -> None:
        """Search with the newest version of a profile unless told otherwise; name "" gives the choice back.

        Raises BadRequest for an unknown or retired name, or when nobody says so.
        """
        said = _named(who)
        known = self._living(name) if name else None
        if name and known is None:
            raise self._unknown(name, self._past().get(_key(name), ()))
        self._store.set_default(DefaultProfile(project, known.name if known else "", said, self._now()))

    # Saving

    def save(
        self, profile: ScoreProfile, who: str, *, note: str = "", origin: str = "", after: int = 0
    ) -> ProfileVersion:
        """Add the next version of a profile. after: the newest version its author saw, 0 for a new name; a retired name
        begins again where it ended. origin: the "name@version" it was made from.

        Raises Outdated when someone was faster, BadTable for an unsound profile, BadRequest for a bad or built-in
        name, without a person, or when it says what the newest version says.
        """
        said, name = _named(who), _checked_name(profile.name)
        past = self._past().get(_key(name), ())
        if past:
            name = past[-1].profile.name  # as it was first written
            after = after or (past[-1].profile.version if past[-1].retired else 0)
        new = check_profile(replace(profile, name=name, version=after + 1))
        if past and past[-1].profile.version == after and not past[-1].retired:
            _refuse_same(past[-1].profile, new)
        return self._kept(ProfileVersion(new, said, self._now(), _words(note), origin))

    def rollback(self, name: str, version: int, who: str, after: int) -> ProfileVersion:
        """Save what an older version says as the next one; this also brings a retired profile back.

        Raises what `save` raises, and BadRequest for a version that is not there.
        """
        _refuse_built_in(name)
        old = self.find(f"{name}@{version}")
        return self.save(old, who, note=f"Rolled back to version {version}.", origin=old.ref, after=after)

    def retire(self, name: str, who: str, after: int) -> ProfileVersion:
        """End a profile with one more version; its versions are found by number as before.

        Choices of it stay in the log and fall through in `default` as long as it is retired. Raises Outdated when
        someone was faster, BadRequest for a name that is built in, unknown or retired already, or without a person.
        """
        said = _named(who)
        _refuse_built_in(name)
        past = self._past().get(_key(name), ())
        if not past or past[-1].retired:
            raise self._unknown(name, past)
        newest = past[-1].profile
        ended = replace(newest, version=after + 1)
        return self._kept(ProfileVersion(ended, said, self._now(), origin=newest.ref, retired=True))

    def proposals(self, brought: Iterable[ScoreProfile]) -> tuple[Proposal, ...]:
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

    def _kept(self, version: ProfileVersion) -> ProfileVersion:
        self._store.save_profile(version)
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
            "Say who you are: fill in “Your name”, then try again.",
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


def _proposal(profile: ScoreProfile, past: Sequence[ProfileVersion], seen: set[str]) -> Proposal:
    if profile.name in profiles() and not differences(profiles()[profile.name], profile):
        return Proposal(profile, profiles()[profile.name])
    try:
        name = _checked_name(profile.name)
    except BadRequest as refused:
        return Proposal(profile, problem=str(refused))
    if _key(name) in seen:
        return Proposal(profile, problem=f"'{name}' is there twice. Give one of them another name.")
    if not past:
        return Proposal(profile)
    newest, after = past[-1].profile, past[-1].profile.version
    if past[-1].retired:
        return Proposal(profile, after=after)
    return Proposal(profile, newest, after, differences(newest, profile))
