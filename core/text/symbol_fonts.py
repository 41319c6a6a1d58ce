"""Characters of symbol fonts (Symbol, Wingdings), which Word and PDF files write into Unicode's private use area."""

__all__ = ["PLAIN_SYMBOLS"]

PLAIN_SYMBOLS = str.maketrans(
    {
        "\uf0a7": "▪",
        "\uf0a8": "◻",
        "\uf0b7": "•",
        "\uf0d8": "➢",
        "\uf0e0": "→",
        "\uf0fb": "✗",
        "\uf0fc": "✓",
        "\uf0fd": "☒",
        "\uf0fe": "☑",
    }
)
"""For str.translate: the sign that such a character shows. Those whose sign depends on the font are left out."""
