"""Faults that know frames: what they match, what they do, how often.

``responses("Produce").topic("orders").nth(2).drop()`` is a rule; a ``RuleSet`` has them at work.
"""

from harness.proxies.rules.errors import RuleDidNotFire, RuleError
from harness.proxies.rules.rule import Rule, read_rule
from harness.proxies.rules.rule_set import RuleSet
from harness.proxies.rules.sentence import Sentence, frames, requests, responses, when
from harness.proxies.rules.toml_form import (
    RulesFile,
    RulesRefused,
    read_rules,
    read_rules_file,
    read_rules_text,
)

__all__ = [
    "Rule",
    "RuleDidNotFire",
    "RuleError",
    "RuleSet",
    "RulesFile",
    "RulesRefused",
    "Sentence",
    "frames",
    "read_rule",
    "read_rules",
    "read_rules_file",
    "read_rules_text",
    "requests",
    "responses",
    "when",
]
