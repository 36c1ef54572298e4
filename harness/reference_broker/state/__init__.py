"""The specification as plain objects: no sockets, clocks, files, tasks or random numbers.

Time and randomness come in as arguments; what must happen outside is returned as effects.
"""
