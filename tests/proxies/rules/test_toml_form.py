"""Rules in files: read whole or refused whole, with file, line and the nearest right name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.proxies.rules import (
    RulesRefused,
    read_rules,
    read_rules_file,
    read_rules_text,
    requests,
    responses,
)
from tests.proxies.rules.traffic import armed, produce, request, sent

DOCS = Path(__file__).parents[3] / "docs/proxy-rules.md"
GOOD = """
# faults of a late follower
seed = 7

[[rule]]
id = "late"
on = "request"
api = "Fetch"
replica_id = 2
delay = {ms = 100, jitter_ms = 20}

[[rule]]
id = "not leader"
on = "response"
api = [
    "Produce",
    "Fetch",
]
after_rule = "late"
nth = 2
rewrite."**.error_code" = "NOT_LEADER_OR_FOLLOWER"

[[ rule ]]  # fields as a table
on = "response"
api = "Produce"
drop = true
[rule.request_field]
"topic_data[*].name" = "orders"
acks = -1
"""


def test_rules_file_is_read_with_seed_and_ids(tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(GOOD, "utf-8")
    file = read_rules_file(path)
    assert file.seed == 7
    assert [rule.id for rule in file.rules] == [
        "late",
        "not leader",
        "response Produce drop request_field={'topic_data[*].name': 'orders', 'acks': -1}",
    ]
    armed(*file.rules)


def test_toml_json_and_python_give_equal_rules() -> None:
    text = """
        [[rule]]
        id = "r"
        on = "response"
        api = "Produce"
        topic = "orders"
        nth = 2
        drop = true
    """
    (from_toml,) = read_rules_text(text).rules
    (from_json,) = read_rules([dict(from_toml.words)])
    from_python = responses("Produce").named("r").topic("orders").nth(2).drop()
    assert dict(from_toml.words) == dict(from_json.words) == dict(from_python.words)
    assert from_toml.occurrences == from_python.occurrences
    assert from_toml.action == from_python.action


BAD = {
    '[[rule]]\napi = "Prodce"\ndrop = true': [
        'f.toml:2: api: no API "Prodce" - did you mean "Produce"?'
    ],
    '[[rule]]\nid = "x"\napi = "Produce"\nfirts = 1\ndrop = true': [
        'f.toml:4: rule "x": firts: no key of a rule "firts" - did you mean "first"?'
    ],
    '[[rule]]\napi = "Produce"\n': ["f.toml:1: has no action; one of drop, delay, hold, dupl"],
    "[[rule]]\ndorp = true\n": ['f.toml:2: dorp: no key of a rule "dorp" - did you mean "drop"?'],
    "[[rule]]\n[rule.delay]\nms = 1\njiter_ms = 2\n": [
        'f.toml:2: delay: no setting "jiter_ms" - did you mean "jitter_ms"?'
    ],
    "[[rule]]\n[rule.delay]\n# slow\nms = -1\n": ["f.toml:4: delay.ms: must be a number of milli"],
    '[[rule]]\ndelay = {ms = "1"}\n': ["f.toml:2: delay.ms: must be a number of milliseconds"],
    '[[rule]]\ndelay.ms = "1"\n': ["f.toml:2: delay.ms: must be a number of milliseconds"],
    '[[rule]]\ndrop = true\n\n[[rule]]\non = "response"\napi = "Produce"\n[rule.rewrite]\n'
    '"**.error_code" = "NOT_LEADER_OR_FOLOWER"\n': [
        'f.toml:8: rewrite.**.error_code: no error code "NOT_LEADER_OR_FOLOWER" - did you '
    ],
    '[[rule]]\napi = "Produce"\non = "request"\ndrop = true\n'
    '[rule.field]\n"topic_data.nam" = "x"': [
        'f.toml:6: field.topic_data.nam: no field in topic_data: "nam" - did you mean "name"?'
    ],
    '[[rule]]\nid = "x"\ndrop = true\n[[rule]]\nid = "x"\nclose = true\n': [
        'f.toml:5: rule "x": id: there is another rule of this id; give each its own'
    ],
    '[[rule]]\nid = "x"\ndrop = true\n[[rule]]\nhold = {at_most_ms = 5, until = "y"}\n': [
        'f.toml:5: hold.until: no rule "y"; known: x, hold='
    ],
    '[[rule]]\napi = "Prodce"\ndrop = true\n[[rule]]\nclose = 3\n': [
        'f.toml:2: api: no API "Prodce"',
        "f.toml:5: close.when: no moment",
    ],
    "[[rules]]\ndrop = true\n": [
        'f.toml:1: no key "rules" - did you mean "rule"?',
        "f.toml: holds no rule; write each as [[rule]]",
    ],
    'seed = "x"\n[[rule]]\ndrop = true': ["f.toml:1: seed: must be a whole number, is 'x'"],
    "[rule]\ndrop = true\n": ["f.toml: holds no rule; write each as [[rule]]"],
    "": ["f.toml: holds no rule; write each as [[rule]]"],
    "rule = [1]": ["f.toml: must be a table, is 1"],
    "[[rule\n": ["f.toml: is not TOML: "],
}


@pytest.mark.parametrize("text", BAD)
def test_rules_file_with_error_is_refused_with_every_problem(text: str) -> None:
    with pytest.raises(RulesRefused) as told:
        read_rules_text(text, "f.toml")
    assert len(told.value.problems) == len(BAD[text])
    for problem, wanted in zip(told.value.problems, BAD[text], strict=True):
        assert problem.startswith(wanted)
    assert str(told.value) == "\n".join(told.value.problems)


def test_unreadable_rules_file_raises_rules_refused(tmp_path: Path) -> None:
    with pytest.raises(RulesRefused, match=r"none\.toml: cannot be read: No such file"):
        read_rules_file(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xe4 = 1")
    with pytest.raises(RulesRefused, match=r"latin\.toml: is not TOML: 'utf-8' codec"):
        read_rules_file(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "rules are a list of objects that is not empty, not {}"),
        ([], "rules are a list of objects that is not empty, not []"),
        ([{"drop": True}, {"api": "x"}], 'rule 2: api: no API "x"; known: Produce, Fetch'),
        ([None], "rule 1: must be a table, is None"),
        ([{"drop": None}], "rule 1: drop: must be true, is None"),
        ([{"api": None, "drop": True}], "rule 1: api: must be a whole number 0 to 32767, is None"),
        ([{1: 2}], 'rule 1: 1: no key of a rule "1"'),
    ],
)
def test_invalid_rule_objects_are_refused(values: object, problem: str) -> None:
    with pytest.raises(RulesRefused) as told:
        read_rules(values)
    assert told.value.problems[0].startswith(problem)


def test_error_line_is_correct_in_file_of_many_rules() -> None:
    rules = [f'[[rule]]\nid = "r{n}"\napi = "Produce"\ndrop = true\n' for n in range(200)]
    rules[150] = rules[150].replace("Produce", "Produced")
    with pytest.raises(RulesRefused, match=r'f:603: rule "r150": api: no API "Produced"'):
        read_rules_text("".join(rules), "f")


def test_toml_examples_in_docs_are_valid_rules() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        armed(*read_rules_text(block).rules)


def test_python_examples_in_docs_are_valid_rules() -> None:
    text = DOCS.read_text("utf-8").partition("## In Python")[2]
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    words = {"requests": requests, "responses": responses}
    rules = [eval(line, words) for line in block.splitlines()]
    assert len(rules) >= 6
    armed(*rules)


def test_rule_words_round_trip_to_equal_rule() -> None:
    first = responses("Produce").nth(2).delay(5, jitter_ms=2)
    (second,) = read_rules([dict(first.words)])
    assert second.id == first.id
    assert second.action == first.action


def test_rewrite_to_null_from_json_changes_field() -> None:
    (rule,) = read_rules(
        [{"api": "Produce", "on": "request", "rewrite": {"transactional_id": {"null": True}}}]
    )
    seen = request(produce(transactional_id="tx"), 9)
    (payload,) = sent(armed(rule).show(seen))
    assert payload != seen.payload
    assert len(payload) == len(seen.payload) - 2
