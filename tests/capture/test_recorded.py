"""Captures of a real Kafka: everything in them is understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.capture.events import REQUEST
from harness.codec.apis import APIS
from labs.captures.recorded import FILES, FOLDER, follow, messages, port_of, segments

PYTHON = [FOLDER / f"kafka-{release}-python.pcap" for release in ("3.9.2", "4.4.0")]
VERSIONS = [FOLDER / f"kafka-{release}-versions.pcap.gz" for release in ("3.9.2", "4.4.0")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_frame_is_decoded_and_paired(file: Path) -> None:
    events, follower = follow(segments(file))
    totals = follower.totals
    assert totals.requests > 40
    assert totals.undecodable == totals.unmatched == totals.lost_bytes == totals.skipped_bytes == 0
    silent = sum(not m.answer_expected for m in messages(events))
    assert totals.requests == totals.responses + totals.unanswered + silent


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_port_option_changes_no_messages_of_complete_capture(file: Path) -> None:
    assert follow(segments(file))[0] == follow(segments(file), port_of(file))[0]


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: file.name)
def test_recorded_producer_with_acks_0_expects_no_response(file: Path) -> None:
    found = [m for m in messages(follow(segments(file))[0]) if m.client_id == "producer-0"]
    silent = [m for m in found if m.api and m.api.name == "Produce"]
    assert [m.direction for m in silent] == [REQUEST] * 3
    assert not any(m.answer_expected for m in silent)


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: file.name)
def test_recorded_errors_and_topics_have_names(file: Path) -> None:
    found = messages(follow(segments(file))[0])
    deleted = [m for m in found if m.client_id == "admin-2" and m.errors]
    assert [dict(m.errors) for m in deleted] == [{"UNKNOWN_TOPIC_OR_PARTITION": 1}]
    assert deleted[0].topics == ("never-made",)
    fetched = {m.topics for m in found if m.api and m.api.name == "Fetch" and m.topics}
    assert ("orders",) in fetched  # by its name, also where only the id travels


@pytest.mark.parametrize("file", VERSIONS, ids=lambda file: file.name)
def test_recorded_response_versions_are_valid_for_their_apis(file: Path) -> None:
    found = messages(follow(segments(file))[0])
    answered = {(m.api.key, m.version) for m in found if m.direction != REQUEST and m.api}
    assert len(answered) > 250
    assert all(version in APIS[key].valid_versions for key, version in answered)


def test_latency_is_time_between_request_and_response() -> None:
    found = messages(follow(segments(PYTHON[0]))[0])
    for response in (m for m in found if m.direction != REQUEST):
        assert response.request is not None
        assert response.latency_ns == response.time_ns - response.request.time_ns
        assert response.latency_ns > 0
