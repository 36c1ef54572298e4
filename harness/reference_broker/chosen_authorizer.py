"""The authorizer that the settings choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.base import authorizers
from harness.reference_broker.settings import BrokerSettings, SettingError

if TYPE_CHECKING:
    from harness.reference_broker.state.acls.acl_index import AclIndex
    from harness.reference_broker.state.acls.authorizer import Authorizer


def authorizer_of(settings: BrokerSettings, acls: AclIndex) -> Authorizer | None:
    """Return the authorizer, which decides by `acls`; None without one. Raises SettingError."""
    name = settings.text(authorizers.SETTING)
    if not name:
        return None
    has_zookeeper = settings.like.keeps_topics_in_zookeeper
    known = [authorizers.STANDARD, *([authorizers.OF_ZOOKEEPER] if has_zookeeper else [])]
    if name not in known:
        raise SettingError(f"{authorizers.SETTING}: {name!r}: this broker has {', '.join(known)}")
    # Not at the start: most brokers have none.
    from harness.reference_broker.state.acls.authorizer import Authorizer

    by_default = settings.flag("allow.everyone.if.no.acl.found")
    return Authorizer(acls, _super_users(settings), allows_by_default=by_default)


def _super_users(settings: BrokerSettings) -> frozenset[str]:
    named = [each.strip() for each in settings.text(authorizers.SUPER_USERS).split(";")]
    wrong = [each for each in named if each and ":" not in each]
    if wrong:
        name = authorizers.SUPER_USERS
        raise SettingError(f"{name}: {wrong[0]!r}: a principal is written TYPE:NAME")
    return frozenset(each for each in named if each)
