"""The profiles that come with the product, where no others are kept."""

from core.errors import BadRequest
from core.queries import ScoreProfile
from core.tables.profiles import profiles

__all__ = ["BUILT_IN", "BuiltInProfiles"]


class BuiltInProfiles:
    """core.ports.Profiles over core/tables/profiles.toml; its first row is everybody's default."""

    def find(self, ref: str) -> ScoreProfile:
        """By name. Raises BadRequest, naming those there are."""
        known = profiles()
        if ref not in known:
            raise BadRequest(f"There is no score profile '{ref}'.", f"Profiles are: {', '.join(known)}.")
        return known[ref]

    def default(self, project: str | None) -> ScoreProfile:
        """The first row."""
        return next(iter(profiles().values()))


BUILT_IN = BuiltInProfiles()
