"""The target without a broker."""

from __future__ import annotations

import pytest

from harness.targets.errors import TargetError, TargetStartError
from harness.targets.info import TargetInfo, probe
from harness.targets.spec import parse_target


def test_by_document_target_has_no_address_and_is_no_broker() -> None:
    target = parse_target("by-document")
    assert target.start() == []
    info = probe(target)
    assert not info.is_broker
    assert (info.spec, info.api_versions, info.capabilities) == ("by-document", {}, frozenset())
    assert TargetInfo.from_json(info.to_json()) == info
    target.stop()


def test_by_document_as_broker_raises_target_start_error() -> None:
    with pytest.raises(TargetStartError, match="by-document is no broker"):
        parse_target("by-document").__enter__()


@pytest.mark.parametrize("spec", ["by-document:x", "by-document,a=b"])
def test_by_document_with_options_raises_target_error(spec: str) -> None:
    with pytest.raises(TargetError, match="Its form is by-document"):
        parse_target(spec)
