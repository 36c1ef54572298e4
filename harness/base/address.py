"""Addresses of listeners."""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """A host name or IP address without brackets, and a port; port 0 requests a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"
