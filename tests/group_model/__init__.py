"""Groups as a state machine: the same steps at two brokers, their answers compared step by step.

``python -m tests.group_model --target reference --target kafka:4.4.0``; docs/groups.md says how.
"""
