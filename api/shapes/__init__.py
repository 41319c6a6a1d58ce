"""The shapes of answers: what OpenAPI says of them, and how values of the product become JSON."""
