"""A click group that imports a subcommand when it is used, so that every command starts quickly."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """``lazy``: name of the subcommand -> (module, name of the command in it)."""

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._lazy:
            return None
        module, name = self._lazy[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command
