"""The glossary and the guide on Help: the documents in docs/, section by section, with their pictures and links."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import streamlit as st

from core.knowledge.glossary import found_terms
from pages.components import notices
from pages.components.wording import count, plain

__all__ = ["DOCUMENTS", "GuideSection", "draw_glossary", "draw_guide", "in_app_links", "sections_of", "slug"]

_FOLDER = Path(__file__).parents[3] / "docs"

DOCUMENTS: Mapping[str, str] = {
    "guide": "User guide",
    "tuning": "Tuning",
    "scores": "Scores",
    "filters": "Filters",
    "data": "Data",
    "vocabulary": "Vocabulary",
    "classification": "Classification",
    "settings": "Settings",
    "team": "Set up a team",
    "rights": "Rights",
    "meeting-pack": "Meeting pack",
    "command-line": "Command line",
    "api": "REST API",
    "mcp": "MCP server",
    "python": "Python",
    "python-api": "Python in full",
    "database": "A PostgreSQL server",
    "several-machines": "Several machines",
    "backup": "Backup",
    "scaling": "Scaling",
    "resilience": "Resilience",
    "architecture": "Architecture",
    "licences": "Licences",
}
"""Name of a file in docs/ → its title here, in the order they are offered."""

_HEADING = re.compile(r"(#{1,6}) (.+)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([\w.-]*?)(?:\.md)?(?:#([\w-]+))?\)")


@dataclass(frozen=True, slots=True)
class GuideSection:
    """A section of the second level. anchors: its own, then those of the headings in it."""

    title: str
    anchors: tuple[str, ...]
    body: str


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it.

    >>> slug("What a *profile* is, and why?")
    'what-a-profile-is-and-why'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().casefold()).replace(" ", "-")


def sections_of(text: str) -> Sequence[GuideSection]:
    """The sections of a document; what comes before the first one is a section under the document's title.

    >>> [(each.title, each.anchors) for each in sections_of("# Guide\\nHello\\n## Search\\n### Chips\\nClick.")]
    [('Guide', ('guide',)), ('Search', ('search', 'chips'))]
    """
    parts: list[tuple[str, list[str], list[str]]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading and len(heading[1]) <= 2:
            parts.append((heading[2], [slug(heading[2])], []))
        elif parts:
            if heading:
                parts[-1][1].append(slug(heading[2]))
            parts[-1][2].append(line)
    bodies = [(title, tuple(anchors), "\n".join(lines).strip()) for title, anchors, lines in parts]
    return [GuideSection(title, anchors, body) for title, anchors, body in bodies if body]


def in_app_links(text: str, document: str) -> str:
    """The text with links between documents leading to Help; links to anything else become plain words.

    >>> in_app_links("See [scores](scores.md#factors), [below](#home), [x](pictures/a.csv), [w](https://a.b).", "guide")
    'See [scores](help?view=guide&doc=scores&section=factors), [below](help?view=guide&doc=guide&section=home), x, [w](https://a.b).'
    """
    text = _LINK.sub(lambda found: _in_app(found, document), text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!help\?|https?:)[^)]+\)", r"\1", text)


def _in_app(found: re.Match[str], document: str) -> str:
    words, name, anchor = found[1], found[2] or document, found[3]
    if name not in DOCUMENTS:
        return found[0]
    return f"[{words}](help?view=guide&doc={name}{f'&section={anchor}' if anchor else ''})"


@lru_cache(maxsize=64)
def _sections(document: str) -> Sequence[GuideSection]:
    path = _FOLDER / f"{document}.md"
    return sections_of(path.read_text("utf-8")) if path.exists() else ()


def draw_guide() -> None:
    """The documents and their sections at the left; the open section beside them."""
    named = st.query_params.get("doc", "")
    document = named if named in DOCUMENTS else next(iter(DOCUMENTS))
    sections = _sections(document)
    section = st.query_params.get("section", "")
    opened = next((each for each in sections if section in each.anchors), sections[0] if sections else None)
    if opened is None:
        st.info(
            "The guide is not part of this installation. It is in the folder docs/ of the source.",
            icon=":material/info:",
        )
        return
    listed, read = st.columns([3, 9], gap="large")
    with listed, st.container(gap=None):
        _list(document, sections, opened)
    with read:
        st.markdown(f"### {opened.title}", anchors=False)
        _draw_body(opened.body, document)


def _list(document: str, sections: Sequence[GuideSection], opened: GuideSection) -> None:
    """The sections of the open document, then the other documents."""
    for each in sections:
        _choice(f"**{each.title}**" if each is opened else each.title, document, each.anchors[0])
    st.space("xsmall")
    st.caption("Reference")
    for name, title in DOCUMENTS.items():
        if name != document:
            _choice(title, name)


def _choice(label: str, document: str, section: str = "") -> None:
    """A button that opens a section, or another document from its beginning."""
    st.button(label, key=f"help.guide.{document}.{section}", type="tertiary", on_click=_open, args=(document, section))


def _open(document: str, section: str) -> None:
    st.query_params["doc"], st.query_params["section"] = document, section


def _draw_body(body: str, document: str) -> None:
    """Text with the pictures between it; a picture that is not installed is left out."""
    last = 0
    for found in _PICTURE.finditer(body):
        _draw_text(body[last : found.start()], document)
        picture = (_FOLDER / found[2]).resolve()
        if picture.is_relative_to(_FOLDER) and picture.exists():
            st.image(picture, alt=found[1])
        last = found.end()
    _draw_text(body[last:], document)


def _draw_text(text: str, document: str) -> None:
    if text.strip():
        lowered = re.sub(r"^(#{3,5}) ", r"#\1 ", text, flags=re.MULTILINE)  # below the section's own heading
        st.markdown(in_app_links(lowered.replace("$", "\\$"), document), anchors=False)


def draw_glossary() -> None:
    """The field, then every term that is found."""
    with st.container(key="question"):  # "/" moves to the field in it
        words = st.text_input(
            "Find a term",
            key="term",
            bind="query-params",
            type="search",
            placeholder="For instance silent, BM25 or nDCG",
            width=420,
        )
    found = found_terms(words or "")
    if not found:
        notices.empty(":material/search_off:", "No term has these words", "Try a shorter word, or look into the guide.")
        return
    if words:
        st.caption(count(len(found), "term"))
    groups = {name: [each for each in found if each.group == name] for name in dict.fromkeys(g.group for g in found)}
    columns, filled = st.columns(2, gap="large"), [0, 0]
    for name, terms in groups.items():
        side = filled.index(min(filled))
        filled[side] += len(terms)
        with columns[side], st.container(gap="xsmall"):
            st.markdown(f"##### {name}", anchors=False)
            st.markdown("\n\n".join(f"**{plain(each.term)}** – {plain(each.means)}" for each in terms))
