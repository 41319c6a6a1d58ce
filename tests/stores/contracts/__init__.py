"""One executable contract per Protocol of core.ports.stores; each implementation passes the same tests."""
