"""``kafka-conformance lab``: the list of programs, and an installation without them."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.commands import lab as module
from harness.commands.lab import lab


def test_lab_help_lists_every_program_and_each_has_help() -> None:
    listed = CliRunner().invoke(main, ["lab", "--help"]).output
    context = click.Context(lab)
    assert isinstance(lab, click.Group)
    for name in lab.list_commands(context):
        assert f"  {name} " in listed
        command = lab.get_command(context, name)
        assert command is not None
        assert (command.help or "").strip()


def test_unknown_program_is_usage_error() -> None:
    ended = CliRunner().invoke(main, ["lab", "mutates"])
    assert ended.exit_code == click.UsageError.exit_code
    assert "No such command 'mutates'" in ended.output


def test_lab_without_source_tree_exits_with_clone_instruction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    ended = CliRunner().invoke(main, ["lab", "fuzz"])
    assert ended.exit_code == click.UsageError.exit_code
    assert "clone the repository, run scripts/setup there" in ended.output
