"""The rules for topic names (class org.apache.kafka.common.internals.Topic)."""

import re

GROUP_METADATA_TOPIC = "__consumer_offsets"
TRANSACTION_STATE_TOPIC = "__transaction_state"
SHARE_GROUP_STATE_TOPIC = "__share_group_state"
CLUSTER_METADATA_TOPIC = "__cluster_metadata"

INTERNAL_TOPICS = frozenset(
    {GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC, SHARE_GROUP_STATE_TOPIC}
)

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")
_LONGEST = 249  # a partition's folder name, with its number, has to fit into 255 characters


def topic_name_problem(name: str) -> str | None:
    """Return the reason why `name` is no legal topic name; None if it is legal."""
    if not name:
        return "Topic name is invalid: it must not be empty."
    if name in (".", ".."):
        return f"Topic name is invalid: it must not be '{name}'."
    if len(name) > _LONGEST:
        return f"Topic name is invalid: it is longer than {_LONGEST} characters."
    if not _LEGAL.fullmatch(name):
        return (
            f"Topic name is invalid: '{name}' has characters other than "
            "ASCII letters and digits, '.', '_' and '-'."
        )
    return None


def collision_form(name: str) -> str:
    """Return the name as in metric names, with "_" for ".": topics of one form may not coexist."""
    return name.replace(".", "_")
