"""A written capture has the same content when we read it and when tshark does."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.capture_file import CaptureFile
from harness.capture.events import REQUEST
from harness.capture.follow import Follower
from harness.capture.segment import FIN, RST, SYN, SocketAddress, TcpSegment
from harness.capture.writing import (
    PAYLOAD_LIMIT_BYTES,
    CaptureWriter,
    WrittenConnection,
    endpoint,
)
from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import ApiVersionsRequest, ApiVersionsResponse
from tests.targets.kinds import not_run

CLIENT, BROKER = endpoint("127.0.0.1", 40_000), endpoint("127.0.0.1", 9092)
NOW_NS = 1_764_000_000_123_456_789


def read(written: bytes, folder: Path) -> list[TcpSegment]:
    file = folder / "written.pcap"
    file.write_bytes(written)
    return list(CaptureFile(str(file)))


def written(*steps: tuple[SocketAddress, bytes]) -> bytes:
    out = io.BytesIO()
    connection = WrittenConnection(CaptureWriter(out), CLIENT, BROKER, NOW_NS)
    for number, (sender, data) in enumerate(steps):
        connection.sent(sender, data, NOW_NS + number)
    connection.ended(CLIENT, NOW_NS)
    connection.ended(BROKER, NOW_NS)
    return out.getvalue()


@given(st.lists(st.tuples(st.sampled_from([CLIENT, BROKER]), st.binary(max_size=300))))
def test_written_capture_keeps_bytes_order_and_sequence_numbers(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[SocketAddress, bytes]]
) -> None:
    segments = read(written(*steps), tmp_path_factory.mktemp("written"))
    got = [(each.source, each.payload) for each in segments if each.payload]
    assert got == [step for step in steps if step[1]]
    following: dict[SocketAddress, int] = defaultdict(int)
    for each in segments:
        assert each.seq == following[each.source]
        following[each.source] += len(each.payload) + bool(each.flags & (SYN | FIN))


def test_frame_above_ip_limit_is_written_as_several_segments(tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000
    segments = read(written((CLIENT, data)), tmp_path)
    pieces = [each.payload for each in segments if each.payload]
    assert b"".join(pieces) == data
    assert [len(each) for each in pieces] == [PAYLOAD_LIMIT_BYTES] * 3 + [61_000]


def test_reset_is_written_as_last_segment_of_connection(tmp_path: Path) -> None:
    out = io.BytesIO()
    connection = WrittenConnection(CaptureWriter(out), CLIENT, BROKER, NOW_NS)
    connection.ended(BROKER, NOW_NS, reset=True)
    connection.ended(CLIENT, NOW_NS)
    last = read(out.getvalue(), tmp_path)[-1]
    assert (last.source, last.flags & RST, last.time_ns) == (BROKER, RST, NOW_NS)


def test_endpoints_of_different_ip_versions_are_refused() -> None:
    with pytest.raises(ValueError, match="not of one IP version"):
        WrittenConnection(CaptureWriter(io.BytesIO()), CLIENT, endpoint("::1", 1), NOW_NS)


def kafka_conversation(host: str) -> bytes:
    out = io.BytesIO()
    ends = endpoint(host, 40_000), endpoint(host, 9092)
    connection = WrittenConnection(CaptureWriter(out), *ends, NOW_NS)
    request = frame(encode_request(ApiVersionsRequest(), 0, 7, "written"))
    connection.sent(ends[0], request[:5], NOW_NS)
    connection.sent(ends[0], request[5:], NOW_NS)
    connection.sent(ends[1], frame(encode_response(ApiVersionsResponse(), 0, 7)), NOW_NS)
    connection.ended(ends[0], NOW_NS)
    connection.ended(ends[1], NOW_NS)
    return out.getvalue()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_own_reader_reads_written_conversation(host: str, tmp_path: Path) -> None:
    segments = read(kafka_conversation(host), tmp_path)
    events = list(Follower().events(segments))
    assert [getattr(each, "direction", None) for each in events].count(REQUEST) == 1
    assert len(events) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_tshark_reports_no_errors_in_written_capture(host: str, tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        not_run("tshark is not installed")
    file = tmp_path / "written.pcap"
    file.write_bytes(kafka_conversation(host))
    command = ["tshark", "-n", "-r", str(file), "-o", "tcp.check_checksum:TRUE"]
    command += ["-o", "ip.check_checksum:TRUE", "-T", "fields", "-e", "_ws.expert"]
    command += ["-e", "tcp.checksum.status", "-e", "kafka.correlation_id"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    assert {row[1] for row in rows} == {"1"}, "checksums are good"
    assert [row[2] for row in rows if row[2]] == ["7", "7"]
    assert not any("Malformed" in row[0] or "Retransmission" in row[0] for row in rows)
