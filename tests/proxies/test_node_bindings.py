"""Upstreams that are bound to nodes by their ids."""

from __future__ import annotations

import pytest

from harness.base.address import Address
from harness.proxies.addresses import AddressBook
from harness.proxies.node_bindings import NodeBindings
from harness.proxies.upstream import Upstream

HERE, THERE, CONTROLLER = (Address("127.0.0.1", port) for port in (1, 2, 3))


@pytest.mark.parametrize(
    ("name", "node_id"),
    [("1", 1), ("0", 0), ("2147483647", 2**31 - 1), ("2147483648", None), ("01", None),
     ("", None), ("b1", None), ("-1", None), ("\N{SUPERSCRIPT TWO}", None)],
)  # fmt: skip
def test_decimal_name_of_upstream_is_node_id(name: str, node_id: int | None) -> None:
    assert Upstream(HERE, name=name).node_id == node_id


def test_upstream_is_bound_wherever_its_node_is_advertised() -> None:
    bindings = NodeBindings(
        [Upstream(HERE, name="1"), Upstream(THERE, name="2")], AddressBook().plain
    )
    assert bindings.name_for(("kafka", 9), 1) == "1"
    assert bindings.name_for(HERE, 2) == "2", "both nodes advertise one address"
    assert bindings.name_for(HERE, 3) is None
    assert (1 in bindings, 3 in bindings) == (True, False)


def test_upstream_without_id_precedes_id() -> None:
    bindings = NodeBindings(
        [Upstream(HERE, name="1"), Upstream(CONTROLLER, name="c")], AddressBook().plain
    )
    assert bindings.name_for(CONTROLLER, 1) is None


def test_node_at_upstream_of_another_node_contradicts_only_without_binding() -> None:
    bindings = NodeBindings(
        [Upstream(HERE, name="1"), Upstream(THERE, name="2")], AddressBook().plain
    )
    assert bindings.contradicted(HERE, 0) == 1
    assert bindings.contradicted(HERE, 2) is None
    assert bindings.contradicted(("kafka", 9), 0) is None
