"""Score profiles: list, save as a new version, choose as default, end."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field

from api.inputs import Body, Project, ShortText, with_example
from api.paging import PageOf, Paging, paged_list
from api.route import AtWork, guarded_router
from api.shapes.evaluation import ProfileShape, ProfileVersionShape
from core.domain.errors import NotFound
from core.knowledge.profiles import parse_profiles

__all__ = ["routes"]

routes = guarded_router("profiles")

Name = Annotated[ShortText, Path(description="The profile's name.")]


@routes.get("/profiles", response_model=PageOf[ProfileShape], summary="List profiles")
def list_profiles(
    caller: AtWork,
    paging: Paging,
    project: Annotated[ShortText | None, Query(description="Whose default is marked.")] = None,
) -> dict[str, Any]:
    """The profiles to choose from: built-in ones, then the newest versions of the workspace's."""
    profiles = caller.workbench.evaluation.profiles
    default = profiles.default(project or None).ref
    return paged_list(
        paging,
        list(profiles.choices().values()),
        lambda each: each.name,
        lambda each: ProfileShape.of(each, default),
    )


class DefaultChoice(Body):
    """project: null for the whole library. name: empty removes the choice."""

    model_config = with_example({"project": None, "name": "authority"})

    project: Project = None
    name: ShortText


@routes.put("/profiles/default", response_model=ProfileShape, summary="Choose the default profile")
def choose_default(caller: AtWork, choice: DefaultChoice) -> ProfileShape:
    """Searches of the project use the newest version of this profile unless told otherwise."""
    profiles = caller.workbench.evaluation.profiles
    profiles.choose(choice.project or None, choice.name, who=caller.name)
    found = profiles.default(choice.project or None)
    return ProfileShape.of(found, found.ref)


@routes.get("/profiles/{name}", response_model=ProfileShape, summary="Get a profile")
def get_profile(caller: AtWork, name: Name) -> ProfileShape:
    """A profile by name, or by name@version."""
    profiles = caller.workbench.evaluation.profiles
    if name not in profiles.every() and name not in profiles.choices():
        raise NotFound(f"There is no score profile '{name}'.", f"Profiles are: {', '.join(profiles.choices())}.")
    return ProfileShape.of(profiles.find(name), profiles.default(None).ref)


@routes.get("/profiles/{name}/versions", response_model=PageOf[ProfileVersionShape], summary="Versions of a profile")
def list_versions(caller: AtWork, name: Name, paging: Paging) -> dict[str, Any]:
    """Every version of one of the workspace's profiles, newest first; none for a built-in one."""
    versions = caller.workbench.evaluation.profiles.versions(name)
    return paged_list(paging, versions, lambda each: each.profile.version, ProfileVersionShape.of)


Share = Annotated[float, Field(ge=0, le=1)]


class Legs(Body):
    """Weights of the legs in fusion."""

    dense: float = Field(ge=0, le=1000)
    sparse: float = Field(ge=0, le=1000)
    graph: float = Field(ge=0, le=1000)


class NewVersion(Body):
    """A profile as it should be. after: the newest version you have seen, 0 for a new profile."""

    model_config = with_example({"weights": {"similarity": 0.6, "authority": 0.4}, "threshold": 0.4})

    weights: dict[ShortText, Share] = Field(min_length=1)
    multipliers: dict[ShortText, Share] = Field(default={})
    threshold: Share = 0.5
    floor: Share = 0.25
    max_results: int = Field(default=10, ge=1, le=100)
    half_life_days: float | None = Field(default=None, gt=0, le=1e6)
    fusion_k: int = Field(default=60, ge=1, le=1000)
    legs: Legs | None = None
    relational_legs: Legs | None = None
    routing_outside: Share | None = None
    covered: Share | None = None
    partial: Share | None = None
    after: int = Field(default=0, ge=0, le=2**31 - 1)
    note: ShortText = ""


@routes.put("/profiles/{name}", response_model=ProfileVersionShape, summary="Save a profile")
def save_profile(caller: AtWork, name: Name, new: NewVersion) -> ProfileVersionShape:
    """Save the next version of a profile; old versions stay. 409 when someone else saved one since `after`."""
    row = new.model_dump(exclude={"after", "note"}, exclude_none=True)
    (profile,) = parse_profiles({name: row}, "profile").values()
    saved = caller.workbench.evaluation.profiles.save(profile, caller.name, note=new.note, after=new.after)
    return ProfileVersionShape.of(saved)


@routes.delete("/profiles/{name}", response_model=ProfileVersionShape, summary="End a profile")
def retire_profile(
    caller: AtWork,
    name: Name,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="The newest version you have seen.")],
) -> ProfileVersionShape:
    """Offer a profile no longer. Its versions can still be named, so old results stay explained."""
    return ProfileVersionShape.of(caller.workbench.evaluation.profiles.retire(name, caller.name, after))
