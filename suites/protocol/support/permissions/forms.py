"""All forms of requests of the permission matrix, and the error code that a user gets for one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.client.requests import LATEST, Topic, list_offsets_request
from suites.protocol.support.permissions import (
    of_cluster,
    of_configs,
    of_groups,
    of_newer_groups,
    of_tokens,
    of_topics,
    of_transactions,
)
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.matrix import place_of_refusal, values_at
from suites.protocol.support.permissions.scene import Scene
from suites.protocol.support.principals import Principal

ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        **of_topics.ASKED,
        **of_groups.ASKED,
        **of_newer_groups.ASKED,
        **of_transactions.ASKED,
        **of_configs.ASKED,
        **of_cluster.ASKED,
        **of_tokens.ASKED,
    }
)
"""By the form of the row."""


def code_of(scene: Scene, form: str, version: int) -> int:
    """Send the form as the user of the scene; return the error code where a refusal has its own."""
    answer = scene.user.ask(ASKED[form].request(scene, version), version)
    codes = list(values_at(answer, place_of_refusal(form, version)))
    assert len(codes) == 1, f"{form} about one resource: the error codes are {codes}"
    (code,) = codes
    assert isinstance(code, int), f"{form}: {code!r} is no error code"
    return code


def listing_code(user: Principal, topic: Topic, version: int) -> int:
    """Return the error code of ListOffsets, which needs DESCRIBE of the topic."""
    answer = user.ask(list_offsets_request(topic, LATEST), version)
    return answer.topics[0].partitions[0].error_code
