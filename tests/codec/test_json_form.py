"""Messages as JSON and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.json_form import JsonFormError, from_json, to_json
from harness.codec.messages import MetadataRequest, ProduceRequest
from harness.codec.structs import Message
from tests.codec.values import QUICK, each_version, messages_at


@each_version
@settings(QUICK, max_examples=4)
@given(data=st.data())
def test_a_message_comes_back_through_text(
    cls: type[Message], version: int, data: st.DataObject
) -> None:
    message = data.draw(messages_at(cls, version))
    assert from_json(cls, json.loads(json.dumps(to_json(message)))) == message


def test_the_form_by_hand() -> None:
    topic = MetadataRequest.MetadataRequestTopic(name="t", unknown_tagged_fields={7: b"\1"})
    assert to_json(MetadataRequest(topics=[topic], allow_auto_topic_creation=False)) == {
        "topics": [
            {
                "topic_id": "00000000-0000-0000-0000-000000000000",
                "name": "t",
                "unknown_tagged_fields": {"7": "AQ=="},
            }
        ],
        "allow_auto_topic_creation": False,
        "include_cluster_authorized_operations": False,
        "include_topic_authorized_operations": False,
    }


TOPIC = {"topics": [{"topic_id": "nonsense"}]}
RECORDS = {"topic_data": [{"partition_data": [{"records": "not base64"}]}]}
BAD: list[tuple[type[Message], Any, str]] = [
    (MetadataRequest, [], "MetadataRequest: an object expected, not []"),
    (MetadataRequest, {"topic": []}, "MetadataRequest has no field 'topic'; it has topics, allow_"),
    (MetadataRequest, {"topics": {}}, "MetadataRequest.topics: a list expected, not {}"),
    (MetadataRequest, {"topics": ["t"]}, "MetadataRequest.topics[0]: an object expected"),
    (MetadataRequest, TOPIC, "MetadataRequest.topics[0].topic_id: not a UUID: 'nonsense'"),
    (ProduceRequest, RECORDS, "ProduceRequest.topic_data[0].partition_data[0].records: not base64"),
    (MetadataRequest, {"unknown_tagged_fields": 5}, "MetadataRequest.unknown_tagged_fields"),
    (MetadataRequest, {"unknown_tagged_fields": {"a": ""}}, "MetadataRequest.unknown_tagged_fi"),
]


@pytest.mark.parametrize(("cls", "values", "said"), BAD)
def test_what_is_not_the_form(cls: type[Message], values: Any, said: str) -> None:
    with pytest.raises(JsonFormError) as caught:
        from_json(cls, values)
    assert str(caught.value).startswith(said)
