"""Capture clients again: ``python -m labs.client_captures [NAME ...] [--keep FOLDER]``.

Each speaks to a real Kafka on loopback, and its capture is read. The table has a row for each; a
byte that was passed over, a message that was not decoded or not answered ends it with exit code 1.
Needs root, tcpdump and a JDK; for librdkafka cargo, make and a C compiler, for kafkajs npm and
node, for franz-go and Sarama Go.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import kafka.admin

from harness.targets.spec import parse_target
from labs.captures.record import tcpdump
from labs.client_captures.lines import CLIENTS, CapturedClient, CapturedClientFailed
from labs.client_captures.table import COLUMNS, is_read, row_of


def captured(
    broker: str, clients: list[CapturedClient], folder: Path
) -> Iterator[tuple[CapturedClient, Path | None]]:
    """Run the clients one after the other before one broker; yield each with its capture.

    None: the client failed, and its output is on standard error.
    """
    with parse_target(f"kafka:{broker}", log_dir=folder) as target:
        address = target.addresses[0]
        admin = kafka.KafkaAdminClient(bootstrap_servers=str(address))
        for client in clients:
            admin.create_topics([kafka.admin.NewTopic(client.name, 1, 1)])
            file = folder / f"{client.name}.pcap"
            try:
                with tcpdump(address.port, file):
                    client.run(str(address), client.name)
            except CapturedClientFailed as failure:
                print(f"{client.name}: {failure}", file=sys.stderr)
                yield client, None
            else:
                yield client, file
        admin.close()


def main(words: list[str]) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m labs.client_captures")
    parser.add_argument("names", nargs="*", choices=[*CLIENTS, []], metavar="NAME")
    parser.add_argument("--keep", type=Path, help="the folder that gets the captures, gzipped")
    options = parser.parse_args(words)
    chosen = [CLIENTS[name] for name in options.names or CLIENTS]
    print("\t".join(COLUMNS))
    is_whole = True
    for broker in sorted({client.broker for client in chosen}):
        clients = [client for client in chosen if client.broker == broker]
        with TemporaryDirectory() as folder:
            for client, file in captured(broker, clients, Path(folder)):
                if file is None:
                    is_whole = False
                    continue
                row = row_of(client, file)
                print("\t".join(map(str, row.values())), flush=True)
                is_whole &= is_read(row)
                if options.keep is not None:
                    kept = options.keep / f"{file.name}.gz"
                    with file.open("rb") as source, gzip.GzipFile(kept, "wb", mtime=0) as out:
                        shutil.copyfileobj(source, out)
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
