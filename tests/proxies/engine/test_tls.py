"""TLS at a proxy that reads frames: it passes, and an event names it."""

from __future__ import annotations

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest
from harness.proxies.event import Event
from tests.proxies.ends import read, read_to_end
from tests.proxies.engine.proxied import arrives, proxied, until

CLIENT_HELLO = bytes.fromhex("16030100050100000100")
SERVER_HELLO = bytes.fromhex("16030300050200000100")
ALERT = bytes.fromhex("1503030002020a")


def texts(events: list[Event]) -> list[str]:
    return [event.detail["text"] for event in events if event.what == "tls"]


def test_alert_in_answer_to_plain_request_is_named_and_passes() -> None:
    events: list[Event] = []
    with proxied(count_frames=True, tell=events.append) as ends:
        request = frame(encode_request(MetadataRequest(), 4, 1))
        ends.client.sendall(request)
        arrives(ends, request)
        ends.broker.sendall(ALERT)
        ends.broker.close()
        assert read_to_end(ends.client) == ALERT
    expected = "TLS alert of the broker: fatal unexpected_message (10), in answer to plain bytes"
    assert texts(events) == [f"{expected}: a TLS listener"]


def test_broker_that_ends_at_client_hello_is_named() -> None:
    events: list[Event] = []
    with proxied(count_frames=True, tell=events.append) as ends:
        ends.client.sendall(CLIENT_HELLO)
        arrives(ends, CLIENT_HELLO)
        ends.broker.close()
        assert read_to_end(ends.client) == b""
        until(lambda: len(texts(events)) == 2, "the end is reported")
    assert texts(events) == [
        "the client speaks TLS: its bytes pass unread",
        "the broker ended the connection at the client's TLS, as a plain listener does",
    ]


def test_tls_of_both_ends_passes_with_one_event() -> None:
    events: list[Event] = []
    with proxied(count_frames=True, tell=events.append) as ends:
        ends.client.sendall(CLIENT_HELLO)
        arrives(ends, CLIENT_HELLO)
        ends.broker.sendall(SERVER_HELLO)
        assert read(ends.client, len(SERVER_HELLO)) == SERVER_HELLO
        ends.client.sendall(ALERT)
        arrives(ends, ALERT)
        ends.broker.close()
    assert texts(events) == ["the client speaks TLS: its bytes pass unread"]
