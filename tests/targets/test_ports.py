"""Ports for servers: free, and outside of the range for outgoing connections."""

import socket
from pathlib import Path

import pytest

from harness.targets import ports
from harness.targets.ports import HOST, free_ports


def test_free_ports_are_distinct_and_free() -> None:
    found = free_ports(20)
    assert len(set(found)) == 20
    for port in found:
        with socket.socket() as one:
            one.bind((HOST, port))


def test_free_ports_are_below_ephemeral_range() -> None:
    lowest, _ = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    assert max(free_ports(20)) < int(lowest)


def test_taken_port_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    (one, other) = free_ports(2)
    monkeypatch.setattr(ports, "_NEVER_TAKEN_BY_CHANCE", (one, other))
    with socket.socket() as thief:
        thief.bind((HOST, one))
        assert free_ports(1) == [other]
        with pytest.raises(OSError, match=r"2 ports are wanted, 1 of 127\.0\.0\.1 are free"):
            free_ports(2)
