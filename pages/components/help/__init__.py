"""Help: the tour, the glossary, the keys of each page, and the guide."""
