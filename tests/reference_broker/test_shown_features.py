"""The features that clients see, and those by which a broker registers."""

from __future__ import annotations

import pytest

from harness.codec.messages import ApiVersionsResponse
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.api_18_api_versions import (
    answer_for,
    finalized_levels,
    supported_ranges,
)
from harness.reference_broker.handlers.outcome import Advertised

NOT_SERVED = {"group.version", "share.version", "streams.version"}
TRANSACTIONS = "transaction.version"


@pytest.mark.parametrize("like", ["", "4.4.0"])
@pytest.mark.parametrize("version", [3, 4])
def test_clients_see_no_feature_that_broker_does_not_serve(like: str, version: int) -> None:
    message = answer_for(Advertised((), like), version).message
    assert isinstance(message, ApiVersionsResponse)
    finalized = {one.name for one in message.finalized_features}
    supported = {one.name for one in message.supported_features}
    assert "metadata.version" in finalized & supported
    assert not (finalized | supported) & NOT_SERVED
    assert TRANSACTIONS in finalized


def test_broker_registers_with_all_features_of_kafka() -> None:
    """A folder of Kafka 4.4.0 has them finalized: its controller registers no broker without."""
    assert supported_ranges("").keys() >= {*NOT_SERVED, TRANSACTIONS}


@pytest.mark.parametrize("like", ["", "4.4.0"])
def test_ordinary_format_finalizes_what_clients_see(like: str) -> None:
    answer = answer_for(Advertised((), like), 4).message
    assert isinstance(answer, ApiVersionsResponse)
    shown = {one.name: one.max_version_level for one in answer.finalized_features}
    assert finalized_levels(EmulatedRelease(like)) == shown
