"""The tables of routing, factors and profiles: what is wrong in them is named by file and key."""

import copy
import tomllib
from typing import Any

import pytest

from core.domain.errors import BadTable
from core.domain.queries import LegWeights, ScoreProfile
from core.knowledge.factors import factor_table, parse_factors
from core.knowledge.loading import table
from core.knowledge.profiles import check_profile, parse_profiles, profiles
from core.knowledge.routes import parse_routes, routes
from core.search.ranking.factors import FACTORS


def test_balanced_is_the_default_profile() -> None:
    assert next(iter(profiles())) == "balanced"
    assert {"relevance", "relevance-draft", "authority", "knowledge", "trend", "memory"} <= set(profiles())


def test_every_factor_of_the_table_has_its_function_and_the_other_way_round() -> None:
    assert list(factor_table().rows) == list(FACTORS)


def test_every_category_has_its_row_of_authorities() -> None:
    assert [category.name for category in routes().categories] == list(
        dict.fromkeys([c.name for c in routes().categories if c.name in factor_table().authority_matrix])
    )


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ("[mine]\nweights = {similarity = 0.5, authority = 0.4}", ["[mine]", "weights", "0.9"]),
        ("[mine]\nweights = {similarity = 0.5, charm = 0.5}", ["[mine]", "weights", "charm"]),
        ("[mine]\nweights = {similarity = 1.5, authority = -0.5}", ["[mine]", "weights.authority", "-0.5"]),
        ("[mine]\nweights = {similarity = 1.0}\nmultipliers = ['luck']", ["[mine]", "multipliers", "luck"]),
        ("[mine]\nweights = {similarity = 1.0}\nthreshold = 1.2", ["[mine]", "threshold", "1.2"]),
        ("[mine]\nweights = {similarity = 1.0}\ntreshold = 0.2", ["[mine]", "treshold"]),
        ("[mine]\nweights = {similarity = 1.0}\nmax_results = 0", ["[mine]", "max_results"]),
        ("[mine]\nweights = {similarity = 1.0}\nmax_results = 101", ["[mine]", "max_results", "101"]),
        ("[mine]\nweights = {similarity = 1.0}\nmax_results = 9.5", ["max_results", "whole number"]),
        ("[mine]\nweights = {similarity = 1.0}\nmax_results = true", ["max_results", "True"]),
        ("[mine]\nweights = {similarity = 1.0}\nthreshold = 'high'", ["threshold", "'high'"]),
        ("[mine]\nweights = {similarity = nan}", ["weights.similarity", "nan"]),
        ("[mine]\nweights = {similarity = 1.0}\nhalf_life_days = inf", ["half_life_days", "inf"]),
        ("[mine]\nweights = {similarity = 1.0}\nhalf_life_days = 0", ["half_life_days", "above 0"]),
        ("[mine]\nweights = {similarity = 1.0}\nfusion_k = 0", ["fusion_k", "[1, 1000]"]),
        ("[mine]\nweights = {similarity = 1.0}\nfusion_k = 1001", ["fusion_k", "1001"]),
        ("[mine]\nweights = {similarity = 1.0}\nrouting_outside = -0.1", ["routing_outside", "-0.1"]),
        ("[mine]\nweights = {similarity = 1.0}\ncovered = 0", ["covered", "(0, 1]"]),
        ("[mine]\nweights = {similarity = 1.0}\npartial = 0.6", ["partial", "0.6", "'covered' 0.5 (as usual)"]),
        ("[mine]\nweights = {similarity = 1.0}\ncovered = 0.2", ["partial", "0.3 (as usual)", "0.2"]),
        ("[mine]\nweights = {similarity = 1.0}\ncovered = 0.2\npartial = 0.25", ["partial", "0.25", "0.2"]),
        ("[mine]\nweights = {similarity = 1.0}\nmultipliers = {temporal = 0}", ["multipliers.temporal", "(0, 1]"]),
        ("[mine]\nweights = {similarity = 1.0}\nmultipliers = {temporal = 1.5}", ["multipliers.temporal", "1.5"]),
        ("[mine]\nweights = {similarity = 1.0}\nmultipliers = 'temporal'", ["multipliers", "is not a table"]),
        ("[mine]\nweights = {similarity = 1.0}\nlegs = {dense = 1}", ["'legs'", "dense, sparse, graph"]),
        ("[mine]\nweights = {similarity = 1.0}\nlegs = {dense = 1, sparse = 1, graph = 0, luck = 1}", ["luck"]),
        ("[mine]\nweights = {similarity = 1.0}\nlegs = {dense = -1, sparse = 1, graph = 0}", ["legs.dense", "-1"]),
        ("[mine]\nweights = {similarity = 1.0}\nrelational_legs = {dense = 0, sparse = 0, graph = 0}", ["relational_"]),
        ("[mine]\nweights = {similarity = 1.0}\nlegs = [1, 2, 3]", ["legs", "is not a table"]),
        ("[mine]\nweights = {similarity = 1.0}\nversion = 2", ["[mine]", "version"]),
        ("mine = 1", ["'mine'", "belongs to no profile"]),
    ],
)
def test_an_unsound_profile_is_refused_by_name(toml: str, named: list[str]) -> None:
    with pytest.raises(BadTable) as refused:
        parse_profiles(tomllib.loads(toml))
    for part in ["profiles.toml", *named]:
        assert part in str(refused.value)


def test_all_problems_of_a_profile_are_told_at_once() -> None:
    wrong = ScoreProfile("mine", {"charm": 1.0}, {"luck": 1.0}, threshold=2, covered=2, legs=LegWeights(0, 0, 0))
    with pytest.raises(BadTable) as refused:
        check_profile(wrong)
    for part in ("profile: [mine]", "'charm'", "'luck'", "'threshold' is 2", "'covered' is 2", "'legs' turns"):
        assert part in refused.value.message


def test_every_key_of_a_profile_is_read() -> None:
    text = """
    [mine]
    weights = { similarity = 1 }
    multipliers = { temporal = 0.5 }
    threshold = 0
    floor = 1
    max_results = 100
    half_life_days = 3
    fusion_k = 1000
    legs = { dense = 1, sparse = 0, graph = 0 }
    relational_legs = { graph = 2.5, sparse = 0.5, dense = 1 }
    routing_outside = 0
    covered = 0.25
    partial = 0.25
    version = 4
    """
    expected = ScoreProfile(
        "mine", {"similarity": 1.0}, {"temporal": 0.5}, 0.0, 1.0, 100, 3.0, 1000,
        LegWeights(1.0, 0.0, 0.0), LegWeights(1.0, 0.5, 2.5), 0.0, 0.25, 0.25, 4,
    )  # fmt: skip
    found = parse_profiles(tomllib.loads(text), "mine.toml")["mine"]
    assert found == expected
    assert isinstance(found.threshold, float) and isinstance(found.fusion_k, int)


def test_a_list_of_multipliers_has_full_strength() -> None:
    text = "[mine]\nweights = { similarity = 1 }\nmultipliers = ['temporal', 'strength']"
    assert parse_profiles(tomllib.loads(text))["mine"].multipliers == {"temporal": 1.0, "strength": 1.0}


def test_a_sound_profile_comes_back_as_it_is() -> None:
    profile = ScoreProfile("mine", {"similarity": 0.7, "recency": 0.3})
    assert check_profile(profile) is profile


def _changed(name: str, *path: str, value: Any) -> dict[str, Any]:
    raw = copy.deepcopy(dict(table(name)))
    row = raw
    for key in path[:-1]:
        row = row[key]
    if value is None:
        del row[path[-1]]
    else:
        row[path[-1]] = value
    return raw


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("authority", "matrix", "data", "vendor"), 1.2),
        (("authority", "matrix", "data", "vendor"), None),
        (("authority", "matrix", "data", "press"), 0.5),
        (("domain", "same"), "high"),
        (("jurisdiction", "planet"), 0.5),
        (("recency", "label"), None),
        (("temporal", "values", "ancient"), 0.1),
        (("luck",), {"label": "Luck"}),
        (("keyword",), None),
        (("recency", "steps_days"), [[365, 0.9], [180, 1.0]]),
    ],
)
def test_a_wrong_factor_row_is_refused_by_name(path: tuple[str, ...], value: Any) -> None:
    with pytest.raises(BadTable) as refused:
        parse_factors(_changed("factors", *path, value=value))
    assert "factors.toml" in str(refused.value)
    assert path[0] in str(refused.value)


def test_a_wrong_route_row_is_refused_by_name() -> None:
    raw = copy.deepcopy(dict(table("routes")))
    raw["category"][0]["truths"] = {"gossip": 1.0}
    with pytest.raises(BadTable, match=r"routes\.toml.*gossip"):
        parse_routes(raw)
    raw = copy.deepcopy(dict(table("routes")))
    raw["category"][0]["truths"] = {"reality": 1.5}
    with pytest.raises(BadTable, match="regulatory_required"):
        parse_routes(raw)
    raw = copy.deepcopy(dict(table("routes")))
    raw["category"].append(raw["category"].pop(0))
    with pytest.raises(BadTable, match="default"):
        parse_routes(raw)
