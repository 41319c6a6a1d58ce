"""The types of documents: their titles, and what speaks for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.documents import Truth
from core.errors import BadTable
from core.tables.loading import check_keys, table
from core.tables.signs import Sign, signs_of

__all__ = ["DATA_TABLE", "SETUP_TABLE", "DocumentTypeRow", "document_type_title", "document_types"]

DATA_TABLE, SETUP_TABLE = "data_table", "setup_table"
_KEYS = ("label", "truths", "media", "titles", "signs")


@dataclass(frozen=True, slots=True)
class DocumentTypeRow:
    """label: its title. truths: what such documents mostly state. media: how their media type begins. titles: signs of
    a title or file name; signs: of the text."""

    label: str
    truths: tuple[Truth, ...]
    media: tuple[str, ...]
    titles: tuple[Sign, ...]
    signs: tuple[Sign, ...]


@cache
def document_types() -> Mapping[str, DocumentTypeRow]:
    """Every type's row, in table order, which decides a tie. Raises BadTable."""
    rows = table("document_types")
    for needed in (DATA_TABLE, SETUP_TABLE):
        if needed not in rows:
            raise BadTable(f"core/tables/document_types.toml: [{needed}] is missing.", "Add its table.")
    return {value: _row(value) for value in rows}


def _row(value: str) -> DocumentTypeRow:
    row = table("document_types")[value]
    check_keys("document_types", value, row, _KEYS)
    if not row.get("label"):
        raise BadTable(f"core/tables/document_types.toml: [{value}] label is missing.", "Add it.")
    unknown = set(row.get("truths", ())) - {truth.value for truth in Truth}
    if unknown:
        raise BadTable(f"core/tables/document_types.toml: [{value}] '{min(unknown)}' is no truth.", "Correct it.")
    return DocumentTypeRow(
        label=row["label"],
        truths=tuple(Truth(each) for each in row.get("truths", ())),
        media=tuple(row.get("media", ())),
        titles=signs_of("document_types", value, row.get("titles", [])),
        signs=signs_of("document_types", value, row.get("signs", [])),
    )


def document_type_title(value: str | None) -> str:
    """What a type is called; "" for None.

    >>> document_type_title("statement_of_work"), document_type_title(None)
    ('Statement of work', '')
    """
    known = document_types().get(value or "")
    return known.label if known is not None else (value or "")
