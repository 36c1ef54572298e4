"""A data folder of a real Kafka, read only and without a broker: content, damage, recovery.

The content and the findings are plain values; memory is bounded (docs/log-files.md).
"""
