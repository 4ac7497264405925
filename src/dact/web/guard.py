"""Access control: only pages served by this server, under its own names, may send requests.

Pages of other sites can make a browser send requests here. They are recognised by Origin or Sec-Fetch-Site or, with
DNS rebinding, by Host.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses requests for other hosts and from other origins, and adds security headers."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.port = port
        self.hosts = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with 403."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self.refusal(Headers(scope=scope))
        answer = self.app if refusal is None else JSONResponse({"error": refusal}, status_code=403)
        await answer(scope, receive, send_with_headers)

    def refusal(self, headers: Headers) -> str | None:
        """Why a request is refused; None if it is not."""
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if host not in self.hosts:
            return f"this page is at http://{NAMES[0]}:{self.port} only"
        if origin is not None and origin.lower() != f"http://{host}":
            return "requests from other pages are refused"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "requests from other pages are refused"
        return None
