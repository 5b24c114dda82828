"""The server of a watched run: whom it answers, whom it refuses, and that nobody holds it up."""

from __future__ import annotations

import http.client
import json
import re
import socket
from contextlib import closing

import pytest

from difflogic.view.watching import Feed, WatchServer
from difflogic.view.watching.server import MOST_BROWSERS
from tests.difflogic.view.watching.test_messages import model, rows


@pytest.fixture
def server():
    with WatchServer(Feed()) as running:
        yield running


@pytest.fixture(scope="module")
def refusing():
    """A server that tests only ask, and that has something to tell."""
    with WatchServer(Feed()) as running:
        running.feed.offer(rows=rows(3))
        yield running


def ask(server, path=None, method="GET", **headers):
    """Ask as a browser would, for the page unless told otherwise; return status, headers, text."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/{server.token}/" if path is None else path, headers=named)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def events(server, count):
    """The first events that a browser hears."""
    found = []
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request("GET", f"/{server.token}/events")
        answer = connection.getresponse()
        assert answer.headers["Content-Type"] == "text/event-stream"
        while len(found) < count:
            line = answer.readline().decode()
            if line.startswith("event: "):
                name, data = line[7:].strip(), answer.readline().decode()
                found.append((name, json.loads(data.removeprefix("data: "))))
    return found


def test_it_listens_on_loopback_alone(server):
    assert server._server.server_address[0] == "127.0.0.1"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{22}/", server.link)
    with WatchServer(Feed()) as other:
        assert other.token != server.token
        assert other.port != server.port


def test_the_page_comes_with_a_strict_policy(refusing):
    status, headers, text = ask(refusing)
    assert status == 200
    assert text.startswith("<!doctype html>")
    policy = headers["Content-Security-Policy"]
    for rule in ("default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"):
        assert rule in policy
    assert "unsafe-inline" not in policy
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize("place", ["", "events"])
def test_another_name_and_another_page_are_refused(refusing, headers, place):
    status, _, text = ask(refusing, f"/{refusing.token}/{place}", **headers)
    assert status == 403
    assert "soft" not in text


def test_its_own_name_and_page_are_not(refusing):
    for host in ("127.0.0.1", "localhost"):
        name = f"{host}:{refusing.port}"
        headers = {"Host": name, "Origin": f"http://{name}", "Sec_Fetch_Site": "same-origin"}
        assert ask(refusing, **headers)[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/", "/events", "//", "/x/", "/{}x/", "/{}", "/{}/config.toml", "/{}/../", "/{}//events"],
)
def test_without_the_token_or_for_anything_else_there_is_nothing(refusing, path):
    path = path.format(refusing.token)
    status, _, text = ask(refusing, path)
    if path == f"/{refusing.token}":
        assert status == 200
    else:
        assert status == 404
        assert refusing.token not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_it_can_only_be_read(refusing, method):
    assert ask(refusing, method=method)[0] == 501


def test_events_tell_the_run(server):
    server.feed.offer(model=model(), epoch=2, rows=rows(2), status="running")
    found = dict(events(server, 4))
    assert found["run"]["name"] == "checkerboard-small"
    assert len(found["rows"]["rows"]) == 2
    assert found["circuit"]["epoch"] == 2
    assert found["state"]["status"] == "running"


def test_a_browser_that_takes_nothing_keeps_nobody_waiting(server):
    """Its buffers run full; offers go on, and another browser hears the newest."""
    stalled = socket.create_connection(("127.0.0.1", server.port))
    stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stalled.sendall(
        f"GET /{server.token}/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    )
    first = model()
    with closing(stalled):
        for epoch in range(1, 200):
            server.feed.offer(model=model(seed=epoch) if epoch < 20 else first, epoch=epoch)
        assert dict(events(server, 4))["circuit"]["epoch"] == 199


def test_too_many_browsers_are_refused(server):
    opened = []
    try:
        for _ in range(MOST_BROWSERS):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", f"/{server.token}/events")
            assert connection.getresponse().status == 200
            opened.append(connection)
        assert ask(server, f"/{server.token}/events")[0] == 503
        assert ask(server)[0] == 200, "the page itself is still there"
    finally:
        for connection in opened:
            connection.close()


def test_it_ends_at_once_with_browsers_that_look():
    feed = Feed()
    with WatchServer(feed) as running:
        feed.offer(rows=rows(3))
        events(running, 1)
        port = running.port
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", port), timeout=1)
