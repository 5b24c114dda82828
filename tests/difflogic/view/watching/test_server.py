"""The server of a live page: allowed and refused requests, and slow or idle browsers."""

import http.client
import json
import re
import socket
from contextlib import closing

import pytest

from difflogic.system.errors import DctError
from difflogic.view.watching import Feed, WatchServer
from difflogic.view.watching import server as watching
from tests.difflogic.view.histories import model, rows


@pytest.fixture
def server():
    with WatchServer(Feed()) as running:
        yield running


@pytest.fixture(scope="module")
def refusing():
    """A server with some rows, for tests that only send requests."""
    with WatchServer(Feed()) as running:
        running.feed.publish(model=model(), rows=rows(3))
        yield running


def ask(server, path=None, method="GET", **headers):
    """Send a request, by default for the page; return status, headers, text."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/{server.token}/" if path is None else path, headers=named)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def test_it_tells_what_has_changed(server):
    found = json.loads(ask(server, f"/{server.token}/news?0")[2])
    assert dict(found["facts"])["epoch"] == "0"
    same = json.loads(ask(server, f"/{server.token}/news?{found['number']}")[2])
    assert same == {"number": found["number"]}
    assert server.feed.watched


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
        {"Host": "127.0.0.1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize("place", ["", "news?0"])
def test_another_name_and_another_page_are_refused(refusing, headers, place):
    status, _, text = ask(refusing, f"/{refusing.token}/{place}", **headers)
    assert status == 403
    assert "soft" not in text


@pytest.mark.parametrize(
    "path", ["/", "/news?0", "/{}x/", "/{}", "/{}/config.toml", "/{}/../", "/{}/news?-1"]
)
def test_without_the_token_or_for_anything_else_there_is_nothing(refusing, path):
    path = path.format(refusing.token)
    status, _, text = ask(refusing, path)
    if path == f"/{refusing.token}":
        assert status == 200
    else:
        assert status == 404
        assert refusing.token not in text


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_it_can_only_be_read(refusing, method):
    status, headers, text = ask(refusing, method=method)
    assert (status, headers.get_content_type()) == (501, "text/plain")
    assert "can only be read" in text


def test_a_port_in_use_is_named(refusing):
    with pytest.raises(DctError, match=f"--port {refusing.port}: .*name another, or 0 for any"):
        WatchServer(Feed(), refusing.port)


def test_a_stalled_browser_keeps_nobody_waiting(server):
    """Its buffers are full, but the run goes on and another browser gets the newest."""
    stalled = socket.create_connection(("127.0.0.1", server.port))
    stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stalled.sendall(
        f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    )
    with closing(stalled):
        for epoch in range(1, 200):
            server.feed.publish(model=model(), rows=rows(epoch))
        found = json.loads(ask(server, f"/{server.token}/news?0")[2])
        assert dict(found["facts"])["epoch"].startswith("199 of")


def test_connections_end_when_idle(monkeypatch):
    monkeypatch.setattr(watching, "IDLE_SECONDS", 0.2)
    with WatchServer(Feed()) as server, socket.socket() as idle:
        idle.settimeout(60)
        idle.connect(("127.0.0.1", server.port))
        idle.sendall(b"GET / HTTP/1.1\r\nX-")
        assert idle.recv(1) == b"", "the server has closed it"


@pytest.mark.parametrize(
    "lines",
    [
        ("Origin: http://127.0.0.1:{port}", "Origin: http://evil.example"),
        ("Host: 127.0.0.1:{port}", "Host: evil.example"),
    ],
)
def test_duplicate_headers_are_all_checked(server, lines):
    host = () if lines[0].startswith("Host") else ("Host: 127.0.0.1:{port}",)
    request = "\r\n".join([f"GET /{server.token}/ HTTP/1.1", *host, *lines, "", ""])
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(request.format(port=server.port).encode())
        assert connection.recv(12) == b"HTTP/1.1 403"
