"""The smallest program that a target may find at an address: answers ApiVersions and Metadata.

Run as ``python -m tests.targets.stand_in [--setting NAME=VALUE ...]``. Settings: ``mode`` is
``serve`` (default), ``silent`` (accepts, never answers), ``mute`` (never says that it listens),
``garbage`` (answers with bytes that mean nothing), ``exit`` (ends at once with status 3).
``port``: where to listen, by default any. ``data``: a folder in which a topic that Metadata asks
for is made, as an empty partition folder; it is there again after a restart. Asked for the topic
``fatal`` it dies. ``--port`` and ``--data-dir`` are as of our own broker, which makes its folder.
"""

import argparse
import os
import socketserver
import sys
import threading
import uuid
from pathlib import Path

from harness.codec import decode
from harness.codec.apis import APIS
from harness.codec.header import decode_request_header, encode_response
from harness.codec.messages import ApiVersionsResponse, MetadataRequest, MetadataResponse

FATAL_TOPIC = "fatal"
RANGES = {3: (0, 13), 18: (0, 4)}


NAMESPACE = uuid.UUID(int=1)
GARBAGE = b"\x00\x00\x00\x10" + bytes(range(16))


def topics_in(
    data: Path | None, asked: MetadataRequest
) -> list[MetadataResponse.MetadataResponseTopic]:
    """Every topic that was created, with those of this request."""
    if data is None:
        return []
    for topic in asked.topics or ():
        (data / f"{topic.name}-0").mkdir(exist_ok=True)
    partition = MetadataResponse.MetadataResponsePartition
    return [
        MetadataResponse.MetadataResponseTopic(
            name=name,
            topic_id=uuid.uuid5(NAMESPACE, name),
            partitions=[partition(leader_id=1, replica_nodes=[1], isr_nodes=[1])],
        )
        for name in sorted(folder.name.removesuffix("-0") for folder in data.glob("*-0"))
    ]


def answer(payload: bytes, port: int, data: Path | None = None) -> bytes:
    header, offset = decode_request_header(payload)
    key, version = header.request_api_key, header.request_api_version
    body = decode(APIS[key].request, version, payload[offset:])
    if key == 3 and any(topic.name == FATAL_TOPIC for topic in getattr(body, "topics", None) or ()):
        print("the stand-in dies of this topic", file=sys.stderr, flush=True)
        os._exit(9)
    if key == 18:
        keys = [
            ApiVersionsResponse.ApiVersion(api_key=each, min_version=low, max_version=high)
            for each, (low, high) in RANGES.items()
        ]
        return encode_response(ApiVersionsResponse(api_keys=keys), version, header.correlation_id)
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="127.0.0.1", port=port)
    assert isinstance(body, MetadataRequest)
    topics = topics_in(data, body)
    response = MetadataResponse(
        brokers=[broker], cluster_id="stand-in", controller_id=1, topics=topics
    )
    return encode_response(response, version, header.correlation_id)


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while True:
            length = self.rfile.read(4)
            if len(length) < 4:
                return
            payload = self.rfile.read(int.from_bytes(length, "big"))
            assert isinstance(self.server, Server)
            if self.server.mode == "silent":
                threading.Event().wait()
            if self.server.mode == "garbage":
                self.wfile.write(GARBAGE)
                continue
            out = answer(payload, int(self.connection.getsockname()[1]), self.server.data)
            self.wfile.write(len(out).to_bytes(4, "big") + out)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    mode = "serve"
    data: Path | None = None


def as_ours_has_it(arguments: list[str]) -> dict[str, str]:
    """Port and folder, if they are given as to ``kafka-conformance broker``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", default=argparse.SUPPRESS)
    parser.add_argument("--data-dir", dest="data", default=argparse.SUPPRESS)
    given = vars(parser.parse_known_args(arguments)[0])
    if "data" in given:
        Path(given["data"]).mkdir(parents=True, exist_ok=True)
    return given


def main(arguments: list[str]) -> None:
    pairs = dict(word.split("=", 1) for word in arguments if "=" in word)
    pairs |= as_ours_has_it(arguments)
    mode = pairs.get("mode", "serve")
    print("stand-in", os.getpid(), pairs, file=sys.stderr)
    if mode == "exit":
        print("the stand-in has enough")
        sys.exit(3)
    with Server(("127.0.0.1", int(pairs.get("port", "0"))), Handler) as server:
        server.mode = mode
        server.data = Path(pairs["data"]) if "data" in pairs else None
        if mode != "mute":
            print(f"listening on 127.0.0.1:{server.server_address[1]}")
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
