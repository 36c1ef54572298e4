"""The end of what the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parsed_source import parsed


@pytest.fixture(scope="package", autouse=True)
def _trees_are_released() -> Iterator[None]:
    """The trees of all files take half a gigabyte; the tests after these need none."""
    yield
    parsed.cache_clear()
