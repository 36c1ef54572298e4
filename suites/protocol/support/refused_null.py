"""Refusals of a forbidden null: the broker closes the connection or returns an error."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.apis import api_named
from harness.codec.header import decode_response
from suites.protocol.support.struct_walk import error_codes


def expect_null_refused(
    connection: Connection, api_name: str, version: int, empty: Sequence[int] = ()
) -> None:
    """The broker closes the connection, or returns an error.

    ``empty``: the error codes of an empty value in the same place, which prove nothing.
    """
    try:
        payload = connection.receive_frame()
    except ConnectionClosed:
        return
    _, answer = decode_response(api_named(api_name), version, payload)
    found = error_codes(answer, version)
    is_refused = any(found) and found != list(empty)
    assert is_refused, f"null was read as something that {api_name} v{version} allows: {answer!r}"
