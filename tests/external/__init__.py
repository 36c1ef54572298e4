"""Clusters of other owners: the suite changes nothing of theirs and deletes all of its own."""
