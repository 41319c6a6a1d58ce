"""Typed cells as a reader would write them."""

from datetime import date, datetime, time

from core.ingest.extract.clean import clean

__all__ = ["shown"]


def shown(value: object) -> str:
    """A cell as a reader would write it: ISO dates, whole numbers without '.0'."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case bytes():
            return value.hex()
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.replace(tzinfo=None).isoformat(" ", "seconds")
        case date() | time():
            return value.isoformat()
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
        case _:
            return clean(str(value)).strip()
