"""Sources of documents: web feeds, links and watched folders."""
