"""Signatures, pairs that are alike and decisions on versions in PostgreSQL."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Connection, any_, cast, delete, func, literal, or_, select, union_all
from sqlalchemy.dialects.postgresql import ARRAY, insert

from core.library.duplicates import NEAR_DUPLICATE, buckets
from core.library.versions_store import Pair, Signature, VersionDecision, VersionVerdict, outdated_decision
from storage.database import Database
from storage.json_values import read, written
from storage.models import DOCUMENTS
from storage.rows import storable_text
from storage.signature_models import BUCKETS, PAIRS, SIGNATURES, VERSION_DECISIONS

__all__ = ["SqlSignatureStore"]

_KEY_LETTERS = 500  # an index holds 2,700 bytes of a text
_FIRST, _SECOND = DOCUMENTS.alias("first_document"), DOCUMENTS.alias("second_document")


class SqlSignatureStore:
    """core.library.versions_store.SignatureStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def keep(self, signature: Signature) -> None:
        """Keep a signature in place of an earlier one, and forget the document's pairs."""
        own = {"tenant_id": self._tenant, "document_id": signature.document_id}
        add = insert(SIGNATURES).values(own | _values(signature))
        changed = {name: add.excluded[name] for name in _values(signature)}
        with self._database.transaction("storing what a document is like") as connection:
            # Locked to the end: a document that is being deleted takes all of this with it, or is not there.
            living = select(DOCUMENTS.c.id).where(
                DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == signature.document_id
            )
            if connection.scalar(living.with_for_update(read=True, key_share=True)) is None:
                return
            connection.execute(add.on_conflict_do_update(index_elements=["tenant_id", "document_id"], set_=changed))
            connection.execute(delete(BUCKETS).where(*_own(BUCKETS, self._tenant, [signature.document_id])))
            connection.execute(
                insert(BUCKETS).on_conflict_do_nothing(),
                [own | {"bucket": bucket} for bucket in buckets(signature.minima)],
            )
            self._forget_pairs(connection, [signature.document_id])

    def _forget_pairs(self, connection: Connection, document_ids: Sequence[int]) -> None:
        of_them = or_(PAIRS.c.first == _any_of(document_ids), PAIRS.c.second == _any_of(document_ids))
        connection.execute(delete(PAIRS).where(PAIRS.c.tenant_id == self._tenant, of_them))

    def candidates(self, signature: Signature, most: int) -> Sequence[Signature]:
        """Other documents that share a bucket, a key or the url, those sharing most first."""
        tenant, keys = self._tenant, _values(signature)
        wanted = any_(cast(list(buckets(signature.minima)), ARRAY(BigInteger)))
        found = [select(BUCKETS.c.document_id).where(BUCKETS.c.tenant_id == tenant, BUCKETS.c.bucket == wanted)]
        for name in ("name_key", "title_key", "url"):
            if keys[name]:
                same = SIGNATURES.c[name] == keys[name]
                filled = SIGNATURES.c[name] != literal("")
                found.append(select(SIGNATURES.c.document_id).where(SIGNATURES.c.tenant_id == tenant, same, filled))
        each = union_all(*found).subquery()
        best = (
            select(each.c.document_id, func.count().label("shared"))
            .where(each.c.document_id != signature.document_id)
            .group_by(each.c.document_id)
            .order_by(func.count().desc(), each.c.document_id.desc())
            .limit(most)
            .subquery()
        )
        query = (
            select(SIGNATURES)
            .join(best, best.c.document_id == SIGNATURES.c.document_id)
            .where(SIGNATURES.c.tenant_id == tenant)
            .order_by(best.c.shared.desc(), SIGNATURES.c.document_id.desc())
        )
        with self._database.transaction("looking for like documents") as connection:
            return [_signature(row) for row in connection.execute(query)]

    def pair(self, pairs: Sequence[Pair]) -> None:
        """Keep pairs, each in place of an earlier one; those of documents without a signature are left out."""
        if not pairs:
            return
        ids = sorted({each for pair in pairs for each in (pair.first, pair.second)})
        here = select(SIGNATURES.c.document_id).where(*_own(SIGNATURES, self._tenant, ids))
        with self._database.transaction("storing which documents are alike") as connection:
            held = set(connection.scalars(here.with_for_update(read=True, key_share=True)))
            rows = [_pair_row(pair, self._tenant) for pair in pairs if {pair.first, pair.second} <= held]
            if rows:
                add = insert(PAIRS)
                changed = {name: add.excluded[name] for name in ("same", "first_kept", "second_kept", "suggested")}
                keys = ["tenant_id", "first", "second"]
                connection.execute(add.on_conflict_do_update(index_elements=keys, set_=changed), rows)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Forget signatures, and with them buckets and pairs."""
        with self._database.transaction("forgetting what a document is like") as connection:
            connection.execute(delete(SIGNATURES).where(*_own(SIGNATURES, self._tenant, document_ids)))

    def signed(self) -> Sequence[int]:
        """The documents that have a signature, ascending."""
        query = select(SIGNATURES.c.document_id).where(SIGNATURES.c.tenant_id == self._tenant)
        with self._database.transaction("reading which documents are compared") as connection:
            return list(connection.scalars(query.order_by(SIGNATURES.c.document_id)))

    def pairs_of(self, document_ids: Sequence[int]) -> Sequence[Pair]:
        """Pairs of any of these documents in which both live, the most alike first."""
        of_them = or_(PAIRS.c.first == _any_of(document_ids), PAIRS.c.second == _any_of(document_ids))
        query = self._living(of_them).order_by(PAIRS.c.same.desc(), PAIRS.c.first, PAIRS.c.second)
        with self._database.transaction("reading which documents are alike") as connection:
            return [_pair(row) for row in connection.execute(query)]

    def near_pairs(self) -> Sequence[Pair]:
        """All near-duplicates that both live, by their ids."""
        query = self._living(PAIRS.c.same >= NEAR_DUPLICATE).order_by(PAIRS.c.first, PAIRS.c.second)
        with self._database.transaction("reading which documents are alike") as connection:
            return [_pair(row) for row in connection.execute(query)]

    def suggested(self, page: int, per_page: int) -> tuple[Sequence[Pair], int]:
        """One page of the open suggestions, the latest documents first, and how many there are in all."""
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
        """Pairs of documents that both live."""
        joined: Any = PAIRS
        for document, column in ((_FIRST, PAIRS.c.first), (_SECOND, PAIRS.c.second)):
            joined = joined.join(document, (document.c.tenant_id == PAIRS.c.tenant_id) & (document.c.id == column))
        living = (~_FIRST.c.archived, ~_SECOND.c.archived)
        return select(PAIRS).select_from(joined).where(PAIRS.c.tenant_id == self._tenant, *living, *conditions)

    def decide(self, decision: VersionDecision) -> None:
        """Append a decision. Raises Outdated when its number does not continue the count of its pair."""
        one, other = decision.about
        row = {"tenant_id": self._tenant, "one": one, "other": other, "number": decision.number}
        row |= {"verdict": decision.verdict.value, "at": decision.at, "data": written(decision)}
        log = VERSION_DECISIONS
        count = select(func.count()).where(log.c.tenant_id == self._tenant, log.c.one == one, log.c.other == other)
        with self._database.transaction("storing a decision on versions") as connection:
            if connection.scalar(count) != decision.number - 1:
                raise outdated_decision()
            if connection.execute(insert(log).values(row).on_conflict_do_nothing()).rowcount == 0:
                raise outdated_decision()

    def decision(self, one: str, other: str) -> VersionDecision | None:
        """The latest decision on two files, in any order."""
        log, (low, high) = VERSION_DECISIONS, sorted((one, other))
        query = select(log.c.data).where(log.c.tenant_id == self._tenant, log.c.one == low, log.c.other == high)
        with self._database.transaction("reading a decision on versions") as connection:
            data = connection.scalar(query.order_by(log.c.number.desc()).limit(1))
        return None if data is None else read(VersionDecision, data)

    def decisions(self, limit: int) -> Sequence[VersionDecision]:
        """The last decisions, newest first."""
        log = VERSION_DECISIONS
        query = select(log.c.data).where(log.c.tenant_id == self._tenant).order_by(log.c.id.desc()).limit(limit)
        with self._database.transaction("reading decisions on versions") as connection:
            return [read(VersionDecision, data) for data in connection.scalars(query)]

    def successors(self, document_ids: Sequence[int]) -> Mapping[int, int]:
        """Document → the one that replaced it; of several the latest."""
        query = select(DOCUMENTS.c.version_of, DOCUMENTS.c.id).where(
            DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.version_of == _any_of(document_ids)
        )
        with self._database.transaction("reading which documents were replaced") as connection:
            return {row.version_of: row.id for row in connection.execute(query.order_by(DOCUMENTS.c.id))}


def _values(signature: Signature) -> dict[str, Any]:
    keys = {name: storable_text(getattr(signature, name))[:_KEY_LETTERS] for name in ("name_key", "title_key", "url")}
    return keys | {"triples": signature.triples, "minima": signature.minima.astype("<u4").tobytes()}


def _signature(row: Any) -> Signature:
    minima = np.frombuffer(row.minima, dtype="<u4").astype(np.uint32)
    return Signature(row.document_id, row.triples, minima, row.name_key, row.title_key, row.url)


def _pair_row(pair: Pair, tenant: str) -> dict[str, Any]:
    own = {"tenant_id": tenant, "first": pair.first, "second": pair.second, "same": pair.same}
    return own | {"first_kept": pair.first_kept, "second_kept": pair.second_kept, "suggested": pair.suggested}


def _pair(row: Any) -> Pair:
    return Pair(row.first, row.second, row.same, row.first_kept, row.second_kept, row.suggested)


def _own(table: Any, tenant: str, document_ids: Sequence[int]) -> tuple[Any, ...]:
    return table.c.tenant_id == tenant, table.c.document_id == _any_of(document_ids)


def _any_of(ids: Sequence[int]) -> Any:
    return any_(cast([int(each) for each in ids], ARRAY(BigInteger)))
