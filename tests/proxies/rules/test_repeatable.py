"""Same seed and same traffic, same faults; the removal of a rule changes no other's."""

from __future__ import annotations

from harness.codec.messages import MetadataRequest
from harness.proxies.rules import Rule, requests, responses
from harness.proxies.seen import SeenConnection, SeenRequest, SeenResponse
from harness.proxies.step import Aside, Hold, Send, SendBack, Step, WaitStep
from tests.proxies.rules.traffic import (
    Rules,
    Stream,
    armed,
    fetch,
    fetched,
    metadata,
    produce,
    produced,
    response,
)

Told = list[tuple[object, ...]]

RULES: tuple[Rule, ...] = (
    requests("Produce").named("drop").with_probability(0.1).drop(),
    requests("Produce", "Fetch").named("late").with_probability(0.3).and_on().delay(
        50, jitter_ms=40, distribution="normal"
    ),
    requests("Fetch").named("shuffle").topic("orders").reorder(4),
    responses("Produce").named("fail").every(3).with_probability(0.5).and_on().fail_with(
        "REQUEST_TIMED_OUT"
    ),
    responses("Produce").named("swap").per("connection").nth(4, 5).swap_correlation_ids(),
    responses().named("slow").with_probability(0.2).throttle(1e6),
    responses("Fetch").named("hold").with_probability(0.2).hold(at_most_ms=9, until="drop"),
    requests("Metadata").named("answer").with_probability(0.5).answer({"brokers": []}),
)  # fmt: skip


def recorded() -> list[SeenRequest | SeenResponse]:
    """Traffic of four connections on two links."""
    places = [
        SeenConnection("client", "1", 0),
        SeenConnection("client", "1", 1),
        SeenConnection("2", "1", 0),
    ]
    streams = [Stream(place) for place in places]
    frames: list[SeenRequest | SeenResponse] = []
    for turn in range(60):
        for stream in streams:
            wrote = stream.request(produce("orders", [turn % 3]), 9)
            read = stream.request(fetch("orders", turn % 3), 12)
            asked = stream.request(MetadataRequest(topics=[]), 12)
            frames += [wrote, read, asked, response(wrote, produced()), response(read, fetched()),
                       response(asked, metadata())]  # fmt: skip
    return frames


def outcome(rules: Rules, seen: SeenRequest | SeenResponse) -> list[object]:
    """The steps in a form that can be compared, with what stands aside at once."""
    return [in_plain(step) for step in rules.show(seen) or ()]


def in_plain(step: Step) -> object:
    if isinstance(step, Send | SendBack):
        return type(step).__name__, step.data
    if isinstance(step, WaitStep):
        return "wait", step.for_ms
    if isinstance(step, Hold | Aside):
        return type(step).__name__, step.at_most_ms
    return step


def run(*rules: Rule, seed: int = 11) -> tuple[list[list[object]], dict[str, Told]]:
    """The outcome of each frame, and the frames that each rule took."""
    at_work = armed(*rules, seed=seed)
    outcomes = [outcome(at_work, seen) for seen in recorded()]
    took: dict[str, Told] = {rule.id: [] for rule in rules}
    for event in at_work.events:
        if event.what in ("fired", "skipped") and event.rule:
            took[event.rule].append((event.link, event.connection, event.direction, event.frame))
    return outcomes, took


def test_two_runs_with_same_seed_give_equal_faults() -> None:
    first, second = run(*RULES), run(*RULES)
    assert first == second
    assert all(first[1].values()), "a rule did nothing, so nothing is shown about it"


def test_another_seed_gives_other_faults() -> None:
    outcomes, took = run(*RULES)
    others, took_others = run(*RULES, seed=12)
    assert outcomes != others
    differ = {rule for rule in took if took[rule] != took_others[rule]}
    assert differ >= {"drop", "late", "fail", "slow", "hold", "answer"}


def test_removed_rule_changes_no_faults_of_other_rules() -> None:
    _, took = run(*RULES)
    for gone in RULES:
        if gone.id == "drop":
            continue  # named by another rule
        _, left = run(*(rule for rule in RULES if rule is not gone))
        assert left == {rule: frames for rule, frames in took.items() if rule != gone.id}


def test_additional_connection_changes_no_faults_on_others() -> None:
    rule = requests("Produce").named("r").with_probability(0.3).drop()

    def taken(connections: int) -> list[tuple[int, int]]:
        rules = armed(rule, seed=3)
        streams = [Stream(SeenConnection(connection=number)) for number in range(connections)]
        return [
            (number, turn)
            for turn in range(50)
            for number, stream in enumerate(streams)
            if rules.fires(stream.request(produce(), 9))
        ]

    assert [one for one in taken(3) if one[0] < 2] == taken(2)
