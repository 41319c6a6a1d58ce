"""The upload flow: read, classify, split, embed; one module per step."""
