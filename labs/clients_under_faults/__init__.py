"""Other people's clients under seeded faults: ``kafka-conformance lab clients-under-faults``.

A schedule is what a network or a dying broker can do to a TCP connection, and no more: nothing is
lost out of the middle of a stream, nothing comes twice, nothing is changed.
"""
