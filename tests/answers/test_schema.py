"""The description of the JSON brief that stands in the docs."""

import json
from pathlib import Path

from tests.answers.schema import BRIEF

DOCUMENTED = Path(__file__).parents[2] / "docs" / "five-truths.schema.json"


def test_the_schema_in_the_docs_is_the_one_briefs_are_held_to() -> None:
    """Written anew with: json.dumps(BRIEF, indent=2, ensure_ascii=False)."""
    assert json.loads(DOCUMENTED.read_text("utf-8")) == BRIEF
