"""Starting the two brokers such that their groups can be compared, and time goes quickly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import APIS
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeGroupsRequest, FindCoordinatorRequest
from harness.targets.errors import TargetError
from harness.targets.info import probe
from harness.targets.spec import parse_target
from harness.targets.target import OWN_BROKER
from labs.group_model.group_side import Server
from labs.group_model.requests import APIS as ASKED_APIS
from labs.group_model.requests import TOPIC
from labs.group_model.steps import ACTORS

SETTINGS = {
    "group.min.session.timeout.ms": "100",
    "group.max.size": str(ACTORS - 1),
    "offsets.topic.num.partitions": "1",
}
"""Both have no initial delay by themselves. One partition: its coordinator is loaded once."""
_READY_MS = 60_000
_ANY_GROUP = "any"


@contextmanager
def server(spec: str, logs: Path) -> Iterator[Server]:
    """A broker of ours that runs, has our topic and serves groups. Raises TargetError."""
    words = [f"set.{name}={value}" for name, value in SETTINGS.items()]
    target = parse_target(",".join([spec, *words]), log_dir=logs)
    if OWN_BROKER not in target.capabilities:
        raise TargetError(f"{spec}: only brokers that we start ourselves are compared")
    with target:
        info = probe(target)
        broker = BrokerUnderTest(info.addresses, info.api_versions, name_prefix=info.name_prefix)
        try:
            topic = broker.create_topic(name=TOPIC)
            broker.eventually(lambda: _is_served(broker), "groups are served", _READY_MS)
            served = {
                name: broker.advertised(name) & api.valid_versions
                for name, api in ((each.name, each) for each in APIS.values())
                if name in ASKED_APIS
            }
            yield Server(spec, info.addresses[0], served, str(topic.id))
        finally:
            broker.close()


def _is_served(broker: BrokerUnderTest) -> bool:
    """True if the coordinator has loaded its partition."""
    found = broker.ask(FindCoordinatorRequest(key=_ANY_GROUP, key_type=0), 1)
    if found.error_code != ErrorCode.NONE:
        return False
    answer = broker.ask(DescribeGroupsRequest(groups=[_ANY_GROUP]), 0)
    return answer.groups[0].error_code == ErrorCode.NONE
