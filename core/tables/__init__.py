"""Knowledge as rows: the TOML tables beside this file, checked when they are loaded."""
