"""Reads for Fetch: partitions in order, sessions, the replica to read, down-conversion."""
