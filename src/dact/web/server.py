"""The server behind the page: files in, frames out, on loopback only."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from dact.instances import InputError
from dact.web.answers import MEDIA, answer
from dact.web.guard import NAMES, Guard
from dact.web.orders import MAX_BODY, MAX_FILE, File, Order, described, limits
from dact.web.runs import FRAME_SECONDS, Run, Runs, TooManyError, UnknownRunError

STATIC = Path(__file__).parent / "static"
PULSE = 20
"""Frame times after which a line is sent in any case: a closed connection is noticed only by writing to it."""


class TooLargeError(InputError):
    """A request that is too large."""


STATUS: dict[type[Exception], int] = {TooLargeError: 413, TooManyError: 429, UnknownRunError: 404}


def make_app(port: int, runs: Runs | None = None) -> FastAPI:
    """The application for a server on this port."""
    runs = runs or Runs()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(runs.close)

    app = FastAPI(openapi_url=None, lifespan=lifespan)
    app.add_middleware(Guard, port=port)
    app.add_exception_handler(ValueError, _refused)
    app.add_exception_handler(HTTPException, _unknown)
    _add_commands(app, runs)
    _add_runs(app, runs)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    return app


def _add_commands(app: FastAPI, runs: Runs) -> None:
    """Routes for files and for commands to runs."""

    @app.get("/api/limits")
    def get_limits() -> dict[str, int]:
        return limits()

    @app.post("/api/instance")
    async def look_at(request: Request) -> JSONResponse:
        file = File.parse(await _body(request))
        task = await run_in_threadpool(file.read)
        return JSONResponse(await run_in_threadpool(described, task.instance, task.notes))

    @app.post("/api/runs/{run_id}/{command}")
    def tell(run_id: str, command: str) -> dict[str, str]:
        commands: dict[str, Callable[[Run], None]] = {"pause": Run.pause, "go-on": Run.go_on, "stop": Run.stop}
        if command not in commands:
            raise InputError(f"a run can be told {', '.join(commands)}, not '{command}'")
        commands[command](runs[run_id])
        return {"told": command}

    @app.get("/api/runs/{run_id}/answer{suffix}")
    def download(run_id: str, suffix: str) -> Response:
        run = runs[run_id]
        if suffix not in MEDIA:
            raise InputError(f"there is no answer as '{suffix}', but as {', '.join(MEDIA)}")
        return Response(answer(run, suffix), media_type=MEDIA[suffix])


def _add_runs(app: FastAPI, runs: Runs) -> None:
    """A run is the response to one request, a line per frame. It ends when the client disconnects."""

    @app.post("/api/runs")
    async def begin(request: Request) -> StreamingResponse:
        order = Order.parse(await _body(request))

        def start() -> tuple[Run, dict[str, Any]]:
            task = order.read()
            told = described(task.instance, task.notes)
            return runs.begin(task.instance, order.config(), task.start), told

        run, told = await run_in_threadpool(start)
        return StreamingResponse(_frames(run, told), media_type="application/x-ndjson")


async def _frames(run: Run, told: dict[str, Any]) -> AsyncIterator[str]:
    seen, silent = (-1, -1), 0
    try:
        yield _line({"run": run.id, "instance": told})
        while True:
            over = run.over
            frame, seen = run.frame(seen)
            silent = 0 if frame is not None else silent + 1
            if frame is not None:
                yield _line(frame)
            elif silent % PULSE == 0:
                yield "\n"
            if over:
                return
            await asyncio.sleep(FRAME_SECONDS)
    finally:
        run.stop()


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":")) + "\n"


async def _body(request: Request) -> bytes:
    """The body of a request, as far as the limit lets it come."""
    if request.headers.get("content-type", "").split(";")[0] != "application/json":
        raise InputError("the request is not JSON")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise TooLargeError(f"the file is too large: this page takes {MAX_FILE / 2**20:.1f} MiB at most")
    return bytes(body)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": " ".join(str(error).split())}, status_code=STATUS.get(type(error), 400))


async def _unknown(request: Request, error: Exception) -> JSONResponse:
    """What the routes have no answer to, as a wrong path or method."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return JSONResponse({"error": f"there is nothing at {request.method} {request.url.path}"}, status_code=status)


def listen(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((NAMES[0], port))
        # From now on browsers can connect; they wait until the server runs.
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or "there is no such port"
        raise InputError(f"port {port} cannot be used ({reason}): choose another with --port") from None
    return listener


def make_server(listener: socket.socket, runs: Runs | None = None) -> uvicorn.Server:
    """A server for the socket, not yet running."""
    app = make_app(listener.getsockname()[1], runs)
    return uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
