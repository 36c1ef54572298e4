"""Brokers that are killed, or whose disks lose power, under load: ``python -m tests.crash_loops``.

In each round a new topic is written to and read while it happens; what became of every record is
judged by :mod:`harness.histories.durability`.
"""
