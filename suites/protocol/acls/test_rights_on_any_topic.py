"""ACL: a right that counts on whatever topic it was given (KIP-679), and the denials of it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.bindings import (
    ALL,
    DENY,
    EVERY_USER,
    PREFIXED,
    WILDCARD,
    Binding,
    bound,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.permissions.forms import code_of
from suites.protocol.support.permissions.scene import scene_of
from suites.protocol.support.rights import CLUSTER_NAME, require_authorizer
from suites.protocol.support.seen_address import seen_address

REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
ELSEWHERE = "192.0.2.1"
"""An address of no host (RFC 5737)."""
Cases = dict[str, tuple[Sequence[Binding], bool]]


def _denied(binding: Binding) -> Binding:
    return binding._replace(permission=DENY)


def _of_patterns(yes: Binding) -> Cases:
    """A denial takes what its pattern covers, and no other permission."""
    prefix = yes._replace(name=yes.name[:-1], pattern=PREFIXED)
    shorter = prefix._replace(name=yes.name[:-2])
    other, every = yes._replace(name=f"{yes.name}-other"), yes._replace(name=WILDCARD)
    return {
        "a name": ([yes], True),
        "a prefix": ([prefix], True),
        "every topic": ([every], True),
        "a name, denied": ([yes, _denied(yes)], False),
        "a name, its prefix denied": ([yes, _denied(prefix)], False),
        "a name, every topic denied": ([yes, _denied(every)], False),
        "a name, another name denied": ([yes, _denied(other)], True),
        "two names, one denied": ([yes, other, _denied(yes)], True),
        "two names, both denied": ([yes, other, _denied(yes), _denied(other)], False),
        "two names, their prefix denied": ([yes, other, _denied(prefix)], False),
        "a prefix, denied": ([prefix, _denied(prefix)], False),
        "a prefix, a shorter one denied": ([prefix, _denied(shorter)], False),
        "a prefix, a longer one denied": ([shorter, _denied(prefix)], True),
        "a prefix, a name denied": ([prefix, _denied(yes)], True),
        "every topic, denied": ([every, _denied(every)], False),
        "every topic, a name denied": ([every, _denied(yes)], True),
    }


def _of_others(yes: Binding, address: str) -> Cases:
    """Denials of operations, hosts and users; rights on the cluster and on other resources."""
    write = Operation.IDEMPOTENT_WRITE
    cluster = yes._replace(name=CLUSTER_NAME, resource=Resource.CLUSTER, operation=write)
    return {
        "every operation": ([yes._replace(operation=ALL)], True),
        "every operation denied": ([yes, _denied(yes._replace(operation=ALL))], False),
        "another operation denied": (
            [yes, _denied(yes._replace(operation=Operation.READ))],
            True,
        ),
        "another host": ([yes._replace(host=ELSEWHERE)], False),
        "this host denied": ([yes, _denied(yes._replace(host=address))], False),
        "another host denied": ([yes, _denied(yes._replace(host=ELSEWHERE))], True),
        "every user": ([yes._replace(principal=EVERY_USER)], True),
        "every user denied": ([yes, _denied(yes._replace(principal=EVERY_USER))], False),
        "a group": ([yes._replace(resource=Resource.GROUP)], False),
        "the cluster": ([cluster], True),
        "the cluster denied": ([cluster, _denied(cluster)], False),
        "the cluster, a topic denied": ([cluster, _denied(yes)], True),
        "a topic, the cluster denied": ([yes, _denied(cluster)], True),
    }


@judges("ACL-016")
def test_a_producer_id_needs_a_write_that_no_denial_covers(broker: BrokerUnderTest) -> None:
    require_authorizer(broker)
    version = broker.version("InitProducerId")
    new_producer(broker)
    with scene_of(broker) as scene:
        yes = Binding(broker.unique_topic(), scene.user.principal, Operation.WRITE)
        cases = _of_patterns(yes) | _of_others(yes, seen_address(broker))
        with requirement("ACL-016") as check:
            for name, (bindings, allowed) in cases.items():
                with check.subtest(name), bound(broker, *bindings):
                    expected = ErrorCode.NONE if allowed else REFUSED
                    expect_error(code_of(scene, "InitProducerId", version), expected, name)
