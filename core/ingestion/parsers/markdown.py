"""Parses Markdown: rendered as a browser would show it, HTML inside it included, and read like a web page.

Lenient: a numbered title over a rule ("1. Scope" / "-----") is a heading, indented lines are no code, and Markdown
inside HTML is rendered too. What looks like a tag but is none ("<agency name>") stays text.
"""

import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.parsers.blocks import PageWriter
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.html import write_html
from core.ingestion.parsers.text_cleaning import clean
from core.text.tokenize import words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["read_markdown"]

_NO_TEXT = re.compile(r"(?:---|\.\.\.)\s*$|\s*#|\s*[\w-]+:\s*\[.*\]\s*$")
"""Lines of front matter that are no text: its ends, comments and lists of values."""
_SENTENCE_WORDS = 8  # words of a line in front matter that says something. Chosen by hand.
_FRONT_KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)$")
_DATE_KEYS = ("date", "published", "published_at", "last_modified", "updated", "effective", "effective_date")

_NUMBERED_TITLE = re.compile(r"(?m)^ {0,3}(\d{1,3}(?:\.\d{1,3})*[.)]?[ \t]+\S[^\n]*)\n {0,3}(=+|-{3,})[ \t]*$")
_TEMPLATE_LINK = re.compile(r"\]\(\s*(?:\{\{[^{}\n]*\}\}|\{%[^%\n]*%\})[^()\s]*\)")
_ONLY_TAGS = re.compile(
    r"(?im)^([ \t]*)((?:</?(?:div|section|article|aside|details|summary|figure|center|main|header|footer|blockquote"
    r"|figcaption|td|th)(?:\s[^<>\n]*)?>[ \t]*)+)$"
)
_TEMPLATE_LINE = re.compile(r"(?:\{%[^%]*%\}\s*)+|\[TOC\]|\[\[_?TOC_?\]\]|\$\{toc\}", re.I)
_ATTRIBUTES = re.compile(r"[ \t]*\{(?:[:#]|\.[a-z])[^{}\n]*\}")
_NOTE_MARK = re.compile(r"\[\^([^\]\s]+)\]")
_LOOSE_BOLD = re.compile(r"(?<![*\d])\*\*(?=[^\s*])|(?<=[^\s*\d])\*\*(?!\*)")
_LOOSE_LINK = re.compile(r"(?<=\])\((?=[^()\s]*[./#])[^()\s]+\)")
_ADMONITION = re.compile(r"(?m)^:{3,}[ \t]*|\[!(?=[A-Z]{3,12}\])")
_PIECES = re.compile(
    r"(<!--.*?(?:-->|\Z)|<[!?][^<>]*>|</?(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details"
    r"|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu"
    r"|meta|nav|ol|option|p|pre|script|section|select|style|summary|svg|table|tbody|td|template|textarea|tfoot|th|thead"
    r"|title|tr|ul)(?:[\s/][^<>]*)?>)",
    re.S | re.I,
)
"""Comments and tags of blocks: between two of them, HTML holds inline text."""
_TAG = re.compile(r"</?([A-Za-z][\w:.-]*)((?:[\s/][^<>]*)?)>")
_LITERAL = ("pre", "script", "style", "textarea", "svg")
_MOST_NESTED = 50  # lists and quotes in each other; guards against deep recursion. Chosen by hand.

_ELEMENTS = frozenset(
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote"
    " body br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div"
    " dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header"
    " hgroup hr html i iframe img input ins kbd label legend li link main map mark marquee menu menuitem meta"
    " meter nav nobr noembed noframes noscript object ol optgroup option output p param picture plaintext pre"
    " progress q rb rp rt rtc ruby s samp script search section select slot small source span strike strong style"
    " sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video"
    " wbr xmp".split()
)
"""The elements of HTML, obsolete ones included (WHATWG HTML Living Standard, sections 4 and 16.2)."""


def read_markdown(name: str, text: str) -> ExtractedDocument:
    """Blocks, title and date of a Markdown text. Never raises: any text is valid Markdown."""
    from bs4 import BeautifulSoup

    text = clean(text).strip("\n")
    metadata, front_end = _front_matter(text)
    writer = PageWriter(1)
    writer.add(text[:front_end], BlockKind.FURNITURE)
    write_html(BeautifulSoup(_rendered(text[front_end:]), "lxml"), writer)
    if front_end and all(block.kind is BlockKind.FURNITURE for block in writer.blocks):
        writer = _front_matter_as_text(text[:front_end]) or writer
    page = writer.page()
    title = _plain(metadata.get("title", ""))
    first = next((block for block in writer.blocks if block.kind is BlockKind.HEADING), None)
    if not title and first is not None and first.level == 1:
        title = page.text[first.start : first.end]
    return ExtractedDocument((page,), tuple(writer.blocks), FileKind.MARKDOWN, title=title, metadata=metadata)


def _front_matter_as_text(front: str) -> PageWriter | None:
    """The front matter of a page without any other text, if it says something: a website's template may show it."""
    from bs4 import BeautifulSoup

    lines = [line for line in front.split("\n") if not _NO_TEXT.match(line)]
    if not any(len(words(line)) >= _SENTENCE_WORDS for line in lines):
        return None
    writer = PageWriter(1)
    write_html(BeautifulSoup(_rendered("\n".join(lines)), "lxml"), writer)
    return writer


def _plain(line: str) -> str:
    """One line of Markdown as plain text.

    >>> _plain("**Leave** &amp; [pay](x)"), _plain("")
    ('Leave & pay', '')
    """
    from bs4 import BeautifulSoup

    return " ".join(BeautifulSoup(_rendered_inline(line, frozenset()), "lxml").get_text().split())


def _front_matter(text: str) -> tuple[Mapping[str, str], int]:
    """Simple keys of a leading '---' block, and its end position (0 = none)."""
    if not text.startswith("---\n"):
        return {}, 0
    close = re.search(r"^(?:---|\.\.\.)\s*$", text[4:], re.M)
    if close is None:
        return {}, 0
    found: dict[str, str] = {}
    for line in text[4 : 4 + close.start()].split("\n"):
        key = _FRONT_KEY.match(line)
        if key and key.group(2).strip():
            found[key.group(1).lower()] = key.group(2).strip().strip("'\"")
    if not found:
        return {}, 0
    for key_name in _DATE_KEYS:
        if key_name in found:
            found.setdefault("published", found[key_name])
    return found, 4 + close.end()


def _rendered(text: str) -> str:
    """A Markdown text as HTML; line ends within a paragraph become <br>."""
    text = _NUMBERED_TITLE.sub(lambda found: f"{'#' if found[2][0] == '=' else '##'} {found[1]}", text)
    text = _TEMPLATE_LINK.sub("](/)", text)
    text = _ONLY_TAGS.sub(r"\n\2\n", text)
    closed = frozenset(name.lower() for name in re.findall(r"</([A-Za-z][\w:.-]*)\s*>", text))
    environment: MutableMapping[str, Any] = {}
    tokens = _parser().parse(text, environment)
    for token in tokens:
        if token.type == "html_block":
            token.content = "".join(_in_html(token.content, closed))
        elif token.type == "inline":
            _mend(token.children or [], closed)
    return str(_parser().renderer.render(tokens, _parser().options, environment))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    options = {"html": True, "breaks": True, "maxNesting": _MOST_NESTED}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("code")


def _mend(children: "Sequence[Token]", closed: frozenset[str]) -> None:
    """Keeps placeholders as text, and removes marks of template languages and Markdown dialects from inline text."""
    _restore_products(children)
    breaks = [True, *(child.type in {"softbreak", "hardbreak"} for child in children), True]
    for at, token in enumerate(children):
        if token.type == "html_inline" and not _is_tag(token.content, closed):
            token.type = "text"
        elif token.type == "text":
            alone = breaks[at] and breaks[at + 2]
            dropped = alone and _TEMPLATE_LINE.fullmatch(token.content.strip())
            token.content = "" if dropped else _without_dialect(token.content)


def _restore_products(children: "Sequence[Token]") -> None:
    """Turns emphasis between digits on both sides back into signs ("2*3*4")."""
    opened: list[int] = []
    for at, token in enumerate(children):
        if token.type == "em_open":
            opened.append(at)
        elif token.type == "em_close" and opened:
            start = opened.pop()
            if token.markup != "*" or start == 0 or at + 1 == len(children):
                continue
            before, within = (children[place].content[-1:] for place in (start - 1, at - 1))
            first, after = (children[place].content[:1] for place in (start + 1, at + 1))
            if all(sign.isdecimal() for sign in (before, first, within, after)):
                for mark in (children[start], token):
                    mark.type, mark.content = "text", "*"


def _without_dialect(text: str) -> str:
    """
    >>> _without_dialect("Scope {#scope}"), _without_dialect("as said[^2]"), _without_dialect("::: note")
    ('Scope', 'as said[2]', 'note')
    >>> _without_dialect("**Item ** of [Use [it]](a.md), 2**3, section [7](a)")
    'Item of [Use [it]], 2**3, section [7](a)'
    """
    text = _LOOSE_LINK.sub("", _LOOSE_BOLD.sub("", re.sub(r" \*\* ", " ", text)))
    text = _NOTE_MARK.sub(r"[\1]", _ATTRIBUTES.sub("", text))
    return _ADMONITION.sub(lambda found: "[" if found[0] == "[!" else "", text)


def _in_html(content: str, closed: frozenset[str]) -> Iterator[str]:
    """An HTML block with the Markdown between its tags rendered; code, scripts and styles stay as they are."""
    literal = ""
    for at, piece in enumerate(_PIECES.split(content)):
        if at % 2 == 0:
            yield piece if literal or not piece.strip() else _rendered_inline(piece, closed)
            continue
        tag = _TAG.fullmatch(piece)
        name = tag[1].lower() if tag else ""
        if literal:
            literal = "" if piece.startswith("</") and name == literal else literal
        elif name in _LITERAL and not piece.startswith("</"):
            literal = name
        yield piece


def _rendered_inline(text: str, closed: frozenset[str]) -> str:
    """Inline Markdown within HTML; blanks around it stay."""
    environment: MutableMapping[str, Any] = {}
    tokens = _parser().parseInline(text.strip(), environment)
    for token in tokens:
        _mend(token.children or [], closed)
        for child in token.children or []:
            if child.type == "softbreak":
                child.type, child.content = "text", " "
    html = str(_parser().renderer.render(tokens, _parser().options, environment))
    return f"{text[: len(text) - len(text.lstrip())]}{html}{text[len(text.rstrip()) :]}"


def _is_tag(piece: str, closed: frozenset[str]) -> bool:
    """Whether "<…>" is a tag or comment: of an element of HTML, with an attribute's value, of a custom element, or
    closed somewhere; else it is a placeholder.

    >>> [_is_tag(piece, frozenset()) for piece in ("<b>", "<Tabs id='x'>", "<agency name>", "<!-- no -->")]
    [True, True, False, True]
    """
    tag = _TAG.fullmatch(piece)
    if tag is None:
        return piece.startswith(("<!", "<?"))
    name = tag[1].lower()
    return name in _ELEMENTS or name in closed or "-" in name or "=" in tag[2] or tag[2].endswith("/")
