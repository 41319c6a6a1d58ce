"""The command `fivefold`: the command line of the product, from wherever it is installed."""

from fivefold import _path

__all__ = ["main"]


def main() -> None:
    """Run the command line in this process, which is Fivefold's own."""
    _path.put_first()
    from cli.main import main as command_line

    command_line()
