"""Places are found by every name that their own documents use."""

import pycountry
import pytest

from core.knowledge.gazetteer import find_places


def official_names() -> list[tuple[str, str]]:
    return [
        (country.alpha_2, name.removeprefix("the "))
        for country in pycountry.countries
        if " " in (name := getattr(country, "official_name", "")) and not {",", "("} & set(name)
    ]


def whole_name(name: str) -> list[str]:
    """The places found in a sentence that cover all of a name."""
    text = f"This agreement applies in the {name} only."
    return [value for value, _, start, end in find_places(text, "en") if text[start:end] == name]


@pytest.mark.parametrize(("code", "name"), official_names())
def test_a_country_is_found_by_its_official_name(code: str, name: str) -> None:
    assert whole_name(name) == ["federal" if code == "US" else f"country:{code}"]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("CD", "Democratic Republic of the Congo"),
        ("KR", "Republic of Korea"),
        ("KP", "Democratic People’s Republic of Korea"),
        ("LA", "Lao People’s Democratic Republic"),
        ("LA", "Lao People's Democratic Republic"),
        ("IR", "Islamic Republic of Iran"),
    ],
)
def test_names_that_a_list_turns_around_and_typographic_marks_are_found(code: str, name: str) -> None:
    assert whole_name(name) == [f"country:{code}"]
