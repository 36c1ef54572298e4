"""The output of help() for the message classes."""

from __future__ import annotations

import inspect
import pydoc

import pytest

from harness.codec.messages import FetchRequest, InitProducerIdRequest
from harness.codec.structs import Message
from labs.message_values.all_kinds import ALL_KINDS
from tests.codec.each_layout import each_class

ALL_KINDS_SAID = """\
AllKinds: data, versions 0-3, flexible from 2.

Fields:
    truth: bool
        versions 0+, default true
    tiny: int8
        versions 0+, default 0
"""
SHARED_SAID = """\
Shared: a struct, versions 0+.

Fields:
    number: int16
        versions 0+, default 7
    word: string
        versions 1+, default empty, left out where a version lacks it
    unknown_tagged_fields: bytes by tag
        what flexible versions carry and the definition does not know; written again"""


@each_class
def test_docstring_of_every_struct_lists_its_fields(cls: type[Message]) -> None:
    spec = cls.message_spec
    for made, struct in [
        (cls, spec.root),
        *((getattr(cls, n), s) for n, s in spec.structs.items()),
    ]:
        said = inspect.getdoc(made) or ""
        assert said.startswith(f"{struct.name}: ")
        named = [line.strip().partition(":")[0] for line in said.splitlines()[3::2]]
        assert named == [*(field.name for field in struct.fields), "unknown_tagged_fields"]


def test_docstring_matches_hand_written_text() -> None:
    assert (ALL_KINDS.__doc__ or "").startswith(ALL_KINDS_SAID)
    assert ALL_KINDS.Shared.__doc__ == SHARED_SAID  # type: ignore[attr-defined]
    assert ALL_KINDS().__doc__ == ALL_KINDS.__doc__


@pytest.mark.parametrize(
    "line",
    [
        "one: Shared\n        versions 0+, default all at their defaults\n",
        "maybe: Inner\n        versions 1+, nullable 1+, default null\n",
        "moved: int32\n        versions 0+, tag 0 (versions 2+), default 0\n",
        "shorts: []int16\n        versions 0+, nullable 2+, default empty\n",
    ],
)
def test_docstring_contains_versions_and_default_of_field(line: str) -> None:
    assert f"    {line}" in (ALL_KINDS.__doc__ or "")


def test_help_prints_docstring_of_message_class() -> None:
    said = pydoc.plain(pydoc.render_doc(FetchRequest))
    assert "FetchRequest: request of API key 1, versions 0-18, flexible from 12." in said
    assert "default 2147483647 (0x7fffffff), left out where a version lacks it" in said
    unstable = InitProducerIdRequest.__doc__ or ""
    assert "versions 0-6, 6 unstable, flexible from 2" in unstable
