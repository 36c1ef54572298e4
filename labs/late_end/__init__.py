"""An EndTxn that reaches the coordinator within the next transaction (KAFKA-17754).

Document: docs/findings/late-end.md.
"""
