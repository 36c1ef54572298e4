"""Topics and error codes in messages."""

from __future__ import annotations

import json
import re
import uuid
from importlib.resources import files
from typing import Any

from harness.capture.mentions import TopicNames, error_name, mentions, topic_fields
from harness.codec.apis import APIS, Api
from harness.codec.definition import snake_case
from harness.codec.messages import (
    FetchRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceResponse,
    message_class,
)
from labs.message_values.values import rich
from tests.codec.each_layout import each_of

SCHEMAS = files("harness.codec") / "schemas"
NAMES = [f"{api.name}{kind}" for api in APIS.values() for kind in ("Request", "Response")]


def topics_in_definition(name: str) -> dict[str, set[str]]:
    """Struct -> the fields that its definition marks as names of topics."""
    text = (SCHEMAS / f"{name}.json").read_text("utf-8")
    raw = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    found: dict[str, set[str]] = {}

    def look(struct: str, fields: list[dict[str, Any]]) -> None:
        for field in fields:
            if field.get("entityType") == "topicName":
                found.setdefault(struct, set()).add(snake_case(field["name"]))
            look(field["type"].removeprefix("[]"), field.get("fields", []))

    look(raw["name"], raw.get("fields", []))
    for struct in raw.get("commonStructs", []):
        look(struct["name"], struct["fields"])
    return found


@each_of({name: name for name in NAMES})
def test_topic_fields_match_message_definitions(name: str) -> None:
    spec = message_class(name).message_spec
    structs = [spec.root, *spec.structs.values()]
    found = {struct.name: set(topic_fields(struct)) for struct in structs if topic_fields(struct)}
    assert found == topics_in_definition(name)


@each_of({api.name: api for api in APIS.values()})
def test_mentions_count_errors_in_every_message_version(api: Api) -> None:
    names = TopicNames()
    for version in api.valid_versions:
        for cls in (api.request, api.response):
            found = mentions(rich(cls, version), names)
            text = repr(rich(cls, version))
            assert sum(found.errors.values()) == len(re.findall(r"error_code=(?!0\b)", text))


def test_topic_id_is_shown_as_name_after_metadata_response() -> None:
    names, own = TopicNames(), uuid.UUID(int=5)
    topic = FetchRequest.FetchTopic(topic_id=own)
    asked = FetchRequest(topics=[topic])
    assert mentions(asked, names).topics == (str(own),)
    told = MetadataResponse.MetadataResponseTopic(name="orders", topic_id=own)
    assert mentions(MetadataResponse(topics=[told]), names).topics == ("orders",)
    assert mentions(asked, names).topics == ("orders",)


def test_null_and_empty_messages_have_no_mentions() -> None:
    assert mentions(MetadataRequest(topics=None), TopicNames()) == ((), {})
    assert mentions(ProduceResponse(), TopicNames()) == ((), {})


def test_errors_are_counted_by_name() -> None:
    partition = ProduceResponse.PartitionProduceResponse
    topic = ProduceResponse.TopicProduceResponse(
        name="a", partition_responses=[partition(error_code=n) for n in (3, 0, 3, -1, 9999)]
    )
    found = mentions(ProduceResponse(responses=[topic]), TopicNames())
    expected = {"UNKNOWN_TOPIC_OR_PARTITION": 2, "UNKNOWN_SERVER_ERROR": 1, "error 9999": 1}
    assert dict(found.errors) == expected
    assert error_name(0) == "NONE"
