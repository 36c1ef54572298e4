"""Logs of messages of magic 0 and 1, as topics of older formats keep them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch
from harness.conformance.checks import NotApplicable
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.codecs import codecs_of
from suites.protocol.support.log_answers import fetched, offsets_by_time
from suites.protocol.support.log_entries import MAGIC_AT, fetched_entries
from suites.protocol.support.record_formats import encoded_for
from suites.protocol.support.whole_answers import WholeAnswers

SETTING = "message.format.version"
FORMATS = {"0.9.0": 0, "0.10.0": 1}
"""Its values, with the magic of their messages."""

SMALL = {"segment.bytes": "1024", "index.interval.bytes": "64"}
VERSION_OF_MAGIC = {0: 0, 1: 2}
"""The first versions of Produce and Fetch that carry messages of this magic."""

FIRST_LIST_OFFSETS_OF_ONE = 1
INSIDE_MS = (0, 700, 300)  # the times of a set's messages: the second is the largest


class OldLogs:
    """Topics with one partition each, which hold messages of one magic each.

    ``client``: at the leader of all; ``create``: makes a topic with these configs. Releases before
    0.10, which have no Produce v2, have one format and no config of it.
    """

    def __init__(
        self, client: BrokerUnderTest, create: Callable[[Mapping[str, str]], Topic]
    ) -> None:
        self.client = client
        self._times_ms: set[int] = set()
        if VERSION_OF_MAGIC[1] in client.advertised("Produce"):
            self._magics = {_of_format(create, name): magic for name, magic in FORMATS.items()}
        else:
            self._magics = {create(SMALL): 0}

    @property
    def topics(self) -> list[Topic]:
        return list(self._magics)

    def append(self, name: bytes) -> None:
        """Append to each log a set of messages in each codec.

        Raises NotApplicable if the broker stores them in another format.
        """
        for topic, magic in self._magics.items():
            version = VERSION_OF_MAGIC[magic]
            for codec in codecs_of(self.client, version):
                data = encoded_for(version, self._messages(name + codec.encode()), codec)
                append(self.client, topic, data, version=version)
            found = {entry[MAGIC_AT] for entry in fetched_entries(self.client, topic)}
            if found != {magic}:
                raise NotApplicable(SETTING, f"it is known, but logs have magic {found}")

    def _messages(self, name: bytes) -> RecordBatch:
        """Three messages: one is whole, one has no key, one has no value."""
        whole_ms, without_key_ms, without_value_ms = INSIDE_MS
        records = [
            Record(b"value " * 9 + name, b"key of " + name, timestamp_delta=whole_ms),
            Record(b"", timestamp_delta=without_key_ms),
            Record(None, b"", timestamp_delta=without_value_ms),
        ]
        base_ms = now_ms()
        self._times_ms.update(base_ms + later_ms for later_ms in INSIDE_MS)
        return RecordBatch(records, base_timestamp=base_ms)

    def answers(self) -> WholeAnswers:
        """Whole answers of Fetch, in all formats that the broker converts to, and ListOffsets."""
        client, logs = self.client, dict.fromkeys(self._magics, 1)
        found = fetched(client, logs)
        for version in VERSION_OF_MAGIC.values():
            if version in client.advertised("Fetch"):
                found |= fetched(client, logs, version)
        if FIRST_LIST_OFFSETS_OF_ONE in client.advertised("ListOffsets"):
            found |= offsets_by_time(client, logs, self._times_ms)
        return found


def _of_format(create: Callable[[Mapping[str, str]], Topic], name: str) -> Topic:
    """Create a topic of this format; NotApplicable where the broker knows no formats."""
    try:
        return create({SETTING: name, **SMALL})
    except PreparationFailed as refused:
        if refused.error_code != ErrorCode.INVALID_CONFIG:
            raise
        raise NotApplicable(SETTING, "the broker has no such topic setting") from refused
