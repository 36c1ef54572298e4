"""What clients of the ZooKeeper years worked out for themselves, as pure functions.

Before 0.9 no broker coordinated a group and before 0.8 none moved a producer's events: assignment,
registration, partitioning, batching and the reading of documents in ZooKeeper were the clients'.
All of it follows the documents of the time (the implementation notes of 0.7 to 0.9, sections
"Producer APIs", "Reads", "Guarantees", "ZooKeeper Directories", "Consumer registration algorithm",
"Consumer rebalancing algorithm"); where a class of Kafka decides what a document leaves open, it is
named. Time is an argument, chance too.
"""
