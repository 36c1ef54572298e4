"""A broker that a proxy leads to, as the user gives it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.address import Address
from harness.proxies.proxy import LOCAL

HIGHEST_ID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Upstream:
    """A broker to proxy; ``name``: of the proxy and of its link's end, by default the address.

    A name that is a node id binds that node: what it advertises leads to this proxy.
    """

    address: Address
    listen: Address = LOCAL
    name: str = ""

    @property
    def node_id(self) -> int | None:
        """The id of the node that the name binds, or None."""
        is_id = self.name.isdecimal() and str(int(self.name)) == self.name
        return int(self.name) if is_id and int(self.name) <= HIGHEST_ID else None
