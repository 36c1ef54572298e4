"""A Maven repository on loopback that can misbehave in the ways that networks do."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from harness.targets.pinned_file import Download

CONTENT = bytes(range(256)) * 2048  # 512 KiB
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PATH = "/org/example/thing/1.0/thing-1.0.jar"


@dataclass
class Behaviour:
    """Behaviour of the server, and a record of its requests."""

    content: bytes = CONTENT
    cut_after_bytes: int | None = None  # of each answer, while cuts are left
    cuts: int = 0
    ignores_range: bool = False
    statuses: list[int] = field(default_factory=list)  # answered first, one a request
    stall_after_bytes: int | None = None
    stalls: int = 0
    pause_s: float = 0.0  # between pieces of 32 KiB
    ranges: list[str | None] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    ended: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        behaviour: Behaviour = self.server.behaviour  # type: ignore[attr-defined]
        behaviour.requests[self.path] += 1
        wanted = self.headers.get("Range")
        behaviour.ranges.append(wanted)
        status = behaviour.statuses.pop(0) if behaviour.statuses else 0
        if status or self.path != PATH:
            self.send_error(status or 404)
            return
        first = 0
        if wanted and not behaviour.ignores_range:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
        self._send(behaviour, first, resumed=bool(wanted) and not behaviour.ignores_range)

    def _send(self, behaviour: Behaviour, first: int, *, resumed: bool) -> None:
        content = behaviour.content[first:]
        self.send_response(206 if resumed else 200)
        if resumed:
            end = len(behaviour.content)
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{end}")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if behaviour.cuts:
            behaviour.cuts -= 1
            self.wfile.write(content[: behaviour.cut_after_bytes])
            self.close_connection = True
            return
        if behaviour.stalls:
            behaviour.stalls -= 1
            self.wfile.write(content[: behaviour.stall_after_bytes])
            self.wfile.flush()
            behaviour.ended.wait(30)
            self.close_connection = True
            return
        for start in range(0, len(content), 32 * 1024):
            self.wfile.write(content[start : start + 32 * 1024])
            if behaviour.pause_s and behaviour.ended.wait(behaviour.pause_s):
                return


@contextmanager
def repository(behaviour: Behaviour) -> Iterator[str]:
    """Serve, and yield the base address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.behaviour = behaviour  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            behaviour.ended.set()
            server.shutdown()
            thread.join()


def download(base: str, folder: Path, path: str = PATH, sha256: str = SHA256) -> Download:
    """The pinned file of the repository, with ``folder`` as destination."""
    return Download(
        name="org.example:thing:1.0",
        url=base + path,
        url_origin="this test",
        path=folder / "thing-1.0.jar",
        sha256=sha256,
        size_bytes=len(CONTENT),
    )
