"""META: brokers and topics in Metadata."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ResponseTimeout
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest, MetadataResponse
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.gone_topics import create_again, delete_topic
from suites.protocol.support.internal_topics import KEY_TYPES, internal_topic
from suites.protocol.support.kept_topics import KeptTopics

METADATA = api_named("Metadata")
LONGEST_NAME_CHARACTERS = 249
NOT_YET = (ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
AUTO_CREATION_MS = 5_000
Asked = MetadataRequest.MetadataRequestTopic


def _ask(
    broker: BrokerUnderTest, version: int, topics: list[Asked] | None, *, auto_create: bool = False
) -> MetadataResponse:
    """Send Metadata without auto creation, unless wanted or older than the field for it (v4)."""
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=auto_create or version < 4)
    return broker.ask(request, version)


def _named(*names: str) -> list[Asked]:
    return [Asked(name=name) for name in names]


def _names(answer: MetadataResponse) -> set[str | None]:
    return {topic.name for topic in answer.topics}


def _random_uuid(broker: BrokerUnderTest) -> UUID:
    return UUID(int=broker.random.getrandbits(128), version=4)


def _first(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


def _second(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


def _third(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


def _expect_as_by_name(broker: BrokerUnderTest, answer: MetadataResponse, name: str) -> None:
    """The list of all topics has the topic once, with its error and its partitions."""
    shown = [topic for topic in answer.topics if topic.name == name]
    assert len(shown) == 1, f"{name} is {len(shown)} times in the list of all topics"
    expect_error(shown[0].error_code, ErrorCode.NONE, f"{name} in the list of all topics")
    wanted = only(broker.metadata([name]).topics, "topic")
    numbers, expected = (
        sorted(partition.partition_index for partition in topic.partitions)
        for topic in (shown[0], wanted)
    )
    assert numbers == expected, f"{name} has partitions {numbers}, by its name {expected}"


def _expect_not_created(broker: BrokerUnderTest, name: str) -> None:
    """A topic that is created after the question is there, the one asked for is not."""
    broker.delete_later(name)
    later = broker.create_topic()
    listed = _names(broker.metadata(None))
    assert later.name in listed, "the list of all topics lacks the topic created last"
    assert name not in listed, "the unknown topic was created by asking for it"


@judges("META-003")
@at_versions("Metadata", "0")
def test_metadata_v0_with_empty_topic_list_returns_all_topics(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An empty list at v0 stands for all topics, each as a request by its name shows it."""
    created = [kept.topic(broker, make).name for make in (_first, _second)]
    with requirement("META-003"):
        answer = _ask(broker, api_version, [])
        _expect_as_by_name(broker, answer, created[0])
        _expect_as_by_name(broker, answer, created[1])


@judges("META-004")
@at_versions("Metadata", "1+")
def test_metadata_from_v1_with_null_topic_list_returns_all_topics(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Null stands for all topics from v1, each as a request by its name shows it."""
    created = kept.topic(broker, _first).name
    with requirement("META-004"):
        _expect_as_by_name(broker, _ask(broker, api_version, None), created)


@judges("META-004")
@at_versions("Metadata", "1+")
def test_metadata_from_v1_with_empty_topic_list_returns_only_brokers(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An empty list stands for no topic from v1."""
    kept.topic(broker, _first)
    with requirement("META-004"):
        answer = _ask(broker, api_version, [])
        assert not answer.topics, f"no topic was asked for, {len(answer.topics)} came"
        assert answer.brokers, "no broker is listed"


@judges("META-005")
@at_versions("Metadata")
def test_metadata_with_topic_list_returns_only_named_topics(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of three topics one is named, then two, then one of two is named twice: each comes once."""
    names = [kept.topic(broker, make).name for make in (_first, _second, _third)]
    with requirement("META-005") as check:
        for wanted in (names[:1], names[1:], [names[0], names[1], names[0]]):
            with check.subtest(f"{len(wanted)} topics"):
                answer = _ask(broker, api_version, _named(*wanted))
                came = sorted((topic.name for topic in answer.topics), key=str)
                assert came == sorted({*wanted}), f"asked for {wanted}, got {came}"


@judges("META-006")
@at_versions("Metadata", "4+")
def test_metadata_forbidding_auto_creation_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The request rules auto creation out: the topic is unknown and stays so."""
    _judge_unknown_topic(broker, api_version)


@judges("META-006")
@needs_broker(Use.OWN, {"auto.create.topics.enable": "false"})
def test_metadata_with_auto_create_disabled_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest,
) -> None:
    """Before v4 only the broker's configuration rules auto creation out."""
    for version in range(broker.version("Metadata", "0-3") + 1):
        if version in broker.advertised("Metadata"):
            _judge_unknown_topic(broker, version)


def _judge_unknown_topic(broker: BrokerUnderTest, version: int) -> None:
    unknown = broker.unique_topic()
    with requirement("META-006", api_key=METADATA.key, api_version=version):
        answer = _ask(broker, version, _named(unknown))
        assert _names(answer) == {unknown}, f"asked for one topic, got {answer.topics}"
        expect_error(only(answer.topics, "topic").error_code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        _expect_not_created(broker, unknown)


@judges("META-008")
@at_versions("Metadata", "4+")
def test_metadata_without_allow_auto_topic_creation_creates_no_topic(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An unknown topic beside a known one is not created when the request forbids it."""
    known, unknown = kept.topic(broker, _first).name, broker.unique_topic()
    with requirement("META-008"):
        _ask(broker, api_version, _named(known, unknown), auto_create=False)
        _expect_not_created(broker, unknown)


@judges("META-009")
@at_versions("Metadata")
def test_first_metadata_of_auto_created_topic_has_error_or_partitions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The first answer for a topic that is being auto-created says that it is not there yet.

    A broker that has made it before it answers shows it whole.
    """
    name = broker.unique_topic()
    broker.delete_later(name)
    wanted = MetadataRequest(topics=_named(name), allow_auto_topic_creation=True)
    first = broker.ask(wanted, api_version, tolerant=True)
    _await_auto_created(broker, name)
    with requirement("META-009"):
        assert _names(first) == {name}, f"asked for one topic, got {first.topics}"
        topic = only(first.topics, "topic")
        shown = f"{ErrorCode.describe(topic.error_code)} with {len(topic.partitions)} partitions"
        whole = topic.error_code == ErrorCode.NONE and topic.partitions
        assert topic.error_code in NOT_YET or whole, f"the first answer is {shown}"
    delete_topic(broker, Topic(name))


def _await_auto_created(broker: BrokerUnderTest, name: str) -> None:
    """Raises NotApplicable where nothing is created by asking."""
    try:
        broker.eventually(
            lambda: only(broker.metadata([name]).topics, "topic").error_code == ErrorCode.NONE,
            f"{name} is created",
            within_ms=AUTO_CREATION_MS,
        )
    except ResponseTimeout as error:
        raise NotApplicable("auto_create_topics", f"nothing is auto-created: {error}") from error


@judges("META-010")
@at_versions("Metadata", "0-3", "4+")
def test_metadata_of_illegal_topic_name_returns_invalid_topic_exception(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Empty, one dot, two dots, 250 characters, and characters that no name has."""
    own = broker.unique_topic()
    names = ["", ".", "..", own.ljust(LONGEST_NAME_CHARACTERS + 1, "x")]
    names += [own + ending for ending in ("/b", " b", ":b", "\u00e4", "\n")]
    with requirement("META-010") as check:
        answer = _ask(broker, api_version, _named(*names))
        codes = {topic.name: topic.error_code for topic in answer.topics}
        assert codes.keys() == set(names), f"names in the answer: {list(codes)}"
        for name, code in codes.items():
            with check.subtest(f"name {(name or '')[-3:]!r}, {len(name or '')} characters"):
                expect_error(code, ErrorCode.INVALID_TOPIC_EXCEPTION, where=repr(name))


@judges("META-017")
@at_versions("Metadata", "1+")
def test_metadata_controller_id_is_listed_broker_or_minus_1(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The controller's id is one of the brokers', or -1."""
    with requirement("META-017"):
        answer = _ask(broker, api_version, [])
        ids = [node.node_id for node in answer.brokers]
        assert answer.controller_id in (-1, *ids), (
            f"controller {answer.controller_id}, not in {ids}"
        )


@judges("META-018")
@at_versions("Metadata", "1")
def test_metadata_v1_has_no_cluster_id(broker: BrokerUnderTest, api_version: int) -> None:
    """There is no such field at v1: a broker that writes it sends more than the answer."""
    with requirement("META-018"):
        assert _ask(broker, api_version, []).cluster_id is None


@judges("META-018")
@at_versions("Metadata", "2+")
def test_metadata_from_v2_returns_stable_cluster_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Not empty, and the same on another connection and at another version."""
    other = broker.connect()
    with requirement("META-018"):
        cluster_id = _ask(broker, api_version, []).cluster_id
        assert cluster_id, f"the cluster id is {cluster_id!r}"
        newest = broker.version("Metadata", "2+")
        again = other.ask(MetadataRequest(topics=[]), newest, tolerant=True).cluster_id
        assert again == cluster_id, f"the cluster id was {cluster_id!r}, then {again!r}"


@judges("META-019")
@at_versions("Metadata", "1+")
def test_metadata_marks_only_internal_topics_as_internal(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Those of the group and the transaction coordinator are internal, a user's topic is not."""
    of_a_user = kept.topic(broker, _first).name
    for name in KEY_TYPES:
        internal_topic(broker, name)
    with requirement("META-019"):
        answer = _ask(broker, api_version, None)
        shown = {topic.name: topic.is_internal for topic in answer.topics}
        missing = {of_a_user, *KEY_TYPES} - shown.keys()
        assert not missing, f"not in the list of all topics: {missing}"
        for name in KEY_TYPES:
            assert shown[name], f"{name} is not internal"
        assert not shown[of_a_user], "a user's topic is internal"


@judges("META-022")
@at_versions("Metadata", "10+")
def test_metadata_returns_new_topic_id_for_recreated_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The id belongs to the topic, not to its name."""
    first = broker.create_topic()
    asked = MetadataRequest(topics=_named(first.name), allow_auto_topic_creation=False)
    first_id = only(broker.ask(asked, api_version, tolerant=True).topics, "topic").topic_id
    delete_topic(broker, first)
    create_again(broker, first.name)
    with requirement("META-022"):
        assert first_id != ZERO_UUID, "the topic has no id"
        second_id = _id_at(broker, first.name, api_version)
        assert second_id != ZERO_UUID, "the recreated topic has no id"
        assert second_id != first_id, "the recreated topic has the id of the deleted one"


def _id_at(broker: BrokerUnderTest, name: str, version: int) -> UUID:
    return only(_ask(broker, version, _named(name)).topics, "topic").topic_id


@judges("META-023")
@at_versions("Metadata", "12+")
def test_metadata_by_topic_id_returns_topic_name(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The id alone finds the topic and its name; of two ids, one of them named twice, each comes
    once."""
    first, second = kept.topic(broker, _first), kept.topic(broker, _second)
    with requirement("META-023") as check:
        for topics in ([first], [first, second, first]):
            with check.subtest(f"{len(topics)} ids"):
                asked = [Asked(name=None, topic_id=topic.id) for topic in topics]
                answer = _ask(broker, api_version, asked)
                found = sorted(((t.name, t.topic_id, t.error_code) for t in answer.topics), key=str)
                expected = sorted({(t.name, t.id, int(ErrorCode.NONE)) for t in topics}, key=str)
                assert found == expected, f"{len(topics)} ids: {found}, expected {expected}"


@judges("META-023")
@at_versions("Metadata", "12+")
def test_metadata_by_unknown_topic_id_returns_unknown_topic_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A random id names no topic."""
    unknown = _random_uuid(broker)
    with requirement("META-023"):
        answer = _ask(broker, api_version, [Asked(name=None, topic_id=unknown)])
        expect_error(only(answer.topics, "topic").error_code, ErrorCode.UNKNOWN_TOPIC_ID)


@judges("META-023")
@at_versions("Metadata", "12+")
def test_metadata_by_id_of_deleted_topic_does_not_find_recreated_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The old id stays unknown when a new topic has the name; the new id finds the new topic."""
    deleted = broker.create_topic()
    delete_topic(broker, deleted)
    again = create_again(broker, deleted.name)
    with requirement("META-023"):
        ids = [Asked(name=None, topic_id=topic.id) for topic in (deleted, again)]
        found = {topic.topic_id: topic for topic in _ask(broker, api_version, ids).topics}
        assert found.keys() == {deleted.id, again.id}, f"ids in the answer: {list(found)}"
        error = found[deleted.id].error_code
        expect_error(error, ErrorCode.UNKNOWN_TOPIC_ID, "the id of the deleted topic")
        expect_error(found[again.id].error_code, ErrorCode.NONE, "the id of the new topic")
        assert found[again.id].name == again.name, f"its name is {found[again.id].name}"


@judges("META-024")
@at_versions("Metadata", "10-11")
@pytest.mark.parametrize("asked_by", ["null name", "id alone", "name and id"])
def test_metadata_v10_and_v11_with_null_name_or_id_returns_invalid_request(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, asked_by: str
) -> None:
    """The fields are there at v10 and v11; a request that uses them is refused."""
    topic = kept.topic(broker, _first)
    asked = Asked(
        name=topic.name if asked_by == "name and id" else None,
        topic_id=ZERO_UUID if asked_by == "null name" else topic.id,
    )
    with requirement("META-024"):
        answer = _ask(broker, api_version, [asked])
        expect_error(
            only(answer.topics, "topic").error_code, ErrorCode.INVALID_REQUEST, where=asked_by
        )
