"""A TCP proxy that understands Kafka's frames, for any broker."""

from harness.proxies.relay import Relay, RunningRelay
from harness.proxies.rule import FrameRule
from harness.proxies.seen import SeenRequest

__all__ = ["FrameRule", "Relay", "RunningRelay", "SeenRequest"]
