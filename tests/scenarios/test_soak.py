"""The parts of the soak test (`python -m bench.soak`): its sessions, its record, and the slope of memory."""

from collections.abc import Callable
from random import Random

import pytest

from bench.memory_growth import Growth, Verdict, growth, server_megabytes
from bench.soak import Noted, Record
from bench.streamlit_session import StreamlitSession
from storage.postgres.database import engine_for
from tests.database import shared_engine
from tests.running import RunningApp


@pytest.mark.slow
def test_a_session_without_a_browser_opens_every_page_and_types_a_question(start: Callable[[], RunningApp]) -> None:
    app = start()
    with StreamlitSession(app.url) as tab:
        assert tab.open().problems == []
        assert {"", "search", "library", "coverage", "settings"} <= set(tab.pages)
        for page in sorted(tab.pages):
            view = tab.open(page)
            assert view.elements and view.problems == [], page
        library = tab.open("library", {"view": "History"})
        name, options = library.choices["View"]
        assert "Entities" in options
        assert tab.open("library", None, {name: ["Entities"]}).problems == []
        with pytest.raises(KeyError):
            tab.open("no-such-page")


def test_noise_is_flat_and_a_leak_is_not() -> None:
    chance = Random(3)
    noise = [800 + chance.gauss(0, 6) for _ in range(60)]
    assert growth(range(60), noise).verdict is Verdict.FLAT
    leaking = [each + minute for minute, each in enumerate(noise)]
    found = growth(range(60), leaking)
    assert found.verdict is Verdict.GROWING
    assert found.low < 60 < found.high
    with pytest.raises(ValueError, match="four"):
        growth([1, 2, 3], [1, 2, 3])


def test_a_slope_that_is_too_uncertain_is_neither_flat_nor_growing() -> None:
    assert Growth(800.0, 12.0, -30.0, 54.0).verdict is Verdict.UNKNOWN
    short = growth(range(12), [800 + (20, -20, -20, 20)[minute % 4] for minute in range(12)])
    assert short.verdict is Verdict.UNKNOWN
    assert "cannot be told yet" in str(short) and "95 % interval" in str(short)


def test_an_interval_that_takes_measurements_for_independent_would_be_too_narrow() -> None:
    chance, level, wandering = Random(4), 0.0, []
    for _ in range(120):
        level = 0.9 * level + chance.gauss(0, 5)
        wandering.append(900 + level)
    found = growth(range(120), wandering)
    shuffled = wandering[:]
    chance.shuffle(shuffled)
    alone = growth(range(120), shuffled)
    assert found.high - found.low > 1.2 * (alone.high - alone.low)


def test_connections_are_no_part_of_the_servers_own_memory() -> None:
    engine = shared_engine()
    with engine.connect() as connection:
        files = connection.exec_driver_sql("SELECT pg_read_file('postmaster.pid')").scalar_one()
        server = int(files.split("\n", 1)[0])
        own, connections = server_megabytes(server)
        another = engine_for(engine.url.render_as_string(hide_password=False))  # a pool would give a known connection
        with another.connect() as other:
            other.exec_driver_sql("SELECT repeat('a', 50000000)")
            own_after, connections_after = server_megabytes(server)
        another.dispose()
    assert 0 < own < 50 and connections > 0
    assert connections_after > connections
    assert abs(own_after - own) < 5


def test_an_error_is_counted_once_and_ends_what_it_belongs_to() -> None:
    record = Record()
    with pytest.raises(Exception) as raised, record.timed("visit"), record.timed("page search"):
        raise TimeoutError("no answer")
    assert raised.type is Noted
    assert dict(record.errors) == {"page search: TimeoutError: no answer": 1}
    with record.timed("page search"):
        pass
    assert record.counts() == {"page search": 1}
