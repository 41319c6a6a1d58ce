"""Reality tables in PostgreSQL: loading, querying and comparing; queries run as a restricted role."""
