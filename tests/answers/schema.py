"""What a brief in JSON looks like, as JSON Schema."""

from collections.abc import Mapping
from typing import Any

__all__ = ["BRIEF"]

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_MAYBE = {"type": ["string", "null"]}
_TRUTH = {"enum": ["regulatory", "compliance", "intent", "reference", "reality"]}
_TEXTS = {"type": "array", "items": _TEXT}


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object with these members and no others."""
    values = dict(properties)
    return {"type": "object", "required": list(values), "additionalProperties": False, "properties": values}


def _many(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_CITATION = {
    "citation_id": {"type": "string", "pattern": r"^\d+\.\d+$"},
    "document": _TEXT,
    "title": _TEXT,
    "url": _TEXT,
    "source_type": _MAYBE,
    "date": _MAYBE,
    "sha256": _TEXT,
    "page": {"type": ["integer", "null"]},
    "start": _NUMBER,
    "end": _NUMBER,
    "quote": _TEXT,
    "relevance": _SHARE,
    "section": _TEXT,
    "rows": {"type": ["array", "null"], "items": _NUMBER, "minItems": 2, "maxItems": 2},
    "authority": _MAYBE,
    "jurisdiction": _MAYBE,
    "written": _TEXT,
}
_SIDE = _closed({"truth": _TRUTH, "said": _TEXT, **_CITATION})
_PAIR = {"words": _TEXT, "strength": _SHARE, "first": _SIDE, "second": _SIDE}
_FIGURE = _closed(
    {
        "words": _TEXT,
        "value": _TEXT,
        "sql": _TEXT,
        "table": _TEXT,
        "citation": _TEXT,
        "rows": _NUMBER,
        "notes": _TEXTS,
    }
)
_SENTENCE = _closed(
    {
        "text": _TEXT,
        "cited": _TEXTS,
        "unknown": _TEXTS,
        "support": _many(_SHARE),
        "score": _SHARE,
        "supported": {"type": "boolean"},
        "problems": _TEXTS,
    }
)
BRIEF: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Fivefold brief of five truths",
    **_closed(
        {
            "schema": {"const": "fivefold.five-truths/1"},
            "question": _TEXT,
            "asked_at": {"type": "string", "format": "date-time"},
            "profile": _TEXT,
            "filters": _TEXTS,
            "confidence": _SHARE,
            "confidence_reason": _TEXT,
            "truths": {
                **_many(
                    _closed(
                        {
                            "truth": _TRUTH,
                            "state": {"enum": ["answered", "silent", "failed", "not asked"]},
                            "evidence_score": _SHARE,
                            "citations": {**_many(_closed(_CITATION)), "maxItems": 3},
                            "figures": _many(_FIGURE),
                            "silence": _TEXT,
                            "needed": _TEXT,
                        }
                    )
                ),
                "minItems": 5,
                "maxItems": 5,
            },
            "agreements": _many(_closed({"kind": {"enum": ["amount", "date", "obligation", "wording"]}, **_PAIR})),
            "conflicts": _many(_closed({"key": _TEXT, "kind": {"enum": ["number", "date", "modality"]}, **_PAIR})),
            "to_raise": _TEXTS,
            "notices": _TEXTS,
            "bibliography": _many(
                _closed(
                    {
                        "number": _NUMBER,
                        "name": _TEXT,
                        "sha256": _MAYBE,
                        "title": _TEXT,
                        "url": _TEXT,
                        "source_type": _MAYBE,
                        "date": _MAYBE,
                        "written": _TEXTS,
                        "citation_ids": _TEXTS,
                    }
                )
            ),
            "synthesis": {
                "anyOf": [
                    {"type": "null"},
                    _closed({"text": _TEXT, "written_by": _MAYBE, "notices": _TEXTS, "sentences": _many(_SENTENCE)}),
                ]
            },
        }
    ),
}
