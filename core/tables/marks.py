"""Places that are not named but shown: by the addresses on the net a text gives, and by its money.

The rows [net] and [money] of core/tables/jurisdictions.toml.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from core.errors import BadTable
from core.tables.jurisdictions import Place, built_in_jurisdictions, codes_of_states
from core.tables.loading import check_keys, table
from core.tables.starts import PatternFinder

__all__ = ["mark_finder", "marked_places"]

_ADDRESS = re.compile(r"(?P<lead>@|www\.|https?://(?:www\.)?)(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
_AS_COUNTRY = {"UK": "GB"}


def marked_places(text: str) -> Iterator[Place]:
    """The places shown, those of addresses first: "mail" and "site", then "money".

    >>> [(place.value, place.kind) for place in marked_places("Ask hr@example.org.uk or www.dir.ca.gov about £20.")]
    [('country:GB', 'mail'), ('state:CA', 'site'), ('country:GB', 'money')]
    """
    addresses, sums = mark_finder().find(text)
    for match in addresses:
        value = _place_of(match["host"].lower())
        if value:
            yield Place(value, match.start(), match.end(), "mail" if match["lead"] == "@" else "site")
    for match in sums:
        yield Place(_rows()["money"][match["sign"]], match.start(), match.end(), "money")


def _place_of(host: str) -> str | None:
    """The place whose people mostly use such an address, or None.

    >>> [_place_of(host) for host in ("hr.example.ie", "co.kitsap.wa.us", "texas.gov", "example.com", "www.va.gov")]
    ['country:IE', 'state:WA', 'state:TX', None, None]
    """
    *_, below, last = host.split(".")
    net = _rows()["net"]
    if last in ("gov", "us"):
        return None if f"{below}.{last}" in net["elsewhere"] else _states().get(below)
    code = _AS_COUNTRY.get(last.upper(), last.upper())
    value = f"country:{code}"
    return value if value in built_in_jurisdictions() and (last in net["alone"] or below in net["below"]) else None


@cache
def _states() -> Mapping[str, str]:
    """Code and name in one word, in small letters → the state."""
    codes = {code.lower(): f"state:{code}" for code in codes_of_states()}
    return codes | {built_in_jurisdictions()[value].lower().replace(" ", ""): value for value in codes.values()}


@cache
def mark_finder() -> PatternFinder:
    """Finds addresses by its first pattern and sums of money by its second. Raises BadTable."""
    signs = "|".join(re.escape(sign) for sign in sorted(_rows()["money"], key=len, reverse=True))
    return PatternFinder([_ADDRESS, re.compile(rf"(?<![^\W_])(?P<sign>{signs})[\s\u00a0]?\d")])


@cache
def _rows() -> Mapping[str, Any]:
    """[net] and [money]. Raises BadTable."""
    rows = table("jurisdictions")
    check_keys("jurisdictions", "net", rows["net"], ("alone", "below", "elsewhere"))
    for sign, value in rows["money"].items():
        if value not in built_in_jurisdictions():
            raise BadTable(f"core/tables/jurisdictions.toml: [money] {sign} says the unknown '{value}'.", "Correct it.")
    return {"net": rows["net"], "money": rows["money"]}
