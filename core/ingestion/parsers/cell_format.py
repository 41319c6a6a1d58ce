"""Numbers as a sheet shows them: with leading zeros, percent and currency signs, but never rounded."""

import re
from functools import lru_cache

from core.ingestion.table_typing.columns import is_currency

__all__ = ["number_text", "plain_number"]

_TOKEN = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|(\[[^\]]*\]|[_*].)|([0#?][0#?.,]*)|(%)|([ ()/$€£¥-])|(.)')
"""Of a number format (ECMA-376 18.8.31): quoted, escaped, currency, no width, digits, percent, plain, other."""


_EXACT = 1e15  # Excel keeps 15 digits.


def plain_number(value: float) -> str:
    """
    >>> plain_number(3.0), plain_number(0.1 + 0.2), plain_number(12)
    ('3', '0.3', '12')
    """
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT else f"{value:.15g}"


def number_text(value: float, number_format: str) -> str:
    """A number with what its format adds: leading zeros, percent, a currency sign. Keeps all its digits.

    >>> number_text(123, "00000"), number_text(123456789, "000-00-0000"), number_text(0.055, "0%")
    ('00123', '123-45-6789', '5.5%')
    >>> number_text(1234.5, '#,##0.00 "€"'), number_text(-5, '_("$"* #,##0.00_);_("$"* (#,##0.00)')
    ('1234.50 €', '-$5.00')
    >>> number_text(1234.5, "#,##0.00"), number_text(5, '0 "kg"'), number_text(0.5, "# ?/?"), number_text(7, "General")
    ('1234.5', '5', '0.5', '7')
    """
    if abs(value) >= _EXACT:
        return plain_number(value)
    before, digits, after, template, percent = _parts(number_format)
    if template and float(value).is_integer():
        return f"{'-' if value < 0 else ''}{_filled(template, str(abs(int(value))))}"
    if percent:
        return f"{plain_number(float(f'{value * 100:.15g}'))}%"
    if not is_currency(before.strip() or after.strip()):
        return plain_number(value)
    decimals = len(digits.rstrip(",").partition(".")[2])
    amount = f"{abs(value):.{decimals}f}" if round(value, decimals) == value else plain_number(abs(value))
    return f"{'-' if value < 0 else ''}{before.lstrip()}{amount}{after.rstrip()}"


@lru_cache(512)
def _parts(number_format: str) -> tuple[str, str, str, str, bool]:
    """Text before the digits, the digits, text after them; the format if its digits are all zeros, at least two;
    whether it is a percentage. All empty for dates, fractions, powers and formats of no number."""
    before = digits = after = template = ""
    percent = False
    for match in _TOKEN.finditer(number_format.split(";")[0]):
        quoted, escaped, currency, _, number, percentage, plain, other = match.groups()
        if other or (number and digits and "." in number):
            return "", "", "", "", False
        text = quoted or escaped or currency or plain or percentage or ""
        percent = percent or bool(percentage)
        digits += number or ""
        before, after = (before, after + text) if digits else (before + text, after)
        template += number or text.replace("0", "")
    zeros = digits.strip("0") == "" and len(digits) > 1 and not percent
    return before, digits, after, template if zeros else "", percent


def _filled(template: str, digits: str) -> str:
    """
    >>> _filled("000-00", "1234567"), _filled("(000) 00", "12")
    ('12345-67', '(000) 12')
    """
    digits = digits.zfill(template.count("0"))
    first, at = template.index("0"), len(digits)
    filled = ""
    for sign in reversed(template[first + 1 :]):
        at -= sign == "0"
        filled = (digits[at] if sign == "0" else sign) + filled
    return f"{template[:first]}{digits[:at]}{filled}"
