"""The log of a partition: its interface, the log in memory, segments, batches, epochs."""
