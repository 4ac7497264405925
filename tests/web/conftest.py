"""A server on a free port."""

import threading
import time
from collections.abc import Iterator

import pytest
from web_client import HARBOUR, ISLANDS, Client

from dact.instances import read
from dact.solver import solve
from dact.web.runs import Runs
from dact.web.server import listen, make_server


@pytest.fixture(scope="session")
def server() -> Iterator[Client]:
    """A running server. A machine's first searches compile for minutes, which is not left to those that are timed."""
    for path in (HARBOUR, ISLANDS):
        solve(read(path), search="hybrid", steps=1)
    runs = Runs()
    with listen(0) as listener:
        running = make_server(listener, runs)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        while not running.started:
            time.sleep(0.02)
        yield Client(listener.getsockname()[1], runs)
        running.should_exit = True
        thread.join()
