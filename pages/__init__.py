"""The user interface: one file per page. Pages draw values of core."""
