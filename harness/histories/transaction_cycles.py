"""Circles of dependencies between transactions, by Adya's names.

Of two transactions the second depends on the first by a write if it stands next behind it in a
partition's log, and by a read if it has consumed a record of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import networkx as nx

from harness.histories.history import ClientOperation
from harness.histories.judgement import Anomaly
from harness.histories.transaction_story import ClientTransaction, TransactionStory

WRITE, READ = "write", "read"
Cycle = tuple[Anomaly, list[ClientTransaction]]


def cycles(story: TransactionStory) -> Iterator[Cycle]:
    """Yield a circle of each strongly connected group of transactions, with its name."""
    writes, reads = _writes(story.log, story.writer), _reads(story)
    yield from ((Anomaly.WRITE_CYCLE, each) for each in _circles(writes))
    circular = list(_circles(reads))
    yield from ((Anomaly.READ_CYCLE, each) for each in circular)
    if reads.number_of_edges() == 0:
        return
    both = nx.compose(writes, reads)
    known = {one for each in circular for one in each}
    for group in _groups(both):
        if known.isdisjoint(group) and (mixed := _mixed(both.subgraph(group), reads)):
            yield Anomaly.MIXED_CYCLE, mixed


def _writes(
    log: Mapping[int, Sequence[ClientOperation]], writer: Mapping[str, ClientTransaction]
) -> nx.DiGraph[ClientTransaction]:
    graph: nx.DiGraph[ClientTransaction] = nx.DiGraph()
    for records in log.values():
        last: ClientTransaction | None = None
        for record in records:
            one = writer.get(record.value)
            if one is None or one is last:
                continue
            if last is not None:
                graph.add_edge(last, one)
            last = one
    return graph


def _reads(story: TransactionStory) -> nx.DiGraph[ClientTransaction]:
    graph: nx.DiGraph[ClientTransaction] = nx.DiGraph()
    for one in story.transactions:
        for record in one.consumed if one.is_there else ():
            source = story.writer.get(record.value)
            if source is not None and source is not one:
                graph.add_edge(source, one)
    return graph


def _groups(graph: nx.DiGraph[ClientTransaction]) -> Iterable[set[ClientTransaction]]:
    return (group for group in nx.strongly_connected_components(graph) if len(group) > 1)


def _circles(graph: nx.DiGraph[ClientTransaction]) -> Iterator[list[ClientTransaction]]:
    for group in _groups(graph):
        edges = nx.find_cycle(graph.subgraph(group))
        yield [edge[0] for edge in edges]


def _mixed(
    group: nx.DiGraph[ClientTransaction], reads: nx.DiGraph[ClientTransaction]
) -> list[ClientTransaction] | None:
    """A circle with at least one read, or None if the group has none inside."""
    for source, reader in group.edges:
        if reads.has_edge(source, reader):
            way: list[ClientTransaction] = nx.shortest_path(group, reader, source)
            return way
    return None
