"""Makes the packages of the product importable.

In a checkout they are beside this package. An installed wheel has them in `fivefold/_tree`, because `core`, `pages` or
`storage` in site-packages would overwrite, or be overwritten by, other distributions that use such names.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["TREE", "add", "check", "put_first"]

_INSTALLED = Path(__file__).with_name("_tree")
TREE = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1]
"""The folder of app.py and of the packages core, storage, adapters, bootstrap, pages, api and cli."""
_NEEDED = ("core", "storage", "adapters", "bootstrap")


def add() -> None:
    """Let the packages be found after everything else, so that a program's own `core` stays its own."""
    if str(TREE) not in sys.path:
        sys.path.append(str(TREE))


def put_first() -> None:
    """Let the packages be found before everything else, in a process that is Fivefold's own."""
    sys.path[:] = [str(TREE), *(path for path in sys.path if path != str(TREE))]


def check() -> None:
    """Raises ImportError when another package has the name of one that is needed."""
    for name in _NEEDED:
        spec = find_spec(name)
        origin = Path(spec.origin) if spec is not None and spec.origin else None
        if origin is None or not origin.resolve().is_relative_to(TREE.resolve()):
            raise ImportError(
                f"Fivefold needs its package '{name}', but found {origin or 'nothing'}."
                " Run Fivefold in a process of its own, or rename your package."
            )
