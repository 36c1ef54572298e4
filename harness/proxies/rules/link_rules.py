"""The rules of one link of a cluster: none at first, so that its frames pass unread."""

from __future__ import annotations

from harness.proxies.event import Event
from harness.proxies.rules.rule_set import RuleSet
from harness.proxies.seen import Place


class LinkRules(RuleSet):
    """As its parent; while a rule is armed the end of a connection is told too.

    What was asked there is answered no more, which tells a question asked again from a second one.
    """

    def closed(self, place: Place) -> None:
        super().closed(place)
        if not self.is_idle:
            self.tell(Event(self.now_ms(), "closed", place.link, place.connection))
