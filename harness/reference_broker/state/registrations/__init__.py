"""Brokers and partitions as the metadata log has them, and the records of changes."""
