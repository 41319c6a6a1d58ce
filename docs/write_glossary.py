"""Writes docs/glossary.md from the glossary: `python -m docs.write_glossary`. A test says when it is out of date."""

from itertools import groupby
from pathlib import Path

from core.knowledge.glossary import glossary

__all__ = ["PAGE", "glossary_page"]

PAGE = Path(__file__).parent / "glossary.md"

_HEAD = """# Glossary

The terms of the product. The app shows the same meanings on hover, and under *Help › Glossary*.

This page is written by `python -m docs.write_glossary`.
"""


def glossary_page() -> str:
    """The page: a list of terms for each group."""
    parts = [_HEAD]
    for group, terms in groupby(glossary().values(), key=lambda term: term.group):
        lines = [f"- **{each.term}** – {each.means}" for each in terms]
        parts.append(f"## {group}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(glossary_page(), "utf-8")
