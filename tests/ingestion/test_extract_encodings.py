"""Text in any encoding: what was written is what is read, and what was guessed is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import BadFile
from core.ingestion.parsers import extract
from core.ingestion.parsers.text_cleaning import decoded

WRITTEN = {
    "german": "Überstunden müssen bezahlt werden; für Ämter und Behörden gilt das gleichermaßen, „ohne Ausnahme“.",
    "french": "Les employés à temps partiel ont droit à des congés après une année, même s’ils n’ont pas travaillé.",
    "spanish": "Los niños y las niñas tienen derecho a vacaciones; el año pasado la compañía pagó más.",
    "polish": "Pracownicy nabywają prawo do urlopu w każdym miesiącu; przechodzi na następny rok, chyba że się umówią.",
    "czech": "Zaměstnanci mají nárok na dovolenou; nevyčerpaná se převádí, není-li dohodnuto jinak, žádost však podej.",
    "russian": "Работники имеют право на отпуск каждый год; неиспользованный отпуск переносится на следующий год.",
    "greek": "Οι εργαζόμενοι δικαιούνται άδεια κάθε χρόνο· η άδεια που δεν λαμβάνεται μεταφέρεται στο επόμενο έτος.",
    "turkish": "Çalışanlar her ay izin kazanır; kullanılmayan izin gelecek yıla devredilir. Şef onaylamalıdır.",
    "hebrew": "העובדים זכאים לחופשה בכל חודש; חופשה שלא נוצלה עוברת לשנה הבאה.",
    "arabic": "يحق للموظفين الحصول على إجازة كل شهر، وتنتقل الإجازة غير المستخدمة إلى السنة التالية.",
    "japanese": "従業員は毎月有給休暇を取得します。残った休暇は翌年に繰り越されます。上司の承認が必要です。",
    "chinese": "员工每月累积带薪休假。未使用的假期可以结转到下一年。必须经主管批准。",
    "taiwanese": "員工每月累積帶薪休假。未使用的假期可以結轉到下一年。必須經主管批准。",
    "korean": "직원은 매달 유급 휴가를 받습니다. 사용하지 않은 휴가는 다음 해로 이월됩니다.",
}
UNICODE = "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32"
ENCODINGS = {
    "german": "cp1252 mac_roman cp850",
    "french": "cp1252 iso8859-1",
    "spanish": "cp1252 iso8859-1 iso8859-15",
    "polish": "cp1250 iso8859-2",
    "czech": "cp1250 iso8859-2",
    "russian": "cp1251 koi8-r iso8859-5",
    "greek": "cp1253 iso8859-7",
    "turkish": "cp1254 iso8859-9",
    "hebrew": "cp1255",
    "arabic": "cp1256",
    "japanese": "shift_jis cp932 euc_jp iso2022_jp",
    "chinese": "gb18030 gbk",
    "taiwanese": "big5",
    "korean": "euc_kr cp949",
}
CASES = [(language, encoding) for language, some in ENCODINGS.items() for encoding in f"{some} {UNICODE}".split()]


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_text_is_read_as_it_was_written(language: str, encoding: str) -> None:
    text = WRITTEN[language]
    if encoding in {"cp850", "mac_roman", "iso8859-1"}:
        text = text.replace("„", "").replace("“", "").replace("’", "'")
    if encoding == "iso8859-7":
        text = text.replace("·", ";")
    extracted = extract("note.txt", f"{text}\n".encode(encoding))
    assert extracted.pages[0].text == text
    pictographs = language in {"japanese", "chinese", "taiwanese", "korean"} and encoding in {"utf-16-le", "utf-16-be"}
    if not pictographs:
        assert (extracted.warnings == ()) is (encoding in UNICODE.split() or encoding == "iso2022_jp")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff")))
def test_utf_8_always_comes_back_letter_for_letter_without_a_doubt(text: str) -> None:
    assert decoded("a.txt", text.encode()) == (text, "")


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_are_text_or_a_clear_error(data: bytes) -> None:
    try:
        text, _ = decoded("a.txt", data)
    except BadFile as error:
        assert "a.txt" in error.message
    else:
        assert isinstance(text, str)


def test_what_a_page_states_of_its_encoding_is_believed_when_it_fits() -> None:
    page = f'<html><head><meta charset="windows-1251"></head><body><p>{WRITTEN["russian"][:30]}</p></body></html>'
    extracted = extract("a.html", page.encode("cp1251"))
    assert (extracted.pages[0].text, extracted.warnings) == (WRITTEN["russian"][:30], ())
    assert extract("b.html", page.encode()).pages[0].text == WRITTEN["russian"][:30]


SIGNS = "Leave of 10–20 days; fee €500. The employer’s “policy”."
WIDER = [
    ("iso-8859-1", "cp1252", SIGNS),
    ("us-ascii", "cp1252", SIGNS),
    ("Latin1", "cp1252", SIGNS),
    ("iso-8859-9", "cp1254", SIGNS + " İş Şef"),
    ("gb2312", "gb18030", "朱镕基员工"),
    ("shift_jis", "cp932", "①髙橋"),
    ("euc-kr", "cp949", "똠방각하"),
]


@pytest.mark.parametrize(("label", "encoding", "text"), WIDER)
def test_a_stated_standard_stands_for_its_windows_superset(label: str, encoding: str, text: str) -> None:
    page = f'<meta charset="{label}"><p>{text}</p>'.encode(encoding)
    feed = f'<?xml version="1.0" encoding="{label}"?><l><p>{text}</p></l>'.encode(encoding)
    mail = f"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset={label}\n\n{text}\n".encode(encoding)
    for name, data in (("a.html", page), ("a.xml", feed), ("a.eml", mail)):
        extracted = extract(name, data)
        assert (extracted.pages[0].text.split("\n")[-1], extracted.warnings) == (text, ())


def test_xml_in_an_encoding_that_it_does_not_state_is_read_with_a_warning() -> None:
    extracted = extract("a.xml", f"<l><p>{WRITTEN['german']}</p></l>".encode("cp1252"))
    assert extracted.pages[0].text == WRITTEN["german"]
    assert extracted.warnings[0].startswith("The encoding was guessed: cp1252.")


def test_windows_signs_as_character_references_and_in_mail_fields_are_kept() -> None:
    assert extract("a.xml", b"<l><p>Fee &#128;5, 1&#150;2 days</p></l>").pages[0].text == "Fee €5, 1–2 days"
    mail = b"From: a@b.c\nSubject: =?iso-8859-1?Q?2019=962021?=\n\nLeave is paid.\n"
    assert extract("a.eml", mail).title == "2019–2021"


def test_letters_pasted_in_another_encoding_do_not_spoil_the_rest() -> None:
    data = WRITTEN["german"].encode() * 3 + "\nCafé".encode("cp1252")
    extracted = extract("note.txt", data)
    assert extracted.pages[0].text == WRITTEN["german"] * 3 + "\nCafé"
    assert extracted.warnings[0].startswith("The text holds 1 letter that is not in its encoding (UTF-8).")
