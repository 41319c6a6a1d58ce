"""Places are found by every name that their own documents use."""

from importlib.resources import files

import pycountry
import pytest

from core.knowledge import gazetteer
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


def found(text: str, language: str) -> list[tuple[str, str]]:
    return [(value, text[start:end]) for value, _, start, end in find_places(text, language)]


def test_names_that_mostly_mean_something_else_are_no_places() -> None:
    text = "The Public Sector of the North: George has a Mobile in the East, Nancy comes from Toledo. Kenya agrees."
    assert found(text, "en") == [("country:KE", "Kenya")]


def test_every_name_that_mostly_means_something_else_would_be_a_place() -> None:
    """A line without a place would only cost memory."""
    names = gazetteer._homonyms()
    assert sorted(names) == files("core.knowledge").joinpath("place_homonyms.txt").read_text("utf-8").splitlines()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gazetteer, "_homonyms", frozenset)
        gazetteer._regions_and_cities.cache_clear()
        places = gazetteer._regions_and_cities()
    gazetteer._regions_and_cities.cache_clear()
    assert names <= places.keys()


@pytest.mark.parametrize(
    ("text", "language", "places"),
    [
        ("タイトルとアルバイト。タイの法律による。", "ja", [("country:TH", "タイ")]),
        ("물품의 인도 수단과 보안이란 무엇인가. 일본의 법.", "ko", [("country:JP", "일본")]),
        ("タイ・ベトナムの法律", "ja", [("country:TH", "タイ"), ("country:VN", "ベトナム")]),
        ("本合同适用中国法律。", "zh", [("country:CN", "中国")]),
    ],
)
def test_in_scripts_without_spaces_a_name_is_no_part_of_another_word(
    text: str, language: str, places: list[tuple[str, str]]
) -> None:
    assert sorted(found(text, language)) == places


@pytest.mark.parametrize(
    ("text", "language", "places"),
    [
        (
            "Austrian, Liberian, Romanian and Italian law",
            "en",
            ["country:AT", "country:LR", "country:RO", "country:IT"],
        ),
        ("Times New Roman, Liberty, Albany, Dominic, Francis; 500 Indiana Avenue", "en", []),
        ("Francisco García y Mauricio Reunión firman.", "es", []),
        ("Austritt der Armen aus dem Verein", "de", []),
        ("Réunion du conseil : dix Francs", "fr", []),
        ("Reunião da Câmara; Libertação", "pt", []),
        ("Законы России и Румынии", "ru", ["country:RU", "country:RO"]),
    ],
)
def test_adjectives_and_cases_of_a_country_are_found_and_words_that_begin_alike_are_not(
    text: str, language: str, places: list[str]
) -> None:
    assert [value for value, _ in found(text, language)] == places


@pytest.mark.parametrize(
    ("language", "countries"),
    [
        ("ca", {"country:ES", "country:AD"}),  # most speak it where a region has it
        ("oc", set()),  # few of its speakers live where a region has it
        ("pl", {"country:PL"}),
    ],
)
def test_a_language_belongs_to_the_countries_that_have_it(language: str, countries: set[str]) -> None:
    assert set(gazetteer.language_countries(language)) <= countries
    assert bool(gazetteer.language_countries(language)) == bool(countries)
