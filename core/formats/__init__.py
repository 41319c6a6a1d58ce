"""Output formats that several packages share: spreadsheets, CSV, terminal text."""
