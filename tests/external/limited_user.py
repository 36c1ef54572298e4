"""A broker with an authorizer, reached by ``external:`` as a user that has few rights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.credentials import scram_password
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterUserScramCredentialsRequest
from harness.targets.spec import parse_target
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.bindings import PREFIXED, Binding, create
from suites.protocol.support.principals import ITERATIONS, MECHANISM, NUMBER, SALT, Upsertion
from suites.protocol.support.rights import CLUSTER_NAME
from tests.sweep.brokers import advertised

USER, PASSWORD = "limited", "few-rights-SECRET"
PRINCIPAL = f"User:{USER}"


@dataclass(frozen=True)
class Limited:
    """``file``: the settings of the limited user; ``owner``: a client of the super user."""

    address: Address
    file: Path
    owner: BrokerUnderTest

    @property
    def external(self) -> str:
        return f"external:{self.address},config={self.file}"


def on_names(resource: Resource, *operations: Operation, prefix: str = "kc-") -> list[Binding]:
    """The entries that allow operations on all names with a prefix."""
    return [
        Binding(prefix, PRINCIPAL, each, pattern=PREFIXED, resource=resource) for each in operations
    ]


def on_cluster(*operations: Operation) -> list[Binding]:
    """The entries that allow operations on the cluster."""
    return [
        Binding(CLUSTER_NAME, PRINCIPAL, each, resource=Resource.CLUSTER) for each in operations
    ]


@contextmanager
def limited_user(spec: str, rights: Sequence[Binding], folder: Path) -> Iterator[Limited]:
    """Start the target, add the user, give it the rights and no other, and write its file."""
    wanted = f"{spec},security=sasl_ssl,mechanism=PLAIN,authorizer=on"
    with parse_target(wanted, log_dir=folder) as target:
        assert target.secured is not None
        (address,) = target.addresses
        ranges = {key: (one.lowest, one.highest) for key, one in advertised(address).items()}
        with closing(BrokerUnderTest([address], ranges)) as owner:
            _add(owner)
            assert set(create(owner, rights)) <= {ErrorCode.NONE}
            ca = Path(target.secured.file).parent / "ca.pem"
            file = folder / "limited.properties"
            file.write_text(
                f"security.protocol=SASL_SSL\nssl.ca.location={ca}\n"
                f"sasl.mechanism={MECHANISM}\nsasl.username={USER}\nsasl.password={PASSWORD}\n"
            )
            yield Limited(address, file, owner)


def _add(owner: BrokerUnderTest) -> None:
    salted = scram_password(MECHANISM, PASSWORD, SALT, ITERATIONS)
    added = Upsertion(
        name=USER, mechanism=NUMBER, iterations=ITERATIONS, salt=SALT, salted_password=salted
    )
    request = AlterUserScramCredentialsRequest(deletions=[], upsertions=[added])
    (result,) = owner.ask(request).results
    assert result.error_code == ErrorCode.NONE, result
