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

RATIO = "min.cleanable.dirty.ratio"
RATIOS = {"0.001": "0.001", "0.0001": "1.0E-4", "0.00015": "1.5E-4", "1e-3": "0.001"}
"""Numbers below a thousandth have an exponent, and a digit behind the point (Double.toString)."""


@judges("CONF-027")
@at_versions("AlterConfigs")
def test_config_values_are_read_with_blanks_and_in_any_case_and_shown_in_one_form(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Booleans, numbers and a list, each of them alone; then several small numbers."""
    topic = TOPIC, broker.create_topic().name
    with requirement("CONF-027") as check:
        for name, (written, shown) in SPELLINGS.items():
            with check.subtest(name):
                error = replace_all(broker, topic, {name: written}, api_version)
                expect_error(error, ErrorCode.NONE, f"{name}={written!r}")
                expect_values(broker, topic, {name: shown}, f"{name}={written!r}")
        for written, shown in RATIOS.items():
            with check.subtest(f"{RATIO} {written}"):
                error = replace_all(broker, topic, {RATIO: written}, api_version)
                expect_error(error, ErrorCode.NONE, f"{RATIO}={written!r}")
                expect_values(broker, topic, {RATIO: shown}, f"{RATIO}={written!r}")
