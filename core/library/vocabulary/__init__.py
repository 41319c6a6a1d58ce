"""The vocabulary of a workspace: editing, checks, previews, import and export."""
