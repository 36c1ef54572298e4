"""Grease is on the wire in every struct, and nowhere else."""

from __future__ import annotations

from harness.client.grease import TAGS, greased
from harness.codec import decode, encode
from harness.codec.messages import FetchRequest, MetadataRequest

TOPIC = MetadataRequest.MetadataRequestTopic(name="t")


def test_grease_adds_tags_to_every_struct_of_flexible_request() -> None:
    asked = MetadataRequest(topics=[TOPIC])
    sent = decode(MetadataRequest, 12, encode(greased(asked, 12), 12))
    assert sent.unknown_tagged_fields == TAGS
    assert sent.topics is not None
    assert [topic.unknown_tagged_fields for topic in sent.topics] == [TAGS]
    assert asked == MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t")])


def test_grease_leaves_inflexible_version_unchanged() -> None:
    asked = MetadataRequest(topics=[TOPIC])
    assert greased(asked, 8) is asked


def test_grease_keeps_existing_tags_in_order() -> None:
    asked = MetadataRequest(unknown_tagged_fields={77: b"x", 1_000: b"mine"})
    assert list(greased(asked, 12).unknown_tagged_fields.items()) == [
        (77, b"x"),
        (1_000, b"mine"),
        *list(TAGS.items())[1:],
    ]


def test_grease_of_version_without_struct_stays_encodable() -> None:
    assert encode(greased(FetchRequest(), 12), 12)  # the replica state is there from 15 on
