"""Reading a document in the browser: its parts and blocks, what is found in it, and what is marked."""
