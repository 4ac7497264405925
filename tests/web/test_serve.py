"""`dact serve` as a command."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from web_client import Client

from dact.cli import main


def test_a_taken_port_is_a_mistake(server: Client, capsys):
    """One sentence that says what to do."""
    assert main(["serve", "--port", str(server.port), "--no-open"]) == 2
    assert capsys.readouterr().err == (
        f"error: port {server.port} cannot be used (Address already in use): choose another with --port\n"
    )


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_that_is_none_is_a_mistake(port: str, capsys):
    """Likewise."""
    assert main(["serve", "--port", port, "--no-open"]) == 2
    assert f"port {port} cannot be used (there is no such port)" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    """A plain installation has no server, and names the extra that has."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in [name for name in sys.modules if name.startswith("dact.web")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["serve", "--port", "0", "--no-open"]) == 2
    assert capsys.readouterr().err == "error: dact serve needs uvicorn: pip install 'dact[web]'\n"


def test_ctrl_c_ends_it():
    """The command says where the page is, serves it, and ends in peace."""
    command = [sys.executable, "-m", "dact", "serve", "--port", "0", "--no-open"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as served:
        try:
            address = re.match(r"http://127\.0\.0\.1:\d+", served.stderr.readline())
            assert address
            assert b"<title>DACT</title>" in urllib.request.urlopen(address[0], timeout=30).read()
            served.send_signal(signal.SIGINT)
            assert served.wait(30) == 0
            assert served.stderr.read() == ""
        finally:
            served.kill()
