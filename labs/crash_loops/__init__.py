"""Brokers that are killed, or lose power, under load: ``kafka-conformance lab crash-loops``.

In each round producers and a consumer use a new topic meanwhile; the module
:mod:`harness.histories.durability` judges the fate of every record.
"""
