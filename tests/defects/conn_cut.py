"""Defects of a broker that does not wait for a request's end."""

from __future__ import annotations

from harness.codec.frame import frame
from harness.proxies import FrameRule, SeenRequest
from tests.defects.defect import rule
from tests.defects.one_client import is_from


class CompletesWhatWasCut(FrameRule):
    """Of a request that ends too early the broker finds the rest itself."""

    def __init__(self) -> None:
        self.whole = b""

    def on_request(self, seen: SeenRequest) -> bytes:
        if is_from(seen, "CONN-022"):
            self.whole = frame(seen.payload)
        return seen.payload

    def on_cut(self, rest: bytes) -> bytes:
        return self.whole if self.whole.startswith(rest) else rest


DEFECTS = [rule("CONN-022", r"were cut: refused, yet the log grew", CompletesWhatWasCut)]
