"""Defects of area CONN: wrong limits of the memory for requests."""

from __future__ import annotations

from collections.abc import Callable

from harness.reference_broker.request_memory import RequestMemory
from labs.defects.defect import wrong_in_broker

Take = Callable[[RequestMemory, int, Callable[[], None]], bool]
GiveBack = Callable[[RequestMemory, int], None]
LARGE_BYTES = 10_000


@wrong_in_broker("CONN-033", r"is left.*: a request is answered while another one has",
                 "request_memory", "RequestMemory.take")  # fmt: skip
def requests_are_read_without_limit(take: Take) -> Take:
    """The broker reads requests whatever others take."""

    def instead(memory: RequestMemory, size: int, resume: Callable[[], None]) -> bool:
        if not take(memory, size, resume):
            memory.leave(resume)
        return True

    return instead


@wrong_in_broker("CONN-033", r"is left.*: ResponseTimeout: no answer",
                 "request_memory", "RequestMemory.give_back")  # fmt: skip
def closed_connections_keep_their_memory(give_back: GiveBack) -> GiveBack:
    """The broker releases no memory of a large request, however it ends."""

    def instead(memory: RequestMemory, size: int) -> None:
        give_back(memory, 0 if size > LARGE_BYTES else size)

    return instead


DEFECTS = [requests_are_read_without_limit, closed_connections_keep_their_memory]
