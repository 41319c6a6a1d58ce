"""Which workspace's words are spoken: what the tables of domains, authorities and jurisdictions answer by.

Words are looked up at the far end of every flow: a stem in a sentence, a title in a chip, a place in a line of CSV. To
hand a vocabulary through would touch dozens of signatures that have nothing else to do with it, pure functions and
widgets among them, and one that was forgotten would silently speak the product's words. So it is bound to the context
instead, in two ways that cannot mix two workspaces up:

- what belongs to one tenant binds its words around its own work (`in_its_words`), in whichever thread that runs, and
  they end with it;
- where nothing is bound (a page being drawn, a command), the words are those of the one library this process has open.
  With several open, or none, they are the product's own: never another tenant's.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from core.vocabulary import BUILT_IN, Vocabulary

__all__ = ["Words", "built_in_words", "in_its_words", "opened", "speaking", "spoken"]

Words = Callable[[], Vocabulary]
"""Gives the vocabulary that holds now."""

P = ParamSpec("P")
R = TypeVar("R")
_BOUND: ContextVar[Vocabulary | None] = ContextVar("vocabulary", default=None)
_LOCK = Lock()
_OPEN: list[Words] = []


def built_in_words() -> Vocabulary:
    """The words of a workspace that has none of its own."""
    return BUILT_IN


def spoken() -> Vocabulary:
    """The vocabulary spoken here: the bound one, else the only open library's, else the product's.

    Raises StoreFailed when the library's cannot be read.
    """
    bound = _BOUND.get()
    if bound is not None:
        return bound
    with _LOCK:
        only = _OPEN[0] if len(_OPEN) == 1 else built_in_words
    return only()


@contextmanager
def speaking(vocabulary: Vocabulary) -> Iterator[None]:
    """Speak these words, in this thread, until the end.

    >>> with speaking(Vocabulary()):
    ...     spoken() == BUILT_IN
    True
    """
    token = _BOUND.set(vocabulary)
    try:
        yield
    finally:
        _BOUND.reset(token)


@contextmanager
def opened(words: Words) -> Iterator[None]:
    """A library is open in this process: while it is the only one, its words are spoken wherever none are bound."""
    with _LOCK:
        _OPEN.append(words)
    try:
        yield
    finally:
        with _LOCK:
            _OPEN.remove(words)


def in_its_words(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that runs in the words of its own object, which has them as `words`."""

    @wraps(method)
    def told(self: Any, /, *arguments: P.args, **named: P.kwargs) -> R:
        with speaking(self.words()):
            return method(self, *arguments, **named)

    return told
