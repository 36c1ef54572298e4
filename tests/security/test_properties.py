"""Java's properties files, entry by entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.security.errors import SecurityError
from harness.security.properties import Property, parse_properties, read_properties


def parsed(text: str) -> list[Property]:
    return list(parse_properties(text, "file"))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("a=b", "a", "b"),
        ("a = b ", "a", "b "),
        ("a: b", "a", "b"),
        ("a b=c", "a", "b=c"),
        ("  a\t=\tb", "a", "b"),
        ("a==b", "a", "=b"),
        ("a", "a", ""),
        ("a=", "a", ""),
        ("a\\ b\\=c=d", "a b=c", "d"),
        ("a=b\\\n   c", "a", "bc"),
        ("a=b\\\r\n c", "a", "bc"),
        ("a=b\\\\", "a", "b\\"),
        ("a=\\u0041\\t\\n\\x", "a", "A\t\nx"),
        ("a=b#c", "a", "b#c"),
        ("a=b\\", "a", "b"),
    ],
)
def test_an_entry_has_the_key_and_value_of_java(text: str, key: str, value: str) -> None:
    assert parsed(text) == [Property(key, value, 1)]


def test_comments_and_blank_lines_are_no_entries() -> None:
    assert parsed("# a=b\n  ! c=d\n\n \t\n") == []


def test_each_entry_has_the_line_on_which_it_begins() -> None:
    entries = parsed("# first\na=b\\\n  c\\\n  d\n\ne=f\n")
    assert [(each.key, each.value, each.line) for each in entries] == [
        ("a", "bcd", 2),
        ("e", "f", 6),
    ]


def test_a_comment_does_not_go_on_at_a_backslash() -> None:
    assert [each.key for each in parsed("# a\\\nb=c")] == ["b"]


def test_a_bad_unicode_escape_is_an_error_with_its_line() -> None:
    with pytest.raises(SecurityError, match=r"^file:2: a \\u without four hexadecimal digits$"):
        parsed("a=b\nc=\\u12")


def test_an_escaped_backslash_before_a_u_is_no_escape() -> None:
    assert parsed("a=\\\\users")[0].value == "\\users"


def test_the_value_is_not_shown() -> None:
    assert "hidden" not in repr(parsed("sasl.password=hidden")[0])


def test_a_file_that_cannot_be_read_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(SecurityError, match="absent: cannot be read: No such file"):
        read_properties(tmp_path / "absent")
    (tmp_path / "latin").write_bytes(b"a=\xe9")
    with pytest.raises(SecurityError, match="latin: is not UTF-8: byte 2"):
        read_properties(tmp_path / "latin")
