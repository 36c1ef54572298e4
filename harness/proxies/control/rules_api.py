"""Rules over frames, armed and read over the API."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from harness.proxies.control.errors import BadBody, BadRules, NoSuchRule
from harness.proxies.control.requests import answer, done
from harness.proxies.rules.errors import RuleError
from harness.proxies.rules.rule_set import RuleSet
from harness.proxies.rules.toml_form import RulesFile, read_rules_text


class RulesApi:
    """Handlers of requests; refusals are raised."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.get("/kafka/rules", self.list_rules),
            web.post("/kafka/rules", self.replace_rules),
            web.patch("/kafka/rules", self.add_rules),
            web.delete("/kafka/rules", self.disarm_rules),
            web.delete("/kafka/rules/{rule}", self.disarm_rule),
            web.post("/kafka/rules/{rule}/release", self.release_rule),
        ]

    async def list_rules(self, request: web.Request) -> web.Response:  # noqa: ARG002
        return answer(self._rules.to_json())

    async def replace_rules(self, request: web.Request) -> web.Response:
        """The body is TOML, as a file of rules: these in place of those there are, or none."""
        file = await _file(request)
        before = self._rules.seed
        try:
            self._rules.seed = before if file.seed is None else file.seed
            self._rules.arm(*file.rules, replace=True)
        except RuleError as error:
            self._rules.seed = before
            raise BadRules(str(error)) from None
        return answer(self._rules.to_json())

    async def add_rules(self, request: web.Request) -> web.Response:
        """The same behind those there are, which keep their seed."""
        file = await _file(request)
        if file.seed is not None:
            raise BadRules("seed: rules that are added draw with the seed of those there are")
        try:
            self._rules.arm(*file.rules)
        except RuleError as error:
            raise BadRules(str(error)) from None
        return answer(self._rules.to_json())

    async def disarm_rules(self, request: web.Request) -> web.Response:  # noqa: ARG002
        self._rules.disarm()
        return done()

    async def disarm_rule(self, request: web.Request) -> web.Response:
        try:
            self._rules.disarm(request.match_info["rule"])
        except RuleError as error:
            raise NoSuchRule(str(error)) from None
        return done()

    async def release_rule(self, request: web.Request) -> web.Response:
        try:
            frames = self._rules.release(request.match_info["rule"])
        except RuleError as error:
            raise NoSuchRule(str(error)) from None
        return answer({"frames": frames})


async def _file(request: web.Request) -> RulesFile:
    try:
        return read_rules_text((await request.read()).decode())
    except UnicodeDecodeError as error:
        raise BadBody(str(error)) from None
    except ValueError as error:
        raise BadRules(str(error)) from None
