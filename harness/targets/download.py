"""Downloads that end with the right bytes or with a clear error.

Each file is written to ``NAME.part``, continued by a Range request after a cut, compared with
its pinned checksum and only then renamed. A lock file beside it makes two processes take turns,
so the second finds the file already there. Threads share one HTTP client.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

import httpx

from harness.targets.pinned_file import (
    Download,
    DownloadError,
    Progress,
    checksum_matches,
    exclusive,
)

THREADS = 6
ATTEMPTS = 5
BACKOFF_S = 0.5
CONNECT_TIMEOUT_S = 15.0
READ_TIMEOUT_S = 30.0
RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class _Transient(Exception):
    """An attempt failed in a way that another one may cure."""


class _Cancelled(Exception):
    """Another download failed, or the user interrupted."""


def download_all(
    downloads: Sequence[Download],
    *,
    progress: Progress | None = None,
    threads: int = THREADS,
    attempts: int = ATTEMPTS,
    backoff_s: float = BACKOFF_S,
    read_timeout_s: float = READ_TIMEOUT_S,
) -> None:
    """Fetch every file, several at a time. Raises DownloadError for the first that cannot be had.

    What was fetched before an error or an interrupt stays, finished or as ``.part``.
    """
    timeout = httpx.Timeout(read_timeout_s, connect=CONNECT_TIMEOUT_S)
    with httpx.Client(timeout=timeout, follow_redirects=True) as client:
        batch = _Batch(client, _Meter(downloads, progress), attempts, backoff_s)
        with ThreadPoolExecutor(threads, thread_name_prefix="download") as pool:
            try:
                futures = [pool.submit(batch.fetch, download) for download in downloads]
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                batch.cancelled.set()  # a no-op for downloads that are done
                pool.shutdown(cancel_futures=True)
    problems = [future.exception() for future in futures if not future.cancelled()]
    for problem in problems:
        if problem is not None and not isinstance(problem, _Cancelled):
            raise problem


class _Meter:
    """Adds up what the threads have, per file, so that a restart counts nothing twice."""

    def __init__(self, downloads: Sequence[Download], progress: Progress | None) -> None:
        self._total = sum(download.size_bytes for download in downloads)
        self._done: dict[Path, int] = {}
        self._progress = progress
        self._lock = threading.Lock()

    def has(self, download: Download, size_bytes: int) -> None:
        if self._progress is None:
            return
        with self._lock:
            self._done[download.path] = size_bytes
            self._progress(sum(self._done.values()), self._total)


class _Batch:
    """The state that the downloads of one call share."""

    def __init__(
        self, client: httpx.Client, meter: _Meter, attempts: int, backoff_s: float
    ) -> None:
        self._client = client
        self._meter = meter
        self._attempts = attempts
        self._backoff_s = backoff_s
        self.cancelled = threading.Event()

    def fetch(self, download: Download) -> None:
        if self.cancelled.is_set():
            raise _Cancelled
        with exclusive(download.path):
            if not checksum_matches(download.path, download.sha256, download.size_bytes):
                self._fetch_locked(download)
        self._meter.has(download, download.size_bytes)

    def _fetch_locked(self, download: Download) -> None:
        part = download.path.with_name(download.path.name + ".part")
        failures = 0  # in a row without a byte gained: a poor line is not given up
        while failures < self._attempts:
            have = _size_bytes(part)
            try:
                self._attempt(download, part)
                part.replace(download.path)
                return
            except _Transient as problem:
                reason = str(problem)
            except httpx.UnsupportedProtocol as problem:
                raise _error(download, str(problem)) from problem
            except (httpx.TransportError, httpx.StreamError) as problem:
                reason = f"{type(problem).__name__}: {problem}"
            except (httpx.InvalidURL, httpx.HTTPError, OSError) as problem:
                raise _error(download, f"{type(problem).__name__}: {problem}") from problem
            failures = 1 if _size_bytes(part) > have else failures + 1
            if self.cancelled.wait(self._backoff_s * 2 ** (failures - 1)):
                raise _Cancelled
        raise _error(download, f"{reason} (after {failures} attempts)")

    def _attempt(self, download: Download, part: Path) -> None:
        """Bring the part file to its full size and check it; raises _Transient to be retried."""
        have = _size_bytes(part)
        if have > download.size_bytes:
            part.unlink()
            have = 0
        if have < download.size_bytes:
            self._receive(download, part, have)
        if checksum_matches(part, download.sha256, download.size_bytes):
            return
        size_bytes = _size_bytes(part)
        if size_bytes < download.size_bytes:
            raise _Transient(f"the connection ended at byte {size_bytes}")
        part.unlink()
        raise _Transient(
            f"wrong checksum or size: expected {download.size_bytes} bytes with SHA-256 "
            f"{download.sha256}, got {size_bytes} bytes that differ"
        )

    def _receive(self, download: Download, part: Path, have: int) -> None:
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        with self._client.stream("GET", download.url, headers=headers) as response:
            resumed = _check_status(download, part, response)
            written = have if resumed else 0
            with part.open("ab" if resumed else "wb") as file:
                for chunk in response.iter_raw():
                    if self.cancelled.is_set():
                        raise _Cancelled
                    file.write(chunk)
                    file.flush()  # what is here is here, even if we are killed
                    written += len(chunk)
                    if written > download.size_bytes:
                        break  # not what was pinned; the checksum says so
                    self._meter.has(download, written)


def _size_bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_status(download: Download, part: Path, response: httpx.Response) -> bool:
    """True if the response continues the part file; raises for a response without the file."""
    if response.status_code in (200, 206):
        return response.status_code == 206
    if response.status_code == 416:  # our part is no prefix of what the server has
        part.unlink(missing_ok=True)
        raise _Transient("the server refused to continue the download")
    reason = f"HTTP status {response.status_code} {response.reason_phrase}".rstrip()
    if response.status_code in RETRIED_STATUS:
        raise _Transient(reason)
    raise _error(download, reason)


def _error(download: Download, reason: str) -> DownloadError:
    return DownloadError(
        f"cannot download {download.name} from {download.url}\n"
        f"  reason: {reason}\n"
        f"  the address comes from: {download.url_origin}\n"
        "  what to do: offline, run once with a network (the cache is kept), or point "
        "KAFKA_CONFORMANCE_MAVEN_URL at a Maven repository that you can reach, or "
        "KAFKA_CONFORMANCE_MAVEN_LOCAL at a local one that holds the file"
    )
