"""The reading room: a document whole, page by page, with everything marked in it."""
