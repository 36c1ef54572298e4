"""A form in which text can hold bytes, and one reading of an input by a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class NearMiss(ValueError):
    """Text that looks like a form and is not right; the message names what is wrong, and where."""


class Bytes(NamedTuple):
    """The bytes in a text. ``detail``: what the form could be in, such as signed numbers."""

    data: bytes
    detail: str = ""


class TextForm(NamedTuple):
    """``read`` returns None for text of another form, and raises NearMiss.

    ``is_certain``: no text of this form is of another one too. ``is_usual``: False if text of the
    form is mostly something else, so that only bytes that can be decoded count.
    """

    name: str  # of the option
    said: str
    read: Callable[[str], Bytes | None]
    is_certain: bool = False
    is_usual: bool = True


class Reading(NamedTuple):
    """An input by one form."""

    form: str
    said: str
    data: bytes
    is_certain: bool = False
    is_usual: bool = True
