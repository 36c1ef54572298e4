"""Requirements as data, verdicts, the run journal and its Parquet, profiles and the gate.

This room judges what was observed and never observes itself: it imports nothing else of the
harness, opens no socket and runs no event loop.
"""
