"""Files: uploaded originals, and atomic writes."""
