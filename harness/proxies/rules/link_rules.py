"""The rules of one link of a cluster: none at first, so that its frames pass unread."""

from __future__ import annotations

from harness.proxies.event import Event
from harness.proxies.rules.rule_set import RuleSet
from harness.proxies.seen import SeenConnection


class LinkRules(RuleSet):
    """A rule set that also reports the end of a connection while a rule is armed.

    Open requests of that connection get no answer any more; this distinguishes a repeated request
    from a second one.
    """

    def closed(self, place: SeenConnection) -> None:
        super().closed(place)
        if not self.is_idle:
            self.tell(Event(self.now_ms(), "closed", place.link, place.connection))
