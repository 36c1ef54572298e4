"""The contract of a container and an image: environment variables and labels.

Environment variables contain the addresses where a container listens and those that it advertises.
For an image that does not read them, ``env.NAME=...{port}...`` passes them under its own names. The
labels of an image may describe it and list the actions that it allows a test.
"""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from harness.targets.errors import TargetError
from harness.targets.target import BROKER_CONFIG, CREATE_TOPICS, RESTART_NODE

PREFIX = "KAFKA_CONFORMANCE_"
PLACEHOLDERS = {
    "listen_host": "the address to listen at inside the container",
    "listen_port": "the port to listen at inside the container",
    "host": "the host that the broker advertises",
    "port": "the port that the broker advertises",
    "controller_port": "another port, for a controller's listener",
    "cluster_id": "22 characters of URL-safe base64, new at each start",
    "settings": "broker settings, a line NAME=VALUE each",
}
"""Name -> meaning. Each is given as ``KAFKA_CONFORMANCE_NAME`` and may stand in braces in the
options ``env.NAME`` and ``command`` and in an ``env_file``."""

LABEL = "kafka-conformance."
CAPABILITIES_LABEL = LABEL + "capabilities"
IMPLEMENTATION_LABEL = "org.opencontainers.image.title"
RELEASE_LABEL = "org.opencontainers.image.version"

OF_THE_IMAGE = {
    CREATE_TOPICS: "tests may create topics",
    BROKER_CONFIG: "the variable KAFKA_CONFORMANCE_SETTINGS is obeyed",
    RESTART_NODE: "a container that is started again has the data it had",
}
"""Capabilities that depend on the image: those in its label, words separated by spaces."""
WITHOUT_LABEL = frozenset({CREATE_TOPICS, RESTART_NODE})


@dataclass(frozen=True)
class ContainerAddresses:
    """The addresses of a broker: inside its container, and for clients."""

    listen_host: str
    listen_port: int
    host: str
    port: int
    controller_port: int

    def values(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the value of each of :data:`PLACEHOLDERS`. Raises TargetError: a setting has
        several lines or a backslash, which the variable has no form for."""
        for name, value in settings.items():
            if "\n" in name + value or "\\" in name + value:
                raise TargetError(
                    f"the setting {name}={value!r} cannot be given to a container: it holds a "
                    "line end or a backslash"
                )
        return {
            "listen_host": self.listen_host,
            "listen_port": str(self.listen_port),
            "host": self.host,
            "port": str(self.port),
            "controller_port": str(self.controller_port),
            "cluster_id": new_cluster_id(),
            "settings": "".join(f"{name}={value}\n" for name, value in settings.items()),
        }


def new_cluster_id() -> str:
    """A cluster id as Kafka writes them; never begins with a dash, which tools take for more."""
    value = bytearray(uuid.uuid4().bytes)
    value[0] &= 0x7F
    return urlsafe_b64encode(value).decode().rstrip("=")


def variables(values: Mapping[str, str]) -> dict[str, str]:
    """The environment that every container of ours gets."""
    return {PREFIX + name.upper(): value for name, value in values.items()}


def image_capabilities(labels: Mapping[str, str], image: str) -> frozenset[str]:
    """Return the part of :data:`OF_THE_IMAGE` that the labels grant.

    Raises TargetError: a label names another capability.
    """
    text = labels.get(CAPABILITIES_LABEL)
    if text is None:
        return WITHOUT_LABEL
    named = frozenset(text.split())
    unknown = sorted(named - set(OF_THE_IMAGE))
    if unknown:
        raise TargetError(
            f"the label {CAPABILITIES_LABEL} of the image {image} names {unknown[0]!r}; an image "
            f"may name {', '.join(OF_THE_IMAGE)}"
        )
    return named
