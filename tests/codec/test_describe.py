"""Layouts in words, and what each version changed."""

from __future__ import annotations

import pytest

from harness.codec.describe import changes, layout_lines, rows
from harness.codec.generated_source import decoder_source, encoder_source
from harness.codec.messages import FetchRequest, FetchResponse, HeartbeatRequest
from harness.codec.structs import Message
from labs.message_values.all_kinds import ALL_KINDS
from labs.message_values.values import layout_of, rich, structs_in
from tests.codec.each_layout import each_version

LAYOUT = """\
group_id                                     string
generation_id                                int32
member_id                                    string
group_instance_id                            string                             nullable, default null
every struct ends in its tagged fields; lengths are unsigned varints, plus 1
"""  # noqa: E501


@each_version
def test_description_has_row_for_every_field_of_version(cls: type[Message], version: int) -> None:
    named = {row.path for row in rows(cls.message_spec, version)}
    for path, _, own in structs_in(rich(cls, version), version):
        inner = path.replace("[0]", "")
        for slot in (*own.plain, *own.tagged.values()):
            assert f"{inner}{slot.field.name}" in named
        absent = {f"{inner}{field.name}" for field in own.absent}
        assert not absent & named
    for line in layout_lines(cls.message_spec, version):
        assert line == line.rstrip()


def test_layout_lines_match_hand_written_layout() -> None:
    text = "".join(f"{line}\n" for line in layout_lines(HeartbeatRequest.message_spec, 4))
    assert text == LAYOUT
    text = "\n".join(layout_lines(FetchRequest.message_spec, 12))
    assert "\n  partitions                                 []FetchPartition" in text
    assert "not at this version: replica_state (versions 15+), an error when set" in text
    assert "not at this version: topics.topic_id (versions 13+), left out when set" in text


@pytest.mark.parametrize(
    ("cls", "version", "said"),
    [
        (FetchRequest, 2, []),
        (FetchRequest, 3, ["+ max_bytes int32"]),
        (
            FetchRequest,
            7,
            ["+ session_id int32", "+ session_epoch int32",
             "+ forgotten_topics_data []ForgottenTopic"],
        ),
        (FetchRequest, 15, ["+ replica_state ReplicaState (tag 1)", "- replica_id"]),
        (FetchResponse, 13, ["+ responses.topic_id uuid", "- responses.topic"]),
        (ALL_KINDS, 1, ["+ one.word string", "+ maybe Inner", "old_word: may be null",
                        "blob: may be null"]),
        (ALL_KINDS, 3, ["- retired"]),
    ],
)  # fmt: skip
def test_changes_lists_added_removed_and_nullable_fields(
    cls: type[Message], version: int, said: list[str]
) -> None:
    assert changes(cls.message_spec, version) == said


def test_changes_lists_field_that_becomes_tagged() -> None:
    said = changes(ALL_KINDS.message_spec, 2)
    assert said[0] == "flexible"
    assert "moved: tag 0" in said
    assert "shorts: may be null" in said
    assert "- old_word" in said


@each_version
def test_changes_is_empty_exactly_if_layouts_are_equal(cls: type[Message], version: int) -> None:
    """The words are held against the bytes: a rich message of both versions."""
    spec = cls.message_spec
    if version == spec.valid.lowest:
        return
    before, after = (
        [
            (path, own.flexible, [(s.field.name, s.compact, s.nullable) for s in own.plain],
             list(own.tagged))
            for path, _, own in structs_in(rich(cls, at), at)
        ]
        for at in (version - 1, version)
    )  # fmt: skip
    assert (before == after) == (changes(spec, version) == [])


def test_generated_source_compiles_and_names_every_field() -> None:
    decoder = decoder_source(FetchRequest, 12)
    encoder = encoder_source(FetchRequest, 12)
    for text in (decoder, encoder):
        compile(text, "generated", "exec")
        own = layout_of(FetchRequest, FetchRequest.message_spec.root, 12)
        for slot in (*own.plain, *own.tagged.values()):
            assert f".{slot.field.name}" in text or f"._{slot.field.name}" in text
    assert decoder != encoder != encoder_source(FetchRequest, 13)
