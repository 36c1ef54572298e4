"""Makers of defects in records as consumers get them; message sets are not changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps

from harness.codec.messages import FetchResponse
from harness.codec.records import Record, RecordBatch
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import Defect, made_from
from labs.defects.edited_answer import EditedAnswers
from labs.defects.prod import change_stored

BatchChange = Callable[[RecordBatch], RecordBatch]
RecordChange = Callable[[Record], Record]


def each_batch(requirement: str, reason: str) -> Callable[[BatchChange], Defect]:
    """Make a defect of a function that changes each batch of a Fetch answer."""

    def make(change: BatchChange) -> Defect:
        def edit(_: SeenRequest, answer: Message) -> None:
            change_stored(answer, change)

        rule = partial(EditedAnswers, FetchResponse, edit, None)
        return made_from(change, requirement, reason, rule)

    return make


def each_record(requirement: str, reason: str) -> Callable[[RecordChange], Defect]:
    """Make a defect of a function that changes each record of a Fetch answer."""

    def make(change: RecordChange) -> Defect:
        @wraps(change)
        def whole(batch: RecordBatch) -> RecordBatch:
            before = list(batch.records)
            after = [change(record) for record in before]
            return batch if after == before else replace(batch, records=after)

        return each_batch(requirement, reason)(whole)

    return make
