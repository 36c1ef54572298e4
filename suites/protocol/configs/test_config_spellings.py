"""CONF: values that are written in another way than the broker shows them."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.config_admin import TOPIC, expect_values, replace_all
from suites.protocol.support.expect import expect_error

# The value in a request, and the value that the broker shows.
SPELLINGS = {
    "preallocate": ("TRUE", "true"),
    "unclean.leader.election.enable": (" False ", "false"),
    "retention.ms": (" 1000000 ", "1000000"),
    "segment.ms": ("+2000000", "2000000"),
    "min.cleanable.dirty.ratio": ("2.5e-1", "0.25"),
    "cleanup.policy": ("compact, delete", "compact,delete"),
}


@judges("CONF-027")
@at_versions("AlterConfigs")
def test_config_values_are_read_with_blanks_and_in_any_case_and_shown_in_one_form(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Booleans, numbers and a list; each of them alone."""
    topic = TOPIC, broker.create_topic().name
    with requirement("CONF-027") as check:
        for name, (written, shown) in SPELLINGS.items():
            with check.subtest(name):
                error = replace_all(broker, topic, {name: written}, api_version)
                expect_error(error, ErrorCode.NONE, f"{name}={written!r}")
                expect_values(broker, topic, {name: shown}, f"{name}={written!r}")
