"""A capture as tshark reads it, frame by frame, for a comparison with our reading."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VERSION = re.compile(r"TShark \(Wireshark\) (\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Dissected:
    """A Kafka frame as tshark shows it; None where its output has no such field.

    ``refused``: its message about a version that it does not know.
    """

    ports: tuple[int, int]  # from, to
    api_key: int | None
    version: int | None
    correlation_id: int | None
    client_id: str | None
    length: int
    topics: frozenset[str]
    errors: Counter[int]
    malformed: bool
    refused: str


def installed_version() -> tuple[int, int] | None:
    """Return major and minor version; None when there is no tshark."""
    if shutil.which("tshark") is None:
        return None
    said = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True)
    found = VERSION.search(said.stdout)
    return (int(found[1]), int(found[2])) if found else None


def dissect(file: Path, port: int) -> Iterator[Dissected]:
    """Yield the Kafka frames of a capture, in its order."""
    command = ["tshark", "-n", "-r", str(file), "-d", f"tcp.port=={port},kafka"]
    command += ["-Y", "kafka", "-T", "pdml", "-J", "tcp kafka"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        for _, element in ET.iterparse(child.stdout):
            if element.tag == "packet":
                yield from _frames(element)
                element.clear()
    assert child.returncode == 0, f"tshark ended with {child.returncode}"


def _frames(packet: ET.Element) -> Iterator[Dissected]:
    ports = [
        next((int(f.get("show", "")) for f in packet.iter("field") if f.get("name") == name), 0)
        for name in ("tcp.srcport", "tcp.dstport")
    ]
    malformed = any(p.get("name") == "_ws.malformed" for p in packet.iter("proto"))
    for proto in packet.iter("proto"):
        if proto.get("name") == "kafka":
            yield _frame(proto, (ports[0], ports[1]), malformed)


def _frame(proto: ET.Element, ports: tuple[int, int], malformed: bool) -> Dissected:
    values: dict[str, list[str]] = {}
    for field in proto.iter("field"):
        values.setdefault(field.get("name", ""), []).append(field.get("show", ""))

    def number(*names: str) -> int | None:
        found = [values[name][0] for name in names if values.get(name)]
        return int(found[0], 0) if found else None

    version = number("kafka.api_version", "kafka.request.version", "kafka.response.version")
    key = number("kafka.api_key", "kafka.request_key", "kafka.response_key")
    return Dissected(
        ports=ports,
        api_key=key,
        version=version,
        correlation_id=number("kafka.correlation_id"),
        client_id=values.get("kafka.client_id", [None])[0],
        length=number("kafka.len") or 0,
        topics=frozenset(name for name in values.get("kafka.topic_name", []) if name),
        errors=Counter(int(code) for code in values.get("kafka.error", []) if int(code)),
        malformed=malformed,
        refused=next(
            (
                field.get("showname", "")
                for field in proto.findall("field/field/field")
                if field.get("name") == "kafka.unsupported_api_version"
            ),
            "",
        ),
    )
