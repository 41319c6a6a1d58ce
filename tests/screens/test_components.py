"""What pages are made of: safe text, views as URLs, one look per truth, parts that add up."""

import re
import tomllib
from datetime import UTC, datetime
from math import fsum
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.coverage.meeting_pack.pack import STATE_LOOKS
from core.domain.coverage import CellState
from core.domain.documents import Authority, Passage, Span, Truth
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Factor, Multiplier, Score
from core.search.explanation import shown_effects, shown_parts
from core.text.tokenize import stem
from pages.components import cards, charts
from pages.components.styles import CELLS, TRUTHS, truth_style
from pages.components.urls import params_of, request_from
from pages.components.wording import highlight, highlight_spans, plain

ROOT = Path(__file__).parents[2]
moments = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)).map(
    lambda m: m.replace(tzinfo=UTC)
)
_KEPT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))  # as a store can keep it
filters = st.builds(
    SearchFilters,
    truths=st.lists(st.sampled_from([each.value for each in Truth]), unique=True).map(tuple),
    exclude_authorities=st.lists(st.sampled_from([each.value for each in Authority]), unique=True).map(tuple),
    tags=st.lists(_KEPT.filter(bool), unique=True, max_size=3).map(tuple),
    tags_mode=st.sampled_from(["any", "all"]),
    documents=st.lists(st.integers(1, 10**9), unique=True, max_size=3).map(tuple),
    date_from=st.none() | moments,
    recency_months=st.none() | st.integers(1, 600),
    include_undated=st.booleans(),
    archived=st.sampled_from([None, False, True]),
)
requests = st.builds(
    SearchRequest,
    question=_KEPT,
    filters=filters,
    profile=st.sampled_from(["balanced", "relevance", "trend"]),
    top_k=st.none() | st.integers(1, 100),
    only_routed=st.booleans(),
    removed_chips=st.lists(st.sampled_from(["category", "domain", "date"]), unique=True).map(tuple),
)


@given(requests)
def test_a_view_survives_its_url(request: SearchRequest) -> None:
    assert request_from(params_of(request)) == request


@given(st.text())
def test_plain_text_holds_no_working_markup_and_loses_no_letter(text: str) -> None:
    safe = plain(text)
    read = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", safe)
    assert read.replace("\u2060", "") == " ".join(text.split()).replace("\u2060", "")
    assert not re.search(r"[*_`\[\]<>$#]", re.sub(r"\\[!-/:-@\[-`{-~]", "", safe))


@given(st.text(alphabet="abc ,.*:[]-", max_size=40))
def test_marking_words_changes_no_text(text: str) -> None:
    shown = highlight(text, {stem("abc"), stem("a")})
    bare = re.sub(r":primary-background\[\*\*(.*?)\*\*\]", r"\1", shown)
    assert re.sub(r"\\(.)", r"\1", bare).replace("\u2060", "").split() == text.split()


def test_only_asked_words_are_marked_by_their_stem() -> None:
    assert highlight("Taxes, not taxis", {stem("tax")}) == ":primary-background[**Taxes**]\\, not taxis"


def test_cited_sentences_are_marked_where_they_stand() -> None:
    text = "One.\n\nTwo three. Four."
    assert highlight_spans(text, [Span(6, 16)], "yellow") == "One\\.\n\n:yellow-background[Two three\\.] Four\\."


def test_shortcodes_stay_letters() -> None:
    assert ":material" not in plain("see :material/home: here").replace("\\", "").replace(":\u2060", "")


@pytest.mark.parametrize("address", ["http://pay.example.com", "HTTPS://example.com", "www.example.com"])
def test_web_addresses_stay_letters(address: str) -> None:
    shown = plain(f"Pay per {address} now").replace("\\", "")
    assert address not in shown
    assert shown.replace("\u2060", "") == f"Pay per {address} now"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_use_the_colours_of_the_theme(theme: str) -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    for look in TRUTHS.values():
        assert config["theme"][theme][f"{look.colour}Color"] == getattr(look, theme)


def _contrast(one: str, other: str) -> float:
    """WCAG's contrast of two colours written as #rrggbb, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("state", CellState)
def test_the_words_on_a_tile_can_be_read_in_both_themes_and_on_paper(state: CellState) -> None:
    printed = STATE_LOOKS[state]
    assert _contrast(f"#{printed.fill}", f"#{printed.ink}") >= 4.5
    for dark in (False, True):
        assert _contrast(*charts.tile_colours(state, dark=dark)) >= 4.5


def test_no_two_truths_and_no_two_states_look_alike() -> None:
    for looks in (TRUTHS, CELLS):
        for statement in ("words", "icon", "symbol", "light", "dark"):
            assert len({getattr(look, statement) for look in looks.values()}) == len(looks)
    assert len({look.colour for look in TRUTHS.values()}) == 5
    assert set(CELLS) == set(CellState) and set(TRUTHS) == set(Truth)
    assert truth_style(None).words == truth_style("gossip").words == "unknown"


FACTORS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.2)), min_size=1, max_size=6)


@given(FACTORS, st.lists(st.floats(0, 1), max_size=2))
@example([(1.0, 0.15), (1.0, 0.15), (0.15, 0.15), (1.0, 0.15)], [])  # half a thousandth, to be rounded as the total is
def test_the_strip_and_the_waterfall_add_up_to_the_total(parts: list[tuple[float, float]], times: list[float]) -> None:
    factors = tuple(
        Factor(f"f{n}", value, weight, value * weight, "because") for n, (value, weight) in enumerate(parts)
    )
    total = fsum(factor.contribution for factor in factors)  # as scores are added
    for each in times:
        total *= each
    score = Score(total, factors, tuple(Multiplier("temporal", each, "because") for each in times))
    strip = ElementTree.fromstring(charts.score_strip(score, 0.5))
    widths = [float(block.get("width", 0)) for block in strip][1:-1]
    # Each block gives up to one unit to the gap behind it, and its width is written with two digits.
    assert 560 * total - sum(widths) == pytest.approx(0.5 * len(widths), abs=0.506 * len(widths))
    shown = [part for _, part in shown_parts(score)]
    assert f"{fsum(shown):.3f}" == f"{fsum(factor.contribution for factor in factors):.3f}"
    effects = [effect for _, effect in shown_effects(score)]
    assert fsum((*shown, *effects)) == pytest.approx(float(f"{total:.3f}"), abs=1e-9)
    assert all(effect <= 0 for effect in effects)
    steps = charts.waterfall(score, 0.5).data[0]
    assert sum(steps.x[:-1]) == pytest.approx(steps.x[-1], abs=0.0015)


def test_places_below_one_long_heading_are_told_apart() -> None:
    above = "Title 29 – Labour and what is paid for it › Chapter 8 – Fair standards of labour › Section 207"
    one, other = (
        cards.location(Passage("", 1, 0, 0, (), section=f"{above} › ({letter}) Exceptions"), None) for letter in "ab"
    )
    assert one != other and one.endswith("(a) Exceptions") and len(one) <= 60


def test_labels_beside_the_board_show_quotation_marks_no_markup_and_where_long_names_differ() -> None:
    rule = "The contractor shall provide an automated time system that {} every punch within one pay period"
    labels = charts.topic_labels(
        ["overtime \"on call\" & 'late'", "<b>bold</b>", rule.format("records"), rule.format("reads")]
    )
    assert labels[:2] == ["overtime \"on call\" &amp; 'late'", "&lt;b&gt;bold&lt;/b&gt;"]
    assert labels[2] != labels[3]
    assert labels[2].split("<br>")[1].startswith("… records")
