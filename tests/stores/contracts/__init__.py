"""One executable contract per Protocol of core.ports; each implementation passes the same tests."""
