"""The ways into listeners, by address."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.address import Address
from harness.security.doors import Door, close_door, door_at, open_door
from harness.security.errors import SecurityError
from harness.security.settings import SecurityProtocol, SecuritySettings


def door(file: str) -> Door:
    return Door(SecuritySettings(SecurityProtocol.PLAINTEXT, file=Path(file)))


def test_an_address_has_its_door_until_that_is_closed() -> None:
    one = door("one")
    open_door(one, [Address("nowhere", 1), ("nowhere", 2)])
    assert door_at(("nowhere", 1)) is one
    assert door_at(Address("nowhere", 2)) is one
    assert door_at(("nowhere", 3)) is None
    close_door(one)
    assert door_at(("nowhere", 1)) is None
    close_door(one)


def test_an_address_has_one_door() -> None:
    one, other = door("one"), door("other")
    open_door(one, [("nowhere", 1)])
    try:
        with pytest.raises(SecurityError, match="nowhere:1 is entered by one already"):
            open_door(other, [("nowhere", 1)])
        open_door(door("one"), [("nowhere", 1)])
        assert door_at(("nowhere", 1)) is one
    finally:
        close_door(one)
        close_door(other)
