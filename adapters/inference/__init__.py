"""Models: embedder, cross-encoder, language-model client."""
