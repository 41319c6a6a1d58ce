"""Comments that readers left in a document, as sentences of their own that name who wrote them."""

__all__ = ["ABOUT_LETTERS", "comment_text"]

ABOUT_LETTERS = 100  # of the words that a comment is about. Chosen by hand, not fitted.


def comment_text(author: str, text: str, about: str = "") -> str:
    """A comment as text, "" for an empty one. about: the words that it is about.

    >>> comment_text("Eva", "Should be 7.", "The rate is 5 percent.")
    'Comment by Eva on “The rate is 5 percent.”: Should be 7.'
    >>> comment_text("", "Should be 7.")
    'Comment: Should be 7.'
    """
    words, about = " ".join(text.split()), " ".join(about.split())
    if not words:
        return ""
    about = about if len(about) <= ABOUT_LETTERS else f"{about[: ABOUT_LETTERS - 2].rstrip()} …"
    by, on = f" by {' '.join(author.split())}" if author.strip() else "", f" on “{about}”" if about else ""
    return f"Comment{by}{on}: {words}"
