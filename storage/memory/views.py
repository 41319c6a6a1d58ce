"""Saved views in dicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from threading import RLock

from core.views import SavedView, ViewLook, no_view, outdated_view, view_name_taken

__all__ = ["MemoryViewStore"]


class MemoryViewStore:
    """core.views.ViewStore; every method is one step for all threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._views: dict[int, SavedView] = {}
        self._looks: dict[tuple[str, int], ViewLook] = {}

    def views(self, *, retired: bool = False) -> Sequence[SavedView]:
        """Every living (or retired) view, in order of age."""
        with self._lock:
            return [view for view in self._views.values() if view.retired is retired]

    def view(self, view_id: int) -> SavedView:
        """Raises NotFound."""
        with self._lock:
            if view_id not in self._views:
                raise no_view(view_id)
            return self._views[view_id]

    def add_view(self, view: SavedView) -> SavedView:
        """Store a new view. Raises BadRequest when the name is taken."""
        with self._lock:
            return self._kept(replace(view, id=next(self._ids), version=1))

    def change_view(self, view: SavedView) -> SavedView:
        """Store a changed view; gives it with its new version. Raises Outdated, BadRequest, NotFound."""
        with self._lock:
            known = self.view(view.id)
            if known.version != view.version:
                raise outdated_view(known)
            return self._kept(replace(view, version=view.version + 1))

    def _kept(self, new: SavedView) -> SavedView:
        others = [view for view in self._views.values() if not view.retired and view.id != new.id]
        if not new.retired and _key(new) in {_key(view) for view in others}:
            raise view_name_taken(new)
        self._views[new.id] = new
        return new

    def look(self, view_id: int, who: str) -> ViewLook | None:
        """How far this person has looked at a view; None: not at all."""
        return self._looks.get((who, view_id))

    def last_looks(self, who: str) -> Mapping[int, datetime]:
        """View id → when this person last looked at it."""
        with self._lock:
            return {view_id: look.at for (each, view_id), look in self._looks.items() if each == who}

    def save_look(self, look: ViewLook) -> None:
        """Store how far a person has looked. Raises NotFound for an unknown view."""
        with self._lock:
            self.view(look.view_id)
            self._looks[look.who, look.view_id] = look


def _key(view: SavedView) -> tuple[str | None, str, str]:
    return view.project, view.owner, view.name.lower()
