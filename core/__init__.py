"""The product's meaning in pure Python: no browser, SQL, Chroma, environment or clock."""
