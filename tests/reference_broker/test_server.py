"""Frames, order, waiting and limits over real sockets."""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading

import pytest

from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
)
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.reference_broker.handlers.table import HANDLERS
from labs.awaiting import await_that
from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.running import Address, create_topic, named, running_broker


def produce(topic: str, *, records: bytes | None = None, acks: int = 1) -> ProduceRequest:
    if records is None:
        record = Record(b"value", b"key")
        records = encode_batch(RecordBatch(records=[record], base_timestamp=1_700_000_000_000))
    part = ProduceRequest.PartitionProduceData(index=0, records=records)
    data = ProduceRequest.TopicProduceData(name=topic, partition_data=[part])
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[data])


def fetch(
    topic: str,
    offset: int = 0,
    max_wait_ms: int = 20_000,
    min_bytes: int = 1,
    max_bytes: int = 1_000_000,
) -> FetchRequest:
    part = FetchRequest.FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=1_000_000
    )
    wanted = FetchRequest.FetchTopic(topic=topic, partitions=[part])
    return FetchRequest(
        max_wait_ms=max_wait_ms, topics=[wanted], min_bytes=min_bytes, max_bytes=max_bytes
    )


def latest_offset(connection: Connection, topic: str) -> int:
    part = ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    wanted = ListOffsetsRequest.ListOffsetsTopic(name=topic, partitions=[part])
    response = connection.ask(ListOffsetsRequest(replica_id=-1, topics=[wanted]), 5)
    return response.topics[0].partitions[0].offset


def test_api_versions_response_equals_handler_table(address: Address) -> None:
    with Connection(address) as connection:
        response = connection.ask(ApiVersionsRequest(), 0)
    listed = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
    assert listed == {
        key: (r.advertised.lowest, r.advertised.highest) for key, r in HANDLERS.items()
    }


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x00\x03",
        struct.pack(">hhih", 99, 0, 1, -1),
        struct.pack(">hhih", 3, 99, 1, -1),
        struct.pack(">hhih", 0, 14, 1, -1) + bytes(10),
        struct.pack(">hhih", 3, 1, 1, -1),
        struct.pack(">hhihi", 3, 1, 1, -1, 2**31 - 1),
    ],
    ids=["empty", "short", "unknown-key", "unknown-version", "produce-v14", "no-body", "absurd"],
)
def test_unreadable_request_closes_only_its_connection(address: Address, payload: bytes) -> None:
    with Connection(address) as other, Connection(address) as connection:
        connection.send_frame(payload)
        connection.expect_closed()
        other.ask(ApiVersionsRequest(), 0)


@pytest.mark.parametrize("size", [-1, 104857601])
def test_illegal_frame_size_closes_connection(address: Address, size: int) -> None:
    with Connection(address) as connection:
        connection.send_bytes(struct.pack(">i", size))
        connection.expect_closed()


def test_trailing_bytes_of_request_are_ignored(address: Address) -> None:
    with Connection(address) as connection:
        payload = encode_request(MetadataRequest(topics=[]), 1, 8) + b"more"
        connection.send_frame(payload)
        assert struct.unpack_from(">i", connection.receive_frame()) == (8,)
        connection.ask(ApiVersionsRequest(), 0)


def test_request_sent_byte_by_byte_is_answered(address: Address) -> None:
    with Connection(address) as connection:
        for byte in frame(encode_request(ApiVersionsRequest(), 0, 5)):
            connection.send_bytes(bytes([byte]))
        assert struct.unpack_from(">i", connection.receive_frame()) == (5,)


def test_pipelined_requests_are_answered_in_order(address: Address, topic_name: str) -> None:
    create_topic(address, topic_name)
    with Connection(address) as connection:
        connection.send(fetch(topic_name, max_wait_ms=150), 6)
        connection.send(ApiVersionsRequest(), 0)
        connection.send(MetadataRequest(topics=[]), 1)
        kinds = [type(connection.receive()).__name__ for _ in range(3)]
    assert kinds == ["FetchResponse", "ApiVersionsResponse", "MetadataResponse"]


def test_requests_before_end_of_stream_are_answered(address: Address, topic_name: str) -> None:
    """A request that waits is answered too, and what follows it."""
    create_topic(address, topic_name)
    request = frame(encode_request(ApiVersionsRequest(), 0, 0x5A5A5A5A))
    waiting = frame(encode_request(fetch(topic_name, max_wait_ms=20), 6, 0x5B5B5B5B))
    with socket.create_connection(address, 10) as peer:
        peer.sendall(request * 2 + waiting + request)
        peer.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: peer.recv(65536), b""))
    assert received.count(struct.pack(">ih", 0x5A5A5A5A, 0)) == 3
    assert received.count(struct.pack(">i", 0x5B5B5B5B)) == 1


def test_produce_completes_waiting_fetch(address: Address, topic_name: str) -> None:
    create_topic(address, topic_name)
    with Connection(address) as reader, Connection(address) as writer:
        reader.send(fetch(topic_name), 6)
        writer.ask(produce(topic_name), 7)
        response = reader.receive(5000)
    assert isinstance(response, FetchResponse)
    assert len(response.responses[0].partitions[0].records or b"") > 61


def test_fetch_with_min_bytes_waits_for_several_batches(address: Address, topic_name: str) -> None:
    create_topic(address, topic_name)
    with Connection(address) as reader, Connection(address) as writer:
        reader.send(fetch(topic_name, min_bytes=150), 6)
        writer.ask(produce(topic_name), 7)
        reader.expect_silence(150)
        writer.ask(produce(topic_name), 7)
        response = reader.receive(5000)
    assert isinstance(response, FetchResponse)
    assert len(response.responses[0].partitions[0].records or b"") >= 150


def test_produce_with_acks_0_has_no_response_and_closes_on_error(
    address: Address, topic_name: str
) -> None:
    create_topic(address, topic_name)
    with Connection(address) as connection:
        connection.send(produce(topic_name, acks=0), 7)
        assert latest_offset(connection, topic_name) == 1
        connection.send(produce("no-such-topic", acks=0), 7)
        connection.expect_closed()


def test_closed_client_with_waiting_fetch_frees_its_connection_slot_when_idle() -> None:
    with running_broker({"max.connections": "2", "connections.max.idle.ms": "100"}) as address:
        create_topic(address, "t")

        def waits_and_leaves() -> bool:
            try:
                with Connection(address) as reader:
                    reader.ask(ApiVersionsRequest(), 0)
                    reader.send(fetch("t", max_wait_ms=2_000_000_000), 6)
            except BrokerMisbehaved:
                return False
            return True

        for _ in range(5):  # the wait is longer than any test: only the idle time frees a place
            await_that(waits_and_leaves, "the waiting fetch has left its place")


def test_topic_deletion_ends_wait_of_fetch(address: Address, topic_name: str) -> None:
    create_topic(address, topic_name)
    with Connection(address) as reader, Connection(address) as admin:
        reader.send(fetch(topic_name), 6)
        admin.ask(DeleteTopicsRequest(topic_names=[topic_name], timeout_ms=5000), 3)
        response = reader.receive(5000)
    assert isinstance(response, FetchResponse)
    assert response.responses[0].partitions[0].error_code == 3


def test_idle_connections_are_closed() -> None:
    with running_broker({"connections.max.idle.ms": "200"}) as address:
        with Connection(address) as connection:
            connection.ask(ApiVersionsRequest(), 0)
            connection.expect_closed(5000)


def test_connections_of_one_address_are_limited() -> None:
    with running_broker({"max.connections.per.ip": "1"}) as address:
        with Connection(address) as first:
            first.ask(ApiVersionsRequest(), 0)
            with Connection(address) as second:
                second.expect_closed(5000)
            first.ask(ApiVersionsRequest(), 0)


def test_broker_stops_reading_client_that_does_not_read(address: Address) -> None:
    """Answers pile up in the sockets' buffers, then the broker stops taking requests."""
    request = frame(encode_request(MetadataRequest(topics=[]), 1, 5)) * 1000
    with socket.create_connection(address, 10) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.settimeout(0.5)
        with pytest.raises(TimeoutError):
            send_up_to(peer, request, 200_000_000)
    with Connection(address) as connection:
        connection.ask(ApiVersionsRequest(), 0)


def test_client_that_neither_sends_nor_reads_is_closed_as_idle() -> None:
    """Its place is free for another client some time, although answers for it are left."""
    request = frame(encode_request(ApiVersionsRequest(), 0, 5)) * 1000
    limits = {"connections.max.idle.ms": "500", "max.connections": "1"}
    with running_broker(limits) as address, socket.create_connection(address, 10) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.settimeout(0.5)
        with pytest.raises((TimeoutError, ConnectionError)):
            send_up_to(peer, request, 200_000_000)
        await_a_place(address)


def await_a_place(address: Address) -> None:
    """Wait until a new connection is served."""

    def is_served() -> bool:
        try:
            with Connection(address) as connection:
                connection.ask(ApiVersionsRequest(), 0)
        except BrokerMisbehaved:
            return False
        return True

    await_that(is_served, "the connection before has left its place")


def send_up_to(peer: socket.socket, data: bytes, limit_bytes: int) -> None:
    sent = 0
    while sent < limit_bytes:
        sent += peer.send(data)


def test_auto_creation_returns_unknown_topic_in_first_metadata(
    address: Address, topic_name: str
) -> None:
    with Connection(address) as connection:
        first = connection.ask(MetadataRequest(topics=named(topic_name)), 9).topics[0]
        second = connection.ask(MetadataRequest(topics=named(topic_name)), 9).topics[0]
    assert (first.error_code, len(first.partitions)) == (3, 0)
    assert (second.error_code, len(second.partitions)) == (0, 1)


def test_module_serves_until_sigterm() -> None:
    command = [sys.executable, "-m", "harness.reference_broker", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        watchdog = threading.Timer(30, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening on 127.0.0.1:")
            address = ("127.0.0.1", int(line.rsplit(":", 1)[1]))
            create_topic(address, "t")
            with Connection(address) as reader:
                reader.send(fetch("t", max_wait_ms=60_000), 6)
                os.kill(process.pid, signal.SIGTERM)
                assert process.wait(HANGS_AFTER_S) == 0
            assert process.stdout.read() == ""
        finally:
            watchdog.cancel()
            process.kill()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("message.max.byte=5", "unknown broker setting"),
        ("message.max.bytes=x", "not a number"),
        ("num.partitions=0", "at least 1"),
        ("num.partitions", "name=value"),
    ],
)
def test_invalid_setting_is_usage_error(setting: str, told: str) -> None:
    command = [sys.executable, "-m", "harness.reference_broker", "--port", "0", "--setting"]
    done = subprocess.run(
        [*command, setting], capture_output=True, text=True, timeout=HANGS_AFTER_S, check=False
    )
    assert done.returncode == 2
    assert told in done.stderr


def produced(address: Address, topic: str, version: int, records: bytes, txn: str | None) -> int:
    request = produce(topic, records=records)
    request.transactional_id = txn
    with Connection(address) as connection:
        response = connection.ask(request, version)
    return response.responses[0].partition_responses[0].error_code


@pytest.mark.parametrize(("version", "error"), [(9, 48), (11, 120), (12, 0)])
def test_transactional_batch_outside_of_transaction_is_refused_or_begins_one(
    address: Address, topic_name: str, version: int, error: int
) -> None:
    create_topic(address, topic_name)
    ask = InitProducerIdRequest(transactional_id=topic_name, transaction_timeout_ms=1000)
    with Connection(address) as connection:
        find = FindCoordinatorRequest(coordinator_keys=[topic_name], key_type=1)
        connection.ask(find, 4)
        assert connection.ask(find, 4).coordinators[0].error_code == 0
        given = connection.ask(ask, 2)
    batch = RecordBatch(
        records=[Record(b"v", b"k")],
        base_timestamp=1_700_000_000_000,
        attributes=TRANSACTIONAL,
        producer_id=given.producer_id,
        producer_epoch=given.producer_epoch,
        base_sequence=0,
    )
    records = encode_batch(batch)
    assert produced(address, topic_name, version, records, "unknown") == 49
    assert produced(address, topic_name, version, records, None) == 53
    assert produced(address, topic_name, version, records, topic_name) == error


@pytest.mark.parametrize(("version", "error"), [(9, 48), (12, 45)])
def test_a_transaction_begins_in_a_partition_with_sequence_0_where_records_add_it(
    address: Address, topic_name: str, version: int, error: int
) -> None:
    create_topic(address, topic_name)
    ask = InitProducerIdRequest(transactional_id=topic_name, transaction_timeout_ms=1000)
    with Connection(address) as connection:
        connection.ask(FindCoordinatorRequest(key=topic_name, key_type=1), 1)
        given = connection.ask(ask, 2)
    batch = RecordBatch(
        records=[Record(b"v", b"k")],
        base_timestamp=1_700_000_000_000,
        attributes=TRANSACTIONAL,
        producer_id=given.producer_id,
        producer_epoch=given.producer_epoch,
        base_sequence=3,
    )
    assert produced(address, topic_name, version, encode_batch(batch), topic_name) == error


def test_fetch_session_does_not_read_recreated_topic(address: Address, topic_name: str) -> None:
    create_topic(address, topic_name)
    with Connection(address) as connection:
        topic = connection.ask(MetadataRequest(topics=named(topic_name)), 12).topics[0]
        part = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        wanted = FetchRequest.FetchTopic(topic_id=topic.topic_id, partitions=[part])
        opened = connection.ask(FetchRequest(max_wait_ms=0, session_epoch=0, topics=[wanted]), 13)
        session = FetchRequest(max_wait_ms=0, session_id=opened.session_id, session_epoch=1)
        names = [DeleteTopicsRequest.DeleteTopicState(name=topic_name)]
        connection.ask(DeleteTopicsRequest(topics=names, timeout_ms=5000), 6)
        gone = connection.ask(session, 13)
        create_topic(address, topic_name)
        connection.ask(produce(topic_name), 7)
        session.session_epoch = 2
        another = connection.ask(session, 13)
    assert gone.responses[0].partitions[0].error_code == 3
    assert another.responses[0].partitions[0].error_code == 103
    assert another.responses[0].partitions[0].records == b""


@pytest.mark.parametrize(("like", "error"), [("4.4.0", 49), ("3.9.2", 49), ("2.8.2", 21)])
def test_transactional_batch_is_verified_before_acks_since_3_6(
    topic_name: str, like: str, error: int
) -> None:
    """The request has acks=2, which is illegal, and an unknown transactional id (KIP-890)."""
    record, time = Record(b"v", b"k"), 1_700_000_000_000
    batch = RecordBatch([record], base_timestamp=time, attributes=TRANSACTIONAL, producer_id=7)
    request = produce(topic_name, records=encode_batch(batch), acks=2)
    request.transactional_id = "unknown"
    with running_broker(like=like) as address:
        create_topic(address, topic_name)
        with Connection(address) as connection:
            connection.ask(FindCoordinatorRequest(key="unknown", key_type=1), 1)
            response = connection.ask(request, 9)
    assert response.responses[0].partition_responses[0].error_code == error
