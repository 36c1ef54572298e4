"""API keys that no release of Kafka has: names by range, versions in words."""

import pytest

from harness.codec.apis import APIS
from harness.codec.unknown_apis import name_of_unknown, names_of_unknown, told_unknown


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (-1, "API -1 (no API has a negative key)"),
        (max(APIS) + 1, f"API {max(APIS) + 1} (in no known release of Kafka)"),
        (9_999, "API 9999 (in no known release of Kafka)"),
        (10_000, "API 10000 (of a vendor)"),
        (32_767, "API 32767 (of a vendor)"),
    ],
)
def test_unknown_api_is_named_by_its_range(key: int, name: str) -> None:
    assert name_of_unknown(key) == name


def test_apis_of_kafka_are_not_named() -> None:
    assert names_of_unknown(APIS) == {}
    assert list(names_of_unknown([10_001, 0, 500])) == [500, 10_001]


def test_versions_of_unknown_apis_are_told_in_the_order_of_keys() -> None:
    told = told_unknown({10_001: (0, 3), 18: (0, 4), 500: (1, 1)})
    assert told == ["API 500 (in no known release of Kafka) v1", "API 10001 (of a vendor) v0-3"]
