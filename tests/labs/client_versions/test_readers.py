"""The readers on short source texts that were written for these tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from labs.client_versions.readers import (
    c_arguments,
    go_kmsg,
    go_struct_tags,
    go_valid_versions,
    java_definitions,
    js_tables,
    numbered_files,
    python_definitions,
    python_unions,
    rust_constants,
)
from labs.client_versions.source_text import Sources
from labs.client_versions.version_table import Piece, ReadError, version_table

Reader = Callable[[Sources], Iterable[Piece]]


def table(read: Reader, sources: Sources) -> dict[str, str]:
    return {api: str(spoken) for api, spoken in version_table(read(sources), {}).items()}


def definition(name: str, key: int, versions: str, more: str = "") -> str:
    return (
        f'// a comment\n{{"apiKey": {key}, "type": "request", "name": "{name}Request", {more}'
        f'"validVersions": "{versions}", "flexibleVersions": "none", "fields": []}}'
    )


BUILDS = "\x00\x31org/apache/kafka/common/requests/{}Request$Builder\x01"
JAR = {
    "common/message/FetchRequest.json": definition("Fetch", 1, "4-18"),
    "common/message/ProduceRequest.json": definition(
        "Produce", 0, "0-13", '"latestVersionUnstable": true, '
    ),
    "common/message/VoteRequest.json": definition("Vote", 52, "0-2"),
    "common/message/OffsetForLeaderEpochRequest.json": definition(
        "OffsetForLeaderEpoch", 23, "2-4"
    ),
    "org/apache/kafka/clients/Sender.class": BUILDS.format("Produce") + BUILDS.format("Abstract"),
    "org/apache/kafka/clients/consumer/Reader.class": BUILDS.format("Fetch"),
    "org/apache/kafka/clients/consumer/Epochs.class": BUILDS.format("OffsetsForLeaderEpoch"),
    "org/apache/kafka/raft/Candidate.class": BUILDS.format("Vote"),
}


def test_jar_gives_stable_versions_of_requests_that_clients_build() -> None:
    found = table(java_definitions.read, JAR)
    assert found == {"Produce": "0-12", "Fetch": "4-18", "OffsetForLeaderEpoch": "2-4"}


def test_built_request_without_definition_is_refused() -> None:
    sources = JAR | {"org/apache/kafka/clients/Other.class": BUILDS.format("Unknown")}
    with pytest.raises(ReadError, match="builds a UnknownRequest, which has no definition"):
        table(java_definitions.read, sources)


C = """
static const int16_t highest_of_all = 10;
void produce(void) {
        const int16_t high = highest_of_all;
        int16_t low = 3;
        low = 0;
        v = rd_kafka_broker_ApiVersion_supported(rkb, RD_KAFKAP_Produce, low, high, NULL);
}
void produce_ids(void) {
        v = rd_kafka_broker_ApiVersion_supported(
            rkb, RD_KAFKAP_InitProducerId, 3, 4, &features);
        w = rd_kafka_broker_ApiVersion_supported(rkb, RD_KAFKAP_InitProducerId,
                                                 0, 4, NULL);
}
"""


def test_c_arguments_are_read_with_variables_and_over_several_calls() -> None:
    sources = {"package/src/rdkafka_request.c": C, "package/src/rdkafka_mock.c": "no calls"}
    assert table(c_arguments.read, sources) == {"Produce": "0-10", "InitProducerId": "0-4"}


def test_c_variable_without_a_number_is_refused() -> None:
    call = "rd_kafka_broker_ApiVersion_supported(rkb, RD_KAFKAP_Fetch, 0, given, NULL)"
    with pytest.raises(ReadError, match=r"rdkafka_one\.c: Fetch: 0 or given is no number"):
        table(c_arguments.read, {"a/src/rdkafka_one.c": call})


KMSG = """
func (*ProduceRequest) Key() int16                 { return 0 }
func (*ProduceRequest) MaxVersion() int16 { return 13 }
func (*ProduceResponse) MaxVersion() int16 { return 12 }
func (*VoteRequest) Key() int16 { return 52 }
func (*VoteRequest) MaxVersion() int16 { return 2 }
"""


def test_kmsg_gives_versions_of_requests_that_the_client_makes() -> None:
    sources = {
        "example.com/kmsg@v1.0.0/generated.go": KMSG,
        "example.com/kgo@v1/pkg/kgo/sink.go": "req := kmsg.NewPtrProduceRequest()",
        "example.com/kgo@v1/pkg/kgo/sink_test.go": "req := kmsg.NewPtrVoteRequest()",
    }
    assert table(go_kmsg.read, sources) == {"Produce": "0-13"}


SARAMA = """
func (r *OffsetRequest) key() int16 {
	return apiKeyListOffsets
}

func (r *OffsetRequest) isValidVersion() bool {
	return r.Version >= 0 && r.Version <= 6
}
"""
SARAMA_ONE_LINE = """
func (d *DeleteOffsetsRequest) key() int16 { return apiKeyOffsetDelete }
func (d *DeleteOffsetsRequest) isValidVersion() bool { return d.Version == 0 }
"""


def test_valid_versions_are_read_by_key() -> None:
    sources = {
        "example.com/sarama@v1/offset_request.go": SARAMA,
        "example.com/sarama@v1/delete_offsets_request.go": SARAMA_ONE_LINE,
    }
    assert table(go_valid_versions.read, sources) == {"ListOffsets": "0-6", "OffsetDelete": "0"}


def test_request_without_valid_versions_is_refused() -> None:
    text = SARAMA.replace("isValidVersion", "validVersion")
    with pytest.raises(ReadError, match=r"offset_request\.go: no request with key and"):
        table(go_valid_versions.read, {"example.com/sarama@v1/offset_request.go": text})


TAGS = """
type Request struct {
	Topic   string        `kafka:"min=v0,max=v4|min=v5,max=v7,compact"`
	Parts   []RequestPart `kafka:"min=v2,max=v7"`
}

type RequestPart struct {
	Index int32 `kafka:"min=v2,max=v9"`
}

func (r *Request) ApiKey() protocol.ApiKey { return protocol.JoinGroup }
"""


def test_struct_tags_of_the_request_alone_are_read() -> None:
    sources = {"a/protocol/joingroup/joingroup.go": TAGS, "a/protocol/consumer/consumer.go": "x"}
    assert table(go_struct_tags.read, sources) == {"JoinGroup": "0-7"}


JS_INDEX = """
const requests = {
  Vote: notThere,
  GroupCoordinator: require('./findCoordinator'),
}
"""
JS_TABLE = """
const versions = {
  0: ({ key }) => {
    return { 7: require('./v0/request') }
  },
  1: ({ key }) => {
    return require('./v1/request')
  },
}
"""


def test_js_table_is_read_from_the_folder_of_each_request() -> None:
    root = "package/src/protocol/requests"
    sources = {f"{root}/index.js": JS_INDEX, f"{root}/findCoordinator/index.js": JS_TABLE}
    assert table(js_tables.read, sources) == {"FindCoordinator": "0-1"}


def test_js_request_without_table_is_refused() -> None:
    with pytest.raises(ReadError, match=r"findCoordinator/index\.js: no table of versions"):
        table(js_tables.read, {"package/src/protocol/requests/index.js": JS_INDEX})


def test_numbered_files_are_read_where_a_client_looks_them_up() -> None:
    sources = {
        "package/dist/apis/consumer/fetch-v4.js": "export const api = createAPI(1, 4, a, b)",
        "package/dist/apis/consumer/fetch-v5.js": "export const api = createAPI(1, 5, a, b)",
        "package/dist/apis/admin/envelope-v0.js": "export const api = createAPI(58, 0, a, b)",
        "package/dist/clients/consumer/consumer.js": "this[kGetApi]('Fetch', use)",
        "package/dist/network/connection.js": "import { saslHandshakeV1 } from '../apis'",
    }
    assert table(numbered_files.read, sources) == {"Fetch": "4-5", "SaslHandshake": "1"}


RUST = """
    const API_KEY: ApiKey = ApiKey::Fetch;
    /// a comment
    const API_VERSION_RANGE: ApiVersionRange =
        ApiVersionRange::new(ApiVersion(Int16(4)), ApiVersion(Int16(11)));
"""


def test_rust_constants_are_read() -> None:
    sources = {"c-1/src/protocol/messages/fetch.rs": RUST}
    assert table(rust_constants.read, sources) == {"Fetch": "4-11"}


def test_rust_key_without_range_is_refused() -> None:
    text = RUST.replace("API_VERSION_RANGE", "VERSIONS")
    with pytest.raises(ReadError, match="1 API keys and 0 ranges"):
        table(rust_constants.read, {"c-1/src/protocol/messages/fetch.rs": text})


UNION = """
class FetchRequest_v1(Struct):
    API_KEY = 1
    API_VERSION = 1

class FetchRequest_v2(Struct):
    API_VERSION = 2

class FetchRequest_v3(Struct):
    API_VERSION = 3

Structs: TypeAlias = (
    FetchRequest_v1
    | FetchRequest_v2
    # | FetchRequest_v3
)

class FetchRequest(Request[Structs]):
    API_KEY = 1

class OffsetRequest(Request[FetchRequest_v1]):
    API_KEY = 2

class VoteRequest(Request[Structs]):
    API_KEY = 52
"""


def test_python_unions_are_read_for_requests_that_the_client_makes() -> None:
    sources = {
        "aiokafka/protocol/fetch.py": UNION,
        "aiokafka/consumer/fetcher.py": "send(FetchRequest(1))\nsend(OffsetRequest(2))",
    }
    assert table(python_unions.read, sources) == {"Fetch": "1-2", "ListOffsets": "1"}


def test_struct_of_another_file_is_refused() -> None:
    text = UNION.replace("class FetchRequest_v2", "class FetchRequest_v9")
    sources = {"aiokafka/protocol/fetch.py": text, "aiokafka/client.py": "FetchRequest(1)"}
    with pytest.raises(ReadError, match="FetchRequest: the class FetchRequest_v2 is not in"):
        table(python_unions.read, sources)


SENDER = """
class Sender:
    def produce(self):
        highest = 9
        return ProduceRequest(acks=1, max_version=highest)

    def fetch(self, ids):
        max_version = 12
        if ids:
            max_version = 13
        return FetchRequest(max_version=max_version)

    def commit(self):
        return OffsetCommitRequest(max_version=7), OffsetCommitRequest(max_version=8)

    def heartbeat(self):
        return protocol.HeartbeatRequest()
"""


def test_python_definitions_are_limited_by_the_places_that_make_requests() -> None:
    resources = "kafka/protocol/schemas/resources"
    defined = (
        ("Produce", 0, "3-13"),
        ("Fetch", 1, "4-17"),
        ("OffsetCommit", 8, "2-9"),
        ("Heartbeat", 12, "0-4"),
        ("Vote", 52, "0-2"),
    )
    sources = {f"{resources}/{row[0]}Request.json": definition(*row) for row in defined}
    assert table(python_definitions.read, sources | {"kafka/net/sender.py": SENDER}) == {
        "Produce": "3-9",
        "Fetch": "4-13",
        "OffsetCommit": "2-8",
        "Heartbeat": "0-4",
    }
