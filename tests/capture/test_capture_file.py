"""Capture files: every form, and what is no capture."""

from __future__ import annotations

import gzip
import io
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from scapy.utils import PcapNgWriter, RawPcapReader, RawPcapWriter

from harness.capture.capture_file import CaptureFile
from harness.capture.errors import CaptureError
from harness.capture.segment import SYN
from labs.captures.recorded import FOLDER, segments
from tests.capture.made import Conversation, as_packet, write_pcap

REAL = FOLDER / "kafka-3.9.2-python.pcap"


def raw_packets(file: Path) -> list[tuple[bytes, int, int]]:
    with RawPcapReader(str(file)) as reader:
        return [(data, about.sec, about.usec) for data, about in reader]


def test_pcapng_and_pcap_give_equal_segments(tmp_path: Path) -> None:
    talk = Conversation().open().send(Conversation().client, b"some bytes").close()
    old = write_pcap(talk.segments, tmp_path / "old.pcap")
    new = tmp_path / "new.pcapng"
    with PcapNgWriter(str(new)) as out:
        for segment in talk.segments:
            packet = as_packet(segment)
            packet.time = segment.time_ns / 1e9
            out.write(packet)
    assert new.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    assert list(CaptureFile(str(new))) == list(CaptureFile(str(old))) == talk.segments


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nano", [False, True])
def test_pcap_is_read_in_both_byte_orders_and_time_units(
    tmp_path: Path, order: str, nano: bool
) -> None:
    file = tmp_path / "made.pcap"
    with RawPcapWriter(str(file), linktype=1, endianness=order, nano=nano) as out:
        out.write_header(None)
        for data, sec, usec in raw_packets(REAL):
            out.write_packet(data, sec=sec, usec=usec * 1000 if nano else usec)
    assert tuple(CaptureFile(str(file))) == segments(REAL)


def test_capture_is_read_from_gzip_and_from_open_file(tmp_path: Path) -> None:
    packed = tmp_path / "packed.pcap.gz"
    packed.write_bytes(gzip.compress(REAL.read_bytes()))
    assert tuple(CaptureFile(str(packed))) == segments(REAL)
    with REAL.open("rb") as opened:
        assert tuple(CaptureFile(opened)) == segments(REAL)


def test_truncated_capture_is_read_up_to_its_last_packet(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(REAL.read_bytes()[:-1])
    found = list(CaptureFile(str(cut)))
    assert len(found) in (len(segments(REAL)), len(segments(REAL)) - 1)
    assert tuple(found[:-1]) == segments(REAL)[: len(found) - 1]


@pytest.mark.parametrize("data", [b"", b"\xd4", b"no capture at all", b"\xd4\xc3\xb2\xa1short"])
def test_non_capture_file_raises_error_with_file_name(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "not.pcap"
    file.write_bytes(data)
    with pytest.raises(CaptureError, match=r"not\.pcap is neither pcap nor pcapng"):
        CaptureFile(str(file))


def test_missing_capture_file_raises_capture_error() -> None:
    with pytest.raises(CaptureError, match=r"cannot read gone\.pcap: No such file"):
        CaptureFile("gone.pcap")


def test_unknown_link_type_raises_capture_error(tmp_path: Path) -> None:
    file = tmp_path / "wlan.pcap"
    with RawPcapWriter(str(file), linktype=105) as out:
        out.write_header(None)
        out.write_packet(bytes(40), sec=1, usec=1)
    with pytest.raises(CaptureError, match=r"link type 105 is not known here.*1 \(Ethernet\)"):
        list(CaptureFile(str(file)))


def block(kind: int, body: bytes) -> bytes:
    """One block of a pcapng; a body of whole words."""
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def test_interface_of_unknown_link_type_leaves_the_others_readable(tmp_path: Path) -> None:
    made = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for link_type in (105, 1):
        made += block(1, struct.pack("<HHI", link_type, 0, 0))
    for interface, data in (
        (0, b"beacon"),
        (1, bytes(as_packet(Conversation().open().segments[0]))),
    ):
        padded = data + bytes(-len(data) % 4)
        made += block(6, struct.pack("<IIIII", interface, 0, 0, len(data), len(data)) + padded)
    file = tmp_path / "two.pcapng"
    file.write_bytes(made)
    capture = CaptureFile(str(file))
    assert [segment.flags for segment in capture] == [SYN]
    assert capture.counts == {"packets": 2, "of link type 105": 1}


def test_capture_file_yields_first_segment_before_reading_rest() -> None:
    """The first segment is there before the rest of the file."""

    class Counting(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.taken += len(data)
            return data

    source = Counting(REAL.read_bytes())
    found = iter(CaptureFile(source))
    next(found)
    assert source.taken < 500


def test_missing_scapy_error_names_pip_extra() -> None:
    code = (
        "import sys; sys.modules['scapy'] = None\n"
        "from harness.capture.capture_file import CaptureFile\n"
        "from harness.capture.errors import ScapyMissing\n"
        "try:\n    CaptureFile('x.pcap')\n"
        "except ScapyMissing as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "kafka-conformance[capture]" in said.stdout
