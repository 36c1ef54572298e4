"""Conversations drawn from a seed: requests as the schemas allow them, values from the pools.

The code names no API to draw: it takes every API and version that both brokers serve.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random
from typing import Any
from uuid import UUID

from harness.codec.apis import APIS, api_named
from harness.codec.dictionary_form import to_dict
from harness.codec.layout import Slot, layout
from harness.codec.specs import MessageSpec, StructSpec
from harness.codec.versions import VersionRange
from harness.conformance.harmless_requests import Safety
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.drawn_values import PLAIN, TRANSACTIONAL, DrawnValues
from harness.differential.openings import JOINING, OPENINGS, Opening, known_fields
from harness.differential.pools import BY_TYPE, Pool
from harness.differential.symbols import NAME, NOBODYS_UUID
from harness.differential.transactional_openings import (
    TRANSACTIONAL_OPENINGS,
    TRANSACTIONAL_WEIGHTS,
    transactional_share,
)
from harness.sweep.requests import OwnNames, harmless_request, safety_of

SAFE = (Safety.READ, Safety.OWN_NAMES)
STEPS = (10, 25)
_SKELETON_NAMES = OwnNames(f"{NAME}-s", UUID(NOBODYS_UUID))
_DECK_SHARE, _SKELETON_SHARE = 0.5, 0.04
_CAREFUL_SHARE, _EDGE_SHARE, _TAGGED_SHARE = 0.5, 0.25, 0.5
_WEIGHTS = {"Produce": 8, "Fetch": 8, "ListOffsets": 3, "InitProducerId": 2, "DeleteRecords": 2}
"""APIs that are drawn more often than others, because the rest depends on their effects."""
Ranges = Mapping[str, VersionRange]


def shared_versions(one: Mapping[int, VersionRange], other: Mapping[int, VersionRange]) -> Ranges:
    """Return the common versions of both brokers by API name, for the APIs that may be drawn."""
    shared = {}
    for key, api in APIS.items():
        if key not in one or key not in other or safety_of(api.name) not in SAFE:
            continue
        versions = api.valid_versions & one[key] & other[key]
        stable = [version for version in versions if version not in api.unstable_versions]
        if stable:
            shared[api.name] = VersionRange(stable[0], stable[-1])
    return shared


def conversations(
    seed: int, shared: Ranges, only: Collection[str] = (), about: str = ""
) -> Iterator[Conversation]:
    """Without an end; the same ones for the same seed and versions.

    ``only``: names of APIs; what opens a conversation may be another one. ``about``: the API of
    which every version comes in turn, instead of all APIs'.
    """
    wanted = {name: shared[name] for name in shared if not only or name in only}
    share = transactional_share(shared, only)
    deck = _Deck(wanted, about)
    transactional = _Deck(wanted, about, TRANSACTIONAL_WEIGHTS)
    rng, number = Random(seed), 0
    while True:
        is_plain = not share or rng.random() > share
        drawn, values = (deck, PLAIN) if is_plain else (transactional, TRANSACTIONAL)
        steps = _opening(rng, shared, _openings(only) if is_plain else TRANSACTIONAL_OPENINGS)
        for _ in range(rng.randint(*STEPS) - len(steps)):
            api, version = drawn.draw(rng)
            steps.append(ConversationStep(api, version, request_fields(rng, api, version, values)))
        yield Conversation(f"seed {seed}, conversation {number}", tuple(steps))
        number += 1


def _openings(only: Collection[str]) -> Sequence[Opening]:
    """With ``only``, a group is joined only for requests about groups: it costs time."""
    return [one for one in OPENINGS if not only or not one.joins or JOINING in only]


def _opening(rng: Random, shared: Ranges, able: Sequence[Opening]) -> list[ConversationStep]:
    """One of the openings; each API in it at one version."""
    (opening,) = rng.choices(able, [one.weight for one in able])
    versions: dict[str, int] = {}
    steps = []
    for api, fields in opening.requests:
        if api in shared:
            version = versions.setdefault(api, rng.choice(list(shared[api])))
            steps.append(ConversationStep(api, version, known_fields(api, version, fields)))
    return steps


class _Deck:
    """Every API at every version, each once before any comes again; and others in between.

    ``about``: the API of which the versions come in turn; empty for all APIs. ``weights``: the only
    APIs that come in between, but for that one; None for all.
    """

    def __init__(
        self, shared: Ranges, about: str, weights: Mapping[str, int] | None = None
    ) -> None:
        able = [name for name in shared if weights is None or name in weights]
        in_turn = [about] if about else able
        self.all = [(api, version) for api in in_turn for version in shared[api]]
        self.shared, self.names = shared, able
        self.weights = [(weights or _WEIGHTS).get(name, 1) for name in self.names]
        self.left: list[tuple[str, int]] = []

    def draw(self, rng: Random) -> tuple[str, int]:
        if rng.random() > _DECK_SHARE:
            (name,) = rng.choices(self.names, self.weights)
            return name, rng.choice(list(self.shared[name]))
        if not self.left:
            self.left = list(self.all)
            rng.shuffle(self.left)
        return self.left.pop()


def skeleton_fields(api: str, version: int) -> dict[str, Any]:
    """The harmless request of the sweep, its names as symbols."""
    return to_dict(harmless_request(api, version, _SKELETON_NAMES), version)


def request_fields(
    rng: Random, api: str, version: int, values: DrawnValues = PLAIN
) -> dict[str, Any]:
    """Fields of one request: careful, or with edge values here and there."""
    skeleton = skeleton_fields(api, version)
    if rng.random() < _SKELETON_SHARE:
        return skeleton
    edge_share = 0.0 if rng.random() < _CAREFUL_SHARE else _EDGE_SHARE
    spec = api_named(api).request.message_spec
    return _Filling(rng, spec, version, edge_share, values).struct(spec.root, api, skeleton)


class _Filling:
    """Fills one request."""

    def __init__(
        self,
        rng: Random,
        spec: MessageSpec,
        version: int,
        edge_share: float,
        values: DrawnValues,
    ) -> None:
        self.rng, self.spec, self.version = rng, spec, version
        self.edge_share, self.values = edge_share, values

    @property
    def on_edge(self) -> bool:
        return self.rng.random() < self.edge_share

    def one_of(self, pool: Pool) -> Any:
        return self.rng.choice(pool.edge if pool.edge and self.on_edge else pool.good)

    def struct(self, spec: StructSpec, path: str, skeleton: Any) -> dict[str, Any]:
        own = layout(self.spec, spec, self.version)
        slots = {slot.field.name: slot for slot in own.plain}
        for slot in own.tagged.values():
            if self.rng.random() < _TAGGED_SHARE and slot.field.kind != "struct":
                slots[slot.field.name] = slot
        joint = self.values.joint_of(path)
        given = self.one_of(joint) if joint else {}
        left_out = self.left_out(slots)
        made = {}
        for name, slot in slots.items():
            if name in left_out:
                made[name] = left_out[name]
            elif name in given:
                made[name] = given[name]
            else:
                inner = skeleton.get(name) if isinstance(skeleton, Mapping) else None
                made[name] = self.field(slot, f"{path}.{name}", inner)
        return made

    def left_out(self, slots: Mapping[str, Slot]) -> dict[str, Any]:
        """Where a topic is given by its name or by its id, seldom both."""
        if not {"name", "topic_id"} <= slots.keys() or not slots["name"].nullable or self.on_edge:
            return {}
        if self.rng.random() < 0.5:
            return {"name": None}
        return {"topic_id": str(UUID(int=0))}

    def field(self, slot: Slot, path: str, skeleton: Any) -> Any:
        field = slot.field
        if field.kind == "array":
            return self.array(slot, path, skeleton)
        if field.kind == "struct":
            assert field.struct is not None
            if slot.nullable and not self.on_edge:
                return None
            return self.struct(field.struct, path, skeleton)
        return self.scalar(field.kind, path, skeleton, nullable=slot.nullable)

    def array(self, slot: Slot, path: str, skeleton: Any) -> Any:
        count = self.one_of(self.values.length_of(path))
        if count is None:
            if slot.nullable:
                return None
            count = 0
        first = skeleton[0] if isinstance(skeleton, list) and skeleton else None
        return [self.element(slot, path, first) for _ in range(count)]

    def element(self, slot: Slot, path: str, skeleton: Any) -> Any:
        if slot.field.element == "struct":
            assert slot.field.struct is not None
            return self.struct(slot.field.struct, path, skeleton)
        return self.scalar(slot.field.element, path, skeleton, nullable=False)

    def scalar(self, kind: str, path: str, skeleton: Any, *, nullable: bool) -> Any:
        if kind == "records":
            values = self.values
            return (values.wrong_records if self.on_edge else values.good_records)(self.rng)
        pool = self.values.pool_of(path, kind)
        if pool is None:
            pool = BY_TYPE[kind]
            if skeleton is not None:
                pool = Pool((*pool.good, skeleton, skeleton), pool.edge)
            if nullable:
                pool = Pool(pool.good, (*pool.edge, None))
        if not nullable:
            pool = Pool(_without_null(pool.good) or ("",), _without_null(pool.edge))
        return self.one_of(pool)


def _without_null(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in values if value is not None)
