"""Defects of area QUOTA: requests that count for no client, or for another one."""

from __future__ import annotations

from harness.codec.header import encode_request
from harness.codec.messages import DescribeClientQuotasResponse, ProduceRequest
from harness.proxies import FrameRule, SeenRequest
from harness.proxies.seen import SeenConnection
from labs.defects.defect import rule
from labs.defects.edited_answer import answers

ODD_CHARACTER = "\u00fc"


def _of_client(seen: SeenRequest, client_id: str | None) -> bytes:
    """Return the Produce request with another client id."""
    assert seen.header is not None
    assert seen.message is not None
    return encode_request(seen.message, seen.version, seen.header.correlation_id, client_id)


class RequestsWithoutAcksAreFree(FrameRule):
    """Bytes of Produce requests with acks=0 count for no client."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, ProduceRequest) and seen.message.acks == 0:
            return _of_client(seen, None)
        return seen.payload


class TheFirstClientIdIsThatOfTheConnection(FrameRule):
    """All Produce requests of a connection count for the client id of its first request."""

    def __init__(self) -> None:
        self.first: dict[SeenConnection, str | None] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if seen.header is None:
            return seen.payload
        known = self.first.setdefault(seen.place, seen.header.client_id)
        is_other = known != seen.header.client_id and isinstance(seen.message, ProduceRequest)
        return _of_client(seen, known) if is_other else seen.payload


@answers("QUOTA-025", r"described quotas of ")
def an_odd_client_id_is_described_in_its_escaped_form(answer: DescribeClientQuotasResponse) -> None:
    """DescribeClientQuotas returns client ids with an escape for each odd character."""
    for entry in answer.entries or ():
        for part in entry.entity:
            part.entity_name = part.entity_name and part.entity_name.replace(ODD_CHARACTER, "%FC")


DEFECTS = [
    rule("QUOTA-004", r"with acks=0 .* is answered in", RequestsWithoutAcksAreFree),
    rule("QUOTA-008", r"on the same connection is not throttled",
         TheFirstClientIdIsThatOfTheConnection),
    an_odd_client_id_is_described_in_its_escaped_form,
]  # fmt: skip
