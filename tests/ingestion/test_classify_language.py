"""The language of a text is one whose names of months and places are known, or none."""

from dataclasses import replace

import pytest

from core.domain.documents import Label, Page
from core.ingestion.classification.language import language_label
from core.ingestion.classification.sample import read_for_classifying
from core.knowledge.languages import is_native, is_other_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Employees ask their manager before they travel on business.", "en"),
        ("Die Mitarbeiter fragen vor jeder Reise ihre Vorgesetzten.", "de"),
        # the detector knows Pidgin and Wu, too
        ("Oya make una come chop, we dey house, wetin dey happen for this matter abeg", "en"),
        ("今朝阿拉一道去白相,伊讲闲话蛮好听额,侬晓得伐。今朝阿拉一道去白相,伊讲闲话蛮好听额", "zh"),
        ("id: 0001; x: 12; y: 33; qty: 4; sku: AB-12-XZ; id: 0002; x: 13; y: 30; qty: 1; sku: AB-19-XZ", None),
        ("too short", None),
    ],
)
def test_a_text_has_a_language_of_two_letters_or_none(text: str, language: str | None) -> None:
    label = language_label(read_for_classifying("document.txt", "", [Page(1, text)], {}))
    assert label.value == language
    assert bool(label.reason) == (language is None)


def test_only_a_clear_label_is_of_another_language() -> None:
    german = Label("de", 0.99, "nl", 0.01)
    assert is_other_language(german, "en") and not is_other_language(german, "de")
    assert not is_other_language(german, ""), "the language of the question is not known"
    assert not is_other_language(replace(german, probability=0.6), "en")
    assert not is_other_language(Label(), "de")
    assert not is_other_language(Label("nn", 0.99), "no") and not is_other_language(Label("sr", 0.99), "hr")


def test_a_table_of_codes_is_read_like_english() -> None:
    codes = "id: 0001; x: 12; y: 33; qty: 4; sku: AB-12-XZ; id: 0002; x: 13; y: 30; qty: 1; sku: AB-19-XZ"
    assert is_native(language_label(read_for_classifying("stock.csv", "", [Page(1, codes)], {})))
