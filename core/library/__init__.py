"""Services for the documents of a library: corrections, edits, versions, enrichment and sources."""
