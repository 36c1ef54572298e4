"""A client's process from outside: every call of the vocabulary is a method."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from labs.clients.vocabulary import Json

ANSWER_S = 120.0
END_S = 20.0
LAST_BYTES = 4000


class ClientFailed(AssertionError):
    """A call failed, or the process ended or did not answer; the text contains its last output."""


class Calls:
    """The vocabulary; subclasses implement ``call``."""

    def call(self, name: str, **arguments: Any) -> Any:
        """Make one call. Raises ClientFailed."""
        raise NotImplementedError

    # -- topics --------------------------------------------------------------------------------

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        self.call("create_topic", topic=topic, partitions=partitions, configs=dict(configs or {}))

    def list_topics(self) -> set[str]:
        return set(self.call("list_topics"))

    def describe_topic(self, topic: str) -> list[Json]:
        """``partition``, ``leader``, ``replicas`` and ``isr`` of each partition, in order."""
        found: list[Json] = self.call("describe_topic", topic=topic)
        return sorted(found, key=lambda one: int(one["partition"]))

    def describe_configs(self, topic: str) -> dict[str, str]:
        found: dict[str, str] = self.call("describe_configs", topic=topic)
        return found

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        self.call("alter_configs", topic=topic, configs=dict(configs))

    def create_partitions(self, topic: str, total: int) -> None:
        self.call("create_partitions", topic=topic, total=total)

    def delete_records(self, topic: str, before: Mapping[int, int]) -> dict[int, int]:
        """Take the offset of each partition; return their new log start offsets."""
        return dict(self.call("delete_records", topic=topic, before=[*before.items()]))

    def delete_topic(self, topic: str) -> None:
        self.call("delete_topic", topic=topic)

    # -- records -------------------------------------------------------------------------------

    def produce(self, topic: str, records: Sequence[Json], codec: str = "none") -> list[list[int]]:
        """Return partition and offset of each, in the order of the records."""
        found: list[list[int]] = self.call(
            "produce", topic=topic, codec=codec, records=list(records)
        )
        return found

    def read(self, topic: str, partition: int, offset: int, count: int) -> list[Json]:
        found: list[Json] = self.call(
            "read", topic=topic, partition=partition, offset=offset, count=count
        )
        return found

    def offsets_for_times(self, topic: str, times: Mapping[int, int]) -> dict[int, int | None]:
        """Return offsets by partition; None: there is no record of that time or a later one."""
        return dict(self.call("offsets_for_times", topic=topic, times=[*times.items()]))

    def read_from_time(
        self, topic: str, partition: int, timestamp_ms: int, count: int
    ) -> list[Json]:
        found: list[Json] = self.call(
            "read_from_time",
            topic=topic,
            partition=partition,
            timestamp_ms=timestamp_ms,
            count=count,
        )
        return found

    # -- groups --------------------------------------------------------------------------------

    def join(
        self, member: str, group: str, topic: str, strategy: str, *, commits: bool = True
    ) -> None:
        """``member`` is its client id. ``commits``: it commits records read when it loses
        partitions.
        """
        self.call(
            "join", member=member, group=group, topic=topic, strategy=strategy, commits=commits
        )

    def poll(self, *members: str) -> list[tuple[str, Json]]:
        """Poll each member once; return the records, each with its member."""
        found = self.call("poll", members=list(members))
        return [(member, one) for member, one in found]

    def assignment(self, member: str) -> set[int]:
        return set(self.call("assignment", member=member))

    def commit(self, member: str) -> None:
        self.call("commit", member=member)

    def leave(self, member: str) -> None:
        self.call("leave", member=member)

    def list_groups(self) -> set[str]:
        return set(self.call("list_groups"))

    def describe_group(self, group: str) -> Json:
        """Return ``state`` and ``members``: client id and partitions of each."""
        found: Json = self.call("describe_group", group=group)
        return found

    def group_offsets(self, group: str) -> dict[tuple[str, int], int]:
        """Return offsets by topic and partition."""
        found = self.call("group_offsets", group=group)
        return {(topic, partition): offset for topic, partition, offset in found}

    def delete_group(self, group: str) -> None:
        self.call("delete_group", group=group)


class ClientSession(Calls):
    """A process that reads calls and writes answers."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._command, self._log = command, log
        self._environment = {**os.environ, **(environment or {})}

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment,
            )
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._process.communicate(timeout=END_S)  # the end of its input ends it
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.communicate()
        self._selector.close()

    def call(self, name: str, **arguments: Any) -> Any:
        said = self._ask({"call": name, **arguments})
        if "error" in said:
            raise ClientFailed(f"{name}: {said['error']}\n{self._last_words()}")
        return said["answer"]

    def _ask(self, question: Json) -> Json:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(question).encode() + b"\n")
        stdin.flush()
        if not self._selector.select(ANSWER_S):
            self._process.kill()
            raise ClientFailed(f"no answer to {question} in {ANSWER_S} s\n{self._last_words()}")
        line = stdout.readline()
        if not line:
            raise ClientFailed(f"the process ended at {question}\n{self._last_words()}")
        answer: Json = json.loads(line)
        return answer

    def _last_words(self) -> str:
        return self._log.read_bytes()[-LAST_BYTES:].decode("utf-8", "replace")
