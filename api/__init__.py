"""The doors for programs: REST and MCP, over the same services as the pages."""
