"""Text processing shared by all packages: tokens, phrases, sentences."""
