"""Defects of what brokers ask their controller, for tests that look at the links between them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from harness.base.address import Address
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.messages import AlterPartitionRequest, AlterPartitionResponse
from harness.proxies import FrameRule
from harness.proxies.direction import Direction
from harness.proxies.interceptor import Interceptor
from harness.proxies.links import Links
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.proxies.seen import SeenRequest, SeenResponse
from harness.proxies.step import Send, Step
from harness.targets.kafka.link_plan import CONTROLLER
from labs.defects.defect import correlation_id, rule
from labs.defects.edited_request import with_body
from labs.defects.one_node import of_cluster

FIRST_WITH_EPOCHS = 3
_FAR = 1 << 30
"""Added to a correlation id: no broker comes so far."""


class BetweenNodes(FrameRule):
    """Base of rules for ``interceptor`` before each broker's link; no client's frames change."""

    interceptor: type[Interceptor]


def stand_before(links: Links[Proxy], rule: BetweenNodes, net: RunningProxies) -> None:
    """Put the rule between the brokers and each link to the controller."""
    for link in links.values():
        if link.destination == CONTROLLER:
            taken = link.proxy.listen
            move: Callable[[Proxy], Any] = _elsewhere  # awaited where the link runs
            link.call(move)
            before = Proxy(
                f"before {link}",
                link.proxy.listen,
                listen=taken,
                source=link.source,
                destination=link.destination,
                interceptor=rule.interceptor(),
            )
            net.add(before)


async def _elsewhere(proxy: Proxy) -> None:
    """Move the link to another port."""
    await proxy.stop()
    proxy.listen = Address(proxy.listen.host, 0)
    await proxy.start()


class _Proposals(Interceptor):
    """Intercept only AlterPartition requests and their answers."""

    is_idle = False

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:
        del direction, version
        return api_key == AlterPartitionRequest.message_spec.api_key


class _Twice(_Proposals):
    """Send every proposal twice at once, and drop the second answer."""

    def request(self, seen: SeenRequest) -> Sequence[Step]:
        again = bytearray(seen.payload)
        struct.pack_into(">i", again, 4, correlation_id(seen.payload) + _FAR)
        return [Send(frame(seen.payload)), Send(frame(bytes(again)))]

    def response(self, seen: SeenResponse) -> Sequence[Step] | None:
        (answered,) = struct.unpack_from(">i", seen.payload)
        return [] if answered >= _FAR else None


class _NotAgain(_Proposals):
    """Send no proposal after one that was not answered."""

    has_given_up = False

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:
        del seen
        return [] if self.has_given_up else None

    def ended(self, unanswered: SeenRequest) -> Sequence[Step] | None:
        del unanswered
        self.has_given_up = True
        return None


class _NotAfterRefusal(_Proposals):
    """Send no proposal after one that was refused."""

    is_refused = False

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:
        del seen
        return [] if self.is_refused else None

    def response(self, seen: SeenResponse) -> Sequence[Step] | None:
        message = seen.message
        if isinstance(message, AlterPartitionResponse):
            codes = {part.error_code for topic in message.topics for part in topic.partitions}
            self.is_refused |= ErrorCode.INELIGIBLE_REPLICA in codes
        return None


class _WithoutEpochs(_Proposals):
    """Send no broker epoch of a member."""

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:
        message = seen.message
        if not isinstance(message, AlterPartitionRequest) or seen.version < FIRST_WITH_EPOCHS:
            return None
        for topic in message.topics:
            for part in topic.partitions:
                for member in part.new_isr_with_epochs:
                    member.broker_epoch = -1
        return [Send(frame(with_body(seen, message)))]


class ProposalsDoNotWait(BetweenNodes):
    """A leader sends its next proposal before the one before is answered."""

    interceptor = _Twice


class ProposalsAreGivenUp(BetweenNodes):
    """A leader that received no answer to a proposal sends no further one."""

    interceptor = _NotAgain


class RefusedProposalsStay(BetweenNodes):
    """After a refused proposal the leader regards it as pending, and sends no further one."""

    interceptor = _NotAfterRefusal


class EpochsAreLeftOut(BetweenNodes):
    """A leader proposes members without their broker epochs, so that none is checked."""

    interceptor = _WithoutEpochs


DEFECTS = of_cluster(
    [
        rule(
            "ALTP-013",
            r"AlterPartition asked \d+ on connection \d+, while unanswered: asked \d+",
            ProposalsDoNotWait,
        ),
        rule("ISR-013", r"the follower fetches again, and the ISR is", RefusedProposalsStay),
        rule("ALTP-016", r"proposals have a member without its broker epoch", EpochsAreLeftOut),
        rule("ALTP-013", r"2 requests were lost, and the ISR of partition", ProposalsAreGivenUp),
    ],
    private=True,
)
