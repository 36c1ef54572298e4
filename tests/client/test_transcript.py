"""The transcript: what is kept, and how it reads."""

from __future__ import annotations

import pytest

from harness.client.transcript import KEPT_BYTES, KEPT_EVENTS, Transcript
from harness.codec.apis import api_named
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import (
    AlterUserScramCredentialsRequest,
    ApiVersionsResponse,
    CreateDelegationTokenResponse,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    MetadataResponse,
    RenewDelegationTokenRequest,
    SaslAuthenticateRequest,
)
from harness.codec.structs import Message


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


SECRET = b"marked-SECRET"


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (SaslAuthenticateRequest(auth_bytes=SECRET), 1),
        (RenewDelegationTokenRequest(hmac=SECRET), 1),
        (
            AlterUserScramCredentialsRequest(
                deletions=[],
                upsertions=[
                    AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
                        name="judge", mechanism=1, iterations=4096, salted_password=SECRET
                    )
                ],
            ),
            0,
        ),
        (
            IncrementalAlterConfigsRequest(
                resources=[
                    IncrementalAlterConfigsRequest.AlterConfigsResource(
                        resource_type=4,
                        resource_name="1",
                        configs=[
                            IncrementalAlterConfigsRequest.AlterableConfig(
                                name="listener.name.x.ssl.key.password", value=SECRET.decode()
                            )
                        ],
                    )
                ]
            ),
            1,
        ),
    ],
)
def test_a_message_with_a_secret_is_shown_without_it(message: Message, version: int) -> None:
    transcript = Transcript("to broker")
    transcript.add("sent", encode_request(message, version, 1, "client"))
    shown = transcript.render()
    assert type(message).__name__ in shown
    assert "<secret>" in shown
    assert "SECRET" not in shown
    assert SECRET.hex(" ") not in shown
    assert "the bytes contain a secret and are not shown" in shown
    assert SECRET.decode() not in repr(message)


def test_a_response_with_a_secret_is_shown_without_it() -> None:
    api = api_named("CreateDelegationToken")
    response = CreateDelegationTokenResponse(token_id="id", hmac=SECRET)
    transcript = Transcript("to broker")
    transcript.add("received", encode_response(response, 2, 1), api, 2)
    shown = transcript.render()
    assert "hmac=<secret>" in shown
    assert SECRET.hex(" ") not in shown
    assert "token_id='id'" in shown


def test_a_config_that_is_no_secret_is_shown() -> None:
    config = IncrementalAlterConfigsRequest.AlterableConfig(name="retention.ms", value="1000")
    assert "value='1000'" in repr(config)
