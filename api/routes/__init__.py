"""The routes of the API, one module per noun."""

from api.routes import (
    answers,
    coverage,
    documents,
    entities,
    evaluation,
    insights,
    knowledge,
    profiles,
    search,
    trash,
    uploads,
    usage,
)

__all__ = ["ROUTERS"]

ROUTERS = (
    documents.routes,
    trash.routes,
    uploads.routes,
    search.routes,
    answers.routes,
    coverage.routes,
    profiles.routes,
    evaluation.routes,
    entities.routes,
    insights.routes,
    usage.routes,
    knowledge.routes,
    usage.health_routes,
)
"""In the order of the documentation."""
