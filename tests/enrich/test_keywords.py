"""Keywords: names of things, each once, readable, without the furniture of a document."""

import pytest

from core.domain.errors import BadTable, ModelUnavailable
from core.knowledge import enrichment as table
from core.library.enrichment.keywords import find_keywords
from core.library.enrichment.store import edited
from core.library.enrichment.values import Keywords
from tests.enrich.reading import POLICY, document_of, passages_of, read
from tests.search.library import WordEmbedder

FERRY = """# NIGHT FERRY SERVICE

The night ferry runs between Port Ellen and the mainland. Each night ferry carries forty passengers.
Passengers of the night ferry must hold a boarding pass. A boarding pass is valid for one crossing.
See table 3 on page 7 of the following section. The harbour master checks every boarding pass.
The harbour master may refuse a passenger. In bad weather the harbour master cancels the crossing.
GPS trackers show where the ferry is. The GPS trackers are checked by the harbour master.
"""


def words_of(text: str, **more: str) -> list[str]:
    return list(find_keywords(read(text, **more), WordEmbedder().embed).words)


def test_they_name_what_is_spoken_of_and_no_furniture() -> None:
    words = words_of(FERRY, title="Night ferry service")
    assert {"harbour master", "boarding pass"} <= set(words)
    folded = " ".join(words).casefold()
    assert not [
        each for each in ("table", "page", "section", "following", "must", "see") if f" {each} " in f" {folded} "
    ]


def test_none_says_another_again_and_capitals_are_those_of_the_text() -> None:
    words = words_of(FERRY, title="Night ferry service")
    assert len([each for each in words if "pass" in each]) == 1
    assert "GPS trackers" in words and not [each for each in words if each.isupper() and " " in each]


def test_five_to_ten_are_found_in_a_text_of_some_length() -> None:
    assert 5 <= len(words_of(POLICY + FERRY, title="Leave and ferries")) <= 10


def test_the_model_is_asked_once_for_few_texts() -> None:
    requests: list[int] = []

    def embed(texts):  # type: ignore[no-untyped-def]
        requests.append(len(texts))
        return WordEmbedder().embed(texts)

    find_keywords(read((POLICY + FERRY) * 3), embed)
    assert len(requests) == 1 and requests[0] <= 61


def test_without_the_model_it_fails_instead_of_guessing() -> None:
    with pytest.raises(ModelUnavailable):
        find_keywords(read(FERRY), WordEmbedder(broken=True).embed)


def test_the_columns_of_a_table_are_its_keywords() -> None:
    from dataclasses import replace

    from core.library.enrichment.document_reader import reading_of

    row = "employee_id: 7; hire_date: 2024-01-31; Pay rate: 20"
    (passage,) = passages_of(row)
    reading = reading_of(document_of(), [replace(passage, rows=(1, 1))])
    assert find_keywords(reading, WordEmbedder().embed).words == ("employee id", "hire date", "Pay rate")


def test_a_result_without_an_edit_is_shown_as_it_was_found() -> None:
    assert edited(Keywords(("a",)), None) == Keywords(("a",))


def test_a_missing_list_of_words_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "table", lambda name: {"outside": ["a"]})
    table.keyword_words.cache_clear()
    with pytest.raises(BadTable, match="'endings' is missing"):
        table.keyword_words()
    table.keyword_words.cache_clear()
