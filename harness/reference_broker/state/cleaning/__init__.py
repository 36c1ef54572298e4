"""Removal of old records: retention by segments, compaction by keys."""
