"""A log that cannot be read or written takes its folder offline, whoever asked for it.

Source: KIP-112, class LocalLog (maybeHandleIOException).
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Guarded(Protocol):
    """What has a folder."""

    @property
    def is_offline(self) -> bool:
        """Whether that has failed: nothing is done with it any more."""
        ...

    def fail(self, error: OSError) -> None:
        """It cannot be used."""


_G = TypeVar("_G", bound=Guarded)


class LogOffline(OSError):
    """The folder failed before."""


def _refuse_offline(log: Guarded) -> None:
    if log.is_offline:
        raise LogOffline(errno.EIO, "the log directory is offline")


def guarded(do: Callable[Concatenate[_G, _P], _R]) -> Callable[Concatenate[_G, _P], _R]:
    """A method that raises OSError: only when the folder is offline, or is from then on."""

    @wraps(do)
    def call(log: _G, /, *args: _P.args, **named: _P.kwargs) -> _R:
        _refuse_offline(log)
        try:
            return do(log, *args, **named)
        except OSError as error:
            log.fail(error)
            raise

    return call


def guarded_steps(
    do: Callable[Concatenate[_G, _P], Iterator[_R]],
) -> Callable[Concatenate[_G, _P], Iterator[_R]]:
    """The same for a generator."""

    @wraps(do)
    def call(log: _G, /, *args: _P.args, **named: _P.kwargs) -> Iterator[_R]:
        _refuse_offline(log)
        try:
            yield from do(log, *args, **named)
        except OSError as error:
            log.fail(error)
            raise

    return call
