"""Exceptions of other rooms mean what was registered for them, inside and outside of a check."""

from __future__ import annotations

import pytest

from harness.conformance import outcome
from harness.conformance.verdict import Verdict


class LacksThis(Exception):
    """Stands for an exception of a room that this one may not import."""


@pytest.mark.parametrize(
    "classify", [lambda e: outcome.classify_in_check(e, "MUST"), outcome.classify_outside]
)
def test_registered_exception_classifies_as_not_supported(classify, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(outcome._Registered, "not_supported", (outcome.NotSupported,))
    assert classify(LacksThis("no api")).verdict is Verdict.HARNESS_ERROR
    outcome.register_not_supported(LacksThis)
    assert classify(LacksThis("no api")).verdict is Verdict.NOT_SUPPORTED
