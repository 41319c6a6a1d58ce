"""The composition root: builds the workbench from settings."""
