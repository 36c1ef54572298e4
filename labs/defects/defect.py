"""Definition of a defect: a name, the requirement that must notice it, the reason it must give.

A defect is a rule between the tests and a broker that changes frames. So the same defect works
on the reference broker and on a real Apache Kafka. A requirement that is judged without a broker
has a function of this project in its place, and the defect is a wrong one.
"""

from __future__ import annotations

import importlib
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from inspect import signature
from typing import Any, get_type_hints

from harness.codec import CodecError
from harness.codec.header import decode_response, encode_response
from harness.proxies import FrameRule, SeenRequest

BUILT_IN = "harness.reference_broker"


class Where(Enum):
    """The thing that a defect strikes, and so the tests that run under it."""

    SHARED = "the broker that all tests ask"
    PRIVATE = "the brokers that tests start for themselves"
    OFFLINE = "a function of ours, for tests that ask no broker"
    BUILT_IN = "a function of the built-in broker, which keeps its logs in files"


@dataclass(frozen=True, slots=True)
class WrongFunction:
    """``instead`` replaces ``name`` in ``module``, before any test imports it.

    ``instead`` is called with the right object, and returns the wrong one.
    """

    module: str
    name: str
    instead: Callable[[Any], Any]

    def put_in_place(self) -> None:
        """Replace the name in its module: every later import gets the wrong one."""
        holder = importlib.import_module(self.module)
        *outer, name = self.name.split(".")
        for part in outer:
            holder = getattr(holder, part)
        setattr(holder, name, self.instead(getattr(holder, name)))

    def put_everywhere(self) -> None:
        """Replace the name in its module and in every module that has imported it already."""
        holder = importlib.import_module(self.module)
        right = getattr(holder, self.name, None)
        self.put_in_place()
        if right is None:  # a method: all have its class
            return
        wrong = getattr(holder, self.name)
        for module in list(sys.modules.values()):
            for name, value in list(vars(module).items()):
                if value is right:
                    setattr(module, name, wrong)


@dataclass(frozen=True, slots=True)
class Defect:
    """``reason`` is a regular expression that the failed check's reason must match.

    ``private``: it strikes the brokers that tests start for themselves, not the shared one.
    ``joined``: of these, those that virtual brokers join.
    ``wrong``: it strikes a function of this project, and ``rule`` changes nothing.
    ``built_in``: that function belongs to the built-in broker; otherwise no test uses a broker.
    ``cluster``: several brokers show it; what :attr:`SeenRequest.place` leads to is one of them.
    ``also``: other requirements of the area that forbid the same, and may fail with it.
    """

    name: str
    requirement: str
    reason: str
    rule: Callable[[], FrameRule]
    meaning: str
    private: bool = False
    joined: bool = False
    wrong: WrongFunction | None = None
    built_in: bool = False
    cluster: bool = False
    also: tuple[str, ...] = ()

    @property
    def where(self) -> Where:
        """The thing that the defect strikes."""
        if self.wrong is not None:
            return Where.BUILT_IN if self.built_in else Where.OFFLINE
        return Where.PRIVATE if self.private else Where.SHARED

    @property
    def area(self) -> str:
        """The area of its requirement."""
        return self.requirement.split("-")[0]


def rule(requirement: str, reason: str, made: type[FrameRule]) -> Defect:
    """Make a defect of a whole frame rule."""
    return made_from(made, requirement, reason, made)


def joined_alone(made: Defect) -> Defect:
    """The same defect in a broker that one test has for itself, and that its virtual ones join."""
    return replace(made, private=True, joined=True)


def wrong(
    requirement: str, reason: str, module: str, name: str
) -> Callable[[Callable[[Any], Any]], Defect]:
    """Make a defect for a requirement that is judged by document: a function that makes it wrong.

    ``name`` in ``module``, with a dot for a method.
    """

    def make(instead: Callable[[Any], Any]) -> Defect:
        defect = made_from(instead, requirement, reason, FrameRule)
        return replace(defect, wrong=WrongFunction(module, name, instead))

    return make


def wrong_in_broker(
    requirement: str, reason: str, module: str, name: str, *, also: tuple[str, ...] = ()
) -> Callable[[Callable[[Any], Any]], Defect]:
    """Make a defect of a function of the built-in broker, mostly of its files: as :func:`wrong`.

    ``module``: the module below the broker's package that looks the name up when it uses it.
    """
    make_wrong = wrong(requirement, reason, f"{BUILT_IN}.{module}", name)
    return lambda instead: replace(make_wrong(instead), built_in=True, also=also)


def made_from(
    made: Callable[..., object], requirement: str, reason: str, make_rule: Callable[[], FrameRule]
) -> Defect:
    """Make a defect with the name and the docstring of a function, or of a class of rules."""
    name = made.__name__
    if isinstance(made, type):
        name = "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
    meaning = " ".join((made.__doc__ or "").split())
    if not meaning:
        raise ValueError(f"the defect {name} does not say what it is")
    return Defect(name, requirement, reason, make_rule, meaning)


def parameter_types(edit: Callable[..., None]) -> list[type[Any]]:
    """The classes in the annotations of a function's parameters, in their order."""
    types = get_type_hints(edit)
    return [types[name] for name in signature(edit).parameters]


def edited(seen: SeenRequest, payload: bytes, edit: Callable[[SeenRequest, Any], None]) -> bytes:
    """Return an answer with its message changed, or unchanged if it cannot be decoded.

    ``edit`` gets the message, of the class that answers this request.
    """
    assert seen.api is not None
    try:
        correlation_id, message = decode_response(seen.api, seen.version, payload)
    except CodecError:
        return payload
    edit(seen, message)
    return encode_response(message, seen.version, correlation_id)


def correlation_id(payload: bytes) -> int:
    """The correlation id of a request, behind key and version."""
    found: int = struct.unpack_from(">i", payload, 4)[0]
    return found


def error_answer(seen: SeenRequest) -> bytes:
    """Bytes that resemble an answer, for a broker that answers a request that it should refuse."""
    identity = correlation_id(seen.payload) if len(seen.payload) >= 8 else 0
    return struct.pack(">ih", identity, -1)
