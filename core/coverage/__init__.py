"""Which topics are supported by which truth, and what to obtain where they are not."""
