"""The target of one run under a defect, or without one, by the thing that the defect strikes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.address import Address
from harness.proxies import FrameRule
from harness.proxies.frame_rule import FrameRuleInterceptor
from harness.targets.proxied import proxied
from harness.targets.secured_cluster import SecuredCluster, SecuredWay
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.defects.broker_pool import RowBrokers
from labs.defects.chosen_rows import has_several_nodes
from labs.defects.defect import Defect, Where
from labs.defects.private_brokers import SharedAndPrivate, SharedRow
from labs.defects.row_session import MakeTarget
from labs.defects.tls_relay import Errors, relay_before
from labs.defects.wrong_brokers import wrong_target

BY_DOCUMENT = "by-document"
KEPT_SPEC = "reference,disk"


class BrokenRule(Exception):
    """The rule of a defect raised an exception; the text contains it."""


@dataclass(frozen=True, slots=True)
class StruckTargets:
    """Makes targets like the one that ``spec`` names.

    ``addresses``: of the shared broker. ``pool``: returns the pool of used private brokers for the
    test that runs now; None: it may get none. ``secured``: the way into the shared broker.
    """

    spec: str
    addresses: tuple[Address, ...]
    pool: Callable[[], RowBrokers | None]
    secured: SecuredWay | None = None

    @contextmanager
    def under(self, where: Where, defect: Defect | None) -> Iterator[MakeTarget]:
        """Yield a function that makes the target. Raises BrokenRule at its end if the rule did."""
        if where is Where.OFFLINE:
            if defect is not None and defect.wrong is not None:
                defect.wrong.put_everywhere()
            yield lambda log_dir: parse_target(BY_DOCUMENT, log_dir=log_dir)
        elif where is Where.BUILT_IN:
            spec = self.spec if has_several_nodes(self.spec) else KEPT_SPEC
            name = defect.name if defect else ""
            yield lambda log_dir: wrong_target(spec, name, log_dir)
        else:
            with self._behind_proxies(where, defect) as make_target:
                yield make_target

    @contextmanager
    def _behind_proxies(self, where: Where, defect: Defect | None) -> Iterator[MakeTarget]:
        make_rule = defect.rule if defect else FrameRule
        is_private = where is Where.PRIVATE
        with self._before_shared(FrameRule() if is_private else make_rule()) as (client, errors):

            def make_target(log_dir: Path | None) -> Target:
                model = parse_target(self.spec, log_dir=log_dir)
                if not is_private:
                    return SharedRow(client, model, log_dir, self._entered())
                return SharedAndPrivate(client, model, make_rule, self.pool, self._entered())

            yield make_target
            if raised := errors():
                raise BrokenRule(f"the rule raised {raised[0]!r}")

    def _entered(self) -> SecuredCluster | None:
        return None if self.secured is None else SecuredCluster(Path(self.secured.file))

    @contextmanager
    def _before_shared(self, rule: FrameRule) -> Iterator[tuple[list[Address], Errors]]:
        """The addresses before the shared broker, or cluster, and the errors of the rule so far."""
        if len(self.addresses) == 1:
            with relay_before(self.addresses[0], rule, self.secured) as (address, errors):
                yield [address], errors
            return
        with SharedRow(list(self.addresses)) as cluster:
            struck = FrameRuleInterceptor(rule)
            with proxied(cluster, interceptor=struck, enters=self.secured is None) as behind:
                yield (
                    list(behind.addresses),
                    lambda: [error for proxy in behind.proxies for error in proxy.errors],
                )
