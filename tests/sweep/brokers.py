"""Brokers that these tests sweep, and what is put into them beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base.address import Address as TargetAddress
from harness.client.broker import BrokerUnderTest
from harness.client.connection import Address
from harness.codec.apis import API_VERSIONS_KEY
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import ApiVersionsResponse
from harness.codec.versions import VersionRange
from harness.proxies import FrameRule, SeenRequest
from harness.targets.asking import ask_api_versions

LONG_MS = 10_000


def advertised(address: Address) -> dict[int, VersionRange]:
    """Return the API keys and version ranges that the broker advertises."""
    found = ask_api_versions(TargetAddress(*address), LONG_MS)
    return {key: VersionRange(*pair) for key, pair in found.items()}


def client(address: Address, name: str) -> BrokerUnderTest:
    """Return a client of the broker; names that it creates begin with ``name``."""
    ranges = {key: (one.lowest, one.highest) for key, one in advertised(address).items()}
    return BrokerUnderTest([address], ranges, name_prefix=name)


class AdvertisesMore(FrameRule):
    """ApiVersions shows further APIs; ``asked`` are the API keys of all requests."""

    def __init__(self, *keys: int) -> None:
        self.keys = keys
        self.asked: list[int] = []

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self.asked.append(int.from_bytes(seen.payload[:2], "big"))
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.key != API_VERSIONS_KEY:
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, ApiVersionsResponse)
        one = ApiVersionsResponse.ApiVersion
        message.api_keys += [one(api_key=key, min_version=0, max_version=0) for key in self.keys]
        return [encode_response(message, seen.version, correlation_id)]
