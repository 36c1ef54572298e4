"""Replication as followers and leaders see it: the harness is one of the brokers."""
