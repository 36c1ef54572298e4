"""A log that cannot be read or written takes its folder offline, whatever the caller.

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
    """An object with a folder, which may fail."""

    @property
    def is_offline(self) -> bool:
        """True if the folder has failed: no method uses it any more."""
        ...

    def fail(self, error: OSError) -> None:
        """Take the folder offline."""


_G = TypeVar("_G", bound=Guarded)


class LogOffline(OSError):
    """The folder failed before."""


def _refuse_offline(log: Guarded) -> None:
    if log.is_offline:
        raise LogOffline(errno.EIO, "the log directory is offline")


def guarded(do: Callable[Concatenate[_G, _P], _R]) -> Callable[Concatenate[_G, _P], _R]:
    """Decorate a method: an OSError takes the folder offline; later calls raise LogOffline."""

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
    """Decorate a generator in the same way."""

    @wraps(do)
    def call(log: _G, /, *args: _P.args, **named: _P.kwargs) -> Iterator[_R]:
        _refuse_offline(log)
        try:
            yield from do(log, *args, **named)
        except OSError as error:
            log.fail(error)
            raise

    return call
