"""``python -m bench.broker``: see the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.broker.peers import CANNED, KAFKA, MOCK, OURS, BrokerPeer, started
from bench.broker.raw_load import TOPIC
from bench.broker.table import Measured, judged, markdown
from bench.broker.works import Work, works

ROUNDS = 9


def main(arguments: Sequence[str]) -> int:
    """0 when every goal is reached, else 1."""
    parser = argparse.ArgumentParser(prog="python -m bench.broker")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--work", default="", help="only works whose name has this in it")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        peers = {name: started(stack, name) for name in (OURS, CANNED, KAFKA, MOCK)}
        for name in (OURS, KAFKA):
            _make_topic(peers[name])
        chosen = [work for work in works() if options.work in work.name]
        measured = [_measured(work, peers, options.rounds) for work in chosen]
    sys.stdout.write(markdown(measured, []))
    return 0 if all(one.reached for one in judged(measured)) else 1


def _make_topic(peer: BrokerPeer) -> None:
    admin = AdminClient({"bootstrap.servers": peer.bootstrap})
    for made in admin.create_topics([NewTopic(TOPIC, 1, 1)]).values():
        made.result(60)


def _measured(work: Work, peers: dict[str, BrokerPeer], rounds: int) -> Measured:
    """Return one rate a round and peer, after a warm-up round; the order of the peers rotates."""
    order = list(work.peers)
    for name in order:
        work.once(peers[name])
    rates: dict[str, list[float]] = {name: [] for name in order}
    used_s = dict.fromkeys(order, 0.0)
    for _ in range(rounds):
        for name in order:
            before = peers[name].processor_s()
            rates[name].append(work.once(peers[name]))
            used_s[name] += peers[name].processor_s() - before
        order.append(order.pop(0))
    each_us = {name: used / rounds / work.amount * 1e6 for name, used in used_s.items()}
    return Measured(work.name, work.unit, {name: rates[name] for name in work.peers}, each_us)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
