"""Python's collector of objects that refer to each other in a circle."""

import gc

__all__ = ["collect_less_often"]

_YOUNG, _MIDDLE, _OLD = 50_000, 5, 5
"""New objects that bring about a collection; every fifth one is of middle ones too, and every fifth of these of all:
sessions that have ended are circles, and wait for that. Chosen by hand."""


def collect_less_often() -> None:
    """Keep a process that serves many people from going through all its objects again and again.

    A search makes thousands of objects that live until it is answered. With Python's threshold of 700 they are looked
    at twice meanwhile, count as old, and soon bring about a collection of all objects, during which no thread goes on:
    a quarter of the time of a server with 20 sessions, up to a second each. Objects without a circle are freed as ever.
    """
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
