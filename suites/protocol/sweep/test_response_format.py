"""CONN-025 over every version of every API: each response has the layout of its version.

The requests come from the table of harmless requests; a response with an error code is as good as
any. A request that could harm a shared broker goes to a private one.
"""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.conformance.checks import NotSupported, requirement
from harness.conformance.harmless_requests import Safety
from harness.runner.broker_request import Use
from harness.runner.marks import at_every_version, judges, needs_broker
from suites.protocol.support.harmless import harmless_request

BROKERS_ALONE = {
    "Envelope": "the connection is closed, as where it is not taken on the listener for clients "
    "(class KafkaApis, handleEnvelope)",
}
"""Advertised on all listeners, and taken on the one between brokers."""


def _expect_whole_answer(broker: BrokerUnderTest, api_name: str, version: int) -> None:
    request = harmless_request(broker, api_name, version)
    connection = broker.connect("CONN-025")
    with requirement("CONN-025"):
        try:
            connection.ask(request, version)
        except ConnectionClosed:
            if api_name in BROKERS_ALONE:
                raise NotSupported(f"{api_name}: {BROKERS_ALONE[api_name]}") from None
            raise


@judges("CONN-025")
@at_every_version(Safety.READ, Safety.OWN_NAMES)
def test_response_has_format_of_request_version(
    broker: BrokerUnderTest, api_name: str, api_version: int
) -> None:
    """The whole answer can be read in that version's layout, to its last byte."""
    _expect_whole_answer(broker, api_name, api_version)


@judges("CONN-025")
@needs_broker(Use.DISPOSABLE)
@at_every_version(Safety.DESTRUCTIVE)
def test_response_of_destructive_api_has_format_of_request_version(
    broker: BrokerUnderTest, api_name: str, api_version: int
) -> None:
    """The same for APIs that act on nodes and on the quorum, at a broker that is thrown away."""
    _expect_whole_answer(broker, api_name, api_version)
