"""CONN-025 over every version of every API: each answer is laid out as the version says.

The requests are those of the table of harmless requests; an error code is as good an answer as
any. What could harm a broker that others use is sent to one that is thrown away.
"""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.conformance.checks import requirement
from harness.conformance.harmless_requests import Safety
from harness.marks import at_every_version, discarded_broker, judges
from suites.protocol.harmless import harmless_request


def _expect_whole_answer(broker: BrokerUnderTest, api_name: str, version: int) -> None:
    request = harmless_request(broker, api_name, version)
    connection = broker.connect("CONN-025")
    with requirement("CONN-025"):
        connection.ask(request, version)


@judges("CONN-025")
@at_every_version(Safety.READ, Safety.OWN_NAMES)
def test_an_answer_has_the_format_of_the_version_asked(
    broker: BrokerUnderTest, api_name: str, api_version: int
) -> None:
    """The whole answer can be read in that version's layout, to its last byte."""
    _expect_whole_answer(broker, api_name, api_version)


@judges("CONN-025")
@discarded_broker()
@at_every_version(Safety.DESTRUCTIVE)
def test_an_answer_has_the_format_of_the_version_asked_where_it_could_do_harm(
    broker: BrokerUnderTest, api_name: str, api_version: int
) -> None:
    """The same for APIs that act on nodes and on the quorum, at a broker that is thrown away."""
    _expect_whole_answer(broker, api_name, api_version)
