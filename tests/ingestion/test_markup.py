"""Markdown, HTML and RTF become the text a reader sees: no mark-up left, no word lost, every quote exact."""

import re
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState
from core.ingestion.chunking import split
from core.ingestion.parsers import extract
from core.search.citations.cite import cite
from tests.ingestion.making_office import rtf_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORD = st.from_regex(r"[a-zäß]{2,7}", fullmatch=True).filter(lambda word: word not in {"nan"})
TEXT = st.lists(WORD, min_size=1, max_size=6).map(" ".join)

# What may stand around words in a line: each keeps the words and adds only marks.
MARKED = (
    "{}",
    "**{}**",
    "*{}*",
    "_{}_",
    "~~{}~~",
    "[{}](https://example.com/a_b?c=1&d=2)",
    '[{}](b.md "")',
    "<b>{}</b>",
    '<a href="x.html" title="">{}</a>',
    '<span style="color: red">{}</span>',
    "{} &amp; &copy;",
    "&ldquo;{}&rdquo;",
    "![{}](picture.png)",
    '<img src="y.png" alt="{}">',
    "{}<!-- xxxxhidden -->",
    "{}<br/>",
    "<u>*{}*</u>",
    "**<i>{}</i>**",
    "`{}`",
    "<code>{}</code>",
    "{}[^1]",
    "<sub>{}</sub>",
    "{}<script>xxxxhidden()</script>",
    "<kbd>{}</kbd>&nbsp;",
)
INLINE = st.lists(st.builds(str.format, st.sampled_from(MARKED), TEXT), min_size=1, max_size=4).map(" ".join)
# Blocks of one or two lines of words: Markdown, HTML, and each in the other.
BLOCKS = (
    "{0}\n{1}",
    "# {0}\n\n{1}",
    "{0}\n=====\n{1}",
    "- {0}\n- {1}",
    "1. {0}\n   - {1}",
    "> {0}\n> {1}",
    "| {0} | {1} |\n|---|---|\n| {1} | {0} |",
    "<p>{0}</p>\n<p>{1}</p>",
    "<div>\n{0}\n</div>\n\n{1}",
    "<ul><li>{0}<li>{1}</ul>",
    "<table><tr><th>{0}</th></tr><tr><td>{1}</td></tr></table>",
    "<table>\n  <tr>\n    <td>{0}</td>\n    <td>{1}</td>\n  </tr>\n</table>",
    "<details><summary>{0}</summary>\n\n{1}\n\n</details>",
    '<div class="a" markdown="1">\n- {0}\n- {1}\n</div>',
    "<!--\nxxxxhidden\n-->\n{0} {1}",
    "<style>\np {{ xxxxhidden }}\n</style>\n\n{0}\n\n***\n\n{1}",
    "::: note\n{0}\n{1}\n:::",
    "<h2>{0}</h2>\n{1}",
    "{0}  \n{1}\n{{: .xxxxhidden}}",
    "<blockquote>{0}<hr>{1}</blockquote>",
    "{0} | {1}\n---|---|---\n{1} | {0}",
)
BLOCK = st.builds(str.format, st.sampled_from(BLOCKS), INLINE, INLINE)
PAGE = st.lists(BLOCK, min_size=1, max_size=6).map("\n\n".join)

LEFT = re.compile(
    r"</?[A-Za-z][^<>]*>|<!--|-->|&#?\w+;|\]\(|\*\*|~~|`|\{[:#]|\[\^|xxxxhidden|^#+ |^=+$|^>|\|[ :-]*---|:::", re.M
)
"""Marks that no reader sees; none of them is part of the words above."""


def words(text: str) -> list[str]:
    return re.findall(r"[a-zäß]{2,}", text)


def words_meant(source: str) -> list[str]:
    """The words of a source without its marks."""
    source = re.sub(r"<!--.*?-->|<script>.*?</script>|<style>.*?</style>|\{:[^}]*\}", " ", source, flags=re.S)
    source = re.sub(r'<img [^>]*alt="([^"]*)"[^>]*>', r" \1 ", source)
    source = re.sub(r"<[^<>]*>|\]\([^()]*\)|&\w+;", " ", source)
    return words(source)


@settings(max_examples=300, deadline=None)
@given(PAGE)
def test_no_mark_is_left_and_no_word_lost(source: str) -> None:
    text = extract("any.md", f"begin\n\n{source}".encode()).pages[0].text
    assert LEFT.findall(text) == [], text
    assert sorted(words(text)) == sorted(["begin", *words_meant(source)]), text


@settings(max_examples=60, deadline=None)
@given(PAGE)
def test_every_quote_of_a_rendered_page_is_exact(source: str) -> None:
    extracted = extract("any.md", f"begin here\n\n{source}".encode())
    text = extracted.pages[0].text
    document = Document(1, "any.md", "00", 1, DocumentState.READY, NOW)
    for number, passage in enumerate(split(extracted, "Any"), 1):
        assert passage.text == text[passage.start : passage.end]
        rarity = dict.fromkeys(passage.text.split()[:3], 1.0)
        for citation in cite(replace(passage, id=number), document, rarity, kind="number"):
            assert citation.quote == text[citation.start : citation.end] != ""


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=5))
def test_rich_text_keeps_words_and_no_control_word(lines: list[str]) -> None:
    marked = (
        r"{\b %s}\par ",
        r"\pard\plain\f0\fs24 %s\par ",
        r'{\field{\*\fldinst HYPERLINK "https://a.b"}{\fldrslt %s}}\par ',
        r"{\*\bkmkstart xxxxhidden}%s{\*\bkmkend xxxxhidden}\par ",
        r"\trowd\cellx100 %s\cell\row ",
    )
    body = "".join(marked[at % len(marked)] % line for at, line in enumerate(lines))
    escaped = body.replace("ä", r"\'e4").replace("ß", r"\u223?")
    text = extract("any.rtf", rtf_of(escaped)).pages[0].text
    assert words(text) == words(" ".join(lines)), text
    assert not re.search(r"[\\{}]|xxxxhidden|HYPERLINK", text)


def test_signs_between_digits_are_no_emphasis() -> None:
    source = "Pay 2*3*4 hours, *5* or 2 *3* 4 days, 6*a*7, *8*9."
    text = extract("a.md", source.encode()).pages[0].text
    assert text == "Pay 2*3*4 hours, 5 or 2 3 4 days, 6a7, 89."
