"""Clusters that somebody else runs: nothing of theirs changes, all of ours goes."""
