"""The API with its OpenAPI document, for all modules whose tests go through its routes: describing them takes half a
second, in every process that collects tests."""

from api.app import create_app
from tests.api.conftest import OpenedLibrary

__all__ = ["APP", "OPENED"]

OPENED: list[OpenedLibrary] = []
"""The library of the tests that call the routes; the document itself needs none."""
APP = create_app(lambda: OPENED[0], local=lambda: True, rate=lambda: "1000000/minute")
