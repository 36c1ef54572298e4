"""The authorizer that the settings choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.reference_broker.settings import BrokerSettings, SettingError

if TYPE_CHECKING:
    from harness.reference_broker.state.acls.acl_index import AclIndex
    from harness.reference_broker.state.acls.authorizer import Authorizer

AUTHORIZER = "authorizer.class.name"
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_OF_ZOOKEEPER = "kafka.security.authorizer.AclAuthorizer"


def authorizer_of(settings: BrokerSettings, acls: AclIndex) -> Authorizer | None:
    """Return the authorizer, which decides by `acls`; None without one. Raises SettingError."""
    name = settings.text(AUTHORIZER)
    if not name:
        return None
    known = [STANDARD, *([_OF_ZOOKEEPER] if settings.like.keeps_topics_in_zookeeper else [])]
    if name not in known:
        raise SettingError(f"{AUTHORIZER}: {name!r}: this broker has {', '.join(known)}")
    # Not at the start: most brokers have none.
    from harness.reference_broker.state.acls.authorizer import Authorizer

    by_default = settings.flag("allow.everyone.if.no.acl.found")
    return Authorizer(acls, _super_users(settings), allows_by_default=by_default)


def _super_users(settings: BrokerSettings) -> frozenset[str]:
    named = [each.strip() for each in settings.text("super.users").split(";")]
    wrong = [each for each in named if each and ":" not in each]
    if wrong:
        raise SettingError(f"super.users: {wrong[0]!r}: a principal is written TYPE:NAME")
    return frozenset(each for each in named if each)
