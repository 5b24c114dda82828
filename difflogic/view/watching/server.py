"""Serves one page and its events to browsers of this machine, and nothing else.

It listens on loopback alone. Whoever asks has to know the link's random token, and has to call the
server by its own name: another page in the same browser, or a name that somebody points at this
machine, gets nothing. There is nothing to be asked for that would change a run.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from difflogic.view.watching.feed import Feed
from difflogic.view.watching.messages import Told
from difflogic.view.watching.page import page

ADDRESS = "127.0.0.1"
MOST_BROWSERS = 8
MOST_REQUESTS = 32
"""At a time: a page takes two."""

LEAST_SECONDS = 0.25
"""Between two pictures of a run that are sent."""
BEAT_SECONDS = 2.0
"""After which something is sent, to notice that a browser has gone."""
STALL_SECONDS = 10.0
"""A browser that takes nothing for so long is let go."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class WatchServer:
    """Shows a feed. Use it in a `with`: `link` is what to open."""

    def __init__(self, feed: Feed, port: int = 0) -> None:
        self.feed = feed
        self.token = secrets.token_urlsafe(16)
        self._server = _Server((ADDRESS, port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True)
        self._requests = threading.BoundedSemaphore(MOST_REQUESTS)
        self._browsers = threading.BoundedSemaphore(MOST_BROWSERS)

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
        self.feed.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def allows(self, headers: Any) -> bool:
        """Whether a request calls the server by its name, and comes from no other page."""
        names = {f"{ADDRESS}:{self.port}", f"localhost:{self.port}"}
        origins = {None, *(f"http://{name}" for name in names)}
        site = headers.get("Sec-Fetch-Site")
        return (
            headers.get_all("Host", []) in [[name] for name in names]
            and headers.get("Origin") in origins
            and site in (None, "none", "same-origin")
        )

    def place(self, path: str) -> str | None:
        """Return what a path asks for, below the token; None for a wrong token."""
        _, token, *rest = [*path.split("/", 2), "", ""]
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        return rest[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 16

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that goes away is no error."""


def _handler(watch: WatchServer) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version, sys_version = "dct", ""
        timeout = STALL_SECONDS

        def log_message(self, format: str, *arguments: Any) -> None:
            """Write no log: the terminal shows the run."""

        def do_GET(self) -> None:
            if not watch._requests.acquire(blocking=False):
                self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at once")
                return
            try:
                self._answer()
            finally:
                watch._requests.release()

        def _answer(self) -> None:
            if not watch.allows(self.headers):
                self._refuse(HTTPStatus.FORBIDDEN, "open the link as it was printed")
                return
            place = watch.place(self.path)
            if place == "":
                content, policy = page()
                self._head(HTTPStatus.OK, "text/html; charset=utf-8", len(content), policy)
                self.wfile.write(content)
            elif place == "events":
                self._events()
            else:
                what = "a wrong token" if place is None else "there is no such page"
                self._refuse(HTTPStatus.NOT_FOUND, f"{what}: open the link as it was printed")

        def _events(self) -> None:
            if not watch._browsers.acquire(blocking=False):
                self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many browsers look already")
                return
            try:
                self._head(HTTPStatus.OK, "text/event-stream", None)
                self.close_connection = True
                with watch.feed:
                    self._tell()
            finally:
                watch._browsers.release()

        def _tell(self) -> None:
            told, version = Told(), -1
            while not watch.feed.closed:
                version, snapshot = watch.feed.wait(version, BEAT_SECONDS)
                lines = [
                    f"event: {name}\ndata: {json.dumps(value, allow_nan=False)}\n\n"
                    for name, value in told.news(snapshot)
                ]
                # Sending blocks this thread alone, and what happens meanwhile is left out.
                self.wfile.write("".join(lines or [":\n\n"]).encode())
                self.wfile.flush()
                watch.feed.pause(LEAST_SECONDS)

        def _head(
            self,
            status: HTTPStatus,
            kind: str,
            length: int | None,
            policy: str = "default-src 'none'",
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.send_header("Content-Security-Policy", policy)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.end_headers()

        def _refuse(self, status: HTTPStatus, why: str) -> None:
            content = f"{why}\n".encode()
            self.close_connection = True
            self._head(status, "text/plain; charset=utf-8", len(content))
            self.wfile.write(content)

    return Handler
