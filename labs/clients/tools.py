"""The command line tools of a release of Kafka: a Java process for every call."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from harness.clients.calls import Calls, ClientFailed
from harness.clients.java_program import FLAGS
from harness.clients.vocabulary import HEARTBEAT_MS, Json
from harness.targets.artifacts import fetch_release
from harness.targets.java import find_java

TOOL_S = 90.0
SHOWN = ("timestamp", "partition", "offset", "headers", "key", "value")
PRINT = [word for name in SHOWN for word in ("--property", f"print.{name}=true")]
_PARTITION = re.compile(r"Partition: (\d+)\s+Leader: (\d+)\s+Replicas: ([\d,]+)\s+Isr: ([\d,]+)")
_CONFIG = re.compile(r"^\s+([\w.]+)=(.*?) sensitive=", re.MULTILINE)
_LOW = re.compile(r"partition: \S+-(\d+)\s+low_watermark: (\d+)")
_ASSIGNED = re.compile(r"[(:]([\d,]+)")
_STATES = ("Empty", "Stable", "PreparingRebalance", "CompletingRebalance", "Dead")


@dataclass(frozen=True, slots=True)
class Tools:
    """The names of a release's tools. ``artifacts``: names of pins, in the order of the classes."""

    release: str
    artifacts: tuple[str, ...]
    topics: str
    configs: str
    groups: str
    producer: str
    consumer: str
    records: str
    offsets: str
    offsets_bootstrap: str = "--bootstrap-server"
    assignment_column: int = 6


_NEW = "org.apache.kafka.tools"
TOOLS = {
    one.release: one
    for one in (
        Tools(
            "4.3.1",
            ("tools-4.3.1", "4.3.1"),
            topics=f"{_NEW}.TopicCommand",
            configs="kafka.admin.ConfigCommand",
            groups=f"{_NEW}.consumer.group.ConsumerGroupCommand",
            producer=f"{_NEW}.ConsoleProducer",
            consumer=f"{_NEW}.consumer.ConsoleConsumer",
            records=f"{_NEW}.DeleteRecordsCommand",
            offsets=f"{_NEW}.GetOffsetShell",
        ),
        Tools(
            "2.8.2",
            ("2.8.2",),
            topics="kafka.admin.TopicCommand",
            configs="kafka.admin.ConfigCommand",
            groups="kafka.admin.ConsumerGroupCommand",
            producer="kafka.tools.ConsoleProducer",
            consumer="kafka.tools.ConsoleConsumer",
            records="kafka.admin.DeleteRecordsCommand",
            offsets="kafka.tools.GetOffsetShell",
            offsets_bootstrap="--broker-list",
            assignment_column=5,
        ),
    )
}
"""By release; 4.3.1 is the newest one with tools in the repository of released artifacts."""


class CommandLine(Calls):
    """The vocabulary by tools, as far as there is one; texts are parsed as users see them."""

    def __init__(self, tools: Tools, bootstrap: str, log: Path) -> None:
        """Raises JavaError or DownloadError."""
        self.tools, self.bootstrap, self._log = tools, bootstrap, log
        self._java = str(find_java().executable)
        jars = [jar for name in tools.artifacts for jar in fetch_release(name)]
        self._environment = {**os.environ, "CLASSPATH": os.pathsep.join(map(str, jars))}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no process outlives a call."""

    def call(self, name: str, **arguments: Any) -> Any:
        return getattr(self, f"_{name}")(**arguments)

    def words(self, main: str, *arguments: str, option: str = "--bootstrap-server") -> list[str]:
        own = f"-Djava.io.tmpdir={self._log.parent}"
        return [self._java, *FLAGS, own, main, option, self.bootstrap, *arguments]

    def run(
        self, main: str, *arguments: str, said: str = "", option: str = "--bootstrap-server"
    ) -> str:
        """Return a tool's output. Raises ClientFailed if it fails, TimeoutExpired if it hangs."""
        words = self.words(main, *arguments, option=option)
        with self._log.open("ab") as log:
            done = subprocess.run(
                words,
                env=self._environment,
                input=said.encode(),
                stdout=subprocess.PIPE,
                stderr=log,
                timeout=TOOL_S,
                check=False,
            )
        text = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            tail = self._log.read_bytes()[-2000:].decode("utf-8", "replace")
            raise ClientFailed(f"{main} {arguments}: status {done.returncode}: {text}\n{tail}")
        return text

    @contextmanager
    def consuming(self, output: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a console consumer that writes to a file; the end of the context ends it."""
        words = self.words(self.tools.consumer, *arguments, *PRINT)
        with output.open("wb") as out, self._log.open("ab") as log:
            process = subprocess.Popen(words, env=self._environment, stdout=out, stderr=log)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)  # as the shell's Ctrl-C: it leaves the group
            try:
                process.wait(TOOL_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    # -- topics --------------------------------------------------------------------------------

    def _create_topic(self, topic: str, partitions: int, configs: Mapping[str, str]) -> None:
        words = ["--create", "--topic", topic, "--partitions", str(partitions)]
        words += [word for pair in configs.items() for word in ("--config", "=".join(pair))]
        said = self.run(self.tools.topics, *words, "--replication-factor", "1")
        assert f"Created topic {topic}." in said

    def _list_topics(self) -> list[str]:
        return self.run(self.tools.topics, "--list").split()

    def _describe_topic(self, topic: str) -> list[Json]:
        said = self.run(self.tools.topics, "--describe", "--topic", topic)
        return [
            {
                "partition": int(partition),
                "leader": int(leader),
                "replicas": [int(each) for each in replicas.split(",")],
                "isr": [int(each) for each in isr.split(",")],
            }
            for partition, leader, replicas, isr in _PARTITION.findall(said)
        ]

    def _describe_configs(self, topic: str) -> dict[str, str]:
        words = ["--describe", "--all", "--entity-type", "topics", "--entity-name", topic]
        return dict(_CONFIG.findall(self.run(self.tools.configs, *words)))

    def _alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        pairs = ",".join("=".join(pair) for pair in configs.items())
        words = ["--alter", "--add-config", pairs, "--entity-type", "topics"]
        self.run(self.tools.configs, *words, "--entity-name", topic)

    def _create_partitions(self, topic: str, total: int) -> None:
        self.run(self.tools.topics, "--alter", "--topic", topic, "--partitions", str(total))

    def _delete_records(self, topic: str, before: Sequence[tuple[int, int]]) -> list[list[int]]:
        wanted = [
            f'{{"topic": "{topic}", "partition": {partition}, "offset": {offset}}}'
            for partition, offset in before
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(f'{{"version": 1, "partitions": [{", ".join(wanted)}]}}')
            file.flush()
            said = self.run(self.tools.records, "--offset-json-file", file.name)
        return [[int(partition), int(low)] for partition, low in _LOW.findall(said)]

    def _delete_topic(self, topic: str) -> None:
        self.run(self.tools.topics, "--delete", "--topic", topic)

    # -- records -------------------------------------------------------------------------------

    def _read(self, topic: str, partition: int, offset: int, count: int) -> list[Json]:
        words = ["--topic", topic, "--partition", str(partition), "--offset", str(offset)]
        said = self.run(self.tools.consumer, *words, "--max-messages", str(count), *PRINT)
        return printed(said)

    def _offsets_for_times(self, topic: str, times: Sequence[tuple[int, int]]) -> list[list[Any]]:
        found: list[list[Any]] = []
        for partition, timestamp_ms in times:
            words = ["--topic", topic, "--time", str(timestamp_ms)]
            said = self.run(self.tools.offsets, *words, option=self.tools.offsets_bootstrap)
            told = re.search(rf"^{topic}:{partition}:(\d+)$", said, re.MULTILINE)
            found.append([partition, int(told[1]) if told else None])
        return found

    # -- groups --------------------------------------------------------------------------------

    def member_words(self, member: str, group: str, topic: str) -> list[str]:
        """Return the arguments of a console consumer in a group; it commits as it goes."""
        settings = {
            "client.id": member,
            "auto.commit.interval.ms": "100",
            "heartbeat.interval.ms": str(HEARTBEAT_MS),
        }
        properties = [
            word for pair in settings.items() for word in ("--consumer-property", "=".join(pair))
        ]
        return ["--topic", topic, "--group", group, "--from-beginning", *properties]

    def _list_groups(self) -> list[str]:
        return self.run(self.tools.groups, "--list").split()

    def _describe_group(self, group: str) -> Json:
        words = ["--describe", "--group", group]
        said = self.run(self.tools.groups, *words, "--state")
        state = next((one for one in _STATES if f" {one} " in said), "")
        told = self.run(self.tools.groups, *words, "--members", "--verbose")
        rows = [line for line in told.splitlines() if line.startswith(f"{group} ")]
        return {"state": state, "members": [self._member(row.split()) for row in rows]}

    def _member(self, row: Sequence[str]) -> list[Any]:
        found = _ASSIGNED.search(row[self.tools.assignment_column])
        return [row[3], [int(each) for each in found[1].split(",")] if found else []]

    def _group_offsets(self, group: str) -> list[list[Any]]:
        said = self.run(self.tools.groups, "--describe", "--group", group)
        rows = [line.split() for line in said.splitlines() if line.startswith(f"{group} ")]
        return [[row[1], int(row[2]), int(row[3])] for row in rows if row[3] != "-"]

    def _delete_group(self, group: str) -> None:
        said = self.run(self.tools.groups, "--delete", "--group", group)
        assert "successful" in said, said


def printed(said: str) -> list[Json]:
    """Return the records printed by a console consumer; an unfinished last line is left out."""
    return [_record(line) for line in said.split("\n")[:-1] if line.startswith("CreateTime:")]


def _record(line: str) -> Json:
    timestamp, partition, offset, headers, key, value = line.split("\t")
    pairs = [] if headers == "NO_HEADERS" else [one.split(":") for one in headers.split(",")]
    return {
        "partition": int(partition.removeprefix("Partition:")),
        "offset": int(offset.removeprefix("Offset:")),
        "timestamp_ms": int(timestamp.removeprefix("CreateTime:")),
        "key": None if key == "null" else key,
        "value": None if value == "null" else value,
        "headers": pairs,
    }
