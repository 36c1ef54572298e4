"""Ports for a target, of which one is taken at the first attempt."""

from harness.targets.ports import free_ports


class TakenOnce:
    """``choose_ports`` of a target; ``chosen``: the ports of each attempt.

    Each call returns new ports: another test may have taken the first ones as well.
    """

    def __init__(self, taken: int, place: int = 0) -> None:
        self._taken, self._place = taken, place
        self.chosen: list[list[int]] = []

    def __call__(self, count: int) -> list[int]:
        ports = free_ports(count)
        if not self.chosen:
            ports[self._place] = self._taken
        self.chosen.append(ports)
        return ports
