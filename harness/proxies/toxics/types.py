"""All toxics by their type's name, and what is wrong with how one was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.base.suggestion import did_you_mean
from harness.proxies.toxics.bandwidth import Bandwidth
from harness.proxies.toxics.black_hole import BlackHole
from harness.proxies.toxics.corrupt import Corrupt
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.limit_data import LimitData
from harness.proxies.toxics.noop import Noop
from harness.proxies.toxics.packet_loss import PacketLoss
from harness.proxies.toxics.reset_peer import ResetPeer
from harness.proxies.toxics.slicer import Slicer
from harness.proxies.toxics.slow_accept import SlowAccept
from harness.proxies.toxics.slow_close import SlowClose
from harness.proxies.toxics.timeout import Timeout
from harness.proxies.toxics.toxic import Toxic

_ALL: tuple[type[Toxic], ...] = (
    Latency,
    Bandwidth,
    SlowClose,
    Timeout,
    ResetPeer,
    Slicer,
    LimitData,
    Noop,
    BlackHole,
    SlowAccept,
    HalfOpen,
    PacketLoss,
    Corrupt,
)
TYPES = {toxic.type: toxic for toxic in _ALL}


class UnknownToxicType(ValueError):
    """There is no toxic of this type."""


def make_toxic(type_name: str, attributes: Mapping[str, Any]) -> Toxic:
    """Raises UnknownToxicType or BadAttribute."""
    toxic = TYPES.get(type_name)
    if toxic is None:
        raise UnknownToxicType(
            f'"{type_name}"{did_you_mean(type_name, TYPES)}; known are {", ".join(TYPES)}'
        )
    return toxic.from_json(attributes)
