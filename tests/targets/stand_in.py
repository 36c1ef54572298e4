"""The smallest program that a target may find at an address: answers ApiVersions and Metadata.

Run as ``python -m tests.targets.stand_in [--setting NAME=VALUE ...]``. Settings: ``mode`` is
``serve`` (default), ``silent`` (accepts, never answers), ``mute`` (never says that it listens),
``exit`` (ends at once with status 3). ``port``: where to listen, by default any. Asked for the
topic ``fatal`` it dies.
"""

import os
import socketserver
import sys
import threading

from harness.codec import decode
from harness.codec.apis import APIS
from harness.codec.header import decode_request_header, encode_response
from harness.codec.messages import ApiVersionsResponse, MetadataResponse

FATAL_TOPIC = "fatal"
RANGES = {3: (0, 13), 18: (0, 4)}


def answer(payload: bytes, port: int) -> bytes:
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
    response = MetadataResponse(brokers=[broker], cluster_id="stand-in", controller_id=1)
    return encode_response(response, version, header.correlation_id)


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while True:
            length = self.rfile.read(4)
            if len(length) < 4:
                return
            payload = self.rfile.read(int.from_bytes(length, "big"))
            if self.server.silent:  # type: ignore[attr-defined]
                threading.Event().wait()
            out = answer(payload, int(self.connection.getsockname()[1]))
            self.wfile.write(len(out).to_bytes(4, "big") + out)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    silent = False


def main(arguments: list[str]) -> None:
    pairs = dict(word.split("=", 1) for word in arguments if "=" in word)
    mode = pairs.get("mode", "serve")
    print("stand-in", os.getpid(), pairs, file=sys.stderr)
    if mode == "exit":
        print("the stand-in has enough")
        sys.exit(3)
    with Server(("127.0.0.1", int(pairs.get("port", "0"))), Handler) as server:
        server.silent = mode == "silent"
        if mode != "mute":
            print(f"listening on 127.0.0.1:{server.server_address[1]}")
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
