"""RECV, CONF, OTOP: whole answers about all but logs are the same after a restart."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteGroupsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.restarts import expect_kept
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.committed_offsets import (
    Committed,
    ask_to_delete_offsets,
    commit,
    deleted_codes,
    entry,
    fresh_group,
)
from suites.protocol.support.config_admin import (
    BROKER,
    TOPIC,
    AlterOperation,
    Resource,
    ShownSource,
    asked_broker,
    change,
    configs_of,
)
from suites.protocol.support.group_answers import (
    RichGroups,
    committed_offsets,
    described_groups,
)
from suites.protocol.support.quota_answers import (
    CHANGED,
    QUOTAS,
    REMOVED,
    all_quotas,
    set_quotas,
)
from suites.protocol.support.topic_admin import (
    ask_to_create,
    ask_to_delete,
    ask_to_grow,
    creatable,
    described,
)
from suites.protocol.support.topic_answers import described_configs, topics_and_brokers

PARTITIONS = {"OTOP-004": 6, "CONF-015": 15, "RECV-022": 22, "RECV-023": 23, "RECV-025": 25}
"""Numbers of partitions, by which a defect recognizes its test."""

GROWN = 5  # partitions
EPOCH, LONG = 3, "metadata " * 100
OF_TOPIC = {"retention.ms": "8654321", "cleanup.policy": "compact,delete", "segment.ms": "654321"}
OFTEN_A_SNAPSHOT = {"metadata.log.max.record.bytes.between.snapshots": "1"}
"""A setting of a broker with KRaft: it starts with a snapshot of its metadata."""
ALL_BROKERS: Resource = (BROKER, "")
SET, DELETE, APPEND = AlterOperation.SET, AlterOperation.DELETE, AlterOperation.APPEND


@judges("OTOP-004")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_offset_fetch_returns_same_commits_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Offsets, metadata, leader epochs of several groups; what was deleted stays deleted."""
    client = persistent_broker.client
    client.version("OffsetDelete")
    topics = [client.create_topic(2), client.create_topic(PARTITIONS["OTOP-004"])]
    groups = [fresh_group(client, topics[0]) for _ in range(3)]
    for number, group in enumerate(groups):
        for offset in (9, 2):  # the newest counts, not the largest
            commit(client, group, {topic: _commits(offset + number) for topic in topics})
    _delete_one(client, groups[0], topics[1])
    _delete_group(client, groups[2])
    every = {topic: list(range(PARTITIONS["OTOP-004"])) for topic in topics[1:]}
    wanted = {groups[0]: None, groups[1]: {topics[0]: [0, 1], **every}, groups[2]: None}

    def go_on(_: str) -> None:
        commit(client, groups[1], {topics[0]: [entry(77, "later")]})
        _delete_one(client, groups[1], topics[1])

    expect_kept(persistent_broker, "OTOP-004", {}, lambda: committed_offsets(client, wanted), go_on)


def _commits(offset: int) -> list[Committed]:
    """Commits of both partitions: one with metadata and leader epoch, one without."""
    whole, plain = entry(offset, LONG), entry(0, "", 1)
    whole.committed_leader_epoch = EPOCH
    return [whole, plain]


def _delete_one(client: BrokerUnderTest, group: str, topic: Topic) -> None:
    answer = ask_to_delete_offsets(client, client.version("OffsetDelete"), group, (topic.name, 1))
    for code in deleted_codes(answer).values():
        _require_success(code, "OffsetDelete")


def _delete_group(client: BrokerUnderTest, group: str) -> None:
    (result,) = client.ask(DeleteGroupsRequest(groups_names=[group])).results
    _require_success(result.error_code, "DeleteGroups")


def _require_success(code: int, what: str) -> None:
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"{what}: {ErrorCode.describe(code)}", code)


@judges("RECV-022")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_groups_are_described_as_before_and_go_on_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Stable groups, one with a static member, and one that its members have left."""
    client = persistent_broker.client
    topic = client.create_topic(PARTITIONS["RECV-022"])
    groups = RichGroups(lambda _: client, topic, lambda: ClassicGroup(client))

    def go_on(when: str) -> None:
        with requirement("RECV-022"):
            groups.expect_goes_on(when)

    expect_kept(
        persistent_broker,
        "RECV-022",
        {},
        lambda: described_groups(lambda _: client, groups.names),
        go_on,
    )


@judges("CONF-015")
@needs_broker(Use.PERSISTENT, {**BRIEF, **OFTEN_A_SNAPSHOT})
def test_all_fields_of_topic_configs_are_the_same_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Configs given with the topic, set and removed later; those of a deleted topic are gone."""
    client = persistent_broker.client
    client.version("IncrementalAlterConfigs")
    again = client.create_topic(2, OF_TOPIC)
    _delete(client, again)
    _make_again(client, again, 2)
    topic = client.create_topic(PARTITIONS["CONF-015"], OF_TOPIC)
    resource = (TOPIC, topic.name)
    for name, configs in ((again.name, {}), (topic.name, OF_TOPIC)):
        _await_values(client, (TOPIC, name), configs)
    _change(client, resource, ("segment.ms", DELETE, None), ("max.message.bytes", SET, "54321"))

    def go_on(when: str) -> None:
        _change(client, resource, ("retention.bytes", SET, f"{len(when)}00"))
        _change(client, resource, ("retention.ms", DELETE, None))

    expect_kept(
        persistent_broker,
        "CONF-015",
        {topic: 2},
        lambda: described_configs(client, resource, (TOPIC, again.name)),
        go_on,
    )


def _change(
    client: BrokerUnderTest, resource: Resource, *changes: tuple[str, AlterOperation, str | None]
) -> None:
    """Change the configs, and wait until the broker describes them so."""
    _require_success(change(client, resource, *changes), "IncrementalAlterConfigs")
    for name, operation, value in changes:
        client.eventually(
            lambda name=name, value=value: _own_values(client, resource).get(name) == value,  # type: ignore[misc]
            f"{operation.name} of {name} is described",
        )


def _await_values(client: BrokerUnderTest, resource: Resource, values: dict[str, str]) -> None:
    client.eventually(
        lambda: _own_values(client, resource) == values, f"the configs of {resource} are described"
    )


def _own_values(client: BrokerUnderTest, resource: Resource) -> dict[str, str | None]:
    """Return the values that the resource has by itself."""
    sources = {TOPIC: ShownSource.TOPIC, BROKER: ShownSource.BROKER}
    own = ShownSource.ALL_BROKERS if resource == ALL_BROKERS else sources[resource[0]]
    configs = configs_of(client, resource)
    return {name: one.value for name, one in configs.items() if one.config_source == own}


@judges("RECV-023")
@needs_broker(Use.PERSISTENT, {**BRIEF, **OFTEN_A_SNAPSHOT})
def test_dynamic_broker_configs_are_the_same_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Configs of this broker, of all brokers, of both, and a removed one; a topic inherits them."""
    client = persistent_broker.client
    client.version("IncrementalAlterConfigs")
    topic, own = client.create_topic(PARTITIONS["RECV-023"]), asked_broker(client)
    _change(
        client,
        ALL_BROKERS,
        ("log.retention.ms", SET, "8654321"),
        ("message.max.bytes", SET, "765432"),
        ("log.segment.bytes", SET, "76543210"),
    )
    _change(client, own, ("message.max.bytes", SET, "654321"), ("num.io.threads", SET, "7"))
    _change(client, ALL_BROKERS, ("log.segment.bytes", DELETE, None))

    def go_on(when: str) -> None:
        _change(client, own, ("message.max.bytes", SET, f"6543{len(when)}"))
        _change(client, ALL_BROKERS, ("log.retention.ms", SET, f"86543{len(when)}"))

    expect_kept(
        persistent_broker,
        "RECV-023",
        {topic: 2},
        lambda: described_configs(client, own, ALL_BROKERS, (TOPIC, topic.name)),
        go_on,
    )


@judges("RECV-024")
@needs_broker(Use.PERSISTENT, {**BRIEF, **OFTEN_A_SNAPSHOT})
def test_client_quotas_are_the_same_after_restarts(persistent_broker: PersistentBroker) -> None:
    """Quotas of users, client ids and both, by name and default; changed and removed ones."""
    client = persistent_broker.client
    client.version("DescribeClientQuotas")
    set_quotas(client, QUOTAS)
    set_quotas(client, {REMOVED: dict.fromkeys(QUOTAS[REMOVED])})

    def go_on(when: str) -> None:
        set_quotas(client, {CHANGED: {"consumer_byte_rate": 100.0 + len(when)}})

    expect_kept(persistent_broker, "RECV-024", {}, lambda: all_quotas(client), go_on)


@judges("RECV-025")
@needs_broker(Use.PERSISTENT, {**BRIEF, **OFTEN_A_SNAPSHOT})
def test_topics_are_the_same_after_restarts(persistent_broker: PersistentBroker) -> None:
    """One that got more partitions, one that is gone, one that was made again with its name."""
    client = persistent_broker.client
    grow = client.version("CreatePartitions")
    grown, gone, again = (client.create_topic(count) for count in (2, 3, 4))
    grew = ask_to_grow(client, grow, (grown.name, GROWN))
    _require_success(grew[grown.name][0].error_code, "CreatePartitions")
    for topic in (gone, again):
        _delete(client, topic)
    names = [grown.name, gone.name, again.name]
    _make_again(client, again, PARTITIONS["RECV-025"])

    def go_on(when: str) -> None:
        made = client.create_topic(len(when))
        names.append(made.name)

    expect_kept(persistent_broker, "RECV-025", {}, lambda: topics_and_brokers(client, names), go_on)


def _delete(client: BrokerUnderTest, topic: Topic) -> None:
    """Delete the topic, and wait until Metadata does not list it."""
    results = ask_to_delete(client, client.version("DeleteTopics"), topic.name)
    _require_success(results[topic.name][0].error_code, "DeleteTopics")
    client.eventually(
        lambda: topic.name not in {each.name for each in client.metadata(None).topics},
        f"{topic.name} is gone",
    )


def _make_again(client: BrokerUnderTest, topic: Topic, partitions: int) -> None:
    """Create a topic with the name of a deleted one, as soon as the broker takes it."""
    version, asked = client.version("CreateTopics"), creatable(topic.name, partitions)
    client.eventually(
        lambda: ask_to_create(client, version, asked)[topic.name][0].error_code == ErrorCode.NONE,
        f"{topic.name} is created again",
    )
    described(client, topic.name, partitions)
