"""Formats and algorithms of Kafka's early years, as pure functions: 0.7 and the ZooKeeper years.

Before 0.9 no broker coordinated a group, and before 0.8 none distributed a producer's events:
clients did assignment, registration, partitioning, batching and the reading of documents in
ZooKeeper. The algorithms follow the documents of the time (the implementation notes of 0.7 to 0.9,
sections "Producer APIs", "Reads", "Guarantees", "ZooKeeper Directories", "Consumer registration
algorithm", "Consumer rebalancing algorithm"). Where a document leaves a question open, the class of
Kafka that decides it is named. Time and chance are arguments.

The formats of Kafka 0.7 (its message, log entry, five requests without header, and their answers)
follow the sections "Message Format", "On-disk format of a message" and "Reads", and the layouts
that its clients kept. The enriched message is a proposal from before 0.10 that was never released.
No release that this project runs speaks these formats; the tests hold bytes that were put together
by hand from the documents.
"""
