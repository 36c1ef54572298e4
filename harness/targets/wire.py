"""TEMPORARY: to be replaced by harness.client."""

import socket
import struct

from harness.targets.target import Address


class NotAnswered(Exception):
    pass


def _exchange(address: Address, key: int, version: int, body: bytes, timeout_ms: int) -> bytes:
    header = struct.pack(">hhih", key, version, 7, -1)
    try:
        with socket.create_connection(tuple(address), timeout_ms / 1000) as s:
            s.settimeout(timeout_ms / 1000)
            payload = header + body
            s.sendall(struct.pack(">i", len(payload)) + payload)
            f = s.makefile("rb")
            size = f.read(4)
            if len(size) < 4:
                raise NotAnswered("closed")
            return f.read(struct.unpack(">i", size)[0])[4:]
    except OSError as problem:
        raise NotAnswered(f"{type(problem).__name__}: {problem}") from problem


def ask_api_versions(address: Address, timeout_ms: int) -> dict[int, tuple[int, int]]:
    data = _exchange(address, 18, 0, b"", timeout_ms)
    error, count = struct.unpack_from(">hi", data)
    if error:
        raise NotAnswered(f"error {error}")
    found = (struct.unpack_from(">hhh", data, 6 + 6 * i) for i in range(count))
    return {key: (low, high) for key, low, high in found}


def ask_live_brokers(address: Address, timeout_ms: int) -> int:
    data = _exchange(address, 3, 1, struct.pack(">i", 0), timeout_ms)
    return int(struct.unpack_from(">i", data)[0])
