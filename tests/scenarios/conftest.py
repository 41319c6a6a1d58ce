"""The stories of this folder start, kill and look at the same app as those in a browser."""

from tests.browser.conftest import browser, data_folder, models, start, window

__all__ = ["browser", "data_folder", "models", "start", "window"]
