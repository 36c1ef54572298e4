"""The counts of `tests/architecture/prose.py` may only fall."""

from __future__ import annotations

import pytest

from tests.architecture import prose
from tests.architecture.prose import Counts, Kind, counted, recorded, texts

RECORD_AGAIN = "python -m tests.architecture.prose --record"


def test_no_file_exceeds_recorded_prose_counts() -> None:
    before = recorded()
    now = {name: prose.counts_of(name) for name in prose.files()}
    more = [name for name, counts in now.items() if counts.exceed(before.get(name, Counts()))]
    assert not more, (
        "these files have more words for persons (who, nobody), words of speech (tell, told) or "
        "docstrings that open with a question word than tests/architecture/prose_counts.tsv says; "
        "write subject, active verb, object (docs/glossary.md): "
        + ", ".join(f"{name}: {now[name]}, on record {before.get(name)}" for name in more)
    )
    stale = sorted(name for name in before if now.get(name, Counts()) != before[name])
    assert not stale, f"fewer than on record, run {RECORD_AGAIN}: {', '.join(stale)}"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.md", "Nobody told `whoever` that.\n```\nwho\n```\n", Counts(1, 1, 0)),
        ("a.py", '"""What it does: it tells."""\nx = "who"\n', Counts(0, 1, 1)),
        ("a.py", 'def f():\n    """Do it."""\n    raise E("told by nobody")\n', Counts(1, 1)),
        ("a.py", "told = 1  # who told it\n", Counts(1, 1)),
        ("a.py", 'x = "Which is no docstring"\n', Counts()),
        ("a.profile.toml", 'reason = "nobody is told"\n', Counts(1, 1)),
    ],
)  # fmt: skip
def test_prose_is_counted_and_code_is_ignored(name: str, text: str, expected: Counts) -> None:
    assert counted(texts(name, text)) == expected


def test_public_docstrings_and_messages_are_public_prose() -> None:
    text = '"""A module."""\ndef _f():\n    """Inner."""\n    # A comment.\n    f("a long one")\n'
    assert [(piece.kind, piece.words) for piece in texts("a.py", text)] == [
        (Kind.PUBLIC, "A module."),
        (Kind.INNER, "Inner."),
        (Kind.PUBLIC, "a long one"),
        (Kind.INNER, "# A comment."),
    ]
