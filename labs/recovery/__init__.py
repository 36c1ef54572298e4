"""The same damage to two copies of a log, the same recovery: ``kafka-conformance lab recovery``.

A real Kafka writes some logs; hundreds of copies are damaged by seed, each in one way, and put into
one data folder as the partitions of one topic; two brokers start on it, each on its own copy, and
what they serve then has to be the same (docs/recovery.md).
"""
