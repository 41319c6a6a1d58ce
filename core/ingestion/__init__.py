"""Document ingestion: parse, classify, split and embed; one module per step."""
