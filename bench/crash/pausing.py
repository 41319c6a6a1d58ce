"""Runs a program of the product that stops dead at a named step: `python -m bench.crash.pausing POINT NOTE PROGRAM …`.

POINT is "before" or "after", a module, and a function or method in it, with "#3" for its third call:

    after storage.postgres.catalogue:SqlCatalogue.save_all_ingested
    before storage.files:OriginalFiles.put#2

When the program gets there, the file NOTE appears and the calling thread waits, so that whoever watches can kill the
process at exactly this step. Where NOTE.go appears instead, the program goes on, and nothing has happened. PROGRAM is a
module as for `python -m`. The product knows nothing of this: its function is replaced in this process only.
"""

import importlib
import runpy
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

__all__ = ["KillPoint", "pause_at"]

_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class KillPoint:
    """A step of a program. first: whether to stop before the call, else after it; call: which one, from 1."""

    first: bool
    module: str
    name: str
    call: int = 1

    @classmethod
    def parse(cls, text: str) -> "KillPoint":
        """
        >>> KillPoint.parse("after storage.files:OriginalFiles.put#2")
        KillPoint(first=False, module='storage.files', name='OriginalFiles.put', call=2)
        >>> str(KillPoint.parse("before storage.files:OriginalFiles.put"))
        'before storage.files:OriginalFiles.put'
        """
        when, _, call_site = text.partition(" ")
        call_site, _, call = call_site.partition("#")
        module, _, name = call_site.partition(":")
        if when not in ("before", "after") or not name:
            raise ValueError(f"'{text}' names no step, such as 'before storage.files:OriginalFiles.put'.")
        return cls(when == "before", module, name, int(call or 1))

    def __str__(self) -> str:
        call = f"#{self.call}" if self.call > 1 else ""
        return f"{'before' if self.first else 'after'} {self.module}:{self.name}{call}"


def pause_at(point: KillPoint, note: Path) -> None:
    """Replace the function by one that pauses. Raises AttributeError when the product no longer has such a step."""
    *path, name = point.name.split(".")
    owner: Any = importlib.import_module(point.module)
    for each in path:
        owner = getattr(owner, each)
    function: Callable[..., Any] = getattr(owner, name)
    calls, lock = [0], threading.Lock()

    def pause() -> None:
        with lock:
            calls[0] += 1
            if calls[0] != point.call:
                return
        note.touch()
        while not note.with_suffix(".go").exists():
            time.sleep(_LOOK_SECONDS)

    @wraps(function)
    def paused(*arguments: Any, **named: Any) -> Any:
        if point.first:
            pause()
            return function(*arguments, **named)
        result = function(*arguments, **named)
        pause()
        return result

    setattr(owner, name, staticmethod(paused) if isinstance(vars(owner).get(name), staticmethod) else paused)


def main() -> None:
    point, note, program, *arguments = sys.argv[1:]
    pause_at(KillPoint.parse(point), Path(note))
    sys.argv = [program, *arguments]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
