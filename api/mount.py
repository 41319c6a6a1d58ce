"""Where the API stands on the server: every path under /api is its own, also those that no route has."""

import re

from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Scope

__all__ = ["ApiMount"]

_ROOT = "/api"


class ApiMount(Mount):
    """Like Mount, and also takes the bare root and paths with line breaks, which would otherwise reach the pages."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(_ROOT, app)
        self.path_regex = re.compile(self.path_regex.pattern, re.DOTALL)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match.FULL for every path under /api."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path != f"{scope.get('root_path', '')}{_ROOT}":
            return super().matches(scope)
        match, child = super().matches({**scope, "path": f"{path}/"})
        return match, {**child, "path": f"{path}/"}
