"""Python's collector of objects that refer to each other in a circle."""

import gc

__all__ = ["collect_less_often"]

_YOUNG, _MIDDLE, _OLD = 50_000, 5, 5
"""The thresholds of `gc.set_threshold`. Sessions that have ended are circles and wait for a full collection, so the
second and third are below Python's 10. Chosen by hand."""


def collect_less_often() -> None:
    """Keep a process that serves many people from going through all its objects again and again.

    A search makes thousands of objects that live until it is answered. With Python's threshold of 700 they are looked
    at twice meanwhile, count as old, and soon bring about a collection of all objects, during which no thread goes on.
    Objects that no circle holds are freed at once, as always.
    """
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
