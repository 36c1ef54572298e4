"""The console producer and consumer, and groups of these, as users run them in a shell."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.client.broker import BrokerUnderTest
from harness.clients.records import BEGAN_MS, FOR_EVER, STEP_MS, in_partition, numbered
from harness.clients.vocabulary import Json
from labs.clients.clients import TOOL_CLIENTS, WITH_HEADERS
from labs.clients.here import Here, awaited
from labs.clients.tools import PRINT, CommandLine, printed
from tests.labs.clients.test_records import stored_codec

PARTITIONS = 4
EACH = 10
ALL = set(range(PARTITIONS))
CODEC = "zstd"

tools = pytest.mark.parametrize("client", TOOL_CLIENTS, indirect=True, scope="session")


@pytest.fixture
def line(client: Here) -> CommandLine:
    assert isinstance(client.calls, CommandLine)
    return client.calls


@tools
def test_console_consumer_prints_records_of_console_producer(
    client: Here, line: CommandLine, broker: BrokerUnderTest, name: str
) -> None:
    client.create(name)
    headers = "a:1,b:2\t" if client.client.name in WITH_HEADERS else ""
    typed = "".join(f"{headers}key {number}\tvalue {number}\n" for number in range(3))
    words = ["--topic", name, "--compression-codec", CODEC, "--property", "parse.key=true"]
    words += ["--property", "parse.headers=true"] if headers else []
    line.run(line.tools.producer, *words, said=typed)
    found = line.read(name, 0, 0, 3)
    assert [(one["offset"], one["key"], one["value"]) for one in found] == [
        (number, f"key {number}", f"value {number}") for number in range(3)
    ]
    assert all(one["headers"] == ([["a", "1"], ["b", "2"]] if headers else []) for one in found)
    assert stored_codec(broker, name) == CODEC


class Shell:
    """Console consumers that are members of one group."""

    def __init__(self, line: CommandLine, name: str, folder: Path, stack: ExitStack) -> None:
        self._line, self._name, self._folder, self._stack = line, name, folder, stack
        self._leave: dict[str, ExitStack] = {}
        self._outputs: list[Path] = []

    def join(self, member: str) -> None:
        output = self._folder / f"{self._name}-{member}.out"
        words = self._line.member_words(member, self._name, self._name)
        self._leave[member] = self._stack.enter_context(ExitStack())
        self._leave[member].enter_context(self._line.consuming(output, *words))
        self._outputs.append(output)

    def leave(self, member: str) -> None:
        self._leave.pop(member).close()

    def records(self) -> list[Json]:
        return [one for each in self._outputs for one in printed(each.read_text("utf-8"))]

    def owners(self) -> dict[str, set[int]]:
        told = self._line.describe_group(self._name)
        return {member: set(partitions) for member, partitions in told["members"]}

    def until_owned(self) -> None:
        """Wait until every partition has one owner among the present members, and each has some."""

        def is_right(found: dict[str, set[int]]) -> bool:
            whole = set().union(*found.values()) == ALL
            return found.keys() == self._leave.keys() and all(found.values()) and whole

        found = awaited(self.owners, is_right, "every partition has its owner")
        assert sum(map(len, found.values())) == PARTITIONS

    def until_read(self, each: int) -> None:
        """Wait until all records are read, and assert that each was read once over all members."""
        awaited(self.records, lambda found: len(found) >= PARTITIONS * each, "all is read")
        places = Counter((one["partition"], one["offset"]) for one in self.records())
        assert places == Counter((at, offset) for at in ALL for offset in range(each))


@tools
def test_console_consumers_of_one_group_read_each_record_once(
    client: Here, line: CommandLine, folder: Path, name: str
) -> None:
    client.create(name, PARTITIONS, FOR_EVER)
    client.writer.produce(name, numbered(PARTITIONS, EACH))
    with ExitStack() as stack:
        shell = Shell(line, name, folder, stack)
        shell.join("one")
        shell.until_read(EACH)
        shell.join("two")
        shell.until_owned()
        client.writer.produce(name, numbered(PARTITIONS, EACH, first=EACH))
        shell.until_read(2 * EACH)
        shell.leave("two")
        shell.until_owned()
        client.writer.produce(name, numbered(PARTITIONS, EACH, first=2 * EACH))
        shell.until_read(3 * EACH)
        shell.leave("one")
    assert name in line.list_groups()
    assert line.describe_group(name) == {"state": "Empty", "members": []}
    assert line.group_offsets(name) == {(name, partition): 3 * EACH for partition in ALL}


@tools
def test_console_group_resumes_resets_offsets_and_is_deleted(
    client: Here, line: CommandLine, name: str
) -> None:
    client.create(name, 1, FOR_EVER)
    records = numbered(1, 20)
    client.writer.produce(name, records)

    def read(count: int) -> list[Json]:
        words = ["--topic", name, "--group", name, "--from-beginning", *PRINT]
        return printed(line.run(line.tools.consumer, *words, "--max-messages", str(count)))

    assert read(8) == in_partition(records, 0)[:8]
    assert line.group_offsets(name) == {(name, 0): 8}
    assert read(2) == in_partition(records, 0)[8:10]

    at = datetime.fromtimestamp((BEGAN_MS + 3 * STEP_MS) / 1000, UTC)
    words = ["--reset-offsets", "--group", name, "--topic", name, "--execute", "--to-datetime"]
    line.run(line.tools.groups, *words, at.strftime("%Y-%m-%dT%H:%M:%S.000+00:00"))
    assert line.group_offsets(name) == {(name, 0): 3}
    assert read(17) == in_partition(records, 0, offset=3)

    line.delete_group(name)
    assert name not in line.list_groups()
