"""Groups as a state machine: the same steps at two brokers, their answers compared step by step.

``kafka-conformance lab group-model --target reference --target kafka:4.4.0``; see docs/groups.md.
"""
