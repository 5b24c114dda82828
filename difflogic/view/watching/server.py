"""Serves one page and its news to browsers on this machine, and nothing else.

It listens on loopback only. A request must have the link's random token and the server's own name
and origin, which keeps out other pages in the same browser and foreign names that point to this
machine. No request can change a run.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from difflogic.system.errors import DctError
from difflogic.system.files import reason
from difflogic.view.reports import live_policy
from difflogic.view.watching import news
from difflogic.view.watching.feed import Feed

ADDRESS = "127.0.0.1"
IDLE_SECONDS = 20.0
"""Wait for the next bytes of a request, and to be rid of those of an answer."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class WatchServer:
    """Serves a feed at `link`. Use it in a `with`."""

    def __init__(self, feed: Feed, port: int = 0) -> None:
        self.feed = feed
        self.token = secrets.token_urlsafe(16)
        try:
            self._server = _Server((ADDRESS, port), _handler(self))
        except OSError as error:
            raise DctError(
                f"--port {port}: cannot be used: {reason(error)}: name another, or 0 for any"
            ) from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def link(self) -> str:
        return f"http://{ADDRESS}:{self.port}/{self.token}/"

    def __enter__(self) -> WatchServer:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def allows(self, headers: Any) -> bool:
        """Whether a request names this server and comes from no other page."""
        names = {f"{ADDRESS}:{self.port}", f"localhost:{self.port}"}
        origins = {f"http://{name}" for name in names}
        return (
            headers.get_all("Host", []) in [[name] for name in names]
            and origins.issuperset(headers.get_all("Origin", []))
            and {"none", "same-origin"}.issuperset(headers.get_all("Sec-Fetch-Site", []))
        )

    def place(self, path: str) -> str | None:
        """Return the part of a path after the token; None for a wrong token."""
        _, token, *rest = [*path.split("/", 2), "", ""]
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        return rest[0]


class _Server(ThreadingHTTPServer):
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do nothing: a browser that goes away is no error."""


def _handler(watch: WatchServer) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "dct"
        sys_version = ""
        error_message_format = "%(code)d: this page can only be read: open the printed link\n"
        error_content_type = "text/plain"
        timeout = IDLE_SECONDS

        def log_message(self, format: str, *arguments: Any) -> None:
            """Log nothing: the terminal shows the run."""

        def do_GET(self) -> None:
            if not watch.allows(self.headers):
                self._refuse(HTTPStatus.FORBIDDEN, "open the printed link")
                return
            place = watch.place(self.path)
            if place == "":
                try:
                    watch.feed.since(0)  # a look at the run
                    content = news.page(watch.feed.snapshot)
                except DctError as error:
                    self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
                    return
                self._answer(HTTPStatus.OK, "text/html", content, live_policy())
            elif known := re.fullmatch(r"news\?([0-9]{1,15})", place or ""):
                found = watch.feed.since(int(known[1]))
                self._answer(HTTPStatus.OK, "application/json", json.dumps(found, allow_nan=False))
            else:
                what = "a wrong token" if place is None else "there is no such page"
                self._refuse(HTTPStatus.NOT_FOUND, f"{what}: open the printed link")

        def _refuse(self, status: HTTPStatus, why: str) -> None:
            self._answer(status, "text/plain", f"{why}\n")

        def _answer(
            self, status: HTTPStatus, kind: str, text: str, rules: str = "default-src 'none'"
        ) -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("Connection", "close")  # an idle connection would keep another out
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", rules)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    return Handler
