"""Which stored passages say a phrase, asked of PostgreSQL by regular expressions.

What counts as a letter depends on the database's locale, so PostgreSQL is asked two questions that do not: where the
phrase stands between blanks and punctuation of the plain kind, it surely does; where its words stand in a row with
anything but plain letters and digits between them, it may. Texts of the second kind only – few – are read here.
"""

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, and_, any_, case, cast, null, select
from sqlalchemy.dialects.postgresql import ARRAY

from core.ports import PassageIds
from core.said import letter_classes, said_words, says
from storage.database import Database
from storage.models import CHUNKS

__all__ = ["saying"]

_BATCH = 50_000  # passages asked about at a time
_MOST_WORDS = 24  # of a phrase that PostgreSQL compares; the rest of a longer one is compared here
_LETTERS = string.ascii_letters + string.digits
_BETWEEN = "]" + " \t\n\r\f\v!\"#$%&'()*+,./:;<=>?@_`{|}~–—‘’“”…•·«»\u00a0" + "\\\\^[-"
_SURELY, _MAYBE = (rf"[{_BETWEEN}", "]"), (rf"[^{_LETTERS}", "]")


def saying(database: Database, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
    """Those of the passages whose text holds each phrase (core.said.says), ascending."""
    worded = [phrase for phrase in phrases if said_words(phrase)]
    if not worded or not len(passage_ids):
        return passage_ids
    found: list[int] = []
    with database.transaction("looking for phrases") as connection:
        for start in range(0, len(passage_ids), _BATCH):
            query = _query(database.tenant, passage_ids[start : start + _BATCH].tolist(), worded)
            found += [row[0] for row in connection.execute(query) if row[1] is None or says(row[1], worded)]
    return np.array(sorted(found), dtype=np.int64)


def _query(tenant: str, ids: list[int], phrases: Sequence[str]) -> Any:
    """(id, NULL) of those that surely say it, (id, text) of those that may."""
    long = any(len(said_words(phrase)) > _MOST_WORDS for phrase in phrases)
    surely = and_(*(CHUNKS.c.text.regexp_match(_pattern(phrase, *_SURELY)) for phrase in phrases))
    maybe = and_(*(CHUNKS.c.text.regexp_match(_pattern(phrase, *_MAYBE)) for phrase in phrases))
    doubtful = CHUNKS.c.text if long else case((surely, null()), else_=CHUNKS.c.text)
    among = CHUNKS.c.id == any_(cast(ids, ARRAY(BigInteger)))
    return select(CHUNKS.c.id, doubtful).where(CHUNKS.c.tenant_id == tenant, among, maybe)


def _pattern(phrase: str, opening: str, closing: str) -> str:
    border = opening + closing
    words = said_words(phrase)[:_MOST_WORDS]
    return rf"(^|{border})" + f"{border}+".join(letter_classes(word) for word in words) + rf"({border}|$)"
