"""The way into a secured listener: the settings of a client's file, TLS contexts, SASL exchanges.

Nothing here has a socket or knows a Kafka message: :mod:`harness.client.entrance` goes the way.
"""
