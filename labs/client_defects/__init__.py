"""Wrong brokers that the clients of other projects must notice: ``lab client-defects``.

A row strikes the frames between a client and a right broker, as those of ``labs.defects`` do; the
requirement of the row must then fail, for the reason that the row names.
"""
