"""Our message definitions against those inside any release of Kafka's client library.

``check.py`` is the door; ``reviewed_drift.toml`` lists every difference that there may be.
"""
