"""Sentence borders: a table of texts, and the law that spans are exact and lose nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text.sentences import _segmenter, sentences

CASES: list[tuple[str, list[str]]] = [
    ("", []),
    ("word", ["word"]),
    ("Dr. Smith paid $3.50. See e.g. IRS Pub. 15-A.", ["Dr. Smith paid $3.50.", "See e.g. IRS Pub. 15-A."]),
    (
        "Under 26 U.S.C. 3306(b)(1) it is exempt. It applies.",
        ["Under 26 U.S.C. 3306(b)(1) it is exempt.", "It applies."],
    ),
    ("See 29 C.F.R. § 541.600. It sets the rate.", ["See 29 C.F.R. § 541.600.", "It sets the rate."]),
    ("The rate is 6.2%. See Sec. 3 and No. 4.", ["The rate is 6.2%.", "See Sec. 3 and No. 4."]),
    ("It ended at 5 p.m. The next began.", ["It ended at 5 p.m.", "The next began."]),
    ("He lives in the U.S. The law applies.", ["He lives in the U.S.", "The law applies."]),
    ("Er verfällt am 31. März. Die Frist endet.", ["Er verfällt am 31. März.", "Die Frist endet."]),
    ("Es gilt ab 1. August 2024. Es endet.", ["Es gilt ab 1. August 2024.", "Es endet."]),
    ("It was paid on day 15. August pay comes later.", ["It was paid on day 15.", "August pay comes later."]),
    ("Es gilt z. B. der 1. Januar. Es endet.", ["Es gilt z. B. der 1. Januar.", "Es endet."]),
    ("Die Frist i. d. R. endet. Es war am 12. 3. 2021 so.", ["Die Frist i. d. R. endet.", "Es war am 12. 3. 2021 so."]),
    ("Der 15. Tag zählt. Es endet.", ["Der 15. Tag zählt.", "Es endet."]),
    (
        "They took the bus. 3 left. See page 15. The next.",
        ["They took the bus.", "3 left.", "See page 15.", "The next."],
    ),
    ("It weighs 5 kg. 3 of them fit.", ["It weighs 5 kg.", "3 of them fit."]),
    ("Selon l'art. 5 de la loi. Il vaut.", ["Selon l'art. 5 de la loi.", "Il vaut."]),
    ("Real Decreto núm. 5, el Sr. Ruiz firma. Vale.", ["Real Decreto núm. 5, el Sr. Ruiz firma.", "Vale."]),
    ("Zgodnie z art. 5 ust. 2 ustawy. Koniec.", ["Zgodnie z art. 5 ust. 2 ustawy.", "Koniec."]),
    ("Under the Act and para. 3 below. It ends.", ["Under the Act and para. 3 below.", "It ends."]),
    ("Entre as partes,\no empregador paga. Fim.", ["Entre as partes,\no empregador paga.", "Fim."]),
    ("We need:\no a form\no a date", ["We need:", "o a form", "o a date"]),
    ("员工说：“同意。”年假为五天。\n他去。", ["员工说：“同意。”", "年假为五天。", "他去。"]),
    ("他说：『「我同意。」』然后走了。", ["他说：『「我同意。」』", "然后走了。"]),
    ("「はい。」と言った。次。", ["「はい。」と言った。", "次。"]),
    ("本当ですか？！はい。（注意。）", ["本当ですか？！", "はい。", "（注意。）"]),
    ("वेतन मासिक है। छुट्टी पाँच दिन।", ["वेतन मासिक है।", "छुट्टी पाँच दिन।"]),
    ("ما هي المدة؟ شهر واحد.", ["ما هي المدة؟", "شهر واحد."]),
    ("Is it paid? Yes! Always.", ["Is it paid?", "Yes!", "Always."]),
    ("1. Ask early. 2. Wait.", ["1. Ask early.", "2. Wait."]),
    ("We need:\n- a form\n- a date. And more.", ["We need:", "- a form", "- a date.", "And more."]),
    ("One paragraph\n\nAnother one", ["One paragraph", "Another one"]),
    ("A line\nthat goes on. Then\nmore.", ["A line\nthat goes on.", "Then\nmore."]),
    ("| Record | Kept |\n|---|:---|\n| Payroll | 7 years |", ["| Record | Kept |", "| Payroll | 7 years |"]),
    ("Above\n\n=======\n\nBelow", ["Above", "Below"]),
    ("Acme Inc. pays. Mr. J. Doe signs.", ["Acme Inc. pays.", "Mr. J. Doe signs."]),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:30] for text, _ in CASES])
def test_sentences_are_cut_where_a_reader_would(text: str, expected: list[str]) -> None:
    assert [span.of(text) for span in sentences(text)] == expected


def test_the_shared_cases_hold(shared: Path) -> None:
    for case in json.loads((shared / "cases" / "cases.json").read_text("utf-8"))["sentences"]:
        found = [span.of(case["text"]) for span in sentences(case["text"])]
        if case["sentences"] is not None:
            assert found == case["sentences"]
        if case["ids"] is not None:
            assert len(found) == len(case["ids"])


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("aB1 .?!:;\n\t-•()\"'é$§&#|中🧾"), max_size=300))
def test_spans_are_in_order_and_hold_everything_but_drawn_lines(text: str) -> None:
    spans = sentences(text)
    position = 0
    for span in spans:
        assert position <= span.start < span.end
        assert set(text[position : span.start]) <= set("|-: \n\t")
        assert span.of(text) == span.of(text).strip()
        position = span.end
    assert set(text[position:]) <= set("|-: \n\t")


def test_a_wall_of_text_without_a_stop_is_cut_into_bounded_pieces() -> None:
    spans = sentences("word " * 5_000)
    assert max(span.end - span.start for span in spans) <= 2_000


_PIECES = (
    "Pay is due. ",
    "Pay",
    " ",
    "  ",
    "(a) ",
    "e.g. ",
    "No. 5",
    "? ",
    '."',
    "…",
    "\u00a0",
    "Dr. Lee ",
    "A. B. ",
    "1. ",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_sentences_are_located_as_pysbd_itself_locates_them(text: str) -> None:
    import pysbd

    assert _segmenter().segment(text) == pysbd.Segmenter(language="en", clean=False).segment(text)
