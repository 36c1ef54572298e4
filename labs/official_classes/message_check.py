"""Every generated message class of a release: same values, same bytes, both ways."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.codec import CodecError, decode, encode
from harness.codec.messages import message_class, message_names, older_releases
from harness.codec.releases import release_numbers
from harness.codec.structs import Message, Struct
from labs.official_classes.counts import Count
from labs.official_classes.java_form import Names, has_records, java_form
from labs.official_classes.official import OfficialClasses
from labs.official_classes.random_messages import random_message

KINDS = {"request": "messages", "response": "messages", "header": "headers"}  # others: data

# The message, or its fields as the JSON form has them, by the names of an older release.
OTHER_NAME = {
    "AlterIsrRequest": "AlterPartitionRequest",
    "AlterIsrResponse": "AlterPartitionResponse",
    "ListOffsetRequest": "ListOffsetsRequest",
    "ListOffsetResponse": "ListOffsetsResponse",
    "ListClientMetricsResourcesRequest": "ListConfigResourcesRequest",
    "ListClientMetricsResourcesResponse": "ListConfigResourcesResponse",
}
OTHER_FIELDS: dict[tuple[str, str], dict[str, str]] = {
    ("2.7.2", "FetchResponse"): {
        "partitions": "partitionResponses",
        "partitionIndex": "partition",
        "records": "recordSet",
    },
    ("3.7.2", "PartitionChangeRecord"): {"lastKnownElr": "lastKnownELR"},
    ("3.7.2", "PartitionRecord"): {"lastKnownElr": "lastKnownELR"},
    ("3.1.2", "ProducerIdsRecord"): {"nextProducerId": "producerIdsEnd"},
    ("3.9.2", "ListConfigResourcesResponse"): {
        "configResources": "clientMetricsResources",
        "resourceName": "name",
    },
    ("3.9.2", "TxnOffsetCommitRequest"): {"generationIdOrMemberEpoch": "generationId"},
    ("3.9.2", "VoteRequest"): {
        "replicaEpoch": "candidateEpoch",
        "replicaId": "candidateId",
        "replicaDirectoryId": "candidateDirectoryId",
    },
}

OTHER_STRUCTS = {("2.6.3", "FetchResponse")}  # one that the bytes do not show; judged by 2.7.2
NO_RECORDS_BEFORE = (2, 8)  # the reader of then cannot take records out of plain bytes
# Neither of the two releases that are judged whole has these any more.
RETIRED = {
    "AccessControlRecord",
    "QuotaRecord",
    "RemoveFeatureLevelRecord",
    "ShareGroupPartitionMetadataValue",
}


@dataclass(frozen=True)
class Generated:
    """A generated class of a release, and the class of ours that should be equal."""

    java_class: str
    ours: type[Message]
    versions: range
    names: Names

    @property
    def kind(self) -> str:
        return KINDS.get(self.ours.message_spec.type, "data")

    @property
    def is_only_older(self) -> bool:
        """The newest release has other bytes, or nothing of the kind."""
        name = self.ours.__name__
        return name in RETIRED or self.ours is not message_class(name)


@dataclass(frozen=True)
class SentMessage:
    """One message, its bytes, and what the official class should say of it."""

    generated: Generated
    message: Message
    version: int
    raw: bytes
    value: dict[str, Any]

    def question(self, whole: bool = True) -> dict[str, Any]:
        asked: dict[str, Any] = {
            "ask": "message",
            "class": self.generated.java_class,
            "version": self.version,
            "hex": self.raw.hex(),
        }
        if whole and not has_records(type(self.message)) and not has_unknown_tags(self.message):
            asked["json"] = self.value
        return asked


def check_messages(
    official: OfficialClasses, release: str, messages: int, seed: int, *, whole: bool = True
) -> dict[str, Count]:
    """``messages`` random ones of each version of each class in the jars, by kind.

    Not ``whole``: only what this release spoke in a layout of its own or was the last to have, and
    nothing is written from JSON, of which older releases read less.
    """
    counts = {kind: Count() for kind in ("messages", "headers", "data")}
    names = [] if whole else names_of_older_layouts()
    found = classes_of(official, release, counts, names)
    generated = [one for one in found if whole or one.is_only_older]
    bare = release_numbers(release) < NO_RECORDS_BEFORE
    drawn = _drawn(generated, messages, random.Random(seed), bare)
    for sent, answer in official.ask((sent, sent.question(whole)) for sent in drawn):
        compare(sent, answer, counts[sent.generated.kind])
    return counts


def names_of_older_layouts() -> list[str]:
    """The Java classes of which an older release can have a layout of its own."""
    ours = [name for name in message_names() if name in RETIRED or older_releases(name)]
    theirs = [name for name, now in OTHER_NAME.items() if now in ours]
    return [name + end for name in (*ours, *theirs) for end in ("", "Data")]


def classes_of(
    official: OfficialClasses, release: str, counts: dict[str, Count], names: list[str]
) -> Iterator[Generated]:
    """All that the jars hold of these simple names, or of all when there are none.

    A class that we have no definition of is a problem.
    """
    for found in official.ask_one({"ask": "classes", "names": names})["classes"]:
        versions = range(found["lowest"], found["highest"] + 1)
        if not versions:
            continue  # a removed API, of which the number is kept
        name = our_name(found["class"])
        if (release, name) in OTHER_STRUCTS:
            continue
        if name not in message_names():
            counts["data"].problems.append(f"{found['class']}: no definition of ours")
            continue
        ours = message_class(name, release=release)
        fields = OTHER_FIELDS.get((release, name), {})
        yield Generated(found["class"], ours, versions, fields)


def our_name(java_class: str) -> str:
    """The definition's name; classes of requests, responses and headers end with ``Data``."""
    simple = java_class.rpartition(".")[2]
    name = simple if simple in message_names() else simple.removesuffix("Data")
    return OTHER_NAME.get(name, name)


def _drawn(
    generated: list[Generated], messages: int, chance: random.Random, bare: bool
) -> Iterator[SentMessage]:
    for one in generated:
        for version in one.versions:
            if version not in one.ours.message_spec.valid:
                raise CodecError(f"{one.java_class} has a version {version}, ours has none")
            for _ in range(messages):
                message = random_message(chance, one.ours, version)
                if bare:
                    take_records_out(message)
                raw = encode(message, version)
                value = java_form(one.ours, message, version, one.names)
                yield SentMessage(one, message, version, raw, value)


def compare(sent: SentMessage, answer: dict[str, Any], count: Count) -> None:
    """Add what the official class said of one message to ``count``."""
    name = type(sent.message).__name__
    count.compared += 1
    count.layouts.add((type(sent.message), sent.version))
    if "error" in answer:
        found = [answer["error"]]
    else:
        found = list(_differences(sent, answer))
        count.from_json += "from_json" in answer
    count.problems += [f"{name} v{sent.version}: {problem}" for problem in found]


def _differences(sent: SentMessage, answer: dict[str, Any]) -> Iterator[str]:
    if answer["remaining"]:
        yield f"{answer['remaining']} bytes left over"
    if answer["hex"] != sent.raw.hex():
        yield f"bytes {answer['hex']}, ours {sent.raw.hex()}"
    if "fields" in answer:
        yield from (f"{path}, ours {ours}" for path, ours in _missing(answer["fields"], sent.value))
    elif answer["value"] != sent.value:
        yield f"value {answer['value']}, ours {sent.value}"
    if "from_json" in answer and answer["from_json"] != sent.raw.hex():
        yield f"bytes from the value {answer['from_json']}, ours {sent.raw.hex()}"
    try:
        again = decode(type(sent.message), sent.version, bytes.fromhex(answer["hex"]))
    except CodecError as error:
        yield str(error)
    else:
        if again != sent.message:
            yield f"decoded {again}, sent {sent.message}"


def _missing(theirs: Any, ours: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Where ``theirs``, which may hold more fields, does not hold ``ours``."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name, value in ours.items():
            yield from _missing(theirs.get(name), value, f"{path}.{name}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, (their_one, our_one) in enumerate(zip(theirs, ours, strict=True)):
            yield from _missing(their_one, our_one, f"{path}[{at}]")
    elif ours != theirs:
        yield f"{path} {theirs}", ours


def take_records_out(value: Any) -> None:
    """Null for all record bytes in a message."""
    if isinstance(value, list):
        for one in value:
            take_records_out(one)
    elif isinstance(value, Struct):
        for field in value.spec.fields:
            if field.kind == "records":
                setattr(value, field.name, None)
            else:
                take_records_out(getattr(value, field.name))


def has_unknown_tags(value: Any) -> bool:
    """In the message or in any struct of it."""
    if isinstance(value, list):
        return any(map(has_unknown_tags, value))
    if not hasattr(value, "unknown_tagged_fields"):
        return False
    held = [getattr(value, one.name) for one in value.spec.fields]
    return bool(value.unknown_tagged_fields) or has_unknown_tags(held)
