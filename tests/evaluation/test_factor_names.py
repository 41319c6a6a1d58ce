"""Profiles written under the former names of score factors are read, and score, as under the current ones."""

import tomllib
from dataclasses import replace

import pytest

from core.domain.errors import BadTable
from core.domain.profiles import FACTOR_ALIASES, current_factor_names
from core.domain.queries import Route, ScoreProfile
from core.domain.results import Candidate, Signals
from core.evaluation.tuning.profile_registry import from_toml, to_toml
from core.evaluation.tuning.sliders import changes_from_text, sliders
from core.knowledge.factors import factor_table
from core.knowledge.profiles import parse_profiles, profiles
from core.search.ranking.factors import FACTORS, ScoringContext
from core.search.ranking.score import score
from tests.search.test_score import NOW, PLAIN

BALANCED = profiles()["balanced"]
FORMER = {new: old for old, new in FACTOR_ALIASES.items()}
TOML = """
[mine]
weights = { feedback = 0.4, sentence = 0.2, nearness = 0.1, in_a_row = 0.1, coverage = 0.1, similarity = 0.1 }
multipliers = { asked_date = 0.5, temporal = 1.0 }
"""
MINE = ScoreProfile(
    "mine",
    {
        "similarity": 0.5, "best_sentence_similarity": 0.2, "synonym_match": 0.1, "phrase_match": 0.1,
        "term_coverage": 0.1,
    },
    {"date_match": 0.5, "temporal": 1.0},
)  # fmt: skip


def test_every_former_name_leads_to_a_factor_and_is_itself_none() -> None:
    assert set(FACTOR_ALIASES.values()) <= set(FACTORS) and not set(FACTOR_ALIASES) & set(FACTORS)
    assert set(factor_table().rows) == set(FACTORS)


def test_a_toml_file_under_the_former_names_is_read_and_written_under_the_current_ones() -> None:
    read = from_toml(TOML, "mine.toml")["mine"]
    assert read == MINE and list(read.weights) == list(MINE.weights)
    assert from_toml(to_toml([read]), "mine.toml")["mine"] == MINE
    listed = parse_profiles(tomllib.loads("[m]\nweights = { sentence = 1 }\nmultipliers = ['asked_date']"))["m"]
    assert listed.multipliers == {"date_match": 1.0}


def test_a_profile_under_the_former_names_scores_the_same() -> None:
    signals = Signals(
        0.6, 3.0, 6.0, term_coverage=0.5, best_sentence_similarity=0.8, synonym_match=0.9,
        phrase_match=0.25,
    )  # fmt: skip
    former = {FORMER.get(name, name): weight for name, weight in BALANCED.weights.items()}
    named = replace(BALANCED, weights=current_factor_names(former))
    totals = [score(Candidate(PLAIN, signals), ScoringContext.of(Route(), each, NOW)) for each in (named, BALANCED)]
    assert totals[0] == totals[1]


def test_a_url_under_the_former_names_still_moves_the_sliders() -> None:
    changes, problems = changes_from_text("w.feedback:0.3,w.in_a_row:0.2,m.asked_date:0.5", sliders(BALANCED))
    assert changes == {"w.similarity": 0.3, "w.phrase_match": 0.2, "m.date_match": 0.5} and not problems


def test_a_factor_under_both_names_is_refused() -> None:
    with pytest.raises(BadTable, match="unknown factor 'sentence'"):
        from_toml("[m]\nweights = { sentence = 0.5, best_sentence_similarity = 0.5 }", "m.toml")
