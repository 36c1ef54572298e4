"""The addresses of the proxies, where advertised addresses cannot be reached from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from harness.proxies.addresses.book import LIMIT, Address, AddressBook, Full, Make, is_address

OfNode = Callable[[Address, int], Address | None]
"""Return the proxy that is bound to the node with this id, which is advertised at this address."""
Mapped = Callable[[Address, int | None, Address], object]
"""Is called with an advertised address, the id beside it and the address in its place."""


class MappedBook(AddressBook):
    """An address book that replaces what one view cannot reach.

    ``reachable``: advertised addresses, each with the one that is reached; a pair is used once, so
    two addresses may map to each other. ``of_node`` has the proxies that are bound to a node's id,
    whatever the node advertises. An advertised address is looked for in ``reachable``, then its
    id in ``of_node``, then in the book. ``mapped`` is called once for each address and id that the
    first two replace, up to ``limit`` of them. Other views get the addresses of the book:
    a request to a broker contains addresses for that broker, not for clients.
    """

    def __init__(
        self,
        make: Make,
        *,
        view: str,
        of_node: OfNode,
        mapped: Mapped,
        reachable: Iterable[tuple[Address, Address]] = (),
        host_aliases: Mapping[str, str] = MappingProxyType({}),
        limit: int = LIMIT,
        full: Full | None = None,
    ) -> None:
        super().__init__(make, host_aliases=host_aliases, limit=limit, full=full)
        self._view, self._of_node, self._mapped = view, of_node, mapped
        self._reachable = {self.plain(shown): to for shown, to in reachable}
        self._reported: set[tuple[Address, int | None]] = set()
        self._most_reported = limit

    def address_for(
        self, view: str, host: str, port: int, node_id: int | None = None
    ) -> Address | None:
        """Return the address that ``view`` uses in place of this one; None: the address stays."""
        if view != self._view or not is_address(host, port):
            return super().address_for(view, host, port, node_id)
        shown = self.plain((host, port))
        found = self._replacement(shown, node_id)
        if found is None:
            return super().address_for(view, host, port, node_id)
        self._report(shown, node_id, found)
        return None if found == (host, port) else found

    def _replacement(self, shown: Address, node_id: int | None) -> Address | None:
        """Return the address in place of an advertised one; None: the book has it."""
        reachable = self._reachable.get(shown)
        if reachable is not None:
            return super().address_for(self._view, *reachable, node_id) or reachable
        return None if node_id is None else self._of_node(shown, node_id)

    def _report(self, shown: Address, node_id: int | None, found: Address) -> None:
        if (shown, node_id) in self._reported or len(self._reported) >= self._most_reported:
            return
        self._reported.add((shown, node_id))
        self._mapped(shown, node_id, found)
