"""The header version of each message version, and the header parser of the official client."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from harness.codec import encode
from harness.codec.apis import APIS, Api
from harness.codec.header import encode_request
from harness.codec.messages import RequestHeader
from labs.official_classes.counts import Count
from labs.official_classes.official import OfficialClasses
from labs.official_classes.random_messages import TEXTS, random_message


def check_headers(official: OfficialClasses, messages: int, seed: int) -> Count:
    """Compare the header versions of all (api, version) pairs, and ``messages`` of each."""
    count = Count()
    rows = official.ask_one({"ask": "header_versions"})["apis"]
    pairs = [(api["key"], row) for api in rows for row in api["versions"]]
    for key, (version, request, response) in pairs:
        compare_versions(APIS[key], version, (request, response), count)
    drawn = _drawn([(APIS[key], row[0]) for key, row in pairs], messages, random.Random(seed))
    for expected, answer in official.ask(drawn):
        compare_header(expected, answer, count)
    return count


def compare_versions(api: Api, version: int, theirs: tuple[int, int], count: Count) -> None:
    """Compare the header versions of request and response."""
    ours = (api.request_header_version(version), api.response_header_version(version))
    if ours != theirs:
        count.problems.append(f"{api.name} v{version}: headers {theirs}, ours {ours}")


def _drawn(
    pairs: list[tuple[Api, int]], messages: int, chance: random.Random
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for api, version in pairs:
        for _ in range(messages):
            message = random_message(chance, api.request, version)
            header_version = api.request_header_version(version)
            client_id = chance.choice((None, *TEXTS)) if header_version else ""
            tags = {5: chance.randbytes(9)} if header_version > 1 and chance.random() < 0.5 else {}
            correlation_id = chance.randint(-(2**31), 2**31 - 1)
            raw = encode_request(message, version, correlation_id, client_id, tags)
            expected = {
                "api_key": api.key,
                "version": version,
                "correlation_id": correlation_id,
                "client_id": client_id or "",
                "header_version": header_version,
                "body_at": len(raw) - len(encode(message, version)),
            }
            yield expected, {"ask": "request_header", "hex": raw.hex()}


def compare_header(expected: dict[str, Any], answer: dict[str, Any], count: Count) -> None:
    """Compare one request with its reading by the official parser, to which null and empty client
    ids are the same.
    """
    count.compared += 1
    count.layouts.add((expected["api_key"], expected["version"]))
    if answer.get("client_id", "") is None:
        answer = {**answer, "client_id": ""}
    if answer != expected:
        name = RequestHeader.__name__
        count.problems.append(f"{name} of {expected}: the official parser says {answer}")
