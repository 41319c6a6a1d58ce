"""One question answered by five truths: found, compared, written out, and checked when a model writes."""
