"""Replication as a state machine: a controller and brokers without sockets and clocks.

Their state is plain data, their messages arrive late, in any order or never; invariants are checked
after each step. To run: ``kafka-conformance lab replication-model --steps 100000``.
"""
