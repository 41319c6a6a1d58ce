"""A text's own spelling tells in which of its language's countries it is written."""

import pytest

from core.domain.errors import BadTable
from core.knowledge import language_varieties
from core.knowledge.gazetteer import language_countries
from core.knowledge.language_varieties import countries_of_text


@pytest.mark.parametrize(
    ("language", "text", "country"),
    [
        ("de", "Gemäss Artikel 3 sind die Massnahmen regelmässig zu prüfen.", "country:CH"),
        ("de", "Gemäß Artikel 3 sind die Maßnahmen regelmäßig zu prüfen.", "country:DE"),
        ("de", "Der Dienstnehmer erhält ab Jänner Karenz, der Dienstgeber meldet es heuer.", "country:AT"),
        ("pt", "O usuário preenche o cadastro e o registro; você recebe o contato da equipe.", "country:BR"),
        ("pt", "O utilizador preenche o registo; a equipa guarda o ficheiro e o contacto.", "country:PT"),
        ("zh", "劳动合同应当载明工资和工作时间。", "country:CN"),
        ("zh", "劳动合同应当载明工资，签约地为臺北。", "country:CN"),  # with one traditional sign
        ("zh", "勞動契約應載明工資及工作時間。", "country:TW"),
    ],
)
def test_the_likeliest_country_follows_the_spelling(language: str, text: str, country: str) -> None:
    shares = countries_of_text(language, text)
    assert max(shares, key=lambda value: shares[value]) == country
    assert sum(shares.values()) == pytest.approx(1.0, abs=0.02)  # countries with few speakers are left out


def test_a_text_without_such_words_has_the_countries_of_its_language() -> None:
    assert countries_of_text("de", "Der Vertrag endet am Jahresende.") == language_countries("de")
    assert countries_of_text("fr", "Le contrat prend fin.") == language_countries("fr")
    assert countries_of_text("de", "GEMÄSS DER STRASSENVERKEHRSORDNUNG: MASSNAHMEN") == language_countries("de")
    assert countries_of_text("eo", "La kontrakto finiĝas.") == {}


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({"de": {"country:XX": ["strasse"]}}, "country:XX"),
        ({"de": {"country:CH": ["strasse"], "country:DE": ["strasse"]}}, "'strasse' twice"),
    ],
)
def test_a_wrong_table_is_refused(
    table: dict[str, dict[str, list[str]]], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_varieties, "table", lambda name: table)
    language_varieties._writers.cache_clear()
    with pytest.raises(BadTable, match=what):
        countries_of_text("de", "Die Strasse")
    language_varieties._writers.cache_clear()
