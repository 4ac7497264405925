"""Talking to the server of a page, and files to send it."""

import base64
import http.client
import json
import time
from pathlib import Path

from dact.web.runs import Runs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HARBOUR, ISLANDS, BAKERY = (EXAMPLES / name for name in ("harbour60.vrp", "islands60.tsp", "bakery40.csv"))


def file_of(name: str, content: bytes | str, **settings: object) -> dict[str, object]:
    """A file as the page sends it."""
    raw = content.encode() if isinstance(content, str) else content
    return {"name": name, "data": base64.b64encode(raw).decode(), **settings}


def file_at(path: Path, **settings: object) -> dict[str, object]:
    """Likewise, from disk."""
    return file_of(path.name, path.read_bytes(), **settings)


class Frames:
    """The lines of a run; closing them is closing the tab."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self.connection, self.response = connection, response
        self.first = self.next()
        self.id = self.first["run"]

    def next(self) -> dict:
        """The next line that says something."""
        while line := self.response.readline():
            if line.strip():
                return json.loads(line)
        raise EOFError

    def until(self, *states: str) -> list[dict]:
        """All lines up to one of such a status."""
        lines = [self.next()]
        while lines[-1]["status"] not in states:
            lines.append(self.next())
        return lines

    def close(self) -> None:
        """As a closed tab does."""
        self.response.close()
        self.connection.close()


class Client:
    """Sends requests as a page of the server's own would, unless told otherwise."""

    def __init__(self, port: int, runs: Runs) -> None:
        self.port, self.runs = port, runs
        self.address = f"http://127.0.0.1:{port}"

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Status, body and headers of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        answer = response.status, response.read(), response.headers
        connection.close()
        return answer

    def refusal(self, path: str, body: object) -> tuple[int, str]:
        """Status and sentence of a refusal."""
        status, answer, _ = self.ask("POST", path, body)
        return status, json.loads(answer)["error"]

    def begin(self, order: dict[str, object]) -> Frames:
        """Start a run."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("POST", "/api/runs", json.dumps(order), {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200, response.read()
        return Frames(connection, response)

    def tell(self, run: str, command: str) -> int:
        """Pause, go on, stop."""
        return self.ask("POST", f"/api/runs/{run}/{command}", {})[0]

    def wait_until_over(self, run: str) -> bool:
        """Whether a run ends before our patience does."""
        for _ in range(600):
            if self.runs[run].over:
                return True
            time.sleep(0.05)
        return False
