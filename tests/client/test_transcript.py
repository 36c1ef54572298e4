"""The transcript: what is kept, and how it reads."""

from __future__ import annotations

from harness.client.transcript import KEPT_BYTES, KEPT_EVENTS, Transcript
from harness.codec.apis import api_named
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import ApiVersionsResponse, MetadataRequest, MetadataResponse


def made() -> Transcript:
    ticks = iter(range(10_000))
    return Transcript("to somewhere", clock=lambda: next(ticks) / 1000)


def test_transcript_drops_oldest_events_first() -> None:
    transcript = made()
    for number in range(KEPT_EVENTS + 3):
        transcript.add(f"event {number}")
    assert len(transcript.events) == KEPT_EVENTS
    assert transcript.events[0].what == "event 3"
    assert "(3 earlier events are not kept)" in transcript.render()


def test_transcript_keeps_bounded_bytes_and_newest_event() -> None:
    transcript = made()
    for _ in range(12):
        transcript.add("received", bytes(KEPT_BYTES // 4))
    assert sum(len(event.data) for event in transcript.events) <= KEPT_BYTES
    assert len(transcript.events) + transcript.dropped == 12
    transcript.add("received", bytes(KEPT_BYTES + 1))
    assert [len(event.data) for event in transcript.events] == [KEPT_BYTES + 1]
    transcript.add("closed")
    assert [event.what for event in transcript.events] == ["closed"]


def test_transcript_decodes_requests_and_responses() -> None:
    transcript = made()
    metadata, versions = api_named("Metadata"), api_named("ApiVersions")
    transcript.add("sent", encode_request(MetadataRequest(topics=None), 9, 4, "me"))
    transcript.add(
        "received", encode_response(MetadataResponse(controller_id=8), 9, 4), metadata, 9
    )
    unsupported = encode_response(ApiVersionsResponse(error_code=35), 0, 5)
    transcript.add("received", unsupported, versions, 99)
    text = transcript.render()
    assert text.startswith("connection to somewhere\n        1.0 ms  sent, ")
    assert "Metadata v9 correlation=4 client='me' MetadataRequest(topics=None)" in text
    assert "Metadata v9 correlation=4 MetadataResponse(controller_id=8)" in text
    assert "ApiVersions v0 correlation=5 ApiVersionsResponse(error_code=35)" in text


def test_transcript_marks_undecodable_data_and_shows_raw_bytes() -> None:
    transcript = made()
    transcript.add("sent", b"\0\1")
    transcript.add("received", b"junk", api_named("Metadata"), 1)
    transcript.add("sent raw bytes", b"GET / HTTP")
    transcript.add("sent", encode_request(MetadataRequest(), 1, 1)[:-1])
    text = transcript.render()
    assert "(not decodable: RequestHeader v1: request_api_version at byte 2" in text
    assert "(not decodable: MetadataResponse v1: brokers at byte 4" in text
    assert "(raw bytes)\n      000000  47 45 54 20 2f 20 48 54 54 50" in text
    assert "GET / HTTP" in text
    assert "(not decodable: MetadataRequest v1: topics at byte" in text


def test_transcript_text_truncates_long_data() -> None:
    transcript = made()
    transcript.add("received", bytes(2000))
    text = transcript.render()
    assert "2000 bytes" in text
    assert "... 1488 more bytes" in text
    assert text.count("\n") < 40
