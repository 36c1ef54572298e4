"""The rows of the table follow from the forms that targets sent."""

from __future__ import annotations

from harness.codec.versions import VersionRange
from harness.differential.conversation import ConversationStep
from harness.oracle.null_forms import NullForm, SeenForm
from harness.oracle.null_table import NullRow
from labs.null_forms.observed_forms import ObservedForms

RACK = "brokers.rack"
PLACE = ("DescribeCluster", RACK, "no error")


def _seen(observed: ObservedForms, target: str, version: int, form: NullForm) -> None:
    step = ConversationStep("DescribeCluster", version, {})
    observed.add(target, step, [SeenForm(RACK, "no error", form)])


def _rows(observed: ObservedForms) -> list[NullRow]:
    return [row for row in observed.rows() if (row.api, row.field) == PLACE[:2]]


def test_row_has_targets_by_form_and_range_of_versions() -> None:
    observed = ObservedForms(())
    for target, version, form in (
        ("3.9.2", 0, NullForm.NULL),
        ("4.4.0", 2, NullForm.VALUE),
        ("4.4.0", 1, NullForm.NULL),
    ):
        _seen(observed, target, version, form)
    seen = {NullForm.NULL: ("3.9.2", "4.4.0"), NullForm.VALUE: ("4.4.0",)}
    assert _rows(observed) == [NullRow(*PLACE, VersionRange(0, 2), seen)]


def test_field_that_no_target_sent_has_a_row_without_versions() -> None:
    assert _rows(ObservedForms(())) == [NullRow(*PLACE[:2], "-", None)]


def test_target_that_is_observed_again_loses_its_earlier_forms_alone() -> None:
    seen = {NullForm.NULL: ("3.9.2", "4.4.0"), NullForm.EMPTY: ("4.4.0",)}
    observed = ObservedForms([NullRow(*PLACE, VersionRange(0, 2), seen)])
    observed.forget("4.4.0", ["Metadata"])
    assert _rows(observed) == [NullRow(*PLACE, VersionRange(0, 2), seen)]
    observed.forget("4.4.0", ["DescribeCluster"])
    _seen(observed, "4.4.0", 1, NullForm.VALUE)
    expected = {NullForm.NULL: ("3.9.2",), NullForm.VALUE: ("4.4.0",)}
    assert _rows(observed) == [NullRow(*PLACE, VersionRange(0, 2), expected)]


def test_targets_of_a_row_are_in_order_of_releases() -> None:
    observed = ObservedForms(())
    for target in ("4.4.0", "3.9.2,mode=zk", "0.10.2.2", "3.9.2,mode=kraft"):
        _seen(observed, target, 1, NullForm.NULL)
    (row,) = _rows(observed)
    expected = ("0.10.2.2", "3.9.2,mode=kraft", "3.9.2,mode=zk", "4.4.0")
    assert row.targets(NullForm.NULL) == expected
