"""Clients that connect in the moment in which the broker stops."""

from __future__ import annotations

import gc
import socket

import pytest

from tests.reference_broker.running import running_broker


@pytest.mark.rotates(8)
def test_connections_during_broker_stop_leave_no_open_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left_open: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda found: left_open.append(str(found.exc_value)))
    for _ in range(20):
        with running_broker() as address:
            clients = [socket.create_connection(address) for _ in range(3)]
        for client in clients:
            client.close()
    gc.collect()
    assert left_open == []
