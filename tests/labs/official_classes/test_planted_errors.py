"""Each part of the check finds a planted error: a wrong definition, value or byte."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.codec import CodecError
from harness.codec.apis import Api
from harness.codec.definition import parse_definition
from harness.codec.records import RecordBatch
from harness.codec.structs import Message, build_message_class
from harness.codec.versions import VersionRange
from harness.targets.java import JavaError
from harness.targets.pinned_file import DownloadError
from labs.official_classes import (
    control_check,
    header_check,
    message_check,
    our_batches,
    record_check,
    refusal_check,
    rewrite_check,
)
from labs.official_classes.counts import Count
from labs.official_classes.maven import MavenError
from labs.official_classes.message_check import Generated
from labs.official_classes.official import RELEASES, OfficialClasses, compiled
from tests.targets.kinds import not_run

RELEASE, SEED = "3.9.2", 5  # the one that converts down too
Check = Callable[[OfficialClasses], Count]


@dataclass(frozen=True)
class Plant:
    """``name`` in ``module`` is replaced by what ``wrong`` makes of it; ``check`` must see it."""

    module: ModuleType
    name: str
    wrong: Callable[[Any], Any]
    check: Check


def _messages(kind: str) -> Check:
    return lambda official: message_check.check_messages(official, RELEASE, 4, SEED)[kind]


def _with(check: Callable[[OfficialClasses, int, int], Count]) -> Check:
    return lambda official: check(official, 2, SEED)


def _one_class(java_class: str, name: str) -> Callable[[Any], Any]:
    """The jars hold one class, and our definition of it has its fields in another order."""
    planted = _reversed(name)
    versions = range(planted.message_spec.valid.lowest, planted.message_spec.valid.highest + 1)
    return lambda _: lambda *_: iter([Generated(java_class, planted, versions, {})])


def _reversed(name: str) -> type[Message]:
    schemas = files("harness.codec") / "schemas"
    found = [schemas / f"{name}.json", schemas / "data" / f"{name}.json"]
    text = next(file for file in found if file.is_file()).read_text("utf-8")
    raw = json.loads(re.sub(r"(?m)^//.*$", "", text))
    raw["fields"].reverse()
    return build_message_class(parse_definition(json.dumps(raw), "planted"))


def _other_epoch(encode: Callable[[RecordBatch], bytes]) -> Callable[[RecordBatch], bytes]:
    return lambda batch: encode(replace(batch, producer_epoch=batch.producer_epoch ^ 1))


def _last_byte(make: Callable[..., bytes]) -> Callable[..., bytes]:
    def made(*arguments: Any, **options: Any) -> bytes:
        raw = make(*arguments, **options)
        return raw[:-1] + bytes([raw[-1] ^ 1]) if raw else raw

    return made


def _other_time(describe: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def described(batch: Any) -> Any:
        found = describe(batch)
        for record in found["records"]:
            record["timestamp"] += 1
        return found

    return described


def _never_refuses(read: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def reading(data: bytes) -> Any:
        try:
            return read(data)
        except CodecError:
            return [], len(data)

    return reading


def _wrong_headers(apis: Any) -> Any:
    fetch = apis[1]
    wrong = Api(
        1, "Fetch", fetch.valid_versions, VersionRange.parse("13+"), fetch.unstable_versions
    )
    return {**apis, 1: wrong}


_MESSAGE = "org.apache.kafka.common.message."
_BATCHES = _with(record_check.check_batches)
PLANTS: dict[str, Plant] = {
    "request": Plant(
        message_check,
        "classes_of",
        _one_class(f"{_MESSAGE}HeartbeatRequestData", "HeartbeatRequest"),
        _messages("messages"),
    ),
    "header": Plant(
        message_check,
        "classes_of",
        _one_class(f"{_MESSAGE}RequestHeaderData", "RequestHeader"),
        _messages("headers"),
    ),
    "data": Plant(
        message_check,
        "classes_of",
        _one_class("org.apache.kafka.common.metadata.TopicRecord", "TopicRecord"),
        _messages("data"),
    ),
    "value of a message": Plant(
        message_check,
        "java_form",
        lambda form: lambda *arguments: {**form(*arguments), "planted": 1},
        _messages("data"),
    ),
    "no definition": Plant(
        message_check,
        "message_names",
        lambda names: lambda: tuple(name for name in names() if name != "TopicRecord"),
        _messages("data"),
    ),
    "header versions": Plant(
        header_check,
        "APIS",
        _wrong_headers,
        lambda official: header_check.check_headers(official, 0, SEED),
    ),
    "whole request": Plant(
        header_check,
        "encode_request",
        lambda encode: (
            lambda message, version, number, *rest: encode(message, version, number ^ 1, *rest)
        ),
        lambda official: header_check.check_headers(official, 1, SEED),
    ),
    "batch": Plant(our_batches, "encode_batch", _other_epoch, _BATCHES),
    "message set": Plant(our_batches, "encode_message_set", _last_byte, _BATCHES),
    "reading": Plant(our_batches, "_described", _other_time, _BATCHES),
    "control batch": Plant(
        control_check, "encode_batch", _other_epoch, _with(control_check.check_control_batches)
    ),
    "control record": Plant(
        control_check, "_value", _last_byte, _with(control_check.check_control_batches)
    ),
    "compacted": Plant(
        our_batches, "_described", _other_time, _with(rewrite_check.check_compacted)
    ),
    "compacting": Plant(
        rewrite_check, "rewritten", _last_byte, _with(rewrite_check.check_compacted)
    ),
    "up-conversion": Plant(
        rewrite_check, "up_convert", _last_byte, _with(rewrite_check.check_up_conversion)
    ),
    "down-conversion": Plant(
        rewrite_check, "down_convert_run", _last_byte, _with(rewrite_check.check_down_conversion)
    ),
    "refusal": Plant(our_batches, "read", _never_refuses, _with(refusal_check.check_refusals)),
    "reason of no use": Plant(
        refusal_check,
        "REASONS",
        lambda reasons: {**reasons, "refused by nobody": "never"},
        _with(refusal_check.check_refusals),
    ),
}


@pytest.mark.kafka
@pytest.mark.deep
def test_every_planted_error_is_detected() -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            class_path = compiled(RELEASES[RELEASE], Path(folder))
        except (JavaError, DownloadError, MavenError) as problem:
            not_run(str(problem))
            return
        with OfficialClasses(class_path) as official:
            unseen = [name for name, plant in PLANTS.items() if not _seen(plant, official)]
    assert unseen == []


def _seen(plant: Plant, official: OfficialClasses) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plant.module, plant.name, plant.wrong(getattr(plant.module, plant.name)))
        return bool(plant.check(official).problems)
