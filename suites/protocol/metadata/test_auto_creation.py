"""META: topics that Metadata creates, of several that one request names, and internal ones."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.config_admin import TOPIC, ShownSource, configs_of
from suites.protocol.support.topic_admin import described

METADATA = api_named("Metadata")
CREATED_MS = 10_000
AUTO_CREATION = {"auto.create.topics.enable": "true"}


def _ask_for(broker: BrokerUnderTest, version: int, names: Sequence[str]) -> None:
    asked = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    broker.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=True), version)


@judges("META-036")
@needs_broker(Use.OWN, AUTO_CREATION)
def test_metadata_auto_creates_each_unknown_topic_beside_known_and_illegal_names(
    broker: BrokerUnderTest,
) -> None:
    """Three unknown names in one request, with a known topic, an illegal name and a repetition
    between them; after a topic that was created by a request of its own."""
    known = broker.create_topic().name
    for version in broker.advertised("Metadata") & METADATA.valid_versions:
        alone, *unknown = (broker.unique_topic() for _ in range(4))
        broker.delete_later(alone, *unknown)
        first, second, third = unknown
        with requirement("META-036", api_key=METADATA.key, api_version=version) as check:
            for names in ([alone], [first, known, f"{first}/b", second, first, third]):
                with check.subtest(f"v{version}, {len(names)} names"):
                    _ask_for(broker, version, names)
                    wanted = {*names} - {known, f"{first}/b"}
                    listed = broker.last_seen(
                        lambda: {topic.name for topic in broker.metadata(None).topics},
                        lambda listed, wanted=wanted: wanted <= listed,  # type: ignore[misc]
                        CREATED_MS,
                    )
                    missing = [name for name in names if name in wanted - listed]
                    assert not missing, f"v{version}: of {names} no topic is created for {missing}"


# Number of partitions of each internal topic, with the name of its setting.
SIZES = {
    "__consumer_offsets": ("offsets.topic.num.partitions", 3),
    "__transaction_state": ("transaction.state.log.num.partitions", 4),
}


@judges("META-037")
@needs_broker(Use.OWN, AUTO_CREATION | {name: str(count) for name, count in SIZES.values()})
def test_metadata_creates_internal_topic_with_its_own_partitions_and_configs(
    broker: BrokerUnderTest,
) -> None:
    """Both in one request, before any client looks for a coordinator: internal, with the partitions
    of its setting, compacted by a config of its own."""
    version = broker.version("Metadata", "1+")
    broker.version("DescribeConfigs", "1+")
    with requirement("META-037", api_key=METADATA.key, api_version=version) as check:
        _ask_for(broker, version, [*SIZES])
        for name, (_, count) in SIZES.items():
            with check.subtest(name):
                shown = described(broker, name)
                assert shown.is_internal, f"{name} is not internal"
                found = len(shown.partitions)
                assert found == count, f"{name} has {found} partitions, its setting is {count}"
                policy = configs_of(broker, (TOPIC, name))["cleanup.policy"]
                told = (policy.value, policy.config_source)
                expected = ("compact", ShownSource.TOPIC)
                assert told == expected, f"{name}: cleanup.policy is {told}, expected {expected}"
