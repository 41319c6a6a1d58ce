"""What is done with documents once they are kept: corrections, edits, versions, enrichment, feeds."""
