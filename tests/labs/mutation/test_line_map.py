"""The tests of each line, and the broker that records its lines."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.client.connection import Connection
from harness.codec.messages import ApiVersionsRequest, MetadataRequest
from harness.targets.reference import ReferenceBroker
from labs.mutation.line_map import LineCollector, LineMap, of_same_functions
from labs.mutation.mapping_run import MODULE


def test_same_functions_are_found_with_any_parameters_in_order_of_tests() -> None:
    there = ["a.py::test_x[1]", "a.py::test_x[2]", "a.py::test_y", "a.py::test_xy", "b.py::test_x"]
    wanted = ["b.py::test_x", "a.py::test_x[2]", "a.py::test_x[3]"]
    assert of_same_functions(wanted, there) == [
        *("b.py::test_x", "a.py::test_x[1]", "a.py::test_x[2]"),
    ]


def test_line_map_returns_tests_of_lines_and_survives_file(tmp_path: Path) -> None:
    made = LineMap()
    made.add("first", ["a.py:1", "a.py:2"])
    made.add("second", ["a.py:2"])
    file = tmp_path / "lines.json"
    made.write(file)
    found = LineMap.read(file)
    assert found.tests_of(["a.py:1"]) == ["first"]
    assert found.tests_of(["a.py:2"]) == ["first", "second"]
    assert found.tests_of(["a.py:3"]) == []
    assert found.lines_by_test() == {"first": 2, "second": 1}


def test_lines_belong_to_the_test_that_executes_them(tmp_path: Path) -> None:
    folder = tmp_path / "lines"
    folder.mkdir()
    command = (sys.executable, "-m", MODULE, str(folder), "--port", "0")
    with ReferenceBroker(log_dir=tmp_path / "logs", command=command) as broker:
        collector = LineCollector(folder)
        collector.end_test()
        with Connection(broker.addresses[0]) as connection:
            connection.ask(ApiVersionsRequest(), 0)
            first = collector.end_test()
            connection.ask(MetadataRequest(topics=[]), 1)
            second = collector.end_test()
    assert _has(first, "handlers/api_18_api_versions.py")
    assert not _has(first, "handlers/api_03_metadata.py")
    assert _has(second, "handlers/api_03_metadata.py")
    assert not _has(second, "handlers/api_18_api_versions.py")


def test_killed_broker_loses_no_line(tmp_path: Path) -> None:
    folder = tmp_path / "lines"
    folder.mkdir()
    command = (sys.executable, "-m", MODULE, str(folder), "--port", "0")
    with ReferenceBroker(log_dir=tmp_path / "logs", command=command) as broker:
        collector = LineCollector(folder)
        collector.end_test()
        with Connection(broker.addresses[0]) as connection:
            connection.ask(MetadataRequest(topics=[]), 1)
            broker.kill_node(1)
        assert _has(collector.end_test(), "handlers/api_03_metadata.py")


def test_file_of_ended_broker_is_read_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "1-0.0").write_text("a.py:1\n", "utf-8")
    collector = LineCollector(tmp_path)
    assert collector.end_test() == {"a.py:1"}
    assert collector.end_test() == set()


def _has(lines: set[str], file: str) -> bool:
    return any(line.startswith(f"{file}:") for line in lines)
