"""The tests read like the product: ingest, search, coverage, stores, screens, browser, scenarios."""
