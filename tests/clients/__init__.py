"""Other people's clients, unmodified, against a broker: ``python -m tests.clients``.

Every client is a process that does what it is told, one JSON line a call (``vocabulary``). What is
to come of it is asserted once, for all of them.
"""
