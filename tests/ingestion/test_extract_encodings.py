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


TABLES = [
    ("Konto;Betrag\nGehälter Büro;12,50\nReise für Müller;3,10\nMiete;4\n", "cp1252 iso8859-1"),
    ("Konto;Betrag\nGehälter Büro;12,50 €\nReise für Müller;3,10 €\nMiete;4 €\n", "cp1252 iso8859-15"),
    ("Client;Montant\n" + "".join(f"Société Générale; {pay},50 €\n" for pay in range(30)), "cp1252 iso8859-15"),
    ("Concepto;Año;Importe\nPeña Núñez;2020;1.200,50 €\nCompañía;2021;3.400,10 €\nSeñal;2022;12 €\n", "cp1252"),
    ("Konto;Beløb\nLønninger;12,50\nKørsel på Ærø;3,10\nFødevarer;4\n", "cp1252 cp850"),
    ("Item,Cost\nCafé – lunch,£12.50\nThe employer’s “policy”,€3.10\nRésumé review,£4\n", "cp1252"),
    ("Temperature 20°C ±2; ½ day; §4 applies\n", "cp1252"),
    ("Konto;Belopp\nLöner för anställda;12,50\nHyra på Åvägen;3,10\nKött och bröd;4\n", "cp1252 cp850 cp437"),
    ("Libellé;Débit\nSalaires employés;1 200,50\nFrais généraux;5\nPrêt;7\n", "cp1252 cp850 mac_roman"),
    ("Název;Částka\nMzdy zaměstnanců;12,50 Kč\nNájem kanceláře;3,10 Kč\n", "cp1250 iso8859-2 cp852"),
    ("Naziv;Iznos\nPlaće zaposlenika;12,50\nTroškovi prijevoza;3,10\nUredski čišćenje;4\n", "cp1250 iso8859-2 cp852"),
    ("Pavadinimas;Suma\nDarbuotojų atlyginimai;12,50\nPatalpų šildymas;3,10\nKelionės išlaidos;4\n", "cp1257 cp775"),
    ("Nosaukums;Summa\nDarbinieku algas mēnesī;12,50\nTelpu īre;3,10\nCeļa izdevumi, gaļa;4\n", "cp1257 cp775"),
    ("Açıklama;Tutar\nÇalışan maaşları;12,50\nOfis kirası ve ısıtma;3,10\nİstanbul, Şubat;4\n", "cp1254 cp857"),
]


@pytest.mark.parametrize(("text", "encoding"), [(text, encoding) for text, some in TABLES for encoding in some.split()])
def test_a_table_in_an_encoding_of_windows_or_dos_is_read_as_it_was_written(text: str, encoding: str) -> None:
    got, warning = decoded("a.csv", text.encode(encoding))
    assert got == text
    assert warning.startswith("The encoding was guessed: ")


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
