"""The tokens of SASL behind SaslHandshake v0 are no frames of Kafka, whatever bytes they have."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest, SaslHandshakeRequest
from harness.proxies.seen import SeenRequest
from harness.proxies.step import Send
from tests.proxies.engine.proxied import (
    Asking,
    Ends,
    answer,
    arrives,
    metadata,
    proxied,
    returns,
    until,
)

NO_ERROR = b"\0\0\0\0\0\0"
LIKE_METADATA = encode_request(MetadataRequest(), 1, 77)
"""A token that is a request to the last byte: PLAIN of a user with a name of these bytes."""
SCRAM = (b"n,,n=judge,r=abc", b"c=biws,r=abcdef,p=AAAA")
KERBEROS = (b"\x60\x82\x01\x02" + bytes(30), b"", b"\x05\x04\x01\xff" + bytes(28))


def handshake(version: int) -> bytes:
    return frame(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), version, 5))


def shake_hands(ends: Ends, version: int) -> None:
    ends.client.sendall(handshake(version))
    arrives(ends, handshake(version))
    ends.broker.sendall(answer(5, NO_ERROR))
    returns(ends, answer(5, NO_ERROR))


def exchange(ends: Ends, token: bytes, reply: bytes) -> None:
    ends.client.sendall(frame(token))
    arrives(ends, frame(token))
    ends.broker.sendall(frame(reply))
    returns(ends, frame(reply))


def keys(requests: Iterable[SeenRequest]) -> list[int]:
    return [seen.api.key for seen in requests if seen.api]


@pytest.mark.parametrize(
    "tokens",
    [(LIKE_METADATA,), SCRAM, KERBEROS, (b"\0judge\0word",)],
    ids=["like a request", "SCRAM", "Kerberos", "PLAIN"],
)
def test_tokens_pass_unseen_and_the_request_behind_them_is_seen(tokens: tuple[bytes, ...]) -> None:
    asking = Asking()
    with proxied(interceptor=asking) as ends:
        shake_hands(ends, 0)
        for token in tokens:
            exchange(ends, token, b"\0\0\0\4")  # which could be the correlation id of a request
        exchange(ends, metadata(4)[4:], answer(4)[4:])
        assert keys(asking.requests) == [17, 3]
        assert keys(each.request for each in asking.responses) == [17, 3]
        counters = ends.net.call(lambda: ends.proxy.counters)
        assert (counters.mismatched, counters.unasked, counters.errors) == (0, 0, 0)


def test_a_last_token_without_an_answer_leaves_the_next_answer_its_request() -> None:
    asking = Asking()
    with proxied(interceptor=asking) as ends:
        shake_hands(ends, 0)
        exchange(ends, KERBEROS[0], b"")
        ends.client.sendall(frame(KERBEROS[2]))
        arrives(ends, frame(KERBEROS[2]))
        exchange(ends, metadata(4)[4:], answer(4)[4:])
        assert keys(each.request for each in asking.responses) == [17, 3]


def test_behind_a_handshake_of_version_1_every_frame_is_seen() -> None:
    asking = Asking()
    with proxied(interceptor=asking) as ends:
        shake_hands(ends, 1)
        exchange(ends, LIKE_METADATA, answer(77)[4:])
        assert keys(asking.requests) == [17, 3]


def test_a_rule_strikes_no_token_and_the_answer_behind_it() -> None:
    asking = Asking(
        on_response=lambda seen: [Send(answer(9))] if keys([seen.request]) == [3] else None
    )
    with proxied(interceptor=asking) as ends:
        shake_hands(ends, 0)
        exchange(ends, LIKE_METADATA, b"")
        ends.client.sendall(metadata(8))
        arrives(ends, metadata(8))
        ends.broker.sendall(answer(8))
        returns(ends, answer(9))
        until(lambda: len(asking.responses) == 2, "both answers are seen")
