"""The MCP server: tools and resources over the services of the library, for assistants and other programs."""
