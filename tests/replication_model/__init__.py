"""Replication as a state machine: a controller and brokers as plain state, without sockets and
clocks, whose messages come late, in any order or never; invariants are looked at after each step.

``python -m tests.replication_model --steps 100000``.
"""
