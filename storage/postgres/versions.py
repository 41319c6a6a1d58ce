"""Document signatures, duplicate pairs and version decisions in PostgreSQL."""
# More than 300 lines: four tables and their queries are one port.

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import (
    CheckConstraint,
    Connection,
    ForeignKeyConstraint,
    Index,
    Integer,
    delete,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.library.duplicates.minhash import NEAR_DUPLICATE, buckets
from core.library.versions.store import DuplicatePair, Signature, VersionDecision, VersionVerdict, outdated_decision
from storage.postgres.database import Database, array_literal
from storage.postgres.documents import DOCUMENTS, lock_documents
from storage.postgres.json_records import JsonRecords, any_of, insert_row, to_json, upsert
from storage.postgres.tables import BY_DOCUMENT, Base, JsonValue, allow, id_column, of_document, of_tenant, table_of

__all__ = [
    "BUCKETS",
    "PAIRS",
    "SIGNATURES",
    "VERSION_DECISIONS",
    "BucketRow",
    "PairRow",
    "SignatureRow",
    "SqlSignatureStore",
    "VersionDecisionRow",
]

_OF_SIGNATURE = ("signatures.tenant_id", "signatures.document_id")
_KEYS = ("name_key", "title_key", "url")
_NEWEST = 25  # of the documents that share a bucket or a key. Chosen by hand.


class SignatureRow(Base):
    """One document's MinHash signature. minima: 128 unsigned 32-bit numbers, little-endian."""

    __tablename__ = "signatures"
    __table_args__ = (
        of_document(),
        *(
            Index(f"signatures_by_{key}", "tenant_id", key, "document_id", postgresql_where=text(f"{key} <> ''"))
            for key in _KEYS
        ),
        allow("SELECT, INSERT, UPDATE (triples, minima, name_key, title_key, url), DELETE", seen=BY_DOCUMENT),
    )

    document_id: Mapped[int] = mapped_column(primary_key=True)
    triples: Mapped[int] = mapped_column(Integer())
    minima: Mapped[bytes]
    name_key: Mapped[str]
    title_key: Mapped[str]
    url: Mapped[str]


class BucketRow(Base):
    """One LSH bucket of a document. One row each, because row-level security prevents the use of indexes on arrays."""

    __tablename__ = "signature_buckets"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], _OF_SIGNATURE, ondelete="CASCADE"),
        Index("signature_buckets_of_document", "tenant_id", "document_id"),
        allow("SELECT, INSERT, DELETE", seen=BY_DOCUMENT),
    )

    bucket: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)


class PairRow(Base):
    """Two similar documents; the lower id first."""

    __tablename__ = "document_pairs"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "first"], _OF_SIGNATURE, ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "second"], _OF_SIGNATURE, ondelete="CASCADE"),
        CheckConstraint("first < second", name="document_pairs_in_order"),
        Index("document_pairs_of_second", "tenant_id", "second"),
        allow(
            "SELECT, INSERT, UPDATE (same, first_kept, second_kept, suggested), DELETE",
            seen="first IN (SELECT id FROM documents) AND second IN (SELECT id FROM documents)",
        ),
    )

    first: Mapped[int] = mapped_column(primary_key=True)
    second: Mapped[int] = mapped_column(primary_key=True)
    same: Mapped[float]
    first_kept: Mapped[float]
    second_kept: Mapped[float]
    suggested: Mapped[bool]


class VersionDecisionRow(Base):
    """One entry of the decision log. `data` is the whole value; one, other: hashes of the files, the lower first."""

    __tablename__ = "version_decisions"
    __table_args__ = (
        of_tenant(),
        Index("version_decisions_counted", "tenant_id", "one", "other", "number", unique=True),
        allow(
            "SELECT, INSERT", seen="one IN (SELECT sha256 FROM documents) AND other IN (SELECT sha256 FROM documents)"
        ),
    )

    id: Mapped[int] = id_column("version_decisions_id_seq")
    one: Mapped[str]
    other: Mapped[str]
    number: Mapped[int] = mapped_column(Integer())
    verdict: Mapped[str]
    at: Mapped[datetime]
    data: Mapped[JsonValue]


SIGNATURES = table_of(SignatureRow)
BUCKETS = table_of(BucketRow)
PAIRS = table_of(PairRow)
VERSION_DECISIONS = table_of(VersionDecisionRow)

# Of the documents of one bucket or key only the newest are compared: thousands may share one, such as pay slips. A
# document that is much like this one has buckets that few others share, so it is among them.
_CANDIDATES = f"""
    SELECT document_id, triples, minima, name_key, title_key, url FROM signatures JOIN (
        SELECT DISTINCT newest.document_id
        FROM unnest(%(buckets)s::bigint[]) AS own (bucket) CROSS JOIN LATERAL (
            SELECT document_id FROM signature_buckets WHERE tenant_id = %(tenant)s AND bucket = own.bucket
            ORDER BY document_id DESC LIMIT {_NEWEST}
        ) AS newest
        {
    " ".join(
        f"UNION (SELECT document_id FROM signatures WHERE tenant_id = %(tenant)s AND {key} = %({key})s AND {key} <> ''"
        f" ORDER BY document_id DESC LIMIT {_NEWEST})"
        for key in _KEYS
    )
}
    ) AS near USING (document_id)
    WHERE tenant_id = %(tenant)s AND document_id <> %(own)s
    ORDER BY {" + ".join(f"({key} = %({key})s AND {key} <> '')::int" for key in _KEYS)} + (
        SELECT count(*) FROM signature_buckets AS other
        WHERE other.tenant_id = %(tenant)s AND other.document_id = near.document_id
        AND other.bucket = ANY(%(buckets)s::bigint[])
    ) DESC, document_id DESC LIMIT %(most)s
"""
_KEY_LETTERS = 500  # an index entry is limited to 2,700 bytes
_FIRST, _SECOND = DOCUMENTS.alias("first_document"), DOCUMENTS.alias("second_document")


class SqlSignatureStore:
    """Implements core.library.versions.store.SignatureStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._decisions = JsonRecords(VERSION_DECISIONS, VersionDecision, database.tenant)

    def keep(self, signatures: Sequence[Signature]) -> None:
        """Store signatures, replacing earlier ones, and delete the pairs of their documents."""
        ids = [each.document_id for each in signatures]
        with self._database.transaction("storing what a document is like") as connection:
            # Locked until the end: if a document is being deleted, all of this is deleted with it or never stored.
            here = lock_documents(connection, self._tenant, ids)
            rows = {each.document_id: each for each in signatures if each.document_id in here}
            if not rows:
                return
            own = {document_id: {"tenant_id": self._tenant, "document_id": document_id} for document_id in rows}
            upsert(connection, SIGNATURES, [own[i] | _values(each) for i, each in rows.items()])
            connection.execute(delete(BUCKETS).where(*_own(BUCKETS, self._tenant, list(rows))))
            found = [own[i] | {"bucket": bucket} for i, each in rows.items() for bucket in buckets(each.minima)]
            connection.execute(insert(BUCKETS).on_conflict_do_nothing(), found)
            self._forget_pairs(connection, list(rows))

    def _forget_pairs(self, connection: Connection, document_ids: Sequence[int]) -> None:
        of_them = or_(PAIRS.c.first == any_of(document_ids), PAIRS.c.second == any_of(document_ids))
        connection.execute(delete(PAIRS).where(PAIRS.c.tenant_id == self._tenant, of_them))

    def candidates(self, signature: Signature, most: int) -> Sequence[Signature]:
        """Other documents that share a bucket, a key or the URL, by number of shared ones; of many that share the same
        ones, the newest only."""
        values = {
            **_values(signature),
            "own": signature.document_id,
            "buckets": array_literal(buckets(signature.minima)),
            "most": most,
        }
        return [_signature(row) for row in self._database.read("looking for like documents", _CANDIDATES, values)]

    def pair(self, pairs: Sequence[DuplicatePair]) -> None:
        """Store pairs, replacing earlier ones; those of documents without a signature are left out."""
        if not pairs:
            return
        ids = sorted({document_id for pair in pairs for document_id in (pair.first, pair.second)})
        here = select(SIGNATURES.c.document_id).where(*_own(SIGNATURES, self._tenant, ids))
        with self._database.transaction("storing which documents are alike") as connection:
            signed = set(connection.scalars(here.with_for_update(read=True, key_share=True)))
            rows = [_pair_row(pair, self._tenant) for pair in pairs if {pair.first, pair.second} <= signed]
            upsert(connection, PAIRS, rows)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete signatures with their buckets and pairs."""
        with self._database.transaction("forgetting what a document is like") as connection:
            connection.execute(delete(SIGNATURES).where(*_own(SIGNATURES, self._tenant, document_ids)))

    def signed(self) -> Sequence[int]:
        """Ids, ascending, of documents that have a signature."""
        query = select(SIGNATURES.c.document_id).where(SIGNATURES.c.tenant_id == self._tenant)
        with self._database.transaction("reading which documents are compared") as connection:
            return list(connection.scalars(query.order_by(SIGNATURES.c.document_id)))

    def pairs_of(self, document_ids: Sequence[int]) -> Sequence[DuplicatePair]:
        """Pairs of any of these documents in which neither is archived, the most similar first."""
        of_them = or_(PAIRS.c.first == any_of(document_ids), PAIRS.c.second == any_of(document_ids))
        query = self._living(of_them).order_by(PAIRS.c.same.desc(), PAIRS.c.first, PAIRS.c.second)
        with self._database.transaction("reading which documents are alike") as connection:
            return [_pair(row) for row in connection.execute(query)]

    def near_pairs(self) -> Sequence[DuplicatePair]:
        """All near-duplicate pairs in which neither is archived, ordered by ids."""
        query = self._living(PAIRS.c.same >= NEAR_DUPLICATE).order_by(PAIRS.c.first, PAIRS.c.second)
        with self._database.transaction("reading which documents are alike") as connection:
            return [_pair(row) for row in connection.execute(query)]

    def suggested(self, page: int, per_page: int) -> tuple[Sequence[DuplicatePair], int]:
        """One page of open suggestions, the latest documents first, and their total number."""
        log = VERSION_DECISIONS
        latest = (
            select(log.c.verdict)
            .where(
                log.c.tenant_id == self._tenant,
                log.c.one == func.least(_FIRST.c.sha256, _SECOND.c.sha256),
                log.c.other == func.greatest(_FIRST.c.sha256, _SECOND.c.sha256),
            )
            .order_by(log.c.number.desc())
            .limit(1)
            .scalar_subquery()
        )
        query = self._living(
            PAIRS.c.suggested,
            _FIRST.c.project.is_not_distinct_from(_SECOND.c.project),
            latest.is_distinct_from(VersionVerdict.REJECTED.value),
        )
        listed = query.order_by(PAIRS.c.second.desc(), PAIRS.c.same.desc(), PAIRS.c.first.desc())
        with self._database.transaction("reading suggested versions") as connection:
            total = int(connection.scalar(select(func.count()).select_from(query.subquery())) or 0)
            rows = connection.execute(listed.limit(per_page).offset((page - 1) * per_page)).all()
        return [_pair(row) for row in rows], total

    def _living(self, *conditions: Any) -> Any:
        """Pairs of documents in which neither is archived."""
        joined: Any = PAIRS
        for document, column in ((_FIRST, PAIRS.c.first), (_SECOND, PAIRS.c.second)):
            joined = joined.join(document, (document.c.tenant_id == PAIRS.c.tenant_id) & (document.c.id == column))
        living = (~_FIRST.c.archived, ~_SECOND.c.archived)
        return select(PAIRS).select_from(joined).where(PAIRS.c.tenant_id == self._tenant, *living, *conditions)

    def decide(self, decision: VersionDecision) -> None:
        """Append a decision. Raises Outdated when its number is not the next one of its pair."""
        one, other = decision.about
        row = {"tenant_id": self._tenant, "one": one, "other": other, "number": decision.number}
        row |= {"verdict": decision.verdict.value, "at": decision.at, "data": to_json(decision)}
        log = VERSION_DECISIONS
        count = select(func.count()).where(log.c.tenant_id == self._tenant, log.c.one == one, log.c.other == other)
        with self._database.transaction("storing a decision on versions") as connection:
            if connection.scalar(count) != decision.number - 1:
                raise outdated_decision()
            if not insert_row(connection, log, row):
                raise outdated_decision()

    def decision(self, one: str, other: str) -> VersionDecision | None:
        """The latest decision on two files, in any order."""
        log, (low, high) = VERSION_DECISIONS, sorted((one, other))
        with self._database.transaction("reading a decision on versions") as connection:
            own = (log.c.one == low, log.c.other == high)
            return self._decisions.first(connection, *own, order=log.c.number.desc())

    def decisions(self, limit: int) -> Sequence[VersionDecision]:
        """The latest decisions, newest first."""
        latest = VERSION_DECISIONS.c.id.desc()
        with self._database.transaction("reading decisions on versions") as connection:
            return self._decisions.all(connection, order=latest, limit=limit)

    def successors(self, document_ids: Sequence[int]) -> Mapping[int, int]:
        """Document → the one that replaced it; if several did, the latest."""
        query = select(DOCUMENTS.c.version_of, DOCUMENTS.c.id).where(
            DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.version_of == any_of(document_ids)
        )
        with self._database.transaction("reading which documents were replaced") as connection:
            return {row.version_of: row.id for row in connection.execute(query.order_by(DOCUMENTS.c.id))}


def _values(signature: Signature) -> dict[str, Any]:
    keys = {name: storable_text(getattr(signature, name))[:_KEY_LETTERS] for name in ("name_key", "title_key", "url")}
    return keys | {"triples": signature.triples, "minima": signature.minima.astype("<u4").tobytes()}


def _signature(row: Sequence[Any]) -> Signature:
    document_id, triples, minima, *keys = row
    return Signature(document_id, triples, np.frombuffer(minima, dtype="<u4").astype(np.uint32), *keys)


def _pair_row(pair: DuplicatePair, tenant: str) -> dict[str, Any]:
    own = {"tenant_id": tenant, "first": pair.first, "second": pair.second, "same": pair.same}
    return own | {"first_kept": pair.first_retained, "second_kept": pair.second_retained, "suggested": pair.suggested}


def _pair(row: Any) -> DuplicatePair:
    return DuplicatePair(row.first, row.second, row.same, row.first_kept, row.second_kept, row.suggested)


def _own(table: Any, tenant: str, document_ids: Sequence[int]) -> tuple[Any, ...]:
    return table.c.tenant_id == tenant, table.c.document_id == any_of(document_ids)
