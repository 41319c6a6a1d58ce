"""Places are found by every name that their own documents use."""

import pycountry
import pytest

from core.knowledge.gazetteer import find_places


def official_names() -> list[tuple[str, str]]:
    return [
        (country.alpha_2, name.removeprefix("the "))
        for country in pycountry.countries
        if " " in (name := getattr(country, "official_name", "")) and "," not in name
    ]


@pytest.mark.parametrize(("code", "name"), official_names())
def test_a_country_is_found_by_its_official_name(code: str, name: str) -> None:
    text = f"This agreement applies in the {name} only."
    values = {value for value, *_ in find_places(text, "en")}
    assert ("federal" if code == "US" else f"country:{code}") in values
