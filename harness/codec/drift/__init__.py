"""Comparison of our message definitions with those inside any release of Kafka's client library.

``check.py`` is the entry point; ``reviewed_drift.toml`` lists every permitted difference.
"""
