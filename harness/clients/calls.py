"""The vocabulary as methods, and the errors of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clients.vocabulary import Json


class ClientFailed(AssertionError):
    """A call failed, or the process ended or did not answer; the text contains its last output."""


class ClientGone(ClientFailed):
    """The process ended, or did not answer in time and was killed."""


class DriverBroken(Exception):
    """The driver does not keep the protocol: a mistake of the driver, and not of a broker."""


class Calls:
    """The vocabulary; subclasses implement ``call``."""

    def call(self, name: str, **arguments: Any) -> Any:
        """Make one call. Raises ClientFailed, ClientLacks, DriverBroken."""
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

    def produce(
        self,
        topic: str,
        records: Sequence[Json],
        codec: str = "none",
        *,
        idempotent: bool | None = None,
    ) -> list[list[int]]:
        """Return partition and offset of each, in the order of the records.

        ``idempotent``: None for the default of the client.
        """
        more = {} if idempotent is None else {"idempotent": idempotent}
        found: list[list[int]] = self.call(
            "produce", topic=topic, codec=codec, records=list(records), **more
        )
        return found

    def transact(
        self,
        topic: str,
        transactional_id: str,
        values: Sequence[str],
        *,
        commits: bool,
        partition: int = 0,
    ) -> list[list[int]]:
        """Return partition and offset of each record of one transaction, committed or aborted."""
        found: list[list[int]] = self.call(
            "transact",
            topic=topic,
            transactional_id=transactional_id,
            partition=partition,
            values=list(values),
            commits=commits,
        )
        return found

    def read(
        self, topic: str, partition: int, offset: int, count: int, *, committed: bool = False
    ) -> list[Json]:
        """``committed``: the consumer reads no aborted records, and no open transaction."""
        more = {"committed": True} if committed else {}
        found: list[Json] = self.call(
            "read", topic=topic, partition=partition, offset=offset, count=count, **more
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
