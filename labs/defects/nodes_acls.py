"""Defects of a cluster, area ACL: entries that not every broker has.

The listeners of the cluster have SASL without TLS: the proxies read no TLS.
"""

from __future__ import annotations

from harness.codec.messages import DescribeAclsResponse
from harness.proxies import SeenRequest
from labs.defects.edited_answer import answers
from labs.defects.one_node import at, of_cluster
from suites.protocol.support.bindings import EVERY_USER


@answers("ACL-014", r"broker 2 describes 0 entries")
def another_broker_does_not_get_the_entries(
    seen: SeenRequest, answer: DescribeAclsResponse
) -> None:
    """The second broker has no entry of the wildcard principal."""
    if at(2, seen):
        for resource in answer.resources:
            resource.acls = [one for one in resource.acls if one.principal != EVERY_USER]


DEFECTS = of_cluster([another_broker_does_not_get_the_entries], private=True)
