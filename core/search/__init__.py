"""The query flow: route → dense ∥ sparse → fuse → score → cite, one file per arrow."""
