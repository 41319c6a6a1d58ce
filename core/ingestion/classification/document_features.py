"""Features from which the learned classifier decides: words, words of the opening, the form of the text, the name.

Every feature is a count or a rate of something a reader can point at, so that a decision can be quoted back.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from core.ingestion.classification.sample import DocumentSample, quote_around
from core.knowledge.translations import english_words

__all__ = [
    "FORM_FEATURES",
    "DocumentFeatures",
    "WordPlaces",
    "english_word_places",
    "features_of",
    "first_lines",
    "form_quote",
    "word_places",
    "words_of",
]

_LONGEST_WORD = 24  # characters of a word that count; longer ones are ids and run-together text
_FORM_CHARACTERS = 20_000  # of the text's beginning; as good as all of it on sources left out, and a third of the time
_LEAST_WORDS = 20  # that rates are of; chosen by hand
_FIRST_CHARACTERS = 300  # title, letterhead, first line: the best of 150, 300, 500 and 1,500 on sources left out

_ANY_FILE = frozenset({"document", "file", "untitled", "scan", "copy", "new", "final", "draft", "version", "index"})
"""Words that any file may be called; chosen by hand."""

_AS_WRITTEN = frozenset({"hi", "ko", "th", "vi"})
"""Languages that got their translations after the built-in model was fitted: it learned their words as written."""

_LETTER = re.compile(r"[^\W\d_]")
_PLANE = 0x10000  # characters of everyday scripts; those beyond count as no letters
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")
_UNIT = re.compile(r"[.!?。！？]\s|\n")

# A pattern begins with a rare character or a set of some where it can, and looks back from it: the engine then skips to
# the next of these, several times faster than it tries every position. A cited number looks back at its own word.
_BEFORE_A_NUMBER = "|".join(
    rf"(?<={word}\s\d)|(?<={word}\d)"
    for word in (
        *("[Ss]ection", "SECTION", "[Aa]rticle", "ARTICLE", "[Aa]rtikel", r"[Aa]rt\.", r"ART\.", "[Aa]rt[íi]culo"),
        *("[Aa]rtigo", "[Aa]rticolo", "[Cc]hapter", "[Сс]татья"),
    )
)
_PATTERNS: Mapping[str, str] = {
    "numbered clauses": r"(?m)^[ \t]*(?:\d{1,3}\.){1,5}\d*[ \t]+\S",
    "lettered items": r"(?m)^[ \t]*\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s",
    "bullets": r"(?m)^[ \t]*[-*+•–][ \t]",
    "headings": r"(?m)^[ \t]*#{1,6}[ \t]|^[A-Z][A-Z \d,.&-]{6,70}$",
    "sections and articles": (
        rf"[\d§第제](?:(?<=§)|{_BEFORE_A_NUMBER}|(?<=第)\s*[\d一二三四五六七八九十百]+\s*[条條章节]|(?<=제)\s*\d+\s*조)"
    ),
    "table rows": r"(?m)^[ \t]*\|.*\|[ \t]*$|\t[^\t\n]*\t",
    "rows of a list file": r"(?m)^(?:[^,;\n]{0,60}[,;]){4,}",
    "digits": r"[0-9]",
    "large numbers": r"\d(?<!\w\d)[\d.,]{4,}\b",
    "dates": r"(?:19|20)(?<!\w\d\d)\d\d[-/.]\d\d?[-/.]\d\d?\b",
    "years": r"(?:19|20)(?<!\w\d\d)\d\d\b",
    "web addresses": r"https?://|www\.",
    "mail addresses": r"@(?<=[\w.-]@)[\w.-]{1,40}\.\w",
    "code": r"`|\{|\}|==|->|;[ \t]*$|</?\w+>",
    "questions": r"\?",
    "exclamations": r"!",
    "quotation marks": r"[\"“”«»]",
    "brackets": r"\(",
    "lines that end with a colon": r"(?m):[ \t]*$",
    "semicolons": r";",
    "sums of money": (
        r"[$€£¥EUG](?:(?<=[$€£¥])[ \t]?\d|(?<=\d€)|(?<=\d[ \t]€)|(?:(?<=\d[EUG])|(?<=\d[ \t][EUG]))(?:UR|SD|BP))"
    ),
    "blanks to fill in": (
        r"[_.\[{<X](?:(?<=_)_{3,}|(?<=\.)\.{5,}|(?<=\[)[^\]\n]{0,40}\](?!\()|(?<=\{)\{|(?<=<)[A-Z ]+>|(?<=X)X+)"
    ),
    "words in capitals": r"[A-Z](?<!\w[A-Z])[A-Z]{2,}\b",
    "capitalised words": r"[A-Z](?<!\w[A-Z])[a-z]+",
    "definitions": (
        r"[\"“'m](?:(?<!m)[A-Z][^\"”'\n]{1,40}[\"”']\s+(?:means|shall mean|is|refers)|(?<=m)(?<!\wm)eans\b)"
    ),
    "signatures": (
        r"[gGfFN:](?:(?<=[Ss]ig)n(?:ature|ed)|(?<=SIG)N(?:ATURE|ED)|(?<=[Uu]nterschrif)t|(?<=[Ff])irma\b|(?<=[Dd]ate:)"
        r"|(?<=DATE:)|(?<=ASSIN)ATURA)"
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
    """words, opening, name: word → count, in the sampled text, its first lines and the file name; those of other
    languages are translated into English where `english_words` can. language: ISO 639-1 code of the text.

    form: float64, shape (len(FORM_FEATURES),): log(1 + count per 1,000 words) of the patterns, then logs and shares.
    """

    words: Mapping[str, int]
    opening: Mapping[str, int]
    name: Mapping[str, int]
    form: NDArray[np.float64]
    language: str


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """The words of a text as features, and where each stands.

    words: the different ones. numbers, starts, ends: of every occurrence, in reading order: which of `words` it is, and
    where in the text it begins and ends; arrays of one length.
    """

    words: tuple[str, ...]
    numbers: NDArray[np.intp]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    @property
    def counts(self) -> dict[str, int]:
        """Word → how often it occurs."""
        return dict(zip(self.words, np.bincount(self.numbers, minlength=len(self.words)).tolist(), strict=True))


def features_of(sample: DocumentSample, language: str) -> DocumentFeatures:
    """The features of a sampled document. language: ISO 639-1 code of its text."""
    stem = sample.name_words.rpartition(" ")[0] if "." in sample.name else sample.name_words
    return DocumentFeatures(
        words=english_word_places(sample.body, language).counts,
        opening=english_word_places(first_lines(sample), language).counts,
        name=Counter(_as_learned([word for word in words_of(stem) if word not in _ANY_FILE], language)),
        form=_form(sample),
        language=language,
    )


def first_lines(sample: DocumentSample) -> str:
    """The beginning of a text, where title, letterhead and kind of document stand."""
    return sample.body[:_FIRST_CHARACTERS]


def form_quote(feature: str, text: str) -> str:
    """The first line that shows a form feature, verbatim; "" for one that no line shows."""
    pattern = dict(_RATES).get(feature)
    found = pattern.search(text) if pattern else None
    return quote_around(text, *found.span()) if found else ""


def words_of(text: str) -> Sequence[str]:
    """The words of a text as features: lower case, two letters or more, without digits; pairs of characters where a
    script has no spaces.

    >>> words_of("§ 12 The Employer's 3 duties"), words_of("劳动合同")
    (['the', 'employer', 'duties'], ['劳动', '动合', '合同'])
    """
    found = word_places(text)
    return [found.words[number] for number in found.numbers]


@lru_cache(3)  # the text, first lines and name of a document; every head reads the first two again
def word_places(text: str) -> WordPlaces:
    """The words of `words_of` and where they stand."""
    letters = np.diff(_are_letters(text).astype(np.int8), prepend=0, append=0)
    starts, ends = np.flatnonzero(letters > 0), np.flatnonzero(letters < 0)
    written = [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    if _SPACELESS.search(text):
        written, starts, ends = _with_pairs(written, starts.tolist())
    numbers: dict[str, int] = {}
    number_of = {}
    for word in dict.fromkeys(written):  # each once: a text has few different words
        cut = word.lower()[:_LONGEST_WORD]
        number_of[word] = numbers.setdefault(cut, len(numbers)) if len(cut) > 1 or _SPACELESS.match(cut) else -1
    found = np.fromiter(map(number_of.__getitem__, written), np.intp, len(written))
    known = found >= 0
    return WordPlaces(tuple(numbers), found[known], starts[known], ends[known])


@lru_cache(4)  # the text and first lines of a document, in its own language and as English
def english_word_places(text: str, language: str) -> WordPlaces:
    """The words of a text in English, where `english_words` can translate them, and where they stand.

    >>> english_word_places("Vertrag und Verträge", "de").counts
    {'contract': 2, 'and': 1}
    """
    found = word_places(text)
    numbers: dict[str, int] = {}
    number_of = [numbers.setdefault(word, len(numbers)) for word in _as_learned(found.words, language)]
    return WordPlaces(tuple(numbers), np.array(number_of, dtype=np.intp)[found.numbers], found.starts, found.ends)


def _as_learned(words: Sequence[str], language: str) -> Sequence[str]:
    """The words as the built-in model has learned them: in English, or as written."""
    return words if language in _AS_WRITTEN else english_words(words, language, learned=True)


def _are_letters(text: str) -> NDArray[np.bool_]:
    """For each character whether it belongs to a word."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return _letters()[np.where(codes < _PLANE, codes, 0)]


@cache
def _letters() -> NDArray[np.bool_]:
    return np.array([_LETTER.match(chr(code)) is not None for code in range(_PLANE)])


def _with_pairs(written: Sequence[str], starts: Sequence[int]) -> tuple[list[str], NDArray[np.intp], NDArray[np.intp]]:
    """The words, starts and ends, with pairs of characters instead of the words of scripts without spaces."""
    spans = [
        span
        for word, start in zip(written, starts, strict=True)
        for span in (
            [(word[at : at + 2], start + at) for at in range(max(1, len(word) - 1))]
            if _SPACELESS.search(word)
            else [(word, start)]
        )
    ]
    begun = np.array([start for _, start in spans], dtype=np.intp)
    words = [word for word, _ in spans]
    return words, begun, begun + np.array([len(word) for word in words], dtype=np.intp)


def _form(sample: DocumentSample) -> NDArray[np.float64]:
    text = sample.body[:_FORM_CHARACTERS]
    positions = word_places(sample.body)
    words = positions.numbers[: np.searchsorted(positions.starts, len(text))]
    per_thousand = 1000.0 / max(_LEAST_WORDS, len(words))
    rates = [np.log1p(per_thousand * len(pattern.findall(text))) for _, pattern in _RATES]
    lengths = np.array([len(unit.split()) for unit in _UNIT.split(text) if unit.strip()] or [0], dtype=np.float64)
    size = max(1, len(text))
    shares = [
        np.log10(sample.words + 10.0),
        np.log1p(lengths.mean()),
        np.log1p(lengths.std()),
        np.log1p(lengths.max()),
        len(np.unique(words)) / max(1, len(words)),
        int(_are_letters(text).sum()) / size,
        (len(text) - len("".join(text.split()))) / size,
    ]
    suffix = sample.name.rpartition(".")[2].lower()
    kind = _SAME_FORMAT.get(suffix, suffix)
    return np.array([*rates, *shares, *(float(kind == each) for each in _FORMATS)])
