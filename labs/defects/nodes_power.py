"""Defects of a cluster with one node that loses its power."""

from __future__ import annotations

from harness.client.requests import LATEST
from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from labs.defects.asked_times import told_of
from labs.defects.edited_answer import answers
from labs.defects.one_node import of_cluster
from suites.replication.private.test_power_loss import SENT


@answers("RECV-014", r"without broker \d 1 of 29 acknowledged records are lost")
def who_leads_next_lacks_the_last(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """The leader acknowledges acks=all before all replicas in sync have the record."""
    for one in told_of(request, answer, LATEST):
        if one.offset == SENT:
            one.offset -= 1


DEFECTS = of_cluster([who_leads_next_lacks_the_last], private=True)
