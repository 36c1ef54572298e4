"""A target that a command talks to: its brokers, topics and leaders."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import click

from harness.base.address import Address
from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.errors import CodecError
from harness.targets.errors import TargetError
from harness.targets.info import TargetInfo, probe
from harness.targets.not_answered import wrong_answer_behind
from harness.targets.spec import parse_target
from harness.targets.target import Target

EXIT_REFUSED, EXIT_NOT_ASKED = 1, 3
C = TypeVar("C", bound=Callable[..., object])


class OpenedTarget:
    """The brokers of a running target; :meth:`at` connects to one of them."""

    def __init__(self, info: TargetInfo, stack: ExitStack) -> None:
        self._info, self._stack = info, stack
        self._clients: dict[int | None, BrokerUnderTest] = {}

    @property
    def front(self) -> BrokerUnderTest:
        """The broker at the first address."""
        return self.at(None)

    def at(self, node: int | None) -> BrokerUnderTest:
        """The broker with this id. Raises ClickException for an id that Metadata does not list."""
        if node not in self._clients:
            client = BrokerUnderTest(
                self._addresses(node), self._info.api_versions, time_scale=self._info.time_scale
            )
            self._clients[node] = self._stack.enter_context(closing(client))
        return self._clients[node]

    def topic(self, name: str) -> tuple[Topic, dict[int, int]]:
        """The topic, and the leader of each partition. Raises ClickException without a topic."""
        (told,) = self.front.metadata([name]).topics
        if told.error_code != ErrorCode.NONE:
            raise click.ClickException(
                f"topic {name!r}: {ErrorCode.describe(told.error_code)}; `talk ask` makes one with "
                "CreateTopics"
            )
        leaders = {one.partition_index: one.leader_id for one in told.partitions}
        return Topic(name, told.topic_id), dict(sorted(leaders.items()))

    def _addresses(self, node: int | None) -> list[Address]:
        if node is None:
            return list(self._info.addresses)
        brokers = self.front.metadata([]).brokers
        listed = {one.node_id: Address(one.host, one.port) for one in brokers}
        if node not in listed:
            raise click.ClickException(f"no broker {node}: Metadata lists {sorted(listed)}")
        return [self._info.reached.get(listed[node], listed[node])]


@contextmanager
def opened(spec: str) -> Iterator[OpenedTarget]:
    """The target of this string, started if it has to be; problems end the command.

    Exit 1: a broker refused or answered wrongly; 2: usage; 3: the target could not be asked.
    """
    try:
        with TemporaryDirectory(prefix="kafka-conformance-talk-") as logs, ExitStack() as stack:
            target = stack.enter_context(_parsed(spec, Path(logs)))
            yield OpenedTarget(probe(target), stack)
    except (BrokerMisbehaved, ApiNotAdvertised, CodecError) as problem:
        raise click.ClickException(str(problem)) from problem
    except TargetError as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(EXIT_REFUSED if wrong_answer_behind(problem) else EXIT_NOT_ASKED)


def _parsed(spec: str, logs: Path) -> Target:
    try:
        return parse_target(spec, log_dir=logs)
    except TargetError as problem:
        raise click.BadParameter(str(problem), param_hint="--target") from problem


def target_option(command: C) -> C:
    """The option that names the target."""
    option = click.option(
        "--target",
        "spec",
        required=True,
        metavar="SPEC",
        help="The broker, such as external:127.0.0.1:9092; `kafka-conformance targets` lists all.",
    )
    return option(command)
