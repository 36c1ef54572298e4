"""The target without a broker."""

from __future__ import annotations

import pytest

from harness.targets.errors import TargetError, TargetStartError
from harness.targets.info import TargetInfo, probe
from harness.targets.spec import parse_target


def test_it_is_known_by_having_no_address() -> None:
    target = parse_target("by-document")
    assert target.start() == []
    info = probe(target)
    assert not info.is_broker
    assert (info.spec, info.api_versions, info.capabilities) == ("by-document", {}, frozenset())
    assert TargetInfo.from_json(info.to_json()) == info
    target.stop()


def test_who_wants_a_broker_is_told() -> None:
    with pytest.raises(TargetStartError, match="by-document is no broker"):
        parse_target("by-document").__enter__()


@pytest.mark.parametrize("spec", ["by-document:x", "by-document,a=b"])
def test_it_takes_no_options(spec: str) -> None:
    with pytest.raises(TargetError, match="Its form is by-document"):
        parse_target(spec)
