"""Pieces become a table: names of the protocol, one range for each API, values set by hand."""

import pytest

from harness.codec.versions import NO_VERSIONS, VersionRange
from labs.client_versions.version_table import ReadError, api_name, version_table


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (3, "Metadata"),
        ("GroupCoordinator", "FindCoordinator"),
        ("ListOffset", "ListOffsets"),
        ("InitProducerID", "InitProducerId"),
        ("saslHandshake", "SaslHandshake"),
        ("DescribeUserSCRAMCredentials", "DescribeUserScramCredentials"),
    ],
)
def test_name_of_a_client_becomes_that_of_the_protocol(written: int | str, name: str) -> None:
    assert api_name(written) == name


@pytest.mark.parametrize(("written", "says"), [("Fetsch", "no API is named"), (999, "key 999")])
def test_unknown_api_is_refused(written: int | str, says: str) -> None:
    with pytest.raises(ReadError, match=says):
        api_name(written)


def test_pieces_of_one_api_join_in_the_order_of_keys() -> None:
    found = version_table([(1, 4, 6), ("Produce", 3, 3), ("Fetch", 7, 8), (0, 4, 4)], {})
    assert list(found.items()) == [("Produce", VersionRange(3, 4)), ("Fetch", VersionRange(4, 8))]


def test_gap_is_refused() -> None:
    with pytest.raises(ReadError, match=r"JoinGroup: the versions \[0, 1, 5\] have a gap"):
        version_table([(11, 0, 1), (11, 5, 5)], {})


def test_values_set_by_hand_replace_fill_and_remove() -> None:
    by_hand = {"JoinGroup": VersionRange(0, 5), "Produce": NO_VERSIONS, "Fetch": VersionRange(4, 4)}
    found = version_table([(11, 0, 1), (11, 5, 5), (0, 0, 9)], by_hand)
    assert found == {"Fetch": VersionRange(4, 4), "JoinGroup": VersionRange(0, 5)}
