"""Structs in Python: two of them share nothing, a copy loses nothing."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from harness.codec import decode, encode
from harness.codec.generate_decoder import generate_decoder
from harness.codec.messages import FetchRequest, FetchResponse, MetadataRequest
from harness.codec.structs import Message, Struct, slot_of
from labs.message_values.all_kinds import ALL_KINDS
from labs.message_values.values import OLDER, rich, structs_in
from tests.codec.each_layout import each_class


def test_unknown_tags_of_new_struct_are_not_shared() -> None:
    one, other = FetchRequest(), FetchRequest()
    one.unknown_tagged_fields[9999] = b"x"
    assert other.unknown_tagged_fields == {}
    assert other == FetchRequest()
    assert one != other
    assert decode(FetchRequest, 12, encode(one, 12)).unknown_tagged_fields == {9999: b"x"}


def test_unknown_tags_of_decoded_struct_are_not_shared() -> None:
    raw = encode(FetchRequest(topics=[FetchRequest.FetchTopic() for _ in range(2)]), 12)
    read = decode(FetchRequest, 12, raw)
    read.topics[0].unknown_tagged_fields[9999] = b"x"
    assert read.topics[1].unknown_tagged_fields == {}
    assert decode(FetchRequest, 12, raw).topics[0].unknown_tagged_fields == {}
    assert decode(FetchRequest, 12, encode(read, 12)) == read


def test_read_of_unknown_tags_leaves_struct_equal() -> None:
    one, other = FetchRequest(), FetchRequest()
    assert one.unknown_tagged_fields == {}
    assert one == other
    assert repr(one) == repr(other) == "FetchRequest()"
    assert encode(one, 4) == encode(other, 4)


@each_class
def test_default_lists_and_structs_are_not_shared(cls: type[Message]) -> None:
    """A change of a default list or struct changes one object only."""
    one, other = cls(), cls()
    version = cls.message_spec.valid.highest
    raw = encode(cls(), version)
    read = [decode(cls, version, raw) for _ in range(2)]
    for left, right in ((one, other), read):
        for field in cls.spec.fields:
            value = getattr(left, field.name)
            assert value is getattr(left, field.name)
            if isinstance(value, list | Struct):
                assert value is not getattr(right, field.name)


def test_change_of_lazy_default_is_encoded() -> None:
    data = FetchResponse.PartitionData()
    data.current_leader.leader_id = 3
    response = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(partitions=[data])])
    read = decode(FetchResponse, 12, encode(response, 12))
    assert read.responses[0].partitions[0].current_leader.leader_id == 3
    request = FetchRequest()
    request.forgotten_topics_data.append(FetchRequest.ForgottenTopic(topic="t"))
    assert decode(FetchRequest, 12, encode(request, 12)) == request


@each_class
def test_copies_and_pickles_equal_original(cls: type[Message]) -> None:
    version = cls.message_spec.valid.highest
    for message in (cls(), rich(cls, version), decode(cls, version, encode(cls(), version))):
        made: list[Any] = [copy.copy(message), copy.deepcopy(message)]
        if cls is not ALL_KINDS and cls not in OLDER:  # pickle wants the class of that name
            made.append(pickle.loads(pickle.dumps(message)))
        for other in made:
            assert other == message
            assert repr(other) == repr(message)


@each_class
def test_decoder_sets_every_slot(cls: type[Message]) -> None:
    """Objects are made without their constructor, so one that is left out would have no value."""
    for version in {cls.message_spec.valid.lowest, cls.message_spec.valid.highest}:
        raw = encode(rich(cls, version), version)
        read, _ = generate_decoder(cls, version)(raw, 0, len(raw))
        for path, own, _ in structs_in(read, version):
            for field in own.spec.fields:
                assert hasattr(own, slot_of(field)), path + field.name


def test_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="MetadataRequest has no field topic"):
        MetadataRequest(topic="t")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        MetadataRequest().topic = "t"  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        MetadataRequest([])  # type: ignore[call-arg]


def test_subclass_of_message_is_refused() -> None:
    with pytest.raises(TypeError, match="MetadataRequest has a definition, and no subclasses"):
        type("Mine", (MetadataRequest,), {})


def test_encode_and_decode_refuse_struct_that_is_not_message() -> None:
    topic: Any = MetadataRequest.MetadataRequestTopic
    with pytest.raises(TypeError, match=r"MetadataRequest.MetadataRequestTopic is no message"):
        encode(topic(), 4)
    with pytest.raises(TypeError, match=r"MetadataRequest.MetadataRequestTopic is no message"):
        decode(topic, 4, b"")
