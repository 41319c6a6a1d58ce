"""Domain knowledge as data: TOML tables and loaders that validate them."""
