"""The proxies that are bound to nodes by their ids, whatever the nodes advertise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.proxies.upstream import Upstream

Plain = Callable[[tuple[str, int]], tuple[str, int]]
"""Return an address in the form in which addresses are compared."""


class NodeBindings:
    """The upstreams of a cluster. Some have the id of a node as their name."""

    def __init__(self, upstreams: Sequence[Upstream], plain: Plain) -> None:
        self._names = {one.node_id: one.name for one in upstreams if one.node_id is not None}
        self._places: dict[tuple[str, int], set[int | None]] = {}
        for one in upstreams:
            self._places.setdefault(plain(one.address), set()).add(one.node_id)

    def name_for(self, shown: tuple[str, int], node_id: int) -> str | None:
        """Return the name of the proxy for a node that is advertised at ``shown``, or None.

        An upstream without an id is an address of its own, with precedence: the listener of a
        controller, say, that has the id of a broker.
        """
        return None if None in self._places.get(shown, ()) else self._names.get(node_id)

    def contradicted(self, shown: tuple[str, int], node_id: int) -> int | None:
        """Return the id that is bound to the upstream at ``shown``, or None; for unbound nodes.

        Then the name of that upstream is probably not the id of the broker behind it.
        """
        if node_id in self._names:
            return None
        return next((one for one in self._places.get(shown, ()) if one is not None), None)

    def __contains__(self, node_id: int) -> bool:
        return node_id in self._names
