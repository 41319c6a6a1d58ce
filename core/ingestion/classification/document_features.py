"""Features from which the learned classifier decides: words, words of the opening, the form of the text, the name.

Every feature is a count or a rate of something a reader can point at, so that a decision can be quoted back.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice

import numpy as np
from numpy.typing import NDArray

from core.ingestion.classification.sample import DocumentSample, quote_around

__all__ = ["FORM_FEATURES", "DocumentFeatures", "features_of", "form_quote", "word_spans", "words_of"]

_LONGEST_WORD = 24  # characters of a word that count; longer ones are ids and run-together text
_FORM_CHARACTERS = 20_000  # of the text's beginning for the shares of letters and of different words

_ANY_FILE = frozenset({"document", "file", "untitled", "scan", "copy", "new", "final", "draft", "version", "index"})
"""Words that any file may be called; chosen by hand."""

_WORD = re.compile(r"([^\W\d_]+)")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")
_UNIT = re.compile(r"[.!?。！？]\s|\n")

# A pattern begins with a set of characters where it can, and looks back after it: the engine then skips to the next of
# these characters, several times faster than it tries every position.
_PATTERNS: Mapping[str, str] = {
    "numbered clauses": r"(?m)^[ \t]*(?:\d{1,3}\.){1,5}\d*[ \t]+\S",
    "lettered items": r"(?m)^[ \t]*\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s",
    "bullets": r"(?m)^[ \t]*[-*+•–][ \t]",
    "headings": r"(?m)^[ \t]*#{1,6}[ \t]|^[A-Z][A-Z \d,.&-]{6,70}$",
    "sections and articles": (
        r"§|\b(?:[Ss]ection|[Aa]rticle|[Aa]rtikel|[Aa]rt\.|[Aa]rt[íi]culo|[Aa]rtigo|[Aa]rticolo|[Cc]hapter|SECTION"
        r"|ARTICLE|ART\.|[Сс]татья)\s*\d|第\s*[\d一二三四五六七八九十百]+\s*[条條章节]|제\s*\d+\s*조"
    ),
    "table rows": r"(?m)^[ \t]*\|.*\|[ \t]*$|\t[^\t\n]*\t",
    "rows of a list file": r"(?m)^(?:[^,;\n]{0,60}[,;]){4,}",
    "digits": r"\d",
    "large numbers": r"\d(?<!\w\d)[\d.,]{4,}\b",
    "dates": r"(?:19|20)(?<!\w\d\d)\d\d[-/.]\d\d?[-/.]\d\d?\b",
    "years": r"(?:19|20)(?<!\w\d\d)\d\d\b",
    "web addresses": r"https?://|www\.",
    "mail addresses": r"\b[\w.-]{1,40}@[\w.-]{1,40}\.\w+",
    "code": r"`|\{|\}|==|->|;[ \t]*$|</?\w+>",
    "questions": r"\?",
    "exclamations": r"!",
    "quotation marks": r"[\"“”«»]",
    "brackets": r"\(",
    "lines that end with a colon": r"(?m):[ \t]*$",
    "semicolons": r";",
    "sums of money": r"[$€£¥][ \t]?\d|\d[ \t]?(?:€|EUR|USD|GBP)",
    "blanks to fill in": r"_{4,}|\.{6,}|\[[^\]\n]{0,40}\](?!\()|\{\{|<[A-Z ]+>|XX+",
    "words in capitals": r"[A-Z](?<!\w[A-Z])[A-Z]{2,}\b",
    "capitalised words": r"[A-Z](?<!\w[A-Z])[a-z]+",
    "definitions": (
        r"[\"“'m](?:(?<!m)[A-Z][^\"”'\n]{1,40}[\"”']\s+(?:means|shall mean|is|refers)|(?<=m)(?<!\wm)eans\b)"
    ),
    "signatures": (
        r"[AaDdFfSsſUu](?i:(?<=s)ign(?:ature|ed)|(?<=u)nterschrift|(?<=f)irma\b|(?<=a)ssinatura|(?<=d)ate:)"
    ),
    "sentence ends": r"[.!?]\s",
    "lines": r"\n",
    "paragraphs": r"\n[ \t]*\n",
    "footnotes": r"\[\^?\d+\]",
    "percentages": r"\d[ \t]?%",
    "times of day": r"\d(?<!\w\d)\d?:\d{2}\b",
    "version numbers": r"[v\d](?<!\w[v\d])(?:(?<=v)\d+|(?<!v)\d*)\.\d+(?:\.\d+)?\b",
    "check boxes": r"\[[ x]\]",
    "links": r"\]\(",
    "pictures": r"!\[",
}
_FORMATS = ("md", "txt", "html", "pdf", "docx", "xlsx", "csv", "json", "xml", "eml", "pptx")
_SAME_FORMAT = {
    "markdown": "md", "rst": "txt", "htm": "html", "doc": "docx", "odt": "docx", "rtf": "docx", "xls": "xlsx",
    "ods": "xlsx", "tsv": "csv", "jsonl": "json", "yaml": "json", "yml": "json", "ppt": "pptx", "msg": "eml",
}  # fmt: skip

_RATES = tuple((name, re.compile(pattern)) for name, pattern in _PATTERNS.items())
FORM_FEATURES = (
    *_PATTERNS,
    "words",
    "mean words of a line",
    "spread of line lengths",
    "longest line",
    "share of different words",
    "share of letters",
    "share of spaces",
    *(f"is a {name} file" for name in _FORMATS),
)
"""Names of the form features, in the order of `DocumentFeatures.form`."""


@dataclass(frozen=True, slots=True)
class DocumentFeatures:
    """words, opening, name: word → count, in the sampled text, its first 1,500 characters and the file name.

    form: float64, shape (len(FORM_FEATURES),): log(1 + count per 1,000 words) of the patterns, then logs and shares.
    """

    words: Mapping[str, int]
    opening: Mapping[str, int]
    name: Mapping[str, int]
    form: NDArray[np.float64]


def features_of(sample: DocumentSample) -> DocumentFeatures:
    """The features of a sampled document."""
    stem = sample.name_words.rpartition(" ")[0] if "." in sample.name else sample.name_words
    return DocumentFeatures(
        words=Counter(word for word, _ in word_spans(sample.body)),
        opening=Counter(word for word, _ in word_spans(sample.opening)),
        name=Counter(word for word in words_of(stem) if word not in _ANY_FILE),
        form=_form(sample),
    )


def form_quote(feature: str, text: str) -> str:
    """The first line that shows a form feature, verbatim; "" for one that no line shows."""
    pattern = dict(_RATES).get(feature)
    found = pattern.search(text) if pattern else None
    return quote_around(text, *found.span()) if found else ""


def words_of(text: str) -> Iterator[str]:
    """The words of a text as features: lower case, two letters or more, without digits; pairs of characters where a
    script has no spaces.

    >>> list(words_of("§ 12 The Employer's 3 duties")), list(words_of("劳动合同"))
    (['the', 'employer', 'duties'], ['劳动', '动合', '合同'])
    """
    return (word for word, _ in _spans(text))


@lru_cache(2)  # the text and the opening of a document, which every head reads again
def word_spans(text: str) -> Sequence[tuple[str, int]]:
    """The words of `words_of`, each with the position where it begins."""
    return _spans(text)


def _spans(text: str) -> Sequence[tuple[str, int]]:
    pieces = _WORD.split(text)  # what is between words and words, alternately
    written = pieces[1::2]
    starts = islice(accumulate(map(len, pieces)), 0, None, 2)
    lower = {word: word.lower() for word in set(written)}  # each word once: a text has few different ones
    cut = {word: each[:_LONGEST_WORD] for word, each in lower.items() if len(each) > 1}
    pairs = {word for word, each in lower.items() if not each.isascii() and _SPACELESS.search(each)}
    if not pairs:
        return [(cut[word], start) for word, start in zip(written, starts, strict=False) if word in cut]
    return [
        span
        for word, start in zip(written, starts, strict=False)
        for span in (_pairs(lower[word], start) if word in pairs else [(cut[word], start)] if word in cut else ())
    ]


def _pairs(word: str, start: int) -> Sequence[tuple[str, int]]:
    return [(word[at : at + 2], start + at) for at in range(max(1, len(word) - 1))]


def _form(sample: DocumentSample) -> NDArray[np.float64]:
    text, words = sample.body, max(sample.words, 20)
    rates = [np.log1p(1000.0 * len(pattern.findall(text)) / words) for _, pattern in _RATES]
    lengths = np.array([len(unit.split()) for unit in _UNIT.split(text) if unit.strip()] or [0], dtype=np.float64)
    front = text[:_FORM_CHARACTERS]
    first = list(words_of(front))
    size = max(1, len(front))
    shares = [
        np.log10(sample.words + 10.0),
        np.log1p(lengths.mean()),
        np.log1p(lengths.std()),
        np.log1p(lengths.max()),
        len(set(first)) / max(1, len(first)),
        sum(map(str.isalpha, front)) / size,
        sum(map(str.isspace, front)) / size,
    ]
    suffix = sample.name.rpartition(".")[2].lower()
    kind = _SAME_FORMAT.get(suffix, suffix)
    return np.array([*rates, *shares, *(float(kind == each) for each in _FORMATS)])
