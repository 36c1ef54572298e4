"""One form of a request in the permission matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.codec.structs import Request
from suites.protocol.support.permissions.scene import Scene


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, the change that it would make, and the secret that its answer has.

    Attributes:
        request: makes it, for a version of the API.
        prepare: makes what the request needs beside the objects that it names.
        state: what the request changes, as the user of the run sees it; None: it changes nothing.
        secret: the path of a field that shows something to a user with the right alone.
    """

    request: Callable[[Scene, int], Request[Any]]
    prepare: Callable[[Scene], object] = lambda _: None
    state: Callable[[Scene], object] | None = None
    secret: str = ""
