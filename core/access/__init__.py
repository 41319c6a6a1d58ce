"""Who may do what: people and their roles, API tokens, the audit log, and the guard in front of every service."""
