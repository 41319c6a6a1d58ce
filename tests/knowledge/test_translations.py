"""Words of many languages as English words."""

from functools import partial

import pytest

from core.domain.documents import Page
from core.domain.errors import BadTable
from core.ingestion.classification.document_features import english_word_places, features_of, words_of
from core.ingestion.classification.sample import read_for_classifying
from core.knowledge import translations
from core.knowledge.translations import english_words
from core.text.tokenize import WITHOUT_SPACES, bare_words, words

CONTRACTS = {
    "de": "Verträge", "fr": "contrats", "es": "contratos", "it": "contratti", "pt": "contratos", "nl": "contracten",
    "pl": "umowy", "ru": "договоры", "ja": "契約", "zh": "合同",
}  # fmt: skip


@pytest.mark.parametrize(("language", "word"), CONTRACTS.items())
def test_inflected_words_of_other_languages_become_an_english_word(language: str, word: str) -> None:
    assert english_words([word.lower()], language)[0] in ("contract", "agreement")


def test_words_without_translation_stay() -> None:
    for language in ("de", "en", "xx"):
        assert list(english_words(["policies", "zanzibarium"], language)) == ["policies", "zanzibarium"]
    assert list(english_words([], "de")) == []


def test_a_word_is_translated_only_in_its_own_language() -> None:
    assert list(english_words(["die"], "de")) == ["the"]
    assert list(english_words(["die"], "en")) == ["die"]


def test_a_contract_has_terms_in_common_with_its_translation() -> None:
    english = read_for_classifying(
        "a.txt", "", [Page(1, "The supplier must deliver before the end of the contract.")], {}
    )
    german = read_for_classifying("a.txt", "", [Page(1, "Der Lieferant muss vor Ende des Vertrags liefern.")], {})
    shared = features_of(english, "en").words.keys() & features_of(german, "de").words.keys()
    assert {"must", "end", "contract"} <= shared


def test_the_classifier_reads_words_as_it_learned_them() -> None:
    assert "contract" in features_of(read_for_classifying("a.txt", "", [Page(1, "Der Vertrag endet.")], {}), "de").words
    korean = features_of(read_for_classifying("계약.txt", "", [Page(1, "근로 계약 기간")], {}), "ko")
    assert {"근로", "계약", "기간"} <= korean.words.keys() and "계약" in korean.name


NAMES = ("translations.tsv", "translations_more.tsv")


@pytest.mark.parametrize("name", NAMES)
def test_every_translation_is_one_word(name: str) -> None:
    header, *rows = translations._rows(name)
    assert list(header[1:]) == list(translations._languages()) and len(header) == 33
    for at, language in enumerate(header[1:], start=1):
        for row in rows:
            found = [word for word in row[at].split("/") if word != "-"]
            unspaced = name == NAMES[1] and language in ("ja", "zh")  # the classifier reads them in pairs of letters
            is_word = WITHOUT_SPACES.fullmatch if unspaced else partial(_is_one_word, language=language)
            assert all(map(is_word, found)), (language, row[0], found)


def test_every_translation_is_read_as_the_first_english_word_that_has_it() -> None:
    for at, language in enumerate(translations._languages(), start=1):
        first: dict[str, str] = {}
        for name in NAMES:
            for part in (slice(1), slice(1, None)):
                for row in translations._rows(name)[1:]:
                    for word in row[at].split("/")[part]:
                        first.setdefault(word, row[0])
        first.pop("-")
        assert dict(zip(first, english_words(list(first), language), strict=True)) == first


def test_the_classifier_reads_words_as_it_has_learned_them() -> None:
    more = {word for row in translations._rows(NAMES[1])[1:] for word in row[1].split("/")}
    known = {word for row in translations._rows(NAMES[0])[1:] for word in row[1].split("/")}
    fresh = sorted(more - known)
    assert english_words(["vertrag", "müssen"], "de", learned=True) == ["contract", "must"]
    read = english_words(fresh, "de", learned=True)
    assert sum(word == english for word, english in zip(fresh, read, strict=True)) > 0.7 * len(fresh)
    assert list(english_words(fresh, "de")) != list(read)
    assert english_word_places(" ".join(fresh), "de").words == tuple(dict.fromkeys(read))


def _is_one_word(word: str, language: str) -> bool:
    """As the classifier reads words; Vietnamese words are of several syllables, Thai and Korean ones of any length."""
    if language == "vi":
        return [each for part in word.split(" ") for each in words_of(part) or [part]] == word.split(" ")
    return bare_words(word) == words(word) if language in ("hi", "ko", "th") else list(words_of(word)) == [word]


def test_a_line_with_a_column_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Folder:
        def joinpath(self, _: str) -> "Folder":
            return self

        def read_text(self, _: str) -> str:
            return "en\tde\nlaw\tGesetz\nrule"

    monkeypatch.setattr(translations, "files", lambda _: Folder())
    with pytest.raises(BadTable, match=r"translations.tsv, line 3: 1 columns"):
        translations._rows.__wrapped__(NAMES[0])
