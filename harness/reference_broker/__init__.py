"""The built-in broker: one node, in memory, which answers what Apache Kafka 4.4.0 answers.

It is the executable form of the requirements, and a target like any other: nobody reaches it
but over its sockets.
"""
