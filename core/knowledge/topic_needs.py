"""The checked rules that propose which truths a topic needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.documents import Truth
from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["NeedRule", "need_rules", "read_need_rules"]


@dataclass(frozen=True, slots=True)
class NeedRule:
    """A kind of topic: the cues in a topic's name that show it, and the truths it needs."""

    name: str
    cues: tuple[str, ...]
    needs: tuple[Truth, ...]


def read_need_rules(raw: Mapping[str, Any]) -> tuple[NeedRule, ...]:
    """Parses and checks the rules. Raises BadTable naming the rule and key."""
    check_keys("topic_needs", "", raw, ("rule",))
    return tuple(_rule(row) for row in raw["rule"])


def _rule(row: Mapping[str, Any]) -> NeedRule:
    check_keys("topic_needs", str(row.get("name", "rule")), row, ("name", "cues", "needs"))
    unknown = [need for need in row["needs"] if need not in set(Truth)]
    if unknown or not row["needs"] or not row["cues"]:
        raise BadTable(f"topic_needs.toml: rule '{row['name']}' has no cues or needs, or an unknown truth {unknown}.")
    return NeedRule(row["name"], tuple(row["cues"]), tuple(Truth(need) for need in row["needs"]))


@cache
def need_rules() -> tuple[NeedRule, ...]:
    """The rules, in the table's order."""
    return read_need_rules(table("topic_needs"))
