"""The client side logic of the ZooKeeper years, as pure functions.

Before 0.9 no broker coordinated a group and before 0.8 none moved a producer's events: clients did
assignment, registration, partitioning, batching and the reading of documents in ZooKeeper. All of
it follows the documents of the time (the implementation notes of 0.7 to 0.9, sections "Producer
APIs", "Reads", "Guarantees", "ZooKeeper Directories", "Consumer registration algorithm", "Consumer
rebalancing algorithm"). Where a document leaves a question open, the class of Kafka that decides it
is named. Time and chance are arguments.
"""
