"""`dact serve`: the page, until Ctrl-C."""

import os
import signal
import sys
import threading
import webbrowser

from dact.cli.screen import note
from dact.instances import InputError
from dact.interrupts import SIGNALS


def serve_page(port: int, open_page: bool | None) -> None:
    """Serve until a signal comes; say where the page is."""
    try:
        from dact.web.server import listen, make_server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "dact":
            raise
        raise InputError(f"dact serve needs {error.name}: pip install 'dact[web]'") from None
    with listen(port) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = make_server(listener)
        note(f"{address}  (Ctrl-C ends the page and its searches)")
        # The server has its own signal handlers and passes signals on to these when it has ended.
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        if _has_browser() if open_page is None else open_page:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        server.run(sockets=[listener])


def _has_browser() -> bool:
    """Is there a graphical browser?"""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
