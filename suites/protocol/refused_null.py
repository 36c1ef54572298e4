"""What a broker may do with null where the schema does not allow it: close, or tell an error."""

from __future__ import annotations

from collections.abc import Iterator

from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.apis import api_named
from harness.codec.header import decode_response
from harness.codec.structs import Struct


def expect_null_refused(connection: Connection, api_name: str, version: int) -> None:
    """The next thing to come is the end of the connection, or an answer with an error."""
    try:
        payload = connection.receive_frame()
    except ConnectionClosed:
        return
    _, answer = decode_response(api_named(api_name), version, payload)
    assert any(_error_codes(answer)), (
        f"null was read as something that {api_name} v{version} allows: {answer!r}"
    )


def _error_codes(answer: Struct) -> Iterator[int]:
    for spec in answer.spec.fields:
        value = getattr(answer, spec.name)
        if spec.name == "error_code":
            yield value
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, Struct):
                yield from _error_codes(element)
