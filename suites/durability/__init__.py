"""What a broker keeps of its log, and for how long: segments, retention, compaction, restarts."""
