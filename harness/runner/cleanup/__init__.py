"""Removal of what an interrupted run left on a cluster."""
