"""Unmodified clients of other projects, against a broker: ``kafka-conformance lab clients``.

Every client is a process that executes calls, one JSON line each (``vocabulary``). The tests assert
the same results for all clients.
"""
