"""Texts of other languages read as English, word by word."""

import re
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.english_reading import (
    in_english,
    language_in_words,
    language_of_question,
    words_in_english,
)

QUESTIONS = {
    "de": "Wie lange dauert der Urlaub im ersten Jahr?",
    "fr": "Quel est le délai de paiement du contrat ?",
    "es": "¿Cuál es el plazo para firmar el contrato?",
    "pt": "Qual é o prazo para assinar o contrato?",
    "it": "Qual è il termine per firmare il contratto?",
    "nl": "Hoe lang is de termijn voor het contract?",
    "pl": "Jaki jest termin zapłaty wynagrodzenia?",
    "ru": "Какой срок оплаты по договору?",
    "el": "Ποια είναι η προθεσμία πληρωμής της σύμβασης;",
    "tr": "Sözleşme için ödeme süresi ne kadar?",
    "ar": "ما هي مدة العقد؟",
    "zh": "合同的付款期限是多久？",
    "ja": "契約の支払期限はいつですか",
    "ko": "계약의 지급 기한은 언제입니까?",
    "th": "กำหนดชำระเงินตามสัญญาคือเมื่อใด",
    "hi": "अनुबंध के भुगतान की समय सीमा क्या है?",
    "vi": "Thời hạn thanh toán của hợp đồng là bao lâu?",
}

ENGLISH = [
    "What is the per diem rate for die casting?",
    "force majeure clause",
    "pro rata vacation",
    "HSTS max-age minimum for .gov",
    "Zendesk log4j status",
    "Los Angeles minimum wage",
    "Minimum paid leave in Germany and in Andorra",
    "CF reject command header-specified length",
    "U.S. GAAP",
    "S&P 500 of ABC Inc. S.A.",
    "San Diego office La Jolla",
    "status quo ante",
    "de minimis fringe benefits",
    "ABS,Alcohol Beverage Services,Silver Spring,M",
    "s3 bucket vs s3 glacier",
    "W-2",
    "401k",
    "",
]


@pytest.mark.parametrize(("language", "question"), QUESTIONS.items())
def test_the_language_of_a_question_is_told_by_its_words(language: str, question: str) -> None:
    assert language_in_words(question) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [("annual leave", "en"), ("Kündigungsfrist", "de"), ("Kurzarbeit", ""), ("GSTR-7", ""), ("", ""), ("年假", "zh")],
)
def test_the_language_of_a_question_may_be_unknown(text: str, language: str) -> None:
    assert language_of_question(text) == language


@pytest.mark.parametrize("word", ["Surcharge", "Tribunal", "commerce", "caution", "influenza"])
def test_a_word_alone_is_not_taken_for_another_language(word: str) -> None:
    assert list(in_english([word])) == [word]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_texts_stay_as_they_are(text: str) -> None:
    pieces = [text]
    assert in_english(pieces) is pieces


@pytest.mark.parametrize("word", ["Urlaub", "service", "Frist", "pension"])
def test_a_single_latin_word_has_no_language(word: str) -> None:
    assert language_in_words(word) == ""


@pytest.mark.parametrize("text", ["የሥራ ውል ለአንድ ዓመት ነው", "ສັນຍາມີກຳນົດໜຶ່ງປີ", "חוזה העבודה הוא לשנה אחת"])
def test_languages_without_translations_stay_as_they_are(text: str) -> None:
    pieces = [text]
    assert in_english(pieces) is pieces


def test_a_word_of_another_script_tells_its_language() -> None:
    assert in_english(["договор"]) == ["contract"]


def test_a_single_letter_is_no_word() -> None:
    [found] = in_english(["Sözleşme için ödeme süresi 401k ve S. V. firması"])
    assert found.startswith("contract for payment") and "401k and S. V." in found


def test_a_text_with_as_many_english_words_stays() -> None:
    text = "Vertrag Frist Urlaub payment contract deadline Xaqw Xbqw Xcqw Xdqw"
    assert (language_in_words(text), language_in_words(f"{text} Gesetz")) == ("", "de")


def test_letters_and_accents_apart_are_read_together() -> None:
    composed = "Die Kündigung ist der Vertrag."
    assert in_english([normalize("NFD", composed)]) == in_english([composed])


def test_numbers_punctuation_and_unknown_words_stay() -> None:
    [found] = in_english(["Der Vertrag (Nr. 17/2024) endet am 31.12.2025; Scrumboard bleibt."])
    assert "contract (" in found and "17/2024" in found and "31.12.2025; Scrumboard" in found


def test_long_texts_are_told_too() -> None:
    text = " ".join([QUESTIONS["ru"]] * 40)
    assert language_in_words(text) == "ru"


def test_words_without_spaces_are_cut_into_the_longest_that_are_known() -> None:
    [found] = in_english(["劳动合同的期限为2年。"])
    assert found.split()[:2] == ["labor", "contract"] or "contract" in found.split()
    assert "2" in found and "。" in found


@pytest.mark.parametrize(("language", "question"), QUESTIONS.items())
def test_a_question_is_read_in_english(language: str, question: str) -> None:
    words = set(re.findall("[a-z]+", in_english([question])[0]))
    assert words & {"contract", "agreement", "deadline", "leave", "payment"}


def test_what_one_language_writes_in_several_words_is_one_english_word() -> None:
    assert in_english(["Hợp đồng có hiệu lực. Người lao", " động ký hợp đồng"])[1].endswith("contract")


_PARTS = st.one_of(st.text(st.characters(codec="utf-8"), max_size=40), st.sampled_from([*QUESTIONS.values()]))


@given(st.lists(_PARTS, min_size=1, max_size=5))
def test_pieces_stay_apart_and_what_is_no_letter_stays(pieces: list[str]) -> None:
    found = in_english(pieces)
    assert len(found) == len(pieces)
    for before, after in zip(pieces, found, strict=True):
        assert re.findall(r"\d", before) == re.findall(r"\d", after)


def test_a_word_the_model_cannot_read_is_left_out() -> None:
    assert words_in_english(["зарплатомер", "scrum", "contract"], "ru") == {"scrum": "scrum", "contract": "contract"}
    assert words_in_english(["工年", "overtime"], "") == {"overtime": "overtime"}
