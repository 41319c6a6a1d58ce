"""Query understanding: syntax, route, dates, expansion."""
