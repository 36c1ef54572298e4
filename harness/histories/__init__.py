"""Histories of client operations, recorded during a test and judged afterwards.

Nothing is judged during the test: a workload writes a history of operations (``history``), a pure
function reads it at the end (``checker``). The words are Jepsen's.
"""
