"""The domain model: frozen dataclasses and enums only."""
