"""The durability of a log in one broker: segments, retention, compaction, restarts."""
