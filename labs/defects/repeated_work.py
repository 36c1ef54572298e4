"""Work that every row of the table would repeat: done before the fork, it is done once."""

from __future__ import annotations

from harness.codec.apis import APIS
from harness.codec.message_codec import decode, encode
from harness.conformance.catalogue import load_catalogue


def do_repeated_work() -> None:
    """Read the catalogue, and make the functions that encode and decode each message."""
    load_catalogue()
    for api in APIS.values():
        for message in (api.request, api.response):
            for version in api.valid_versions:
                decode(message, version, encode(message(), version))
