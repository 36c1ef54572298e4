"""Defects of a cluster with harmed files at one broker."""

from __future__ import annotations

from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.newest_topic import NewestTopic, drop_value, of_newest
from labs.defects.one_node import of_cluster
from suites.durability.support.log_dirs import PARTITIONS


@of_newest("RECV-009", r"nothing comes from offset 10, the log ends at 11")
def what_was_cut_stays_away(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """A replica does not fetch records that were written while it was down."""
    if done.configs.get("min.insync.replicas") == "1" and len(done.assigned[0]) == 2:
        drop_value(answer, b"later")


@of_newest("LDIR-006", r"partition \d, in the failed one: 1 leads")
def who_cannot_serve_leads_on(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """A leader with a failed log directory leads as long as its broker lives."""
    if len(done.assigned) == PARTITIONS:
        done.keep_leaders(answer)


DEFECTS = of_cluster([what_was_cut_stays_away, who_cannot_serve_leads_on], private=True)
