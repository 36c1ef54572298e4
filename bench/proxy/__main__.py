"""``python -m bench.proxy``: see the package."""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from bench.proxy import memory, peers
from bench.proxy.load import CROWD_WORK, WORKS, ProxyWork
from bench.proxy.peers import NotRun, ProxyPeer
from bench.proxy.table import FULL, ProxyMeasured, as_json, markdown, reached

ROUNDS = 15
CROWD_TURNS = 5
FILES = 4096
WAYS = ("plain", "idle", "full")


def main(arguments: Sequence[str]) -> int:
    """0 when every goal that was judged is reached, else 1."""
    options = _options(arguments)
    _allow_files()
    not_run: dict[str, str] = {}
    with ExitStack() as stack:
        server = peers.server(stack)
        running = [server, peers.bare(stack, server.port)]
        running += [peers.ours(stack, way, server.port) for way in WAYS]
        try:
            running.append(peers.toxiproxy(stack, server.port, options.toxiproxy))
        except NotRun as reason:
            not_run["toxiproxy"] = str(reason)
        works = [*WORKS, CROWD_WORK]
        measured = [_measured(work, running, options.rounds) for work in works]
        full = next(peer for peer in running if peer.name == FULL)
        notes = [f"{FULL}: {memory.held_by(full)}"]
    if options.json:
        told = json.dumps(as_json(measured, not_run, notes), indent=2) + "\n"
    else:
        told = markdown(measured, not_run, notes)
    sys.stdout.write(told)
    return 0 if all(value >= goal.least for goal, value in reached(measured)) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.proxy")
    parser.add_argument("--toxiproxy", metavar="BINARY", help="toxiproxy-server, else it is built")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _allow_files() -> None:
    """A thousand connections through a proxy are two thousand sockets of its process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _measured(work: ProxyWork, running: list[ProxyPeer], rounds: int) -> ProxyMeasured:
    """Return one rate a round and peer; the order of the peers rotates."""
    rates: dict[str, list[float]] = {peer.name: [] for peer in running}
    used_s = dict.fromkeys(rates, 0.0)
    order = list(running)
    count = min(rounds, CROWD_TURNS) if work is CROWD_WORK else rounds
    for _ in range(count):
        for peer in order:
            before = peer.processor_s()
            rates[peer.name].append(_once(work, peer))
            used_s[peer.name] += peer.processor_s() - before
        order.append(order.pop(0))
    each_us = {name: used / count / work.amount * 1e6 for name, used in used_s.items()}
    return ProxyMeasured(work.name, work.unit, rates, each_us)


def _once(work: ProxyWork, peer: ProxyPeer) -> float:
    try:
        return work.once(peer.port)
    except OSError as error:
        ended = peer.process.poll()
        state = "runs" if ended is None else f"ended with {ended}"
        raise RuntimeError(f"{work.name} through {peer.name}, which {state}: {error}") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
