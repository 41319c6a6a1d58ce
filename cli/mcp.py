"""The command `mcp`: the library as an MCP server over standard input and output."""

__all__ = ["mcp"]


def mcp() -> None:
    """Serve the library to an MCP client over standard input and output, until the client ends it."""
    from api.mcp.stdio import serve
    from cli.options import open_library

    serve(open_library)
