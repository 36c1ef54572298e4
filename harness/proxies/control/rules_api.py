"""Rules over frames, armed and read over the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from aiohttp import web

from harness.proxies.control.errors import BadBody, BadRules, NoSuchRule
from harness.proxies.control.requests import answer, done


class Rules(Protocol):
    """The rules that all proxies follow, as the API needs them."""

    def to_json(self) -> Any:
        """Every rule with its counters."""

    def arm(self, toml: str) -> None:
        """These in place of those there are, all or none; ValueError says what is wrong where."""

    def disarm(self) -> None:
        """No rules any more; what they held goes on."""

    def release(self, rule: str) -> None:
        """Let go what this rule holds; raises LookupError."""


class RulesApi:
    """Handlers of requests; refusals are raised."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.get("/kafka/rules", self.list_rules),
            web.post("/kafka/rules", self.arm_rules),
            web.delete("/kafka/rules", self.disarm_rules),
            web.post("/kafka/rules/{rule}/release", self.release_rule),
        ]

    async def list_rules(self, request: web.Request) -> web.Response:  # noqa: ARG002
        return answer(self._rules.to_json())

    async def arm_rules(self, request: web.Request) -> web.Response:
        """The body is TOML, as a file of rules."""
        try:
            text = (await request.read()).decode()
        except UnicodeDecodeError as error:
            raise BadBody(str(error)) from None
        try:
            self._rules.arm(text)
        except ValueError as error:
            raise BadRules(str(error)) from None
        return answer(self._rules.to_json())

    async def disarm_rules(self, request: web.Request) -> web.Response:  # noqa: ARG002
        self._rules.disarm()
        return done()

    async def release_rule(self, request: web.Request) -> web.Response:
        try:
            self._rules.release(request.match_info["rule"])
        except LookupError as error:
            raise NoSuchRule(str(error)) from None
        return done()
