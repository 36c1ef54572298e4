"""Brokers and clusters for tests: shared, private, pooled, persistent, on lossy disks."""
