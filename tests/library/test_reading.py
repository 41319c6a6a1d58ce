"""Reading a document: its parts, what is found in it, and what is marked."""

from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Passage, Span
from core.domain.extraction import BlockKind
from core.library.reading.reading_parts import Part, outline, part_at, parts
from core.library.reading.text_blocks import blocks
from core.library.reading.text_marks import Mark, MarkKind, cited_mark, find_words, hit_marks, marked_texts

WORDS = st.text("abX. é\n", max_size=60)


@given(WORDS, st.text("abX.é", min_size=1, max_size=3))
def test_as_much_is_found_as_a_plain_count_says(text: str, words: str) -> None:
    assert len(find_words(text, words)) == text.lower().count(words.lower())


@given(st.text(max_size=80), st.text(max_size=5))
def test_any_words_can_be_looked_for_and_what_is_found_reads_like_them(text: str, words: str) -> None:
    for span in find_words(text, words):
        assert span.end > span.start
        assert len(span.of(text).split()) == len(words.replace("\0", " ").split())


def test_signs_are_looked_for_as_they_are_and_blanks_find_nothing() -> None:
    assert find_words("A (b) [c] \\d 7", "(b) [c]") == [Span(2, 9)]
    assert find_words("seven 7", r"\d") == []
    assert find_words("a b", " \0 ") == []


def test_a_line_break_inside_the_words_is_no_hindrance_nor_is_their_direction() -> None:
    assert find_words("over\ntime is paid", "OVER time") == [Span(0, 9)]
    hebrew = "שעות נוספות\nישולמו"
    assert [span.of(hebrew) for span in find_words(hebrew, "נוספות ישולמו")] == ["נוספות\nישולמו"]


@given(st.dictionaries(st.integers(1, 4), WORDS), st.integers(1, 20))
def test_the_parts_of_a_text_together_are_the_text(texts: dict[int, str], most: int) -> None:
    found = parts(texts, paged=False, most=most)
    for number, text in texts.items():
        assert "".join(text[part.start : part.end] for part in found if part.page == number) == text
    assert all(part.end - part.start <= most for part in found)


def test_the_pages_of_a_paged_document_stay_whole() -> None:
    assert parts({1: "x" * 90_000, 2: ""}, paged=True) == [Part(1, 0, 90_000), Part(2, 0, 0)]


@given(st.integers(0, 59))
def test_every_place_is_in_the_part_that_shows_it(at: int) -> None:
    found = parts({1: "word " * 12}, paged=False, most=11)
    part = found[part_at(found, 1, at)]
    assert part.start <= at < part.end


@given(WORDS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
def test_marks_cut_a_text_and_lose_none_of_it(text: str, spans: list[tuple[int, int]]) -> None:
    marks = [Mark(1, min(span), max(span), MarkKind.NOTE) for span in spans]
    runs = marked_texts(text, 0, len(text), marks)
    assert "".join(run.text for run in runs) == text
    marked = sum(len(run.text) for run in runs if run.mark)
    assert marked == len({at for mark in marks for at in range(mark.start, mark.end) if at < len(text)})


def test_where_marks_overlap_the_hit_shows_and_the_current_one_is_known() -> None:
    note, hit = Mark(1, 0, 11, MarkKind.NOTE), Mark(1, 4, 7, MarkKind.HIT)
    runs = marked_texts("The cat sat", 0, 11, [note, hit], current=note)
    assert [(run.text, run.mark, run.current) for run in runs] == [
        ("The ", note, True),
        ("cat", hit, True),
        (" sat", note, True),
    ]


def test_hits_are_counted_over_all_pages_in_reading_order() -> None:
    found = hit_marks({2: "Pay pay", 1: "No pay"}, "pay")
    assert [(mark.page, mark.start) for mark in found] == [(1, 3), (2, 0), (2, 4)]


def test_a_citation_marks_its_sentence_and_a_passage_all_of_it() -> None:
    passage = Passage("One. Two.", 3, 100, 109, (Span(0, 4), Span(5, 9)))
    assert cited_mark(passage, 1) == Mark(3, 105, 109, MarkKind.CITED, "Cited sentence")
    assert cited_mark(passage, None) == Mark(3, 100, 109, MarkKind.CITED, "Cited passage")


def test_lines_of_a_table_file_become_rows_under_its_columns() -> None:
    text = "id: 7; name: Ann; Lee; note: a: b\nA remark"
    row, remark = blocks(text, 0, len(text), records=True)
    assert row.columns == ("id", "name", "note")
    assert [cell.of(text) for cell in row.cells] == ["7", "Ann; Lee", "a: b"]
    assert remark.kind is BlockKind.PARAGRAPH


def test_the_outline_names_each_section_where_it_begins() -> None:
    passages = [
        Passage("", 1, start, start + 9, (), position=at, section=section)
        for at, (start, section) in enumerate([(0, "Pay"), (10, "Pay › Breaks"), (20, "Pay › Breaks"), (30, "")])
    ]
    assert [(each.title, each.level, each.start) for each in outline(passages)] == [("Pay", 0, 0), ("Breaks", 1, 10)]
