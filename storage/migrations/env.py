"""Run by Alembic. `storage.migrations.migrate` supplies the connection and its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
