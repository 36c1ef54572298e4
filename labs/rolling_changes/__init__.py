"""Clusters of Kafka that change under load: ``kafka-conformance lab rolling-changes``.

A rolling upgrade, or a migration from ZooKeeper to KRaft, goes on while producers, a consumer and a
committer work; the histories of their records and offsets are judged at the end.
"""
