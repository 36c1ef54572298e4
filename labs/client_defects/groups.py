"""Defects that members of groups notice, and a client that asks about groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.codec.messages import (
    DescribeGroupsResponse,
    ListGroupsResponse,
    OffsetFetchResponse,
)
from harness.codec.records import Record
from labs.client_defects.fetched import each_record
from labs.defects.edited_answer import answers


def _committed(answer: OffsetFetchResponse) -> Iterator[Any]:
    """Each partition with a committed offset, of the older and the newer form of the answer."""
    topics: list[Any] = [*answer.topics]
    topics += [topic for group in answer.groups for topic in group.topics]
    return (one for topic in topics for one in topic.partitions if one.committed_offset >= 0)


@each_record("CLIENT-023", r"records of other values")
def a_member_gets_another_value(record: Record) -> Record:
    """A member of a group gets a value that was not sent."""
    return replace(record, value=b"1-x") if record.value == b"1-3" else record


@answers("CLIENT-024", r"a new member has read \[0, 1")
def commits_are_forgotten(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns no committed offset."""
    for one in _committed(answer):
        one.committed_offset = -1


@answers("CLIENT-025", r"read twice")
def a_commit_is_one_lower(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns the offset before the committed one."""
    _moved_back(answer)


@answers("CLIENT-026", r"read twice")
def a_cooperative_commit_is_one_lower(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns the offset before the committed one."""
    _moved_back(answer)


def _moved_back(answer: OffsetFetchResponse) -> None:
    for one in _committed(answer):
        one.committed_offset = max(0, one.committed_offset - 1)


@answers("CLIENT-027", r"a new member has read \[\d")
def a_commit_of_an_assigned_member_is_one_lower(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns the offset before the committed one."""
    _moved_back(answer)


@answers("CLIENT-028", r"the state is EMPTY|the state is Empty")
def a_group_with_members_is_empty(answer: DescribeGroupsResponse) -> None:
    """DescribeGroups returns the state of a group without members."""
    for group in answer.groups:
        group.group_state = "Empty"


@answers("CLIENT-029", r"committed offsets are listed as .*: 3")
def a_commit_is_one_higher(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns the offset behind the committed one."""
    for one in _committed(answer):
        one.committed_offset += 1


@answers("CLIENT-030", r"the group without members is not listed")
def no_group_is_listed(answer: ListGroupsResponse) -> None:
    """ListGroups returns no group."""
    answer.groups = []


DEFECTS = [
    a_member_gets_another_value,
    commits_are_forgotten,
    a_commit_is_one_lower,
    a_cooperative_commit_is_one_lower,
    a_commit_of_an_assigned_member_is_one_lower,
    a_group_with_members_is_empty,
    a_commit_is_one_higher,
    no_group_is_listed,
]
