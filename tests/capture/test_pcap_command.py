"""``codec pcap`` on captures of a real Kafka."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.capture.lines import object_of
from harness.cli import main
from harness.codec.frame import frame
from harness.codec.messages import SaslAuthenticateRequest
from labs.captures.recorded import FOLDER, follow, messages, port_of, segments
from tests.capture.made import Conversation, write_pcap

PYTHON = FOLDER / "kafka-4.4.0-python.pcap"
VERSIONS = FOLDER / "kafka-3.9.2-versions.pcap.gz"


def pcap(*words: object) -> Result:
    return CliRunner().invoke(main, ["codec", "pcap", *map(str, words)])


def objects(*words: object) -> list[dict[str, Any]]:
    ended = pcap(*words, "--json")
    assert ended.exit_code == 0, ended.output
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_pcap_prints_line_per_message_and_totals_last() -> None:
    ended = pcap(PYTHON)
    assert ended.exit_code == 0
    lines = ended.stdout.splitlines()
    events, follower = follow(segments(PYTHON))
    assert sum(" -> " in line or " <- " in line for line in lines) == len(messages(events))
    totals = follower.totals
    expected = f"# {totals.connections} connections, {totals.requests} requests, "
    assert lines[-1].startswith(expected + f"{totals.responses} responses")
    assert sum(line.startswith("# connection ") for line in lines) == totals.connections


def test_pcap_line_contains_api_client_topics_and_errors() -> None:
    lines = pcap(PYTHON, "--client-id", "admin-2", "--api", "deletetopics").stdout.splitlines()
    request, response = (line for line in lines if not line.startswith("#"))
    assert " -> DeleteTopics v6 request " in request
    assert "client 'admin-2'" in request
    assert "topics never-made" in request
    assert " <- DeleteTopics v6 response " in response
    assert " ms " in response
    assert "errors UNKNOWN_TOPIC_OR_PARTITION" in response


def test_pcap_json_contains_message_fields_and_totals() -> None:
    *found, totals = objects(PYTHON)
    assert totals["type"] == "totals"
    assert totals["requests"] == sum(one["type"] == "request" for one in found)
    first, second = found[:2]
    assert (first["api"], first["api_key"], first["direction"]) == ("ApiVersions", 18, "request")
    assert first["client_id"] == "admin-1"
    assert first["broker"] == f"127.0.0.1:{port_of(PYTHON)}"
    assert first["correlation_id"] == second["correlation_id"]
    assert second["latency_ms"] > 0
    assert first["time"] < second["time"]
    assert first["time"].endswith("Z")
    assert "value" not in first


def test_pcap_verbose_contains_message_bodies() -> None:
    found = objects(PYTHON, "--verbose", "--api", "CreateTopics")
    assert found[0]["value"]["topics"][0]["name"] == "orders"
    text = pcap(PYTHON, "--verbose", "--api", "CreateTopics").stdout
    assert "CreateTopicsRequest(topics=[CreateTopicsRequest.CreatableTopic(name='orders'" in text


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--api", "Produce"], {"Produce"}),
        (["--api", "Produce", "--api", "Heartbeat"], {"Produce", "Heartbeat"}),
        (["--topic", "pay*"], {"CreateTopics"}),
        (["--errors"], {"DeleteTopics", "FindCoordinator", "JoinGroup"}),
    ],
)
def test_pcap_filters_select_expected_apis(words: list[str], names: set[str]) -> None:
    found = objects(PYTHON, *words)[:-1]
    apis = {one["api"] for one in found}
    assert apis
    assert apis <= names
    directions = [one["type"] for one in found if one.get("answer_expected", True)]
    assert directions.count("request") == directions.count("response")


def test_errors_filter_lists_requests_with_their_responses() -> None:
    found = objects(VERSIONS, "--errors")[:-1]
    assert len(found) > 200
    for request, response in zip(found[::2], found[1::2], strict=True):
        assert (request["type"], response["type"]) == ("request", "response")
        assert request["connection"] == response["connection"]
        assert response["errors"]


def test_totals_count_whole_capture_despite_filter() -> None:
    assert objects(PYTHON, "--api", "Vote")[-1] == objects(PYTHON)[-1]


def test_unused_port_filter_gives_zero_totals() -> None:
    assert objects(PYTHON, "--port", "1") == [
        {**objects(PYTHON, "--port", "1")[0], "type": "totals", "connections": 0, "requests": 0}
    ]


def test_pcap_reads_capture_from_stdin() -> None:
    ended = CliRunner().invoke(main, ["codec", "pcap", "-"], input=VERSIONS.read_bytes())
    assert ended.exit_code == 0
    assert ended.stdout == pcap(VERSIONS).stdout


def test_pcap_output_contains_no_sasl_password(tmp_path: Path) -> None:
    talk = Conversation().open()
    talk.request(SaslAuthenticateRequest(auth_bytes=b"\0user\0hidden"), 2, 1)
    file = write_pcap(talk.segments, tmp_path / "sasl.pcap")
    for words in (["--verbose"], ["--verbose", "--json"]):
        said = pcap(file, *words).stdout
        assert "SaslAuthenticate" in said
        assert b"hidden".hex() not in said
        assert "hidden" not in said
        assert "aGlkZGVu" not in said


def test_pcap_json_reports_damaged_frame_with_field_and_offset(tmp_path: Path) -> None:
    good = Conversation().open().request(SaslAuthenticateRequest(), 0, 1)
    broken = frame(b"\0\x24\0\0\0\0\0\2\0\1c\0\0\0\x09ab")
    file = write_pcap(good.send(good.client, broken).segments, tmp_path / "broken.pcap")
    problem = objects(file)[1]["problem"]
    assert problem["type"] == "DecodeError"
    assert (problem["field"], problem["offset"]) == ("auth_bytes", 11)


def test_pcap_refuses_bad_file_api_and_port(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no capture")
    ended = pcap(text)
    assert ended.exit_code == 1
    assert "notes.txt is neither pcap nor pcapng" in ended.output
    ended = pcap(PYTHON, "--api", "Fetsh")
    assert ended.exit_code == 2
    assert 'did you mean "Fetch"?' in ended.output
    assert pcap(PYTHON, "--port", "0").exit_code == 2


def test_pcap_without_scapy_names_package_to_install() -> None:
    code = (
        "import sys; sys.modules['scapy'] = None\n"
        "from harness.cli import main\n"
        f"main(['codec', 'pcap', {str(PYTHON)!r}])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "pip install 'kafka-conformance[capture]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_capture_doc_lists_every_json_field() -> None:
    text = (Path(__file__).parents[2] / "docs/capture.md").read_text("utf-8")
    table = text.split("## JSON")[1].split("## With scapy")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    found = objects(PYTHON, "--verbose")[:-1]
    alone = [s for s in segments(PYTHON) if s.source.port == port_of(PYTHON)]
    (unmatched, *_) = messages(follow(alone, port_of(PYTHON))[0])
    keys = {key for one in found for key in one} | set(object_of(unmatched))
    assert named == keys - {"type"}
