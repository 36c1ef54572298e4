"""The built-in broker: one node, in memory, with the behaviour of Apache Kafka 4.4.0.

It is the executable form of the requirements, and a target like any other: all access goes over its
sockets.
"""
