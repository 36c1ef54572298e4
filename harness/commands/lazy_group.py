"""A click group that imports a subcommand when it is used, so that every command starts quickly.

It is also the one place that ends a command without its packages: with the name of the extra that
has them, and exit code 2. A command that cannot unpack the suites ends with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NoReturn

import click

from harness.base.bundle import SuitesNotUnpacked
from harness.base.extras import MissingExtra, explained, install_line, require

_NONE: Mapping[str, str] = MappingProxyType({})


class LazyGroup(click.Group):
    """``lazy``: name of the subcommand -> (module, name of the command in it).

    ``extras``: name of the subcommand -> the extra without which it does not start.
    """

    def __init__(
        self,
        *args: Any,
        lazy: dict[str, tuple[str, str]],
        extras: Mapping[str, str] = _NONE,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._lazy, self._extras = lazy, extras

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._lazy:
            return None
        module, name = self._lazy[cmd_name]
        try:
            if cmd_name in self._extras:
                require(self._extras[cmd_name])
            command: click.Command = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            if (missing := explained(error)) is None:
                raise
            return _NotInstalled(cmd_name, missing)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if (missing := explained(error)) is None:
                raise
            raise click.UsageError(f"{ctx.invoked_subcommand}: {missing}", ctx) from error
        except SuitesNotUnpacked as error:
            raise click.ClickException(str(error)) from error


class _NotInstalled(click.Command):
    """A command without its packages: with any arguments, even --help, it says what to install."""

    def __init__(self, name: str, missing: MissingExtra) -> None:
        super().__init__(name, short_help=f"(not installed: {install_line(missing.extra)})")
        self._missing = missing

    def make_context(self, *_: Any, **__: Any) -> NoReturn:
        raise click.UsageError(f"{self.name}: {self._missing}")
