"""A made-up message with every construct of the grammar, also those that no loaded one uses."""

from __future__ import annotations

from harness.codec.definition import parse_definition
from harness.codec.structs import Message, build_message_class

TEXT = """
// Plain in versions 0 and 1, flexible from 2 on; tag 2 exists in version 2 only.
{
  "type": "data",
  "name": "AllKinds",
  "validVersions": "0-3",
  "flexibleVersions": "2+",
  "commonStructs": [
    {"name": "Shared", "versions": "0+", "fields": [
      {"name": "Number", "type": "int16", "versions": "0+", "default": "7"},
      {"name": "Word", "type": "string", "versions": "1+", "ignorable": true}
    ]}
  ],
  "fields": [
    {"name": "Truth", "type": "bool", "versions": "0+", "default": "true"},
    {"name": "Tiny", "type": "int8", "versions": "0+"},
    {"name": "Port", "type": "uint16", "versions": "0+"},
    {"name": "Count", "type": "uint32", "versions": "0+"},
    {"name": "Big", "type": "int64", "versions": "0+", "default": "-1"},
    {"name": "Ratio", "type": "float64", "versions": "0+", "default": "1.5"},
    {"name": "Id", "type": "uuid", "versions": "0+"},
    {"name": "OldWord", "type": "string", "versions": "0-1", "nullableVersions": "1"},
    {"name": "PlainWord", "type": "string", "versions": "0+", "nullableVersions": "0+",
     "flexibleVersions": "none"},
    {"name": "Blob", "type": "bytes", "versions": "0+", "nullableVersions": "1+"},
    {"name": "Batch", "type": "records", "versions": "0+", "nullableVersions": "0+"},
    {"name": "Truths", "type": "[]bool", "versions": "0+"},
    {"name": "Shorts", "type": "[]int16", "versions": "0+", "nullableVersions": "2+"},
    {"name": "Ratios", "type": "[]float64", "versions": "0+"},
    {"name": "Ids", "type": "[]uuid", "versions": "0+"},
    {"name": "Words", "type": "[]string", "versions": "0+"},
    {"name": "Blobs", "type": "[]bytes", "versions": "0+"},
    {"name": "One", "type": "Shared", "versions": "0+"},
    {"name": "Maybe", "type": "Inner", "versions": "1+", "nullableVersions": "1+",
     "default": "null", "fields": [
      {"name": "Name", "type": "string", "versions": "1+"},
      {"name": "Deep", "type": "[]Shared", "versions": "1+"}
    ]},
    {"name": "Moved", "type": "int32", "versions": "0+", "taggedVersions": "2+", "tag": 0},
    {"name": "TaggedId", "type": "uuid", "versions": "2+", "taggedVersions": "2+", "tag": 1},
    {"name": "Retired", "type": "string", "versions": "2", "taggedVersions": "2", "tag": 2,
     "ignorable": true},
    {"name": "TaggedWord", "type": "string", "versions": "2+", "taggedVersions": "2+", "tag": 3,
     "nullableVersions": "2+", "default": "null"},
    {"name": "TaggedOne", "type": "Shared", "versions": "2+", "taggedVersions": "2+", "tag": 4},
    {"name": "TaggedMaybe", "type": "Shared", "versions": "2+", "taggedVersions": "2+", "tag": 5,
     "nullableVersions": "2+", "default": "null"},
    {"name": "TaggedShorts", "type": "[]int16", "versions": "2+", "taggedVersions": "2+",
     "tag": 6},
    {"name": "TaggedTruth", "type": "bool", "versions": "2+", "taggedVersions": "2+", "tag": 7}
  ]
}
"""

ALL_KINDS: type[Message] = build_message_class(parse_definition(TEXT, "AllKinds.json"))
