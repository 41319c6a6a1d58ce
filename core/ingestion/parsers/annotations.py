"""Comments that readers left in a document, as sentences of their own that name who wrote them."""

from core.text.sentences import sentences

__all__ = ["ABOUT_LETTERS", "comment_text"]

ABOUT_LETTERS = 100  # of the words that a comment is about. Chosen by hand, not fitted.


def comment_text(author: str, text: str, about: str = "") -> str:
    """A comment as text, "" for an empty one. about: the words that it is about, of which it
    names the first sentence: a second one would end the comment's own sentence before it says anything.

    >>> comment_text("Eva", "Should be 7.", "The rate is 5 percent.")
    'Comment by Eva on “The rate is 5 percent.”: Should be 7.'
    >>> comment_text("Eva", "Should be 7.", "It is 5 percent. It is due in May.")
    'Comment by Eva on “It is 5 percent. …”: Should be 7.'
    >>> comment_text("", "Should be 7.")
    'Comment: Should be 7.'
    """
    words, about = " ".join(text.split()), " ".join(about.split())
    if not words:
        return ""
    first = next((span.of(about) for span in sentences(about)), "")
    first = first if len(first) <= ABOUT_LETTERS else first[: ABOUT_LETTERS - 2].rstrip()
    about = about if first == about else f"{first} …"
    by, on = f" by {' '.join(author.split())}" if author.strip() else "", f" on “{about}”" if about else ""
    return f"Comment{by}{on}: {words}"
