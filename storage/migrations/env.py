"""Run by Alembic. `storage.migrations.migrate` brings the connection and its transaction."""

from alembic import context

from storage.review_models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
