"""Topics as people type and save them."""

import pytest

from core.coverage.topics import check_topics, topics_from_csv, topics_from_lines
from core.domain.errors import BadRequest


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("minimum wage\novertime", ("minimum wage", "overtime")),
        ("- minimum wage\n* overtime\n• gifts", ("minimum wage", "overtime", "gifts")),
        ("1. minimum wage\n2) overtime", ("minimum wage", "overtime")),
        ("2024 mileage rate\n401k match", ("2024 mileage rate", "401k match")),
        ("\n  minimum   wage \n\nMINIMUM WAGE\n", ("minimum wage",)),
    ],
)
def test_each_line_is_a_topic_once(text: str, topics: tuple[str, ...]) -> None:
    assert topics_from_lines(text) == topics


@pytest.mark.parametrize(
    ("data", "topics"),
    [
        (b"minimum wage\novertime\n", ("minimum wage", "overtime")),
        (b"id,Topic,owner\n1,minimum wage,Ann\n2,overtime,Bo\n", ("minimum wage", "overtime")),
        (b"\xef\xbb\xbftopic\r\nminimum wage\r\n", ("minimum wage",)),
        (b"nr;topic\n1;leave, paid\n", ("leave, paid",)),
        ("topic\nRückstellung\n".encode("cp1252"), ("Rückstellung",)),
        (b'topic\n"leave, paid"\n\n', ("leave, paid",)),
    ],
)
def test_a_csv_gives_its_topic_column_or_else_its_first(data: bytes, topics: tuple[str, ...]) -> None:
    assert topics_from_csv(data, "topics.csv") == topics


@pytest.mark.parametrize("data", [b"", b"\n\n", b"topic\n"])
def test_a_csv_without_topics_says_so(data: bytes) -> None:
    with pytest.raises(BadRequest):
        topics_from_csv(data, "topics.csv")


def test_an_error_names_the_line_and_the_file() -> None:
    with pytest.raises(BadRequest, match=r"Line 3 of 'topics\.csv' is not a topic: '---'"):
        topics_from_csv(b"topic\nminimum wage\n---\n", "topics.csv")
    with pytest.raises(BadRequest, match=r"Line 2 is too long"):
        topics_from_lines(f"minimum wage\n{'very ' * 100}long")


def test_no_topic_is_an_error() -> None:
    with pytest.raises(BadRequest, match="no topic"):
        check_topics([" "])
